/* Collisions: what they cost by the particles in a cell, and the random order of partners alone. */
#include "config/config_reader.h"
#include "experiments/bench.h"
#include "particles/collisions.h"
#include "particles/loading.h"
#include "sort/cell_shuffle.h"

#include <math.h>
#include <string.h>

struct options {
    struct common_options common;
    uint32_t cells[2];
    struct option_list per_cell;
    enum precision precision;
    enum collision_model model;
};

enum method { SHUFFLE, COLLIDE, METHODS };
static const char *const methods[METHODS] = {"shuffle", "collisions"};

enum { SUMS = 4, MOST_ALONG = 16384, MOST_PER_CELL = 1 << 20 };

/* What the point at hand has on device and host. */
struct scene {
    const struct options *options;
    struct device *device;
    uint32_t per_cell, cells;
    struct config config;
    struct particles list;
    struct collisions *collisions;
    struct cell_shuffle *shuffle;
    struct buffer *permutation;
    uint64_t step;                /* from 1 on: at 0 there is no time to collide for */
    double before[SUMS], first_w; /* what is kept, and what must change */
    struct times times[METHODS];
};

static enum status read_config(struct scene *scene)
{
    char text[1024];
    const uint32_t *cells = scene->options->cells;
    const int length =
        snprintf(text, sizeof text,
                 "grid: {cells: [%u, %u], length: [%u, %u]}\n"
                 "time: {step: 0.1, steps: 1}\n"
                 "precision: %s\n"
                 "species:\n"
                 "  - {name: e, charge: -1, mass: 1, density: 1, particles: %llu, positions: random,\n"
                 "     velocities: {kind: maxwellian, dimensions: 3, generator: random}}\n"
                 "units: {density_per_m3: 1.0e+27, temperature_eV: 100}\n"
                 "collisions: [{species: [e, e], model: %s, coulomb_log: 10}]\n",
                 cells[0], cells[1], cells[0], cells[1],
                 options_word(&scene->options->common, "precision", (int)scene->options->precision),
                 (unsigned long long)scene->per_cell * scene->cells,
                 options_word(&scene->options->common, "model", (int)scene->options->model));
    return config_read_text("radixpic bench", text, (size_t)length, NULL, 0, &scene->config);
}

/* Sums of (u, v, w), and of their squares; w of the first particle. */
static enum status sum_up(const struct scene *scene, double sums[SUMS], double *first_w)
{
    const struct particles *list = &scene->list;
    double *velocity = NULL, *w = NULL;
    TRY(DEVICE_NEW_ARRAY(scene->device, velocity, 2 * (size_t)list->count));
    TRY(DEVICE_NEW_ARRAY(scene->device, w, list->count));
    TRY(particles_read(list, ATTRIBUTE_VELOCITY, 0, list->count, velocity));
    TRY(particles_read(list, ATTRIBUTE_W, 0, list->count, w));
    memset(sums, 0, SUMS * sizeof *sums);
    for (size_t p = 0; p < list->count; p++)
        for (int axis = 0; axis < 3; axis++) {
            const double v = axis < 2 ? velocity[2 * p + (size_t)axis] : w[p];
            sums[axis] += v;
            sums[3] += v * v;
        }
    *first_w = w[0];
    return STATUS_OK;
}

static enum status create(struct bench *bench, struct scene *scene)
{
    const struct sort_config left_open = {.method = SORT_METHOD_AUTO};
    const uint32_t count = scene->per_cell * scene->cells;
    struct sorter_plan plan;
    TRY(read_config(scene));
    const struct grid grid = grid_make(&scene->config.grid);
    const struct slab slab = slab_whole_box(&grid);
    TRY(particles_create(bench->part, &slab, scene->options->precision,
                         bench->info->is_cpu ? LAYOUT_AOS : LAYOUT_SOA, &scene->config.species[0], count,
                         &scene->list));
    scene->list.count = count;
    TRY(sorter_plan_make(bench->info, &left_open, grid_key_bits(&grid), count, &plan));
    TRY(load_sorted(&slab, &plan, NULL, 0, &scene->list));
    TRY(collisions_create(bench->part, &scene->config, &slab, 0, count, 0, &scene->collisions));
    TRY(cell_shuffle_create(bench->part, scene->cells, count, NULL, &scene->shuffle));
    TRY(buffer_create(bench->part, count * sizeof(uint32_t), "the order of partners", &scene->permutation));
    return sum_up(scene, scene->before, &scene->first_w);
}

static enum status shuffle(void *context)
{
    struct scene *scene = context;
    return cell_shuffle_run(scene->shuffle, scene->list.cell_offsets, scene->list.count, 1, 0, scene->step++,
                            scene->permutation);
}

static enum status collide(void *context)
{
    struct scene *scene = context;
    return collisions_run(scene->collisions, scene->step++, &scene->list);
}

/* Each particle of a cell once, at a place of that cell. */
static enum status verify_order(void *context, bool *right)
{
    const struct scene *scene = context;
    const size_t count = scene->list.count, offsets = scene->cells + (size_t)1;
    uint32_t *order = NULL, *starts = NULL;
    char *seen = NULL;
    TRY(DEVICE_NEW_ARRAY(scene->device, order, count));
    TRY(DEVICE_NEW_ARRAY(scene->device, starts, offsets));
    TRY(DEVICE_NEW_ARRAY(scene->device, seen, count));
    TRY(buffer_read(scene->permutation, 0, count * sizeof *order, order));
    TRY(buffer_read(scene->list.cell_offsets, 0, offsets * sizeof *starts, starts));
    *right = true;
    for (uint32_t c = 0; c < scene->cells; c++)
        for (uint32_t p = starts[c]; p < starts[c + 1]; p++)
            *right = *right && order[p] >= starts[c] && order[p] < starts[c + 1] && !seen[order[p]]++;
    return STATUS_OK;
}

/* Velocities change, and momentum and energy of all stay: a collision rounds them by no more than some units
 * of the last place, of either sign, and a sum of N terms by sqrt(N) of them. */
static enum status verify_sums(void *context, bool *right)
{
    const struct scene *scene = context;
    const double epsilon = scene->options->precision == PRECISION_SINGLE ? 0x1p-23 : 0x1p-52;
    const double energy = scene->before[3],
                 tolerance = 8 * epsilon * (double)scene->step + 0x1p-52 * sqrt(scene->list.count);
    double after[SUMS], first_w = 0;
    TRY(sum_up(scene, after, &first_w));
    *right = fabs(after[3] - energy) <= tolerance * energy && first_w != scene->first_w;
    for (int axis = 0; axis < 3; axis++)
        *right =
            *right && fabs(after[axis] - scene->before[axis]) <= tolerance * sqrt(energy * scene->list.count);
    return STATUS_OK;
}

static enum status time_point(struct bench *bench, void *context)
{
    struct scene *scene = context;
    const struct subject subjects[METHODS] = {
        {scene, .run = shuffle, .verify = verify_order, .in_one_piece = true},
        {scene, .run = collide, .verify = verify_sums, .in_one_piece = true}};
    scene->device = bench->part;
    TRY(create(bench, scene));
    return bench_time(bench, subjects, METHODS, scene->times);
}

static const struct bench_table report_table = {
    .columns = {WORD("per_cell", "per cell", 0), WORD("method", "method", 10), SPREAD("ms", "time_ms", 1e3),
                SPREAD("ns a pair", "pair_ns", 1e9), NUMBER("GB/s", "rate_GB/s", 1), OF_COPY}};

static void report(struct bench *bench, const struct scene *scene)
{
    const struct options *options = bench->options;
    for (int method = 0; method < METHODS; method++) {
        const struct times *times = &scene->times[method];
        const struct spread values[] = {times->total, spread_scaled(times->total, 2.0 / scene->list.count),
                                        spread_bandwidth(times_bytes(times), times->total)};
        bench_words(bench, false, times->verified,
                    "precision=%s model=%s cells=%ux%u per_cell=%u N=%u method=%s",
                    options_word(&options->common, "precision", (int)options->precision),
                    options_word(&options->common, "model", (int)options->model), options->cells[0],
                    options->cells[1], scene->per_cell, scene->list.count, methods[method]);
        bench_row(bench, &report_table, NULL, values, NULL);
    }
}

static enum status run_collisions(struct bench *bench)
{
    const struct options *options = bench->options;
    const uint32_t cells = options->cells[0] * options->cells[1];
    TRY(bench_copy_like(bench, (uint64_t)option_list_greatest(&options->per_cell) * cells,
                        precision_bytes(options->precision)));
    printf("collisions: %ux%u cells in %s precision, on %s\n", options->cells[0], options->cells[1],
           options_word(&options->common, "precision", (int)options->precision), bench->info->name);
    bench_print_copy(bench);
    bench_head(&report_table);
    for (uint32_t n = 0; n < options->per_cell.count; n++) {
        struct scene scene = {
            .options = options, .per_cell = options->per_cell.items[n], .cells = cells, .step = 1};
        TRY(bench_case(bench, time_point, &scene));
        report(bench, &scene);
    }
    return STATUS_OK;
}

static enum status settle(struct bench *bench)
{
    const struct options *options = bench->options;
    const uint32_t *cells = options->cells;
    for (uint32_t n = 0; n < options->per_cell.count; n++)
        if ((uint64_t)cells[0] * cells[1] * options->per_cell.items[n] > CONFIG_MAX_PARTICLES)
            return status_fail(STATUS_USAGE, "--per-cell: %u in each of %ux%u cells are more than %u in all",
                               options->per_cell.items[n], cells[0], cells[1], CONFIG_MAX_PARTICLES);
    return STATUS_OK;
}

static const struct option_row rows[] = {
    {"cells", 0, "NX[xNY]", OPTION_CELLS, AT(cells), 2, MOST_ALONG, .usual = "32",
     .help = "Cells of the grid, along x and y"},
    {"per-cell", 0, "P,...", OPTION_LIST, AT(per_cell), 2, MOST_PER_CELL, .most = OPTION_LIST_MOST,
     .distinct = true, .usual = "16,64,256,1024", .help = "Particles in a cell, on average"},
    {"precision", 0, "NAME", OPTION_CHOICE, AT(precision), .as_in = "precision", .usual = "single"},
    {"model", 0, "NAME", OPTION_CHOICE, AT(model), .as_in = "collisions[].model", .usual = "takizuka_abe"},
    COMMON_ROWS("5", "Timed runs of each kind, after two to warm up"),
};

const struct experiment experiment_collisions = {
    .name = "collisions",
    .summary = "collisions of pairs in each cell, and their order alone",
    .options = OPTION_TABLE(
        rows, NULL,
        "Time the binary collisions of a sorted list, and the random order in which they find partners.\v"
        "Electrons collide with one another, each once a run. \"shuffle\" is the random order of the "
        "particles of each cell alone, \"collisions\" this and the pairs. The order must have each particle "
        "of a cell once; the collisions must keep momentum and energy.\n\n"
        "Examples:\n"
        "  radixpic bench collisions\n"
        "  radixpic bench collisions --device gpu --per-cell 16,128,1024 --csv pairs.csv\n"
        "  radixpic bench collisions --precision double\n"),
    .settle = settle,
    .run = run_collisions,
    .wrong = "an order is not one of each cell's particles, or momentum or energy were lost",
    .warm_ups = 2,
};
