/* Borrowed: queues and memory of another program. */
#include "device/internal.h"

#include <stdlib.h>

/* 0, or an error. */
#define ASK(function, object, question, answer)                                                              \
    function((object), (question), sizeof(answer), &(answer), NULL)

void device_place_buffers(struct device *device, const struct buffer *memory)
{
    device->core->placement = memory->root;
    device->core->placed_bytes = memory->offset;
}

size_t device_bytes_placed(const struct device *device)
{
    return device->core->placed_bytes;
}

static void release(struct owned *owned)
{
    struct buffer *buffer = (struct buffer *)owned;
    clReleaseMemObject(buffer->memory);
    free(buffer);
}

enum status buffer_borrow(struct device *device, void *memory, size_t bytes, const char *what,
                          struct buffer **buffer)
{
    cl_context context = NULL;
    cl_mem parent = NULL; /* there are no parts of parts */
    size_t found = 0, offset = 0;
    if (ASK(clGetMemObjectInfo, memory, CL_MEM_CONTEXT, context) ||
        ASK(clGetMemObjectInfo, memory, CL_MEM_SIZE, found) ||
        ASK(clGetMemObjectInfo, memory, CL_MEM_OFFSET, offset) ||
        ASK(clGetMemObjectInfo, memory, CL_MEM_ASSOCIATED_MEMOBJECT, parent) ||
        context != device->core->context)
        return status_fail(STATUS_USAGE, "%s: expected a buffer of the context", what);
    if (found < bytes)
        return status_fail(STATUS_USAGE, "%s: expected a buffer of %zu bytes or more, found %zu", what, bytes,
                           found);
    *buffer = device_own_new(device, sizeof **buffer, release);
    if (!*buffer)
        return STATUS_FAILED;
    clRetainMemObject(memory);
    (*buffer)->device = device;
    (*buffer)->number = ++device->core->buffers_created;
    (*buffer)->memory = memory;
    (*buffer)->bytes = bytes;
    (*buffer)->root = parent ? parent : memory;
    (*buffer)->offset = offset;
    return STATUS_OK;
}

void *buffer_root(const struct buffer *buffer)
{
    return buffer->root;
}

bool buffers_overlap(const struct buffer *one, const struct buffer *other)
{
    return one->root == other->root && one->offset < other->offset + other->bytes &&
           other->offset < one->offset + one->bytes;
}

enum status device_borrow_queue(struct device *device, void *queue, uint32_t count, const void *events)
{
    struct core *core = device->core;
    cl_context context = NULL;
    cl_device_id id = NULL;
    cl_command_queue_properties properties = 0;
    if (ASK(clGetCommandQueueInfo, queue, CL_QUEUE_CONTEXT, context) ||
        ASK(clGetCommandQueueInfo, queue, CL_QUEUE_DEVICE, id) ||
        ASK(clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES, properties) || context != core->context ||
        id != core->id || properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return status_fail(STATUS_USAGE, "queue: expected one in order, of the same context and device");
    if (count > 0 && !events)
        return status_fail(STATUS_USAGE, "wait_list: expected wait_count events (%u), found NULL", count);
    const cl_int error = count > 0 ? clEnqueueBarrierWithWaitList(queue, count, events, NULL) : CL_SUCCESS;
    if (error == CL_INVALID_EVENT_WAIT_LIST || error == CL_INVALID_CONTEXT)
        return status_fail(STATUS_USAGE, "wait_list: expected events of the context: %s (%d)",
                           opencl_error_name(error), error);
    core->queue = queue;
    return opencl_check(device, error, "waiting for events");
}

enum status device_return_queue(struct device *device, void *event)
{
    struct core *core = device->core;
    const cl_int error = event ? clEnqueueMarkerWithWaitList(core->queue, 0, NULL, event) : CL_SUCCESS;
    core->queue = core->queues[QUEUE_MAIN];
    return opencl_check(device, error, "marking the end of the work");
}
