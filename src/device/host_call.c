/* Host call: a function of the host in the order of the queue. */
#include "device/internal.h"

/* What a native kernel is given: the driver copies it, with the addresses of the buffers filled in. */
struct call {
    host_function *function;
    const void *context;
    void *memory[HOST_CALL_BUFFERS];
    size_t offset[HOST_CALL_BUFFERS]; /* bytes behind that address: PoCL 3.1 gives that of a view's whole */
};

static void CL_CALLBACK run(void *arguments)
{
    struct call *call = arguments;
    for (int n = 0; n < HOST_CALL_BUFFERS; n++)
        call->memory[n] = (char *)call->memory[n] + call->offset[n];
    call->function(call->context, call->memory);
}

static enum status enqueue(struct device *device, struct call *call, struct buffer *const *buffers)
{
    const struct buffer *whole[HOST_CALL_BUFFERS];
    for (int n = 0; n < HOST_CALL_BUFFERS; n++) {
        whole[n] = buffers[n]->whole ? buffers[n]->whole : buffers[n];
        call->offset[n] = buffers[n]->offset;
    }
    /* Listed as they were created: PoCL 3.1 sorts the objects so, but not the places for their addresses. */
    const bool first = whole[1]->number < whole[0]->number;
    const cl_mem objects[] = {whole[first]->memory, whole[!first]->memory};
    const void *places[] = {&call->memory[first], &call->memory[!first]};
    return opencl_check(device,
                        clEnqueueNativeKernel(device->core->queue, run, call, sizeof *call, HOST_CALL_BUFFERS,
                                              objects, places, 0, NULL, NULL),
                        "enqueueing a function of the host");
}

static enum status wait_and_map(struct call *call, struct buffer *const *buffers)
{
    size_t mapped = 0;
    enum status status = STATUS_OK;
    while (mapped < HOST_CALL_BUFFERS && status == STATUS_OK) {
        status = buffer_map(buffers[mapped], &call->memory[mapped]);
        mapped += status == STATUS_OK;
    }
    if (status == STATUS_OK)
        run(call);
    while (mapped-- > 0) {
        const enum status unmapped = buffer_unmap(buffers[mapped], call->memory[mapped]);
        status = status != STATUS_OK ? status : unmapped;
    }
    return status;
}

enum status device_call_host(struct device *device, host_function *function, const void *context,
                             struct buffer *const buffers[HOST_CALL_BUFFERS])
{
    struct call call = {.function = function, .context = context};
    if (device->core->is_counting)
        return STATUS_OK;
    return device->core->calls_host_in_queue ? enqueue(device, &call, buffers) : wait_and_map(&call, buffers);
}
