/* Host call: a function of the host in the order of the queue. */
#include "device/internal.h"

/* What a native kernel is given: the driver copies it, with the addresses of the buffers filled in. */
struct call {
    host_function *function;
    const void *context;
    void *memory[HOST_CALL_BUFFERS];
};

static void CL_CALLBACK run(void *arguments)
{
    const struct call *call = arguments;
    call->function(call->context, call->memory);
}

static enum status enqueue(struct device *device, struct call *call, struct buffer *const *buffers,
                           size_t count, enum stage stage, uint64_t bytes)
{
    /* Listed as they were created: PoCL 3.1 sorts the objects so, but not the places for their addresses. */
    cl_mem objects[HOST_CALL_BUFFERS];
    const void *places[HOST_CALL_BUFFERS];
    for (size_t n = 0; n < count; n++) {
        size_t older = 0;
        for (size_t other = 0; other < count; other++)
            older += buffers[other]->number < buffers[n]->number;
        objects[older] = buffers[n]->memory;
        places[older] = &call->memory[n];
    }
    cl_event event = NULL;
    TRY(opencl_check(device,
                     clEnqueueNativeKernel(device->core->queue, run, call, sizeof *call, (cl_uint)count,
                                           objects, places, 0, NULL, device_event(device, &event)),
                     "enqueueing a function of the host"));
    return device_record(device, NULL, event, stage, bytes);
}

static enum status wait_and_map(struct device *device, struct call *call, struct buffer *const *buffers,
                                size_t count, enum stage stage, uint64_t bytes)
{
    /* What is still in the queue has timers of its own. */
    TRY(device_finish(device));
    const double start = timer_now();
    size_t mapped = 0;
    enum status status = STATUS_OK;
    while (mapped < count && status == STATUS_OK) {
        status = buffer_map(buffers[mapped], &call->memory[mapped]);
        mapped += status == STATUS_OK;
    }
    if (status == STATUS_OK)
        run(call);
    while (mapped-- > 0) {
        const enum status unmapped = buffer_unmap(buffers[mapped], call->memory[mapped]);
        status = status != STATUS_OK ? status : unmapped;
    }
    device_add_time(device, stage, timer_now() - start, bytes);
    return status;
}

enum status device_call_host(struct device *device, host_function *function, const void *context,
                             struct buffer *const *buffers, size_t count, enum stage stage, uint64_t bytes)
{
    struct call call = {.function = function, .context = context};
    if (count > HOST_CALL_BUFFERS)
        return status_fail(STATUS_FAILED, "a function of the host takes at most %d buffers, %zu were given",
                           HOST_CALL_BUFFERS, count);
    if (device->core->is_counting)
        return STATUS_OK;
    return device->core->calls_host_in_queue ? enqueue(device, &call, buffers, count, stage, bytes)
                                             : wait_and_map(device, &call, buffers, count, stage, bytes);
}

bool device_queue_host_calls(struct device *device, bool wanted)
{
    cl_device_exec_capabilities capabilities = 0;
    if (device->core->is_counting)
        return false;
    clGetDeviceInfo(device->core->id, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof capabilities, &capabilities,
                    NULL);
    device->core->calls_host_in_queue = wanted && (capabilities & CL_EXEC_NATIVE_KERNEL) != 0;
    return device->core->calls_host_in_queue;
}
