/* Stage table: rates from the times and bytes of the stages, of all ranks. */
#include "output/stage_table.h"

#include "base/replace.h"

/* Rows behind the rows of the stages. */
enum { ROW_TOGETHER = STAGE_COUNT, ROW_STEPS, ROW_WALL, ROWS };

/* A row: a stage, all stages together, the step loop, or the whole process, of all ranks. */
struct row {
    const char *name;
    double least, mean, most;     /* seconds of a rank */
    double imbalance;             /* the most over the mean */
    double bandwidth, throughput; /* GB/s and particles/s, by the mean, or for the loop by the most; or 0 */
    uint64_t bytes, launches;
};

struct table {
    struct row rows[ROWS];
    double particle_imbalance;
};

/* Row number n of the rows that are shown: the stages of the start come first. */
static int shown_row(int n)
{
    enum { FIRST = STAGE_START_MPI, COUNT = STAGE_COUNT - FIRST };
    return n < COUNT ? FIRST + n : n < STAGE_COUNT ? n - COUNT : n;
}

static bool is_of_steps(int row)
{
    return (row > STAGE_LOAD && row < STAGE_WAIT) || row == ROW_STEPS;
}

static double ratio(double amount, double of, double otherwise)
{
    return of > 0 ? amount / of : otherwise;
}

static struct table make_table(const struct communicator *communicator, const struct timers *timers,
                               const struct run_cost *cost)
{
    static const char *const names[ROWS] = {
        [ROW_TOGETHER] = "stages together", [ROW_STEPS] = "steps", [ROW_WALL] = "wall clock"};
    enum { BYTES, LAUNCHES, COUNTS };
    struct table table;
    double sums[ROWS] = {[ROW_STEPS] = cost->step_seconds, [ROW_WALL] = cost->wall_seconds};
    double most[2 * ROWS + 1]; /* of each row, then of its negative, then of the particles */
    uint64_t counts[ROWS][COUNTS] = {{0}};
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        const struct stage_time *time = &timers->stages[stage];
        if (stage == STAGE_OTHER)
            continue;
        sums[stage] = time->seconds;
        sums[ROW_TOGETHER] += time->seconds;
        counts[stage][BYTES] = time->bytes;
        counts[stage][LAUNCHES] = time->launches;
    }
    if (sums[ROW_TOGETHER] < cost->wall_seconds) {
        sums[STAGE_OTHER] = cost->wall_seconds - sums[ROW_TOGETHER];
        sums[ROW_TOGETHER] = cost->wall_seconds;
    }
    for (int row = 0; row < ROWS; row++) {
        most[row] = sums[row];
        most[ROWS + row] = -sums[row];
    }
    most[2 * ROWS] = (double)cost->own_particles;
    communicator_sum(communicator, ROWS, sums);
    communicator_max(communicator, 2 * ROWS + 1, most);
    communicator_sum_counts(communicator, ROWS * COUNTS, counts[0]);
    counts[ROW_STEPS][LAUNCHES] = cost->steps;
    for (int n = 0; n < ROWS; n++) {
        const double mean = sums[n] / communicator->size, seconds = n >= ROW_STEPS ? most[n] : mean;
        /* The particles are loaded once. */
        const double times = n == ROW_STEPS   ? (double)cost->advances
                             : is_of_steps(n) ? (double)cost->steps
                                              : n == STAGE_LOAD;
        table.rows[n] = (struct row){.name = n < STAGE_COUNT ? stage_name((enum stage)n) : names[n],
                                     .least = -most[ROWS + n],
                                     .mean = mean,
                                     .most = most[n],
                                     .imbalance = ratio(most[n], mean, 1),
                                     .bandwidth = 1e-9 * ratio((double)counts[n][BYTES], seconds, 0),
                                     .throughput = ratio(times * (double)cost->particles, seconds, 0),
                                     .bytes = counts[n][BYTES],
                                     .launches = counts[n][LAUNCHES]};
    }
    table.particle_imbalance = ratio(most[2 * ROWS] * communicator->size, (double)cost->particles, 1);
    return table;
}

/* ---- on the terminal ---- */

static void print_table(struct log *log, int ranks, const struct table *table, const struct run_cost *cost)
{
    log_line(log, LOG_NORMAL, "%-20s %s %7s %9s %14s", "stage",
             ranks == 1 ? "   seconds" : "seconds: min       mean        max  imbalance", "share", "GB/s",
             "M particles/s");
    for (int shown = 0; shown < ROWS; shown++) {
        const int n = shown_row(shown);
        const struct row *row = &table->rows[n];
        char seconds[64], bandwidth[32] = "", rates[64] = "";
        if (n < STAGE_COUNT && n != STAGE_OTHER && row->launches == 0)
            continue;
        if (ranks == 1)
            snprintf(seconds, sizeof seconds, "%10.4f", row->mean);
        else
            snprintf(seconds, sizeof seconds, "%12.4f %10.4f %10.4f %10.3f", row->least, row->mean, row->most,
                     row->imbalance);
        if (is_of_steps(n) && n != ROW_STEPS)
            snprintf(bandwidth, sizeof bandwidth, "%.2f", row->bandwidth);
        if (is_of_steps(n))
            snprintf(rates, sizeof rates, " %9s %14.1f", bandwidth, 1e-6 * row->throughput);
        log_line(log, LOG_NORMAL, "%-20s %s %5.1f %%%s", row->name, seconds,
                 n == ROW_WALL ? 100.0 : 100 * ratio(row->mean, table->rows[ROW_WALL].most, 0), rates);
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
    struct replacement replacement;
    TRY(replace_begin(folder->descriptor, folder->path, "timers.csv", &replacement));
    FILE *file = replacement.file;
    fprintf(file, "stage,seconds,launches,bytes,gigabytes_per_second,particles_per_second,"
                  "seconds_min,seconds_mean,seconds_max,imbalance\n");
    for (int shown = 0; shown < ROWS; shown++) {
        const int n = shown_row(shown);
        const struct row *row = &table->rows[n];
        if (n != ROW_TOGETHER)
            fprintf(file, "%s,%.9g,%llu,%llu,%.6g,%.6g,%.9g,%.9g,%.9g,%.6g\n", row->name,
                    n >= ROW_STEPS ? row->most : row->mean, (unsigned long long)row->launches,
                    (unsigned long long)row->bytes, row->bandwidth, row->throughput, row->least, row->mean,
                    row->most, row->imbalance);
    }
    return replace_end(&replacement, STATUS_OK);
}

enum status stage_table_write(struct log *log, const struct run_folder *folder,
                              const struct communicator *communicator, const struct timers *timers,
                              const struct run_cost *cost)
{
    const struct table table = make_table(communicator, timers, cost);
    if (communicator->rank == 0)
        print_table(log, communicator->size, &table, cost);
    return communicator_agree(communicator, communicator->rank == 0 ? write_file(folder, &table) : STATUS_OK);
}
