/* Stage table: rates from the times and bytes of the stages, of all ranks. */
#include "output/stage_table.h"

#include <stdbool.h>

enum { ROW_TOGETHER = STAGE_OTHER, ROW_WALL, ROWS };

/* A stage, what the table shows together, or the loop, of all ranks. */
struct row {
    const char *name;
    double least, mean, most;     /* seconds of a rank */
    double imbalance;             /* the most over the mean */
    double bandwidth, throughput; /* GB/s and particles/s, by the mean, or for the loop by the most */
    uint64_t bytes, launches;
};

struct table {
    struct row rows[ROWS];
    double particle_imbalance;
};

static double ratio(double amount, double of, double otherwise)
{
    return of > 0 ? amount / of : otherwise;
}

static struct table make_table(const struct communicator *communicator, const struct timers *timers,
                               const struct run_cost *cost)
{
    enum { BYTES, LAUNCHES, COUNTS };
    struct table table;
    double sums[ROWS] = {[ROW_WALL] = cost->wall_seconds}, most[ROWS], negative[ROWS];
    double most_particles = (double)cost->own_particles;
    uint64_t counts[ROWS][COUNTS] = {{0}};
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        const struct stage_time *time = &timers->stages[stage];
        sums[stage] = time->seconds;
        sums[ROW_TOGETHER] += stage == STAGE_LOAD ? 0 : time->seconds;
        counts[stage][BYTES] = time->bytes;
        counts[stage][LAUNCHES] = time->launches;
    }
    for (int row = 0; row < ROWS; row++) {
        most[row] = sums[row];
        negative[row] = -sums[row];
    }
    communicator_sum(communicator, ROWS, sums);
    communicator_max(communicator, ROWS, most);
    communicator_max(communicator, ROWS, negative);
    communicator_max(communicator, 1, &most_particles);
    communicator_sum_counts(communicator, ROWS * COUNTS, counts[0]);
    counts[ROW_WALL][LAUNCHES] = cost->steps;
    for (int n = 0; n < ROWS; n++) {
        const double mean = sums[n] / communicator->size, seconds = n == ROW_WALL ? most[n] : mean;
        /* The particles are loaded once. */
        const double particles = (n == STAGE_LOAD ? 1 : (double)cost->steps) * (double)cost->particles;
        table.rows[n] = (struct row){.name = n == ROW_WALL       ? "wall clock"
                                             : n == ROW_TOGETHER ? "stages together"
                                                                 : stage_name((enum stage)n),
                                     .least = -negative[n],
                                     .mean = mean,
                                     .most = most[n],
                                     .imbalance = ratio(most[n], mean, 1),
                                     .bandwidth = 1e-9 * ratio((double)counts[n][BYTES], seconds, 0),
                                     .throughput = ratio(particles, seconds, 0),
                                     .bytes = counts[n][BYTES],
                                     .launches = counts[n][LAUNCHES]};
    }
    table.particle_imbalance = ratio(most_particles * communicator->size, (double)cost->particles, 1);
    return table;
}

/* ---- on the terminal ---- */

static void print_table(struct log *log, int ranks, const struct table *table, const struct run_cost *cost)
{
    const double wall = table->rows[ROW_WALL].most;
    log_line(log, LOG_NORMAL, "%-20s %s %7s %9s %14s", "stage",
             ranks == 1 ? "   seconds" : "seconds: min       mean        max  imbalance", "share", "GB/s",
             "M particles/s");
    for (int n = 0; n < ROWS; n++) {
        const struct row *row = &table->rows[n];
        const bool is_stage = n < STAGE_OTHER;
        char seconds[64], bandwidth[32] = "";
        if (is_stage && (row->launches == 0 || n == STAGE_LOAD))
            continue;
        if (ranks == 1)
            snprintf(seconds, sizeof seconds, "%10.4f", row->mean);
        else
            snprintf(seconds, sizeof seconds, "%12.4f %10.4f %10.4f %10.3f", row->least, row->mean, row->most,
                     row->imbalance);
        if (is_stage)
            snprintf(bandwidth, sizeof bandwidth, "%.2f", row->bandwidth);
        log_line(log, LOG_NORMAL, "%-20s %s %5.1f %% %9s %14.1f", row->name, seconds,
                 n == ROW_WALL ? 100.0 : 100 * ratio(row->mean, wall, 0), bandwidth, 1e-6 * row->throughput);
    }
    if (ranks > 1)
        log_line(log, LOG_NORMAL, "%-20s %.3f: most particles of a rank over the mean of %d ranks",
                 "particle imbalance", table->particle_imbalance, ranks);
    if (cost->timed_every > 1)
        log_line(log, LOG_NORMAL, "(stages: %u times what one step in %u took)", cost->timed_every,
                 cost->timed_every);
}

/* ---- timers.csv ---- */

static enum status write_file(const struct run_folder *folder, const struct table *table)
{
    FILE *file;
    TRY(run_folder_open(folder, "timers.csv", "w", &file));
    fprintf(file, "stage,seconds,launches,bytes,gigabytes_per_second,particles_per_second,"
                  "seconds_min,seconds_mean,seconds_max,imbalance\n");
    for (int n = 0; n < ROWS; n++) {
        const struct row *row = &table->rows[n];
        if (n != ROW_TOGETHER)
            fprintf(file, "%s,%.9g,%llu,%llu,%.6g,%.6g,%.9g,%.9g,%.9g,%.6g\n", row->name,
                    n == ROW_WALL ? row->most : row->mean, (unsigned long long)row->launches,
                    (unsigned long long)row->bytes, row->bandwidth, row->throughput, row->least, row->mean,
                    row->most, row->imbalance);
    }
    return run_folder_close(folder, "timers.csv", file);
}

enum status stage_table_write(struct log *log, const struct run_folder *folder,
                              const struct communicator *communicator, const struct timers *timers,
                              const struct run_cost *cost)
{
    const struct table table = make_table(communicator, timers, cost);
    enum status status = STATUS_OK;
    if (communicator->rank == 0) {
        print_table(log, communicator->size, &table, cost);
        status = write_file(folder, &table);
    }
    return communicator_agree(communicator, status);
}
