/* Device: the context and queue of one device, and the harvest of its profiling events. */
#include "device/internal.h"

#include <stdlib.h>

/* The errors that name themselves in messages, and the rows of their table. */
/* clang-format off */
#define ERRORS(row) \
    row(CL_DEVICE_NOT_FOUND) row(CL_DEVICE_NOT_AVAILABLE) row(CL_COMPILER_NOT_AVAILABLE) \
    row(CL_MEM_OBJECT_ALLOCATION_FAILURE) row(CL_OUT_OF_RESOURCES) row(CL_OUT_OF_HOST_MEMORY) \
    row(CL_PROFILING_INFO_NOT_AVAILABLE) row(CL_BUILD_PROGRAM_FAILURE) row(CL_INVALID_VALUE) \
    row(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) row(CL_INVALID_BUFFER_SIZE) row(CL_INVALID_KERNEL_NAME) \
    row(CL_INVALID_ARG_INDEX) row(CL_INVALID_ARG_SIZE) row(CL_INVALID_KERNEL_ARGS) \
    row(CL_INVALID_WORK_GROUP_SIZE) row(CL_INVALID_COMMAND_QUEUE) row(CL_INVALID_CONTEXT) \
    row(CL_INVALID_DEVICE) row(CL_INVALID_MEM_OBJECT) row(CL_INVALID_EVENT_WAIT_LIST)
/* clang-format on */
#define CODE_AND_NAME(code) {code, #code},

const char *opencl_error_name(cl_int error)
{
    static const struct {
        cl_int code;
        const char *name;
    } names[] = {ERRORS(CODE_AND_NAME)};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        if (names[n].code == error)
            return names[n].name;
    return "OpenCL error";
}

enum status opencl_check(const struct device *device, cl_int error, const char *action)
{
    if (error == CL_SUCCESS)
        return STATUS_OK;
    return status_fail(STATUS_FAILED, "%s: %s: %s (%d)", device->core->info.name, action,
                       opencl_error_name(error), error);
}

static enum status open_queues(struct core *core)
{
    cl_int error = CL_SUCCESS;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)core->platform,
                                                0};
    if (!core->context)
        core->context = clCreateContext(properties, 1, &core->id, NULL, NULL, &error);
    for (int n = 0; n < QUEUES && error == CL_SUCCESS; n++)
        core->queues[n] = clCreateCommandQueue(core->context, core->id, CL_QUEUE_PROFILING_ENABLE, &error);
    core->queue = core->queues[QUEUE_MAIN];
    if (error == CL_SUCCESS)
        return STATUS_OK;
    return status_fail(STATUS_NO_DEVICE, "%s: cannot be opened: %s (%d)", core->info.name,
                       opencl_error_name(error), error);
}

/* The first handle of a device, without queues. */
static enum status create_handle(struct device **device)
{
    struct core *core = calloc(1, sizeof *core);
    *device = NULL;
    if (!core)
        return status_fail(STATUS_FAILED, "no memory for the description of a device");
    core->first_handle.core = core;
    core->weight = 1;
    *device = &core->first_handle;
    return STATUS_OK;
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

enum status device_open(const char *spec, uint32_t turn, uint32_t processors, struct device **device)
{
    TRY(create_handle(device));
    struct core *core = (*device)->core;
    enum status status = device_choose(spec, turn, processors, core);
    TRY_IF_OK(open_queues(core));
    core->info.kernels = program_digest();
    if (status == STATUS_OK)
        device_queue_host_calls(*device, true);
    else
        device_close(device);
    return status;
}

enum status device_open_in(void *context, void *id, struct device **device)
{
    TRY(create_handle(device));
    struct core *core = (*device)->core;
    core->id = id;
    core->weight = 0;
    enum status status = device_info_of(id, &core->info);
    if (status == STATUS_OK && clRetainContext(context) == CL_SUCCESS)
        core->context = context;
    else if (status == STATUS_OK)
        status = status_fail(STATUS_USAGE, "context: expected a cl_context");
    TRY_IF_OK(open_queues(core));
    if (status != STATUS_OK)
        device_close(device);
    return status;
}

enum status device_open_counting(const struct device_info *info, struct device **device)
{
    TRY(create_handle(device));
    (*device)->core->info = *info;
    (*device)->core->is_counting = true;
    return STATUS_OK;
}

bool device_is_counting(const struct device *device)
{
    return device->core->is_counting;
}

static void release_oldest(struct device *device, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        if (device->core->pending[n].begin)
            clReleaseEvent(device->core->pending[n].begin);
        clReleaseEvent(device->core->pending[n].end);
    }
    for (size_t n = count; n < device->core->pending_count; n++)
        device->core->pending[n - count] = device->core->pending[n];
    device->core->pending_count -= count;
}

void device_close(struct device **device)
{
    struct device *old = *device;
    *device = NULL;
    if (!old)
        return;
    struct core *core = old->core;
    if (old != &core->first_handle) {
        device_release(&old->owned);
        return;
    }
    for (int n = 0; n < QUEUES; n++)
        if (core->queues[n])
            clFinish(core->queues[n]);
    while (old->first)
        device_release(old->first);
    release_oldest(old, core->pending_count);
    if (core->mark)
        clReleaseEvent(core->mark);
    for (int n = 0; n < QUEUES; n++)
        if (core->queues[n])
            clReleaseCommandQueue(core->queues[n]);
    if (core->context)
        clReleaseContext(core->context);
    free(core);
}

enum status device_close_after(struct device **device, enum status status)
{
    device_close(device);
    return status;
}

const struct device_info *device_info(const struct device *device)
{
    return &device->core->info;
}

size_t device_bytes_held(const struct device *device)
{
    return device->core->bytes_held;
}

size_t device_most_bytes_held(struct device *device)
{
    const size_t most = device->core->most_bytes_held;
    device->core->most_bytes_held = device->core->bytes_held;
    return most;
}

struct device_native device_native(const struct device *device)
{
    return (struct device_native){device->core->platform, device->core->id, device->core->context,
                                  device->core->queue};
}

/* Waits for the oldest `count` events and moves their times into the table. */
static enum status harvest(struct device *device, size_t count)
{
    cl_event ends[PENDING_CAPACITY]; /* the latest first: once it is waited for most others are done */
    for (size_t n = 0; n < count; n++)
        ends[count - 1 - n] = device->core->pending[n].end;
    cl_int error = count > 0 ? clWaitForEvents((cl_uint)count, ends) : CL_SUCCESS;
    if (error != CL_SUCCESS) {
        release_oldest(device, count);
        return opencl_check(device, error, "waiting for kernels");
    }
    for (size_t n = 0; n < count; n++) {
        const struct pending_event *event = &device->core->pending[n];
        const cl_profiling_info from = event->begin ? CL_PROFILING_COMMAND_END : CL_PROFILING_COMMAND_START;
        cl_ulong start = 0, end = 0;
        error = clGetEventProfilingInfo(event->begin ? event->begin : event->end, from, sizeof start, &start,
                                        NULL);
        if (error == CL_SUCCESS)
            error = clGetEventProfilingInfo(event->end, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
        if (error == CL_SUCCESS)
            timers_add(&device->core->timers, event->stage, end > start ? 1e-9 * (double)(end - start) : 0.0,
                       event->bytes, event->weight);
    }
    release_oldest(device, count);
    return STATUS_OK;
}

enum status device_record(struct device *device, cl_event begin, cl_event end, enum stage stage,
                          uint64_t bytes)
{
    if (!end)
        return STATUS_OK;
    device->core->pending[device->core->pending_count++] =
        (struct pending_event){begin, end, stage, bytes, device->core->weight};
    if (device->core->pending_count == PENDING_CAPACITY)
        return harvest(device, PENDING_CAPACITY / 2);
    return STATUS_OK;
}

enum status device_finish(struct device *device)
{
    for (int n = 0; n < QUEUES; n++)
        if (device->core->queues[n])
            TRY(opencl_check(device, clFinish(device->core->queues[n]), "finishing a queue"));
    return STATUS_OK;
}

enum status device_finish_queue(struct device *device)
{
    if (device->core->is_counting)
        return STATUS_OK;
    return opencl_check(device, clFinish(device->core->queue), "finishing a queue");
}

enum status device_mark(struct device *device)
{
    struct core *core = device->core;
    if (core->mark)
        clReleaseEvent(core->mark);
    core->mark = NULL;
    if (core->is_counting)
        return STATUS_OK;
    TRY(opencl_check(device, clEnqueueMarkerWithWaitList(core->queue, 0, NULL, &core->mark),
                     "marking a queue"));
    return opencl_check(device, clFlush(core->queue), "submitting a queue");
}

enum status device_finish_mark(struct device *device)
{
    if (!device->core->mark)
        return STATUS_OK;
    return opencl_check(device, clWaitForEvents(1, &device->core->mark), "waiting for a mark");
}

/* ---- two queues ---- */

/* What `later` gets from now on begins after what `earlier` has now. */
static enum status order_queues(struct device *device, cl_command_queue earlier, cl_command_queue later)
{
    if (device->core->is_counting)
        return STATUS_OK;
    cl_event reached = NULL;
    TRY(opencl_check(device, clEnqueueMarkerWithWaitList(earlier, 0, NULL, &reached), "marking a queue"));
    cl_int error = clFlush(earlier); /* or a wait for `later` could last for ever */
    if (error == CL_SUCCESS)
        error = clEnqueueBarrierWithWaitList(later, 1, &reached, NULL);
    clReleaseEvent(reached);
    return opencl_check(device, error, "making a queue wait for another");
}

enum status device_fork(struct device *device)
{
    return order_queues(device, device->core->queues[QUEUE_MAIN], device->core->queues[QUEUE_SIDE]);
}

enum status device_use(struct device *device, enum device_queue queue)
{
    if (device->core->is_counting)
        return STATUS_OK;
    const cl_int error = clFlush(device->core->queue); /* it may be a while until this one is waited for */
    device->core->queue = device->core->queues[queue];
    return opencl_check(device, error, "submitting a queue");
}

enum status device_join(struct device *device)
{
    device->core->queue = device->core->queues[QUEUE_MAIN];
    return order_queues(device, device->core->queues[QUEUE_SIDE], device->core->queues[QUEUE_MAIN]);
}

const struct timers *device_timers(struct device *device)
{
    /* A failure is not lost: the next call that waits for the device reports it. */
    const enum status reported_later = harvest(device, device->core->pending_count);
    (void)reported_later;
    return &device->core->timers;
}

void device_reset_timers(struct device *device)
{
    (void)device_timers(device);
    device->core->timers = (struct timers){0};
}

void device_add_time(struct device *device, enum stage stage, double seconds, uint64_t bytes)
{
    timers_add(&device->core->timers, stage, seconds, bytes, 1);
}

void device_weigh_times(struct device *device, uint32_t weight)
{
    device->core->weight = weight;
}

enum status device_region_begin(struct device *device)
{
    if (device->core->weight == 0 || device->core->is_counting)
        return STATUS_OK;
    return opencl_check(
        device, clEnqueueMarkerWithWaitList(device->core->queue, 0, NULL, &device->core->region_begin),
        "marking the begin of a region");
}

enum status device_region_end(struct device *device, enum stage stage, uint64_t bytes, enum status status)
{
    cl_event end = NULL, begin = device->core->region_begin;
    device->core->region_begin = NULL;
    if (!begin)
        return status;
    const cl_int error = clEnqueueMarkerWithWaitList(device->core->queue, 0, NULL, &end);
    if (error != CL_SUCCESS)
        clReleaseEvent(begin);
    const enum status ended = error == CL_SUCCESS
                                  ? device_record(device, begin, end, stage, bytes)
                                  : opencl_check(device, error, "marking the end of a region");
    return status != STATUS_OK ? status : ended;
}
