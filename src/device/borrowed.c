/* Borrowed: queues and memory of another program. */
#include "device/internal.h"

#include <stdlib.h>

/* 0, or an error. */
#define ASK(function, object, question, answer)                                                              \
    function((object), (question), sizeof(answer), &(answer), NULL)

enum status device_place_buffers(struct device *device, void *memory, void **whole)
{
    struct core *core = device->core;
    core->room = memory;
    cl_int error = ASK(clGetMemObjectInfo, memory, CL_MEM_OFFSET, core->room_used);
    cl_mem parent = NULL; /* there are no parts of parts */
    if (error == CL_SUCCESS)
        error = ASK(clGetMemObjectInfo, memory, CL_MEM_ASSOCIATED_MEMOBJECT, parent);
    *whole = core->room = parent ? parent : core->room;
    return opencl_check(device, error, "asking where a buffer lies");
}

size_t device_bytes_placed(const struct device *device)
{
    return device->core->room_used;
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
    size_t found = 0;
    if (ASK(clGetMemObjectInfo, memory, CL_MEM_CONTEXT, context) ||
        ASK(clGetMemObjectInfo, memory, CL_MEM_SIZE, found) || context != device->core->context)
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
    return STATUS_OK;
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
    core->queue = queue;
    return count == 0 ? STATUS_OK
                      : opencl_check(device, clEnqueueBarrierWithWaitList(queue, count, events, NULL),
                                     "waiting for events");
}

enum status device_return_queue(struct device *device, void *event)
{
    struct core *core = device->core;
    const cl_int error = event ? clEnqueueMarkerWithWaitList(core->queue, 0, NULL, event) : CL_SUCCESS;
    core->queue = core->queues[QUEUE_MAIN];
    return opencl_check(device, error, "marking the end of the work");
}
