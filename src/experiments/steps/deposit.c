/* Deposit: what it costs by the particles in a cell, cell by cell from a sorted list against atomic
 * additions, to lists in order and shuffled: where sorting pays. */
#include "field/deposit.h"
#include "experiments/sorting/sorting.h"
#include "field/deposit_atomic.h"
#include "particles/permute.h"
#include "shared/random.h"
#include "shared/shape.h"

#include <string.h>

struct options {
    struct common_options common;
    uint32_t particles;
    struct option_list per_cell;
    uint32_t cells[OPTION_LIST_MOST][2]; /* of the grids for these */
    uint32_t shapes;                     /* bit set */
    enum precision precision;
};

enum method {
    SORTED,          /* cell by cell, from the list in order */
    SORT_AND_SORTED, /* the shuffled list is sorted, then deposited cell by cell */
    ATOMIC_ORDERED,  /* atomic additions, from the list in order */
    ATOMIC_SHUFFLED,
    METHODS
};
static const char *const methods[METHODS] = {"sorted", "sort+sorted", "atomic-ordered", "atomic-shuffled"};

enum { MOST_PER_CELL = 8192, BLOCK = 1 << 16 /* particles made and written at a time */ };

/* One number of particles per cell, of one shape: what it has on device and host, and what was found. */
struct scene {
    const struct options *options;
    const uint32_t *cells; /* [2] of the grid */
    enum shape_kind shape;
    enum method method; /* the one that is timed now */
    struct times times[METHODS];
    char verdicts[METHODS][256]; /* what was wrong */
    struct grid grid;
    struct species_config species;
    /* Two views of one list: the arrays of `shuffled` are the spare ones of `ordered`. */
    struct particles ordered, shuffled;
    struct sort_list list; /* keys of the shuffled and the ordered one */
    struct sorter *sorter;
    struct permute *permute;
    struct buffer *rho;
    struct deposit *sorted;
    struct deposit_atomic *atomic;
    double *weights;         /* [cells]: the host's sums */
    double *found, *earlier; /* [cells]: the density last read; that of the atomic additions in order */
};

static void deposit_on_host(struct scene *scene, uint32_t cell, const double offset[2])
{
    const uint32_t nx = scene->grid.nx, ny = scene->grid.ny, i = cell / ny, j = cell % ny;
    const int order = (int)scene->shape, nodes = SHAPE_NODES_OF(order), first = SHAPE_FIRST_OF(order);
    for (int a = first; a < first + nodes; a++) {
        const double along_x = shape_spline(order, offset[0] - a);
        for (int b = first; b < first + nodes && along_x > 0; b++)
            scene->weights[(i + nx + (uint32_t)a) % nx * ny + (j + ny + (uint32_t)b) % ny] +=
                along_x * shape_spline(order, offset[1] - b);
    }
}

/* Any cell, any offset of 24 bits, which both precisions have. */
static enum status fill(struct scene *scene, struct device *device)
{
    struct particles *list = &scene->ordered;
    uint32_t *cell = NULL;
    double *offset = NULL;
    TRY(DEVICE_NEW_ARRAY(device, cell, BLOCK));
    TRY(DEVICE_NEW_ARRAY(device, offset, 2 * BLOCK));
    for (uint32_t first = 0, count; first < list->count; first += count) {
        count = at_most(list->count - first, BLOCK);
        for (uint32_t n = 0; n < count; n++) {
            const random_words random = random_words_at((random_words){{first + n}}, 1);
            cell[n] = (uint32_t)((uint64_t)random.word[0] * grid_cells(&scene->grid) >> 32);
            for (uint32_t axis = 0; axis < 2; axis++)
                offset[2 * n + axis] = (random.word[1 + axis] >> 8) * 0x1p-24;
            deposit_on_host(scene, cell[n], &offset[2 * n]);
        }
        TRY(buffer_write(scene->list.keys, first * sizeof *cell, count * sizeof *cell, cell));
        TRY(buffer_write_reals(list->attribute[ATTRIBUTE_OFFSET], scene->options->precision,
                               2 * (size_t)first, 2 * (size_t)count, offset));
    }
    return buffer_fill(list->attribute[ATTRIBUTE_VELOCITY], 0);
}

/* The list, which is shuffled, in order; the shuffled one stays in the spare arrays. */
static enum status sort(struct scene *scene)
{
    struct particles *list = &scene->ordered;
    TRY(sorter_run(scene->sorter, list->count, &scene->list.lists));
    return permute_apply(scene->permute, scene->list.lists.permutation, list->count, list);
}

static enum status create(struct scene *scene, struct device *device)
{
    const struct sort_config left_open = {.method = SORT_METHOD_AUTO};
    const enum precision precision = scene->options->precision;
    const uint32_t count = scene->options->particles, *side = scene->cells, cells = side[0] * side[1];
    struct sorter_plan plan;
    scene->grid = grid_make(&(struct grid_config){.cells = {side[0], side[1]}, .length = {side[0], side[1]}});
    const struct slab slab = slab_whole_box(&scene->grid);
    scene->species = (struct species_config){
        .name = "particles", .charge = -1, .mass = 1, .density = 1, .particles = count};
    TRY(DEVICE_NEW_ARRAY(device, scene->weights, cells));
    TRY(DEVICE_NEW_ARRAY(device, scene->found, cells));
    TRY(DEVICE_NEW_ARRAY(device, scene->earlier, cells));
    TRY(particles_create(device, &slab, precision, LAYOUT_SOA, &scene->species, count, &scene->ordered));
    scene->ordered.count = count;
    TRY(sort_list_create(device, count, cells, &scene->list));
    scene->list.lists.cell_offsets = scene->ordered.cell_offsets;
    TRY(sorter_plan_make(device_info(device), &left_open, grid_key_bits(&scene->grid), count, &plan));
    TRY(sorter_create(device, &plan, count, &scene->sorter));
    TRY(permute_create(device, &scene->permute));
    TRY(buffer_create(device, cells * precision_bytes(precision), "rho", &scene->rho));
    TRY(deposit_create(device, &scene->grid, precision, scene->shape, false, NULL, cells, count,
                       &scene->sorted));
    TRY(deposit_atomic_create(device, &scene->grid, precision, scene->shape, ATOMIC_AUTO, &scene->atomic));
    TRY(fill(scene, device));
    TRY(sort(scene));
    scene->shuffled = scene->ordered;
    memcpy(scene->shuffled.attribute, scene->ordered.spare, sizeof scene->shuffled.attribute);
    return STATUS_OK;
}

/* Of a node's weights: 40 roundings of them and 1 by sums of at most 32 terms before a compensated total and
 * the terms' own; and half a unit of the integers a particle. */
static double tolerance(const struct options *options, double weights)
{
    const double epsilon = options->precision == PRECISION_SINGLE ? 0x1p-23 : 0x1p-52;
    const uint32_t bits = deposit_atomic_fraction_bits(options->particles);
    return 40 * epsilon * (weights + 1) + options->particles * ldexp(0.5, -(int)bits);
}

static enum status verify(void *context, bool *right)
{
    struct scene *scene = context;
    const struct particles *list = &scene->ordered;
    const uint32_t cells = grid_cells(&scene->grid);
    const double scale = list->species->charge * list->weight / (scene->grid.dx * scene->grid.dy);
    char *wrong = scene->verdicts[scene->method];
    const size_t size = sizeof scene->verdicts[0];
    TRY(buffer_read_reals(scene->rho, scene->options->precision, 0, cells, scene->found));
    for (uint32_t node = 0; node < cells && wrong[0] == '\0'; node++) {
        const double weights = scene->found[node] / scale, expected = scene->weights[node];
        if (!(fabs(weights - expected) <= tolerance(scene->options, expected)))
            snprintf(wrong, size, "node %u has %.17g particles, the host finds %.17g", node, weights,
                     expected);
    }
    if (wrong[0] == '\0' && scene->method == ATOMIC_SHUFFLED &&
        memcmp(scene->earlier, scene->found, cells * sizeof *scene->found) != 0)
        snprintf(wrong, size, "the atomic sums depend on the particles' order");
    memcpy(scene->earlier, scene->found, cells * sizeof *scene->found);
    *right = wrong[0] == '\0';
    return STATUS_OK;
}

static enum status clear(void *context)
{
    struct scene *scene = context;
    if (scene->method == SORT_AND_SORTED)
        particles_swap(&scene->ordered);
    return buffer_fill(scene->rho, UINT32_MAX);
}

static enum status deposit(void *context)
{
    struct scene *scene = context;
    const struct sort_list *list = &scene->list;
    if (scene->method == ATOMIC_ORDERED)
        return deposit_atomic_species(scene->atomic, &scene->ordered, list->lists.sorted_keys, scene->rho);
    if (scene->method == ATOMIC_SHUFFLED)
        return deposit_atomic_species(scene->atomic, &scene->shuffled, list->keys, scene->rho);
    if (scene->method == SORT_AND_SORTED)
        TRY(sort(scene));
    return deposit_species(scene->sorted, &scene->ordered, true, scene->rho, 0);
}

static enum status time_point(struct bench *bench, void *context)
{
    struct scene *scene = context;
    const struct subject subject = {scene, clear, deposit, verify, .in_one_piece = true};
    TRY(create(scene, bench->part));
    for (int method = 0; method < METHODS; method++) {
        scene->method = (enum method)method;
        TRY(bench_time(bench, &subject, 1, &scene->times[method]));
    }
    return STATUS_OK;
}

/* Speedups are over atomic additions of the same list: of sorted in order, of sort and sorted shuffled. */
static const struct bench_table report_table = {
    .columns = {WORD("per_cell", "per cell", 0), WORD("cells", "cells", 11), WORD("method", "method", 15),
                SPREAD("ms", "time_ms", 1e3), NUMBER("ns a particle", "particle_ns", 1e9),
                NUMBER("GB/s", "rate_GB/s", 1), OF_COPY, NUMBER("speedup over atomic", "speedup", 1)}};

static void report_point(struct bench *bench, const char *shape, const struct scene *scene)
{
    const struct options *options = bench->options;
    for (int method = 0; method < METHODS; method++) {
        const struct times *times = &scene->times[method];
        const struct spread seconds = times->total;
        const double atomic = method < ATOMIC_ORDERED ? times[ATOMIC_ORDERED].total.median : 0;
        const struct spread values[] = {seconds, spread_scaled(seconds, 1.0 / options->particles),
                                        spread_bandwidth(times_bytes(times), seconds),
                                        spread_rate(atomic, seconds)};
        bench_words(bench, false, times->verified,
                    "shape=%s precision=%s atomics=%s N=%u cells=%ux%u per_cell=%g method=%s", shape,
                    options_word(&options->common, "precision", (int)options->precision),
                    bench->info->has_int64_atomics ? "64" : "32", options->particles, scene->cells[0],
                    scene->cells[1], (double)options->particles / scene->cells[0] / scene->cells[1],
                    methods[method]);
        bench_row(bench, &report_table, NULL, values, times->verified ? NULL : scene->verdicts[method]);
    }
}

/* ---- the whole ---- */

/* The powers of two nearest to a square grid with `per_cell` of so many particles in a cell, or up to twice
 * as many. False where there is none of 2 x 2 cells to CONFIG_MAX_CELLS. */
static bool choose_cells(uint32_t particles, uint32_t per_cell, uint32_t cells[2])
{
    const uint32_t most = particles / per_cell, bits = most > 0 ? bits_below((uint64_t)most + 1) - 1 : 0;
    cells[0] = UINT32_C(1) << (bits + 1) / 2;
    cells[1] = UINT32_C(1) << bits / 2;
    return bits >= 2 && cells[0] <= CONFIG_MAX_CELLS / cells[1];
}

static enum status run_shape(struct bench *bench, int shape)
{
    const struct options *options = bench->options;
    const char *name = options_word(&options->common, "shape", shape);
    printf("\n%s:\n", name);
    bench_head(&report_table);
    for (uint32_t n = 0; n < options->per_cell.count; n++) {
        struct scene scene = {
            .options = options, .cells = options->cells[n], .shape = (enum shape_kind)shape};
        TRY(bench_case(bench, time_point, &scene));
        report_point(bench, name, &scene);
    }
    return STATUS_OK;
}

static enum status run_deposit(struct bench *bench)
{
    const struct options *options = bench->options;
    TRY(bench_copy_like(bench, options->particles, precision_bytes(options->precision)));
    printf("deposit: %u particles in %s precision, on %s; atomic additions of %s\n", options->particles,
           options_word(&options->common, "precision", (int)options->precision), bench->info->name,
           bench->info->has_int64_atomics ? "64 bits at once" : "two words of 32 bits");
    bench_print_copy(bench);
    for (int shape = SHAPE_NGP; shape < SHAPE_COUNT; shape++)
        if ((options->shapes >> shape & 1U) != 0)
            TRY(run_shape(bench, shape));
    return STATUS_OK;
}

/* The n-th point of --per-cell must have a grid, and one of its own. */
static enum status check_point(struct options *options, uint32_t n)
{
    const uint32_t particles = options->particles, *per_cell = options->per_cell.items;
    uint32_t *cells = options->cells[n];
    if (!choose_cells(particles, per_cell[n], cells))
        return status_fail(STATUS_USAGE,
                           "--per-cell: %u of %u particles in a cell make no grid of 2 x 2 to %u cells",
                           per_cell[n], particles, CONFIG_MAX_CELLS);
    for (uint32_t before = 0; before < n; before++)
        if (memcmp(options->cells[before], cells, sizeof options->cells[n]) == 0)
            return status_fail(STATUS_USAGE,
                               "--per-cell: %u and %u make the same grid of %ux%u cells, with %g "
                               "particles in each; leave one out",
                               per_cell[before], per_cell[n], cells[0], cells[1],
                               (double)particles / cells[0] / cells[1]);
    return STATUS_OK;
}

/* Without --per-cell the powers of two that make a grid; else all that are asked for, or a refusal. */
static enum status resolve(struct bench *bench)
{
    struct options *options = bench->options;
    struct option_list *per_cell = &options->per_cell;
    const bool is_asked = per_cell->count > 0;
    for (uint32_t n = 0; n < per_cell->count; n++)
        TRY(check_point(options, n));
    for (uint32_t number = 1; number <= MOST_PER_CELL && !is_asked; number *= 2)
        if (choose_cells(options->particles, number, options->cells[per_cell->count]))
            per_cell->items[per_cell->count++] = number;
    return STATUS_OK;
}

static const struct option_row rows[] = {
    {"particles", 'N', "N", OPTION_NUMBER, AT(particles), 4, UINT32_C(1) << 31, .usual = "524288",
     .help = "Particles (N), the same for every row"},
    {"per-cell", 0, "P,...", OPTION_LIST, AT(per_cell), 1, 1 << 29, .most = OPTION_LIST_MOST,
     .help = "Particles in a cell, on average: 1,2,4 and so on to 8192 without it, as far as N makes 2 x 2 "
             "cells of them. Grids are of powers of two, so a cell may hold up to twice as many"},
    {"shape", 0, "NAME,...", OPTION_SET, AT(shapes), .as_in = "deposit.shape", .usual = "cic"},
    {"precision", 0, "NAME", OPTION_CHOICE, AT(precision), .as_in = "precision", .usual = "single"},
    COMMON_ROWS("5", "Timed deposits of each kind, after two to warm up"),
};

const struct experiment experiment_deposit = {
    .name = "deposit",
    .summary = "cell by cell from a sorted list against atomic additions",
    .options = OPTION_TABLE(
        rows, NULL,
        "Deposit particles cell by cell from a sorted list, and by atomic additions.\v"
        "On grids of more and more particles in a cell, \"sorted\" deposits a list in order; \"sort+sorted\" "
        "sorts a shuffled list before; \"atomic\" adds each particle's weights to its nodes, in lists in "
        "order and shuffled. Every density is compared with the host's. Without options it takes about 10 s "
        "on two CPU cores.\n\n"
        "Examples:\n"
        "  radixpic bench deposit\n"
        "  radixpic bench deposit --particles 134217728 --csv deposit.csv\n"
        "  radixpic bench deposit --shape ngp,cic,tsc,cubic,quartic --per-cell 8,64,512\n"),
    .resolve = resolve,
    .run = run_deposit,
    .wrong = "a density was not the host's",
    .warm_ups = 2,
};
