/* Buffer: a device array with one owner. */
#include "base/huge_pages.h"
#include "device/internal.h"

#include <stdlib.h>
#include <string.h>

size_t precision_bytes(enum precision precision)
{
    return precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float);
}

/* Room on the device, tried at once: drivers allocate late, and touching one word now moves a failure to
 * where its cause is known. */
static cl_int allocate(struct core *core, size_t bytes, bool is_placed, cl_mem *memory)
{
    cl_int error = CL_SUCCESS;
    /* On a CPU the memory is the host's. PoCL takes what is asked for like this at once, and says when there
     * is none; what it takes later it aborts for. */
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (core->info.is_cpu ? CL_MEM_ALLOC_HOST_PTR : 0);
    const cl_buffer_region region = {core->placed_bytes, bytes};
    *memory = is_placed ? clCreateSubBuffer(core->placement, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                            &region, &error)
                        : clCreateBuffer(core->context, flags, bytes, NULL, &error);
    const cl_uint zero = 0;
    const bool is_large = core->info.is_cpu && !is_placed && bytes >= LEAST_WITH_HUGE_PAGES;
    void *host = error == CL_SUCCESS && is_large
                     ? clEnqueueMapBuffer(core->queue, *memory, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                          bytes, 0, NULL, NULL, NULL)
                     : NULL;
    if (host) { /* else the pages stay small */
        ask_for_huge_pages(host, bytes);
        error = clEnqueueUnmapMemObject(core->queue, *memory, host, 0, NULL, NULL);
    }
    if (error == CL_SUCCESS)
        error = clEnqueueWriteBuffer(core->queue, *memory, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL);
    return error;
}

static void release(struct owned *owned)
{
    struct buffer *buffer = (struct buffer *)owned;
    struct core *core = buffer->device->core;
    if (!buffer->whole)
        core->bytes_held -= buffer->bytes;
    if (!buffer->memory)
        free(buffer->mapped);
    else if (buffer->mapped) {
        clEnqueueUnmapMemObject(core->queue, buffer->memory, buffer->mapped, 0, NULL, NULL);
        for (int n = 0; n < QUEUES; n++) /* transfers, in whichever queue */
            clFinish(core->queues[n]);
    }
    if (buffer->memory)
        clReleaseMemObject(buffer->memory);
    free(buffer);
}

static enum status create(struct device *device, size_t bytes, const char *what, bool lasts,
                          struct buffer **buffer)
{
    const size_t held = bytes > 0 ? bytes : 64; /* OpenCL has no empty buffers */
    struct core *core = device->core;
    struct buffer *created = device_own_new(device, sizeof *created, release);
    *buffer = NULL;
    if (!created)
        return STATUS_FAILED;
    created->device = device;
    const cl_int error =
        core->is_counting ? CL_SUCCESS : allocate(core, held, core->placement && !lasts, &created->memory);
    if (error != CL_SUCCESS) {
        device_release(&created->owned);
        return status_fail(
            STATUS_FAILED,
            "%s: out of memory: %s needs %.1f MiB on top of the %.1f MiB in use (%s); take fewer "
            "particles or cells, or another device",
            core->info.name, what, (double)bytes / 0x1p20, (double)core->bytes_held / 0x1p20,
            opencl_error_name(error));
    }
    created->bytes = bytes;
    created->number = ++core->buffers_created;
    if (!lasts)
        core->placed_bytes += buffer_view_stride(held);
    core->bytes_held += bytes;
    if (core->bytes_held > core->most_bytes_held)
        core->most_bytes_held = core->bytes_held;
    *buffer = created;
    return STATUS_OK;
}

enum status buffer_create(struct device *device, size_t bytes, const char *what, struct buffer **buffer)
{
    return create(device, bytes, what, false, buffer);
}

enum status buffer_create_zeroed(struct device *device, size_t bytes, const char *what,
                                 struct buffer **buffer)
{
    TRY(create(device, bytes, what, true, buffer));
    return buffer_fill(*buffer, 0);
}

enum status buffer_create_with(struct device *device, size_t bytes, const char *what, const void *contents,
                               struct buffer **buffer)
{
    TRY(buffer_create(device, bytes, what, buffer));
    return buffer_write(*buffer, 0, bytes, contents);
}

enum status buffer_view(struct buffer *whole, size_t offset, size_t bytes, struct buffer **view)
{
    struct buffer *created = device_own_new(whole->device, sizeof *created, release);
    *view = NULL;
    if (!created)
        return STATUS_FAILED;
    cl_int error = CL_SUCCESS;
    const cl_buffer_region region = {offset, bytes};
    created->device = whole->device;
    created->bytes = bytes;
    created->number = ++whole->device->core->buffers_created;
    created->whole = whole;
    created->offset = offset;
    if (whole->memory)
        created->memory = clCreateSubBuffer(whole->memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                            &region, &error);
    *view = created;
    return opencl_check(whole->device, error, "making a part of a buffer one of its own");
}

void buffer_destroy(struct buffer **buffer)
{
    if (*buffer)
        device_release(&(*buffer)->owned);
    *buffer = NULL;
}

size_t buffer_bytes(const struct buffer *buffer)
{
    return buffer->bytes;
}

void buffer_swap(struct buffer *a, struct buffer *b)
{
    const struct buffer held = *a;
    a->memory = b->memory, a->bytes = b->bytes, a->number = b->number, a->whole = b->whole,
    a->offset = b->offset;
    b->memory = held.memory, b->bytes = held.bytes, b->number = held.number, b->whole = held.whole,
    b->offset = held.offset;
}

/* A transfer of no bytes, or on a counting device, has nothing to do. */
static bool moves_bytes(const struct buffer *buffer, size_t bytes)
{
    return bytes > 0 && buffer->memory;
}

void *buffer_native(struct buffer *buffer)
{
    return buffer->memory;
}

/* A counting device's buffers hold zeros. `event` may be NULL. */
static enum status read_part(const struct buffer *buffer, cl_bool blocking, size_t offset, size_t bytes,
                             void *destination, cl_event *event)
{
    if (!buffer->memory)
        memset(destination, 0, bytes);
    if (!moves_bytes(buffer, bytes))
        return STATUS_OK;
    return opencl_check(buffer->device,
                        clEnqueueReadBuffer(buffer->device->core->queue, buffer->memory, blocking, offset,
                                            bytes, destination, 0, NULL, event),
                        "reading a buffer");
}

/* `event` may be NULL. */
static enum status write_part(const struct buffer *buffer, cl_bool blocking, size_t offset, size_t bytes,
                              const void *source, cl_event *event)
{
    if (!moves_bytes(buffer, bytes))
        return STATUS_OK;
    return opencl_check(buffer->device,
                        clEnqueueWriteBuffer(buffer->device->core->queue, buffer->memory, blocking, offset,
                                             bytes, source, 0, NULL, event),
                        "writing a buffer");
}

enum status buffer_read(const struct buffer *buffer, size_t offset, size_t bytes, void *destination)
{
    return read_part(buffer, CL_TRUE, offset, bytes, destination, NULL);
}

enum status buffer_write(struct buffer *buffer, size_t offset, size_t bytes, const void *source)
{
    return write_part(buffer, CL_TRUE, offset, bytes, source, NULL);
}

enum status buffer_send(struct buffer *buffer, size_t offset, size_t bytes, const void *source)
{
    return write_part(buffer, CL_FALSE, offset, bytes, source, NULL);
}

/* Memory of the host: a buffer that OpenCL places where the host can see it, or on `memory` of the caller,
 * mapped for as long as it lives. Drivers of GPUs pin it, and its transfers run at the speed of the bus. */
static enum status create_mapped(struct device *device, void *memory, size_t bytes, void **mapped)
{
    struct core *core = device->core;
    struct buffer *created = device_own_new(device, sizeof *created, release);
    const cl_mem_flags where = memory ? CL_MEM_USE_HOST_PTR : CL_MEM_ALLOC_HOST_PTR;
    const size_t held = bytes > 0 ? bytes : 1;
    cl_int error = CL_SUCCESS;
    *mapped = NULL;
    if (!created)
        return STATUS_FAILED;
    created->device = device;
    if (!core->is_counting)
        created->memory = clCreateBuffer(core->context, CL_MEM_READ_WRITE | where, held, memory, &error);
    else if (!(created->mapped = calloc(held, 1)))
        error = CL_OUT_OF_HOST_MEMORY;
    if (created->memory)
        created->mapped = clEnqueueMapBuffer(core->queue, created->memory, CL_TRUE,
                                             CL_MAP_READ | CL_MAP_WRITE, 0, held, 0, NULL, NULL, &error);
    if (error != CL_SUCCESS) {
        device_release(&created->owned);
        return status_fail(STATUS_FAILED, "%s: no host memory for transfers of %.1f MiB (%s)",
                           core->info.name, (double)bytes / 0x1p20, opencl_error_name(error));
    }
    *mapped = created->mapped;
    return STATUS_OK;
}

enum status host_memory_create(struct device *device, size_t bytes, void **memory)
{
    return create_mapped(device, NULL, bytes, memory);
}

enum status host_memory_adopt(struct device *device, void *memory, size_t bytes)
{
    return create_mapped(device, memory, bytes, &memory);
}

enum status host_memory_read(const struct buffer *buffer, size_t offset, size_t bytes, void *destination,
                             enum stage stage)
{
    cl_event event = NULL;
    TRY(read_part(buffer, CL_FALSE, offset, bytes, destination, device_event(buffer->device, &event)));
    return device_record(buffer->device, NULL, event, stage, bytes);
}

enum status host_memory_write(struct buffer *buffer, size_t offset, size_t bytes, const void *source,
                              enum stage stage)
{
    cl_event event = NULL;
    TRY(write_part(buffer, CL_FALSE, offset, bytes, source, device_event(buffer->device, &event)));
    return device_record(buffer->device, NULL, event, stage, bytes);
}

enum status buffer_fill(struct buffer *buffer, uint32_t pattern)
{
    if (!moves_bytes(buffer, buffer->bytes))
        return STATUS_OK;
    return opencl_check(buffer->device,
                        clEnqueueFillBuffer(buffer->device->core->queue, buffer->memory, &pattern,
                                            sizeof pattern, 0, buffer->bytes, 0, NULL, NULL),
                        "filling a buffer");
}

enum status buffer_copy(const struct buffer *from, size_t from_offset, struct buffer *to, size_t to_offset,
                        size_t bytes, enum stage stage)
{
    if (!moves_bytes(from, bytes))
        return STATUS_OK;
    struct device *device = from->device;
    cl_event event = NULL;
    TRY(opencl_check(device,
                     clEnqueueCopyBuffer(device->core->queue, from->memory, to->memory, from_offset,
                                         to_offset, bytes, 0, NULL, device_event(device, &event)),
                     "copying a buffer"));
    return device_record(device, NULL, event, stage, 2 * (uint64_t)bytes);
}

enum status buffer_map(struct buffer *buffer, void **memory)
{
    cl_int error = CL_SUCCESS;
    if (!buffer->memory) {
        *memory = calloc(buffer->bytes + 1, 1);
        return *memory ? STATUS_OK : status_fail(STATUS_FAILED, "no memory to map a buffer");
    }
    *memory = clEnqueueMapBuffer(buffer->device->core->queue, buffer->memory, CL_TRUE,
                                 CL_MAP_READ | CL_MAP_WRITE, 0, buffer->bytes, 0, NULL, NULL, &error);
    return opencl_check(buffer->device, error, "mapping a buffer");
}

enum status buffer_unmap(struct buffer *buffer, void *memory)
{
    if (!buffer->memory) {
        free(memory);
        return STATUS_OK;
    }
    return opencl_check(
        buffer->device,
        clEnqueueUnmapMemObject(buffer->device->core->queue, buffer->memory, memory, 0, NULL, NULL),
        "unmapping a buffer");
}

enum status buffer_lend(struct buffer *buffer, void **memory, void **native)
{
    TRY(buffer_map(buffer, memory));
    *native = buffer->memory;
    return opencl_check(buffer->device, clRetainMemObject(buffer->memory), "keeping a buffer");
}

void buffer_let_go(void *native)
{
    clReleaseMemObject(native);
}

/* Floats lie packed in the lower half; widening from the end overwrites none that is still needed. */
void reals_widen(enum precision precision, size_t count, double *values)
{
    for (size_t n = precision == PRECISION_SINGLE ? count : 0; n-- > 0;) {
        float value;
        memcpy(&value, (const char *)values + n * sizeof value, sizeof value);
        values[n] = (double)value;
    }
}

enum status buffer_read_reals(const struct buffer *buffer, enum precision precision, size_t first,
                              size_t count, double *destination)
{
    const size_t size = precision_bytes(precision);
    TRY(buffer_read(buffer, first * size, count * size, destination));
    reals_widen(precision, count, destination);
    return STATUS_OK;
}

enum status buffer_write_reals(struct buffer *buffer, enum precision precision, size_t first, size_t count,
                               const double *source)
{
    const size_t size = precision_bytes(precision);
    if (precision == PRECISION_DOUBLE)
        return buffer_write(buffer, first * size, count * size, source);
    float *packed = malloc((count ? count : 1) * sizeof *packed);
    if (!packed)
        return status_fail(STATUS_FAILED, "no memory to convert %zu numbers to single precision", count);
    for (size_t n = 0; n < count; n++)
        packed[n] = (float)source[n];
    const enum status status = buffer_write(buffer, first * size, count * size, packed);
    free(packed);
    return status;
}
