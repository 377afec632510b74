/* Deposit: what it costs by the particles in a cell, cell by cell from a sorted list against atomic
 * additions, to lists in order and shuffled: where sorting pays. */
#include "experiments/steps/deposit.h"

enum { MOST_PER_CELL = 8192 };

/* In the table and in the file. */
static const char *const titles[COLUMNS] = {"sorted", "sort+", "atomic", "shuffled"};
static const char *const words[COLUMNS] = {"sorted", "sort+sorted", "atomic-ordered", "atomic-shuffled"};

/* ---- tables ---- */

static struct spread seconds_of(const struct deposit_point *point, int column)
{
    return point->times[column].stages[STAGE_OTHER];
}

static const char *shape_name(const struct bench *bench, int shape)
{
    return options_word(&bench->experiment->options, "shape", shape);
}

static void print_head(const struct bench *bench, int shape)
{
    const struct options *options = bench->options;
    printf("\n%s: ms, medians of %u with [min, max]; sort+ is with the sort of a shuffled list, shuffled are "
           "atomic additions to one\n",
           shape_name(bench, shape), options->common.repeats);
    printf("  %8s %10s", "per cell", "cells");
    for (int column = 0; column < COLUMNS; column++)
        printf(" %9s [%8s, %8s]", titles[column], "min", "max");
    printf("\n");
}

static void report_point(struct bench *bench, int shape, const struct deposit_point *point)
{
    const struct options *options = bench->options;
    char grid[32];
    snprintf(grid, sizeof grid, "%ux%u", point->cells[0], point->cells[1]);
    printf("  %8g %10s", point->per_cell, grid);
    for (int column = 0; column < COLUMNS; column++) {
        const struct spread seconds = seconds_of(point, column);
        printf(" %9.3f [%8.3f, %8.3f]", 1e3 * seconds.median, 1e3 * seconds.least, 1e3 * seconds.most);
        bench_words(bench, false, "shape=%s precision=%s atomics=%s N=%u cells=%s per_cell=%g method=%s",
                    shape_name(bench, shape),
                    options_word(&bench->experiment->options, "precision", (int)options->precision),
                    point->way == ATOMIC_64 ? "64" : "32", options->particles, grid, point->per_cell,
                    words[column]);
        bench_row(bench, "time_ms", seconds, 1e3, point->verified);
        bench_row(bench, "particle_ns", seconds, 1e9 / options->particles, point->verified);
        bench_row(bench, "rate_GB/s", spread_rate(1e-9 * (double)times_bytes(&point->times[column]), seconds),
                  1, point->verified);
    }
    printf("  %s%s\n", point->verified ? "verified" : "NOT VERIFIED: ", point->verdict);
    fflush(stdout);
}

/* The same times per particle and per byte, and how many times faster a list in order is deposited by sorted,
 * and a shuffled one by sort+, than by atomic additions. */
static void print_rates(const struct options *options, const struct deposit_point *points)
{
    printf("\n  %8s  %-39s  %-39s  %s\n", "", "ns a particle", "GB/s", "times faster than atomic");
    printf("  %8s ", "per cell");
    for (int part = 0; part < 2; part++, printf(" "))
        for (int column = 0; column < COLUMNS; column++)
            printf(" %9s", titles[column]);
    printf(" %9s %9s\n", "in order", "shuffled");
    for (const struct deposit_point *point = points; point < points + options->per_cell.count; point++) {
        double seconds[COLUMNS];
        printf("  %8g ", point->per_cell);
        for (int column = 0; column < COLUMNS; column++) {
            seconds[column] = seconds_of(point, column).median;
            printf(" %9.4f", 1e9 * seconds[column] / options->particles);
        }
        printf(" ");
        for (int column = 0; column < COLUMNS; column++)
            printf(" %9.2f", per_second(1e-9 * (double)times_bytes(&point->times[column]), seconds[column]));
        printf("  %9.2f %9.2f\n", per_second(seconds[ATOMIC_ORDERED], seconds[SORTED]),
               per_second(seconds[ATOMIC_SHUFFLED], seconds[SORT_AND_SORTED]));
    }
}

/* The particles per cell at which one column takes less time than another. */
static void print_where(const struct options *options, const struct deposit_point *points, const char *what,
                        int faster, int slower)
{
    uint32_t found = 0;
    printf("%s: at", what);
    for (uint32_t n = 0; n < options->per_cell.count; n++)
        if (seconds_of(&points[n], faster).median < seconds_of(&points[n], slower).median)
            printf("%s %g", found++ > 0 ? "," : "", points[n].per_cell);
    printf("%s particles a cell\n", found > 0 ? "" : " none of these numbers of");
}

/* ---- the whole ---- */

/* The powers of two nearest to a square grid with `per_cell` of so many particles in a cell, or up to twice
 * as many. False where there is none of 2 x 2 cells to CONFIG_MAX_CELLS. */
static bool choose_cells(uint32_t particles, uint32_t per_cell, uint32_t cells[2])
{
    const uint64_t most = particles / per_cell;
    uint32_t bits = 0;
    while (most >> (bits + 1) != 0)
        bits++;
    cells[0] = UINT32_C(1) << (bits + 1) / 2;
    cells[1] = UINT32_C(1) << bits / 2;
    return bits >= 2 && cells[0] <= CONFIG_MAX_CELLS / cells[1];
}

static enum status run_shape(struct bench *bench, int shape, struct deposit_point *points)
{
    const struct options *options = bench->options;
    print_head(bench, shape);
    for (uint32_t n = 0; n < options->per_cell.count; n++) {
        points[n] =
            (struct deposit_point){.options = options, .shape = (enum shape_kind)shape, .verified = true};
        (void)choose_cells(options->particles, options->per_cell.items[n],
                           points[n].cells); /* as settled before */
        points[n].per_cell = (double)options->particles / points[n].cells[0] / points[n].cells[1];
        TRY(bench_case(bench, deposit_point_time, &points[n]));
        report_point(bench, shape, &points[n]);
    }
    print_rates(options, points);
    print_where(options, points, "sorting a shuffled list first pays", SORT_AND_SORTED, ATOMIC_SHUFFLED);
    print_where(options, points, "in a list that is in order anyway, sorted beats atomic", SORTED,
                ATOMIC_ORDERED);
    return STATUS_OK;
}

static enum status run_deposit(struct bench *bench)
{
    const struct options *options = bench->options;
    const bool at_once =
        options->way == ATOMIC_64 || (options->way == ATOMIC_AUTO && bench->info->has_int64_atomics);
    struct deposit_point *points = NULL;
    TRY(DEVICE_NEW_ARRAY(bench->device, points, options->per_cell.count));
    TRY(bench_copy_like(bench, options->particles, precision_bytes(options->precision)));
    printf("deposit: %u particles in %s precision, on %s; atomic additions of %s\n", options->particles,
           options_word(&bench->experiment->options, "precision", (int)options->precision), bench->info->name,
           at_once ? "64 bits at once" : "two words of 32 bits");
    bench_print_copy(bench);
    for (int shape = SHAPE_NGP; shape <= SHAPE_TSC; shape++)
        if ((options->shapes >> shape & 1U) != 0)
            TRY(run_shape(bench, shape, points));
    return STATUS_OK;
}

/* The n-th point of --per-cell must have a grid, and one of its own. */
static enum status check_point(const char *name, const struct options *options, uint32_t n)
{
    const uint32_t particles = options->particles, *per_cell = options->per_cell.items;
    uint32_t cells[2], others[2] = {0, 0};
    if (!choose_cells(particles, per_cell[n], cells))
        return status_fail(STATUS_USAGE,
                           "%s: --per-cell: %u of %u particles in a cell make no grid of 2 x 2 to %u cells",
                           name, per_cell[n], particles, CONFIG_MAX_CELLS);
    for (uint32_t before = 0; before < n; before++)
        if (choose_cells(particles, per_cell[before], others) && others[0] == cells[0] &&
            others[1] == cells[1])
            return status_fail(STATUS_USAGE,
                               "%s: --per-cell: %u and %u make the same grid of %ux%u cells, with %g "
                               "particles in each; leave one out",
                               name, per_cell[before], per_cell[n], cells[0], cells[1],
                               (double)particles / cells[0] / cells[1]);
    return STATUS_OK;
}

/* Without --per-cell the powers of two that make a grid; else all that are asked for, or a refusal. */
static enum status settle(struct bench *bench)
{
    struct options *options = bench->options;
    struct option_list *per_cell = &options->per_cell;
    uint32_t cells[2];
    for (uint32_t n = 0; n < per_cell->count; n++)
        TRY(check_point(bench->name, options, n));
    for (uint32_t number = 1; number <= MOST_PER_CELL && !bench_given(bench, "per-cell"); number *= 2)
        if (choose_cells(options->particles, number, cells))
            per_cell->items[per_cell->count++] = number;
    return STATUS_OK;
}

static const struct choice ways[] = {
    {"auto", ATOMIC_AUTO}, {"64", ATOMIC_64}, {"32", ATOMIC_32_AND_CARRY}, {NULL, 0}};

static const struct option_row rows[] = {
    {"particles", 'N', "N", OPTION_NUMBER, AT(particles), 4, UINT32_C(1) << 31, .usual = "524288",
     .help = "Particles (N), the same for every row"},
    {"per-cell", 0, "P,...", OPTION_LIST, AT(per_cell), 1, 1 << 29, .most = OPTION_LIST_MOST,
     .help = "Particles in a cell, on average: 1,2,4 and so on to 8192 without it, as far as N makes 2 x 2 "
             "cells of them. Grids are of powers of two, so a cell may hold up to twice as many"},
    {"shape", 0, "NAME,...", OPTION_SET, AT(shapes), .as_in = "deposit.shape", .usual = "cic",
     .help = "ngp, cic or tsc; cic without it"},
    {"precision", 0, "NAME", OPTION_CHOICE, AT(precision), .as_in = "precision", .usual = "single",
     .help = "single or double"},
    {"atomics", 0, "BITS", OPTION_CHOICE, AT(way), .choices = ways, .usual = "auto",
     .help = "How 64 bits are added: 64 (at once), 32 (by two words and a carry) or auto, 64 where the "
             "device can"},
    COMMON_ROWS("5", "Timed deposits of each kind, after two to warm up"),
};

const struct experiment experiment_deposit = {
    .name = "deposit",
    .summary = "cell by cell from a sorted list against atomic additions",
    .options = OPTION_TABLE(
        rows, NULL,
        "Deposit particles cell by cell from a sorted list, and by atomic additions.\v"
        "So many particles are put into cells at random, on grids of more and more particles in a cell. "
        "\"sorted\" deposits the list in order, as deposit.method: sorted does; \"sort+\" sorts the shuffled "
        "list before, keys and particles. \"atomic\" adds each particle's weights to its nodes, as "
        "deposit.method: atomic does, in lists in order and shuffled. Every density is compared with the "
        "host's in double precision, and those of both orders bit by bit. Without options it takes about 10 "
        "s on two CPU cores.\n\n"
        "Examples:\n"
        "  radixpic bench deposit\n"
        "  radixpic bench deposit --device gpu --particles 134217728 --repeat 20 --csv deposit.csv\n"
        "  radixpic bench deposit --shape ngp,cic,tsc --per-cell 8,64,512\n"
        "  radixpic bench deposit --atomics 32 --precision double\n"),
    .options_size = sizeof(struct options),
    .settle = settle,
    .run = run_deposit,
    .wrong = "a density was not the host's",
};
