/* Stage table: rates from the times and bytes of the stages, of all ranks. */
#include "output/stage_table.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { ROW_TOGETHER = STAGE_OTHER, ROW_WALL, ROWS };

/* A stage, what the table shows together, or the loop, of all ranks. */
struct row {
    const char *name;
    double least, mean, most; /* seconds of a rank */
    double seconds;           /* that rates are by */
    uint64_t bytes, launches;
    double particles; /* handled in these seconds */
};

struct table {
    struct row rows[ROWS];
    double particle_imbalance;
};

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

/* Counts, rates and name of a row whose seconds are known. The particles are loaded once. */
static void describe_row(const struct run_cost *cost, int stage, struct row *row)
{
    const bool is_stage = stage < STAGE_OTHER;
    row->name = is_stage            ? stage_name((enum stage)stage)
                : stage == ROW_WALL ? "wall clock"
                                    : "stages together";
    row->seconds = stage == ROW_WALL ? row->most : row->mean;
    row->particles = (stage == STAGE_LOAD ? 1 : (double)cost->steps) * (double)cost->particles;
    if (stage == ROW_WALL)
        row->launches = cost->steps;
}

static struct table make_table(const struct communicator *communicator, const struct timers *timers,
                               const struct run_cost *cost)
{
    struct table table = {0};
    double sums[ROWS], most[ROWS], negative[ROWS], most_particles = (double)cost->own_particles;
    uint64_t counts[2 * STAGE_OTHER];
    own_seconds(timers, cost, sums);
    for (int row = 0; row < ROWS; row++) {
        most[row] = sums[row];
        negative[row] = -sums[row];
    }
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        counts[2 * stage] = timers->stages[stage].bytes;
        counts[2 * stage + 1] = timers->stages[stage].launches;
    }
    communicator_sum(communicator, ROWS, sums);
    communicator_max(communicator, ROWS, most);
    communicator_max(communicator, ROWS, negative);
    communicator_max(communicator, 1, &most_particles);
    communicator_sum_counts(communicator, 2 * STAGE_OTHER, counts);
    for (int n = 0; n < ROWS; n++) {
        struct row *row = &table.rows[n];
        *row = (struct row){.least = -negative[n], .mean = sums[n] / communicator->size, .most = most[n]};
        if (n < STAGE_OTHER) {
            row->bytes = counts[2 * n];
            row->launches = counts[2 * n + 1];
        }
        describe_row(cost, n, row);
    }
    table.particle_imbalance =
        cost->particles > 0 ? most_particles * communicator->size / (double)cost->particles : 1;
    return table;
}

static double imbalance(const struct row *row)
{
    return row->mean > 0 ? row->most / row->mean : 1;
}

static double per_second(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds : 0;
}

static double gigabytes_per_second(const struct row *row)
{
    return 1e-9 * per_second((double)row->bytes, row->seconds);
}

/* ---- on the terminal ---- */

static void print_row(struct log *log, int ranks, const struct row *row, const struct row *wall,
                      bool is_stage)
{
    char seconds[64], rate[32] = "";
    if (ranks == 1)
        snprintf(seconds, sizeof seconds, "%10.4f", row->mean);
    else
        snprintf(seconds, sizeof seconds, "%12.4f %10.4f %10.4f %10.3f", row->least, row->mean, row->most,
                 imbalance(row));
    if (is_stage)
        snprintf(rate, sizeof rate, "%.2f", gigabytes_per_second(row));
    log_line(log, LOG_NORMAL, "%-20s %s %5.1f %% %9s %14.1f", row->name, seconds,
             row == wall ? 100.0 : 100 * per_second(row->mean, wall->most), rate,
             1e-6 * per_second(row->particles, row->seconds));
}

static void print_table(struct log *log, int ranks, const struct table *table, const struct run_cost *cost)
{
    const struct row *wall = &table->rows[ROW_WALL];
    log_line(log, LOG_NORMAL, "%-20s %s %7s %9s %14s", "stage",
             ranks == 1 ? "   seconds" : "seconds: min       mean        max  imbalance", "share", "GB/s",
             "M particles/s");
    for (int n = 0; n < ROWS; n++)
        if (n >= STAGE_OTHER || (table->rows[n].launches > 0 && n != STAGE_LOAD))
            print_row(log, ranks, &table->rows[n], wall, n < STAGE_OTHER);
    if (ranks > 1)
        log_line(log, LOG_NORMAL, "%-20s %.3f: most particles of a rank over the mean of %d ranks",
                 "particle imbalance", table->particle_imbalance, ranks);
    if (cost->timed_every > 1)
        log_line(log, LOG_NORMAL, "(stages: %u times what one step in %u took)", cost->timed_every,
                 cost->timed_every);
}

void stage_table_print(struct log *log, const struct communicator *communicator, const struct timers *timers,
                       const struct run_cost *cost)
{
    const struct table table = make_table(communicator, timers, cost);
    if (communicator->rank == 0)
        print_table(log, communicator->size, &table, cost);
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
            fprintf(file, "%s,%.9g,%llu,%llu,%.6g,%.6g,%.9g,%.9g,%.9g,%.6g\n", row->name, row->seconds,
                    (unsigned long long)row->launches, (unsigned long long)row->bytes,
                    gigabytes_per_second(row), per_second(row->particles, row->seconds), row->least,
                    row->mean, row->most, imbalance(row));
    }
    const bool failed = ferror(file) != 0;
    if (fclose(file) == 0 && !failed)
        return STATUS_OK;
    return status_fail(STATUS_FAILED, "cannot write %s/timers.csv: %s", folder->path, strerror(errno));
}

enum status stage_table_write(const struct run_folder *folder, const struct communicator *communicator,
                              const struct timers *timers, const struct run_cost *cost)
{
    const struct table table = make_table(communicator, timers, cost);
    return communicator_agree(communicator, communicator->rank == 0 ? write_file(folder, &table) : STATUS_OK);
}
