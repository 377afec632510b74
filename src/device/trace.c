/* Trace: when each timed launch, transfer and wait of a rank began and ended, for scripts/plot_trace.py. */
#include "device/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Seconds to add to a device's time. The least of several measurements has the least delay of the host. */
static double clock_offset(const struct core *core)
{
    enum { TRIES = 20 };
    double offset = 0;
    for (int n = 0; n < TRIES; n++) {
        cl_event marker = NULL;
        cl_ulong end = 0;
        if (clEnqueueMarkerWithWaitList(core->queue, 0, NULL, &marker) || clFinish(core->queue) ||
            clGetEventProfilingInfo(marker, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL))
            return 0;
        const double found = timer_now() - 1e-9 * (double)end;
        offset = n == 0 || found < offset ? found : offset;
        clReleaseEvent(marker);
    }
    return offset;
}

enum status device_trace(struct device *device, int rank)
{
    struct core *core = device->core;
    const char *name = getenv("RADIXPIC_TRACE");
    char path[4096];
    if (!name || !*name)
        return STATUS_OK;
    errno = ENAMETOOLONG;
    if (snprintf(path, sizeof path, "%s.%d.csv", name, rank) < (int)sizeof path)
        core->trace = fopen(path, "w");
    if (!core->trace)
        return status_fail(STATUS_FAILED, "cannot write %s, the trace: %s", path, strerror(errno));
    core->trace_offset = clock_offset(core);
    fprintf(core->trace, "lane,stage,begin_s,end_s\n");
    return STATUS_OK;
}

void trace_host(const struct core *core, const char *what, double begin)
{
    if (core->trace && core->weight > 0)
        fprintf(core->trace, "host,%s,%.9f,%.9f\n", what, begin, timer_now());
}

void trace_event(const struct core *core, const struct pending_event *event, uint64_t begin, uint64_t end)
{
    static const char *const lanes[QUEUES] = {"main queue", "side queue"};
    if (core->trace)
        fprintf(core->trace, "%s,%s,%.9f,%.9f\n", lanes[event->queue], stage_name(event->stage),
                core->trace_offset + 1e-9 * (double)begin, core->trace_offset + 1e-9 * (double)end);
}
