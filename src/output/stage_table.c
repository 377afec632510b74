/* Stage table: rates from the times and bytes of the stages, of all ranks. */
#include "output/stage_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_TOGETHER = STAGE_OTHER, ROW_WALL, ROWS };

/* How the seconds of a row spread over the ranks. */
struct spread {
    double least, mean, most;
};

/* The times of all ranks. */
struct summary {
    struct spread rows[ROWS];
    uint64_t bytes[STAGE_OTHER], launches[STAGE_OTHER];
    double particle_imbalance;
};

/* Of every row: a stage, what the table shows together, the loop. */
static void own_seconds(const struct timers *timers, const struct run_cost *cost, double *seconds)
{
    seconds[ROW_TOGETHER] = 0;
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        seconds[stage] = timers->stages[stage].seconds;
        if (stage != STAGE_LOAD)
            seconds[ROW_TOGETHER] += seconds[stage];
    }
    seconds[ROW_WALL] = cost->wall_seconds;
}

static struct summary summarise(const struct communicator *communicator, const struct timers *timers,
                                const struct run_cost *cost)
{
    struct summary summary;
    double sums[ROWS], most[ROWS], negative[ROWS], most_particles = (double)cost->own_particles;
    own_seconds(timers, cost, sums);
    for (int row = 0; row < ROWS; row++) {
        most[row] = sums[row];
        negative[row] = -sums[row];
    }
    communicator_sum(communicator, ROWS, sums);
    communicator_max(communicator, ROWS, most);
    communicator_max(communicator, ROWS, negative);
    communicator_max(communicator, 1, &most_particles);
    for (int row = 0; row < ROWS; row++)
        summary.rows[row] = (struct spread){-negative[row], sums[row] / communicator->size, most[row]};
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        summary.bytes[stage] = timers->stages[stage].bytes;
        summary.launches[stage] = timers->stages[stage].launches;
    }
    communicator_sum_counts(communicator, STAGE_OTHER, summary.bytes);
    communicator_sum_counts(communicator, STAGE_OTHER, summary.launches);
    summary.particle_imbalance =
        cost->particles > 0 ? most_particles * communicator->size / (double)cost->particles : 1;
    return summary;
}

static double imbalance(const struct spread *spread)
{
    return spread->mean > 0 ? spread->most / spread->mean : 1;
}

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
static double stage_particles(const struct communicator *communicator, const struct summary *summary,
                              const struct run_cost *cost, int stage)
{
    const bool in_every_step = summary->launches[stage] >= cost->steps * (uint64_t)communicator->size;
    return stage != STAGE_LOAD && in_every_step ? moved_particles(cost) : (double)cost->particles;
}

/* ---- on the terminal ---- */

static void print_header(struct log *log, int ranks)
{
    if (ranks == 1)
        log_line(log, LOG_NORMAL, "%-20s %10s %7s %9s %14s", "stage", "seconds", "share", "GB/s",
                 "M particles/s");
    else
        log_line(log, LOG_NORMAL, "%-20s %12s %10s %10s %10s %7s %9s %14s", "stage", "seconds: min", "mean",
                 "max", "imbalance", "share", "GB/s", "M particles/s");
}

/* `rate` is what stands under GB/s. */
static void print_row(struct log *log, int ranks, const char *name, const struct spread *spread, double share,
                      const char *rate, double particles_per_second)
{
    if (ranks == 1)
        log_line(log, LOG_NORMAL, "%-20s %10.4f %5.1f %% %9s %14.1f", name, spread->mean, 100 * share, rate,
                 1e-6 * particles_per_second);
    else
        log_line(log, LOG_NORMAL, "%-20s %12.4f %10.4f %10.4f %10.3f %5.1f %% %9s %14.1f", name,
                 spread->least, spread->mean, spread->most, imbalance(spread), 100 * share, rate,
                 1e-6 * particles_per_second);
}

static void print_summary(struct log *log, const struct communicator *communicator,
                          const struct summary *summary, const struct run_cost *cost)
{
    const int ranks = communicator->size;
    const double moved = moved_particles(cost);
    const struct spread *together = &summary->rows[ROW_TOGETHER], *wall = &summary->rows[ROW_WALL];
    print_header(log, ranks);
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        const struct spread *spread = &summary->rows[stage];
        char rate[32];
        if (summary->launches[stage] == 0 || stage == STAGE_LOAD)
            continue;
        snprintf(rate, sizeof rate, "%.2f", 1e-9 * per_second((double)summary->bytes[stage], spread->mean));
        print_row(log, ranks, stage_name((enum stage)stage), spread, per_second(spread->mean, wall->most),
                  rate, per_second(stage_particles(communicator, summary, cost, stage), spread->mean));
    }
    print_row(log, ranks, "stages together", together, per_second(together->mean, wall->most), "",
              per_second(moved, together->mean));
    print_row(log, ranks, "wall clock", wall, 1, "", per_second(moved, wall->most));
    if (ranks > 1)
        log_line(log, LOG_NORMAL, "%-20s %.3f: most particles of a rank over the mean of %d ranks",
                 "particle imbalance", summary->particle_imbalance, ranks);
    if (cost->timed_every > 1)
        log_line(log, LOG_NORMAL, "(stages: %u times what one step in %u took)", cost->timed_every,
                 cost->timed_every);
}

void stage_table_print(struct log *log, const struct communicator *communicator, const struct timers *timers,
                       const struct run_cost *cost)
{
    const struct summary summary = summarise(communicator, timers, cost);
    if (communicator->rank == 0)
        print_summary(log, communicator, &summary, cost);
}

/* ---- timers.csv ---- */

static void write_spread(FILE *file, const struct spread *spread)
{
    fprintf(file, ",%.9g,%.9g,%.9g,%.6g\n", spread->least, spread->mean, spread->most, imbalance(spread));
}

static void write_rows(FILE *file, const struct communicator *communicator, const struct summary *summary,
                       const struct run_cost *cost)
{
    const struct spread *wall = &summary->rows[ROW_WALL];
    fprintf(file, "stage,seconds,launches,bytes,gigabytes_per_second,particles_per_second,"
                  "seconds_min,seconds_mean,seconds_max,imbalance\n");
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        const struct spread *spread = &summary->rows[stage];
        fprintf(file, "%s,%.9g,%llu,%llu,%.6g,%.6g", stage_name((enum stage)stage), spread->mean,
                (unsigned long long)summary->launches[stage], (unsigned long long)summary->bytes[stage],
                1e-9 * per_second((double)summary->bytes[stage], spread->mean),
                per_second(stage_particles(communicator, summary, cost, stage), spread->mean));
        write_spread(file, spread);
    }
    fprintf(file, "wall clock,%.9g,%llu,0,0,%.6g", wall->most, (unsigned long long)cost->steps,
            per_second(moved_particles(cost), wall->most));
    write_spread(file, wall);
}

static enum status write_file(const char *folder, const struct communicator *communicator,
                              const struct summary *summary, const struct run_cost *cost)
{
    char *path = NULL;
    if (asprintf(&path, "%s/timers.csv", folder) < 0)
        return status_fail(STATUS_FAILED, "no memory for the path of timers.csv");
    FILE *file = fopen(path, "w");
    if (file)
        write_rows(file, communicator, summary, cost);
    const bool failed = !file || ferror(file);
    enum status status = STATUS_OK;
    if ((file && fclose(file) != 0) || failed)
        status = status_fail(STATUS_FAILED, "cannot write %s: %s", path, strerror(errno));
    free(path);
    return status;
}

enum status stage_table_write(const char *folder, const struct communicator *communicator,
                              const struct timers *timers, const struct run_cost *cost)
{
    const struct summary summary = summarise(communicator, timers, cost);
    enum status status = STATUS_OK;
    if (communicator->rank == 0)
        status = write_file(folder, communicator, &summary, cost);
    return communicator_agree(communicator, status);
}
