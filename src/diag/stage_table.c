/* Stage table: rates from the times and bytes of the stages. */
#include "diag/stage_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static double per_second(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds : 0;
}

static double moved_particles(const struct run_cost *cost)
{
    return (double)cost->steps * (double)cost->particles;
}

/* Of a stage with fewer launches than steps, which the fused step takes once, to begin with, that of one
 * step. */
static double stage_particles(const struct run_cost *cost, const struct stage_time *time)
{
    return time->launches < cost->steps ? (double)cost->particles : moved_particles(cost);
}

void stage_table_print(struct log *log, const struct timers *timers, const struct run_cost *cost)
{
    const double moved = moved_particles(cost);
    double sum = 0;
    log_line(log, LOG_NORMAL, "%-20s %10s %7s %9s %14s", "stage", "seconds", "share", "GB/s",
             "M particles/s");
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        const struct stage_time *time = &timers->stages[stage];
        if (time->launches == 0 || stage == STAGE_LOAD)
            continue;
        sum += time->seconds;
        log_line(log, LOG_NORMAL, "%-20s %10.4f %5.1f %% %9.2f %14.1f", stage_name((enum stage)stage),
                 time->seconds, 100 * per_second(time->seconds, cost->wall_seconds),
                 1e-9 * per_second((double)time->bytes, time->seconds),
                 1e-6 * per_second(stage_particles(cost, time), time->seconds));
    }
    log_line(log, LOG_NORMAL, "%-20s %10.4f %5.1f %% %9s %14.1f", "stages together", sum,
             100 * per_second(sum, cost->wall_seconds), "", 1e-6 * per_second(moved, sum));
    log_line(log, LOG_NORMAL, "%-20s %10.4f %5.1f %% %9s %14.1f", "wall clock", cost->wall_seconds, 100.0, "",
             1e-6 * per_second(moved, cost->wall_seconds));
    if (cost->timed_every > 1)
        log_line(log, LOG_NORMAL, "(stages: %u times what one step in %u took)", cost->timed_every,
                 cost->timed_every);
}

enum status stage_table_write(const char *folder, const struct timers *timers, const struct run_cost *cost)
{
    char *path = NULL;
    if (asprintf(&path, "%s/timers.csv", folder) < 0)
        return status_fail(STATUS_FAILED, "no memory for the path of timers.csv");
    FILE *file = fopen(path, "w");
    if (file) {
        const double moved = moved_particles(cost);
        fprintf(file, "stage,seconds,launches,bytes,gigabytes_per_second,particles_per_second\n");
        for (int stage = 0; stage < STAGE_OTHER; stage++) {
            const struct stage_time *time = &timers->stages[stage];
            fprintf(file, "%s,%.9g,%llu,%llu,%.6g,%.6g\n", stage_name((enum stage)stage), time->seconds,
                    (unsigned long long)time->launches, (unsigned long long)time->bytes,
                    1e-9 * per_second((double)time->bytes, time->seconds),
                    stage == STAGE_LOAD ? per_second((double)cost->particles, time->seconds)
                                        : per_second(stage_particles(cost, time), time->seconds));
        }
        fprintf(file, "wall clock,%.9g,%llu,0,0,%.6g\n", cost->wall_seconds, (unsigned long long)cost->steps,
                per_second(moved, cost->wall_seconds));
    }
    const bool failed = !file || ferror(file);
    enum status status = STATUS_OK;
    if ((file && fclose(file) != 0) || failed)
        status = status_fail(STATUS_FAILED, "cannot write %s: %s", path, strerror(errno));
    free(path);
    return status;
}
