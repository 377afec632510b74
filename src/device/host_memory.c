/* Host memory: a buffer that OpenCL places where the host can see it, mapped for as long as it lives. Drivers
 * of GPUs pin such memory, and transfers from and to it run at the speed of the bus. */
#include "device/internal.h"

#include <stdlib.h>

struct host_memory {
    struct owned owned;
    struct device *device; /* not owned */
    cl_mem buffer;
    void *mapped; /* without a device memory of its own */
};

/* Of `memory`, or where that is NULL of memory that the driver finds. */
static cl_int map(struct host_memory *host_memory, void *memory, size_t bytes)
{
    cl_int error = CL_SUCCESS;
    const cl_mem_flags whose = memory ? CL_MEM_USE_HOST_PTR : CL_MEM_ALLOC_HOST_PTR;
    host_memory->buffer =
        clCreateBuffer(host_memory->device->core->context, CL_MEM_READ_WRITE | whose, bytes, memory, &error);
    if (error == CL_SUCCESS)
        host_memory->mapped =
            clEnqueueMapBuffer(host_memory->device->core->queue, host_memory->buffer, CL_TRUE,
                               CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &error);
    return error;
}

static void release(struct owned *owned)
{
    struct host_memory *old = (struct host_memory *)owned;
    struct core *core = old->device->core;
    if (!old->buffer)
        free(old->mapped);
    else if (old->mapped) {
        clEnqueueUnmapMemObject(core->queue, old->buffer, old->mapped, 0, NULL, NULL);
        for (int n = 0; n < QUEUES; n++) /* transfers, in whichever queue */
            clFinish(core->queues[n]);
    }
    if (old->buffer)
        clReleaseMemObject(old->buffer);
    free(old);
}

/* Of `memory` as map(); *mapped is where the host finds it. */
static enum status create(struct device *device, void *memory, size_t bytes, void **mapped)
{
    struct host_memory *created = device_own_new(device, sizeof *created, release);
    *mapped = NULL;
    if (!created)
        return STATUS_FAILED;
    created->device = device;
    cl_int error = CL_SUCCESS;
    if (!device->core->is_counting)
        error = map(created, memory, bytes > 0 ? bytes : 1);
    else if (!(created->mapped = calloc(bytes + 1, 1)))
        error = CL_OUT_OF_HOST_MEMORY;
    if (error != CL_SUCCESS) {
        device_release(&created->owned);
        return status_fail(STATUS_FAILED, "%s: no host memory for transfers of %.1f MiB (%s)",
                           device->core->info.name, (double)bytes / 0x1p20, opencl_error_name(error));
    }
    *mapped = created->mapped;
    return STATUS_OK;
}

enum status host_memory_create(struct device *device, size_t bytes, void **memory)
{
    return create(device, NULL, bytes, memory);
}

enum status host_memory_adopt(struct device *device, void *memory, size_t bytes)
{
    return create(device, memory, bytes, &memory);
}
