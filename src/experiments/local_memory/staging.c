/* Local memory, parts filter, transpose and stencil: kernels that stage what their items share, once or in a
 * loop, beside those without local memory. Every result is compared with the host's bit by bit. */
#include "experiments/local_memory/local_memory.h"
#include "field/filter.h"

#include <string.h>

/* What the results hold before a run, and behind them after it: a number that no kernel writes. */
static const uint32_t untouched = 0x4b1d0b5eu;

/* Kernels that stage what their items share, beside those without local memory. */
enum version {
    LINE_PLAIN,
    LINE_V1, /* of a length that is a multiple of the block */
    LINE_V2,
    LINE_V3, /* the length less 2 is a multiple of the block less 2 */
    LINE_V4,
    TURN_NAIVE,
    TURN_TILED,
    TURN_PADDED,
    PRODUCT_PLAIN,
    PRODUCT_TILED
};

static const struct {
    const char *kernel, *name;
} versions[] = {
    [LINE_PLAIN] = {"line_plain", "without local memory"},
    [LINE_V1] = {"line_v1", "v1, juxtaposed blocks"},
    [LINE_V2] = {"line_v2", "v2, juxtaposed, ragged"},
    [LINE_V3] = {"line_v3", "v3, overlapping blocks"},
    [LINE_V4] = {"line_v4", "v4, overlapping, ragged"},
    [TURN_NAIVE] = {"transpose_naive", "without local memory"},
    [TURN_TILED] = {"transpose_tiled", "through tiles"},
    [TURN_PADDED] = {"transpose_padded", "through tiles of padded rows"},
    [PRODUCT_PLAIN] = {"product_plain", "product without local memory"},
    [PRODUCT_TILED] = {"product_tiled", "product, loop over tiles"},
};

/* Arrays of one kernel on host and device. */
struct scene {
    const struct local_memory *all;
    enum version version;
    struct kernel *kernel;  /* of the version */
    uint32_t rows, columns; /* a line is one row; matrices of a product are square */
    size_t count, words;    /* of the result, and with those behind it */
    float *numbers[2], *expected, *found;
    struct buffer *in[2], *out;
    struct filter *filter;
};

static enum status create(struct scene *scene, struct bench *bench, uint32_t rows, uint32_t columns)
{
    scene->rows = rows;
    scene->columns = columns;
    scene->count = (size_t)rows * columns;
    scene->words = scene->count + BEHIND;
    for (int n = 0; n < 2; n++) {
        TRY(DEVICE_NEW_ARRAY(bench->part, scene->numbers[n], scene->count));
        TRY(buffer_create(bench->part, scene->count * sizeof(uint32_t), "numbers", &scene->in[n]));
        for (size_t at = 0; at < scene->count; at++)
            scene->numbers[n][at] = 1e-3F * (float)(atomic_operand((uint32_t)at) >> 8);
    }
    TRY(DEVICE_NEW_ARRAY(bench->part, scene->expected, scene->words));
    TRY(DEVICE_NEW_ARRAY(bench->part, scene->found, scene->words));
    for (size_t at = 0; at < scene->words; at++)
        memcpy(&scene->expected[at], &untouched, sizeof untouched);
    return buffer_create(bench->part, scene->words * sizeof(uint32_t), "numbers", &scene->out);
}

static enum status clear(void *context)
{
    const struct scene *scene = context;
    return buffer_fill(scene->out, untouched);
}

static enum status run_staged(void *context)
{
    const struct scene *scene = context;
    const struct local_shape *shape = &scene->all->shape;
    const uint32_t rows = scene->rows, columns = scene->columns;
    const uint32_t side = scene->version <= TURN_PADDED ? shape->tile : shape->square;
    struct launch launch = {divide_up(columns, shape->block), shape->block, STAGE_OTHER, 0};
    if (scene->version == LINE_V3 || scene->version == LINE_V4)
        launch.groups = divide_up(columns > 2 ? columns - 2 : 1, shape->block - 2);
    if (scene->version <= LINE_V4)
        return KERNEL_LAUNCH(scene->kernel, launch, scene->in[0], scene->out, columns);
    launch.groups = (size_t)divide_up(rows, side) * divide_up(columns, side);
    launch.items = side * (scene->version <= TURN_PADDED ? shape->tile_rows : side);
    return scene->version <= TURN_PADDED
               ? KERNEL_LAUNCH(scene->kernel, launch, scene->in[0], scene->out, rows, columns)
               : KERNEL_LAUNCH(scene->kernel, launch, scene->in[0], scene->in[1], scene->out, columns);
}

static enum status verify(void *context, bool *right)
{
    const struct scene *scene = context;
    TRY(buffer_read(scene->out, 0, scene->words * sizeof(float), scene->found));
    *right = memcmp(scene->found, scene->expected, scene->words * sizeof(float)) == 0;
    return STATUS_OK;
}

static struct timing timing_of(struct scene *scene, const char *part)
{
    struct timing timing = {
        .part = part,
        .work = 2.0 * (double)scene->count * sizeof(float),
        .kind = WORK_BYTES,
        .subject = {.context = scene, .prepare = clear, .run = run_staged, .verify = verify}};
    snprintf(timing.size, sizeof timing.size, "%ux%u", scene->rows, scene->columns);
    return timing;
}

/* The kernel of scene->version. */
static enum status report_version(struct scene *scene, struct timing *timing)
{
    timing->version = versions[scene->version].name;
    TRY(kernel_create(scene->all->program, versions[scene->version].kernel, &scene->kernel));
    for (int n = 0; n < 2; n++)
        TRY(buffer_write(scene->in[n], 0, scene->count * sizeof(float), scene->numbers[n]));
    return timing_report(scene->all, timing);
}

/* ---- the filter of a line ---- */

/* The greatest length up to `length` that a version takes, 0 where there is none. */
static uint32_t line_length(enum version version, uint32_t block, uint32_t length)
{
    if (version == LINE_V1)
        return length / block * block;
    if (version == LINE_V3)
        return length < block ? 0 : (length - 2) / (block - 2) * (block - 2) + 2;
    return length;
}

/* The filter leaves the two ends as they were. */
static void expect_line(struct scene *scene)
{
    const float *in = scene->numbers[0];
    for (size_t i = 0; i < scene->words; i++)
        if (i > 0 && i + 1 < scene->count)
            scene->expected[i] = in[i - 1] * 0.25F + in[i] * 0.5F + in[i + 1] * 0.25F;
        else
            memcpy(&scene->expected[i], &untouched, sizeof untouched);
}

enum status local_memory_filter(struct bench *bench, void *context)
{
    const struct local_memory *all = context;
    const uint32_t block = all->shape.block, length = all->options->length;
    struct scene scene = {.all = all};
    TRY(create(&scene, bench, 1, length));
    printf("\nFilter 1/4, 1/2, 1/4 of a line, blocks of %u:\n", block);
    bench_head(&timing_table);
    for (scene.version = LINE_PLAIN; scene.version <= LINE_V4; scene.version++) {
        scene.count = scene.columns = line_length(scene.version, block, length);
        if (scene.count == 0) {
            printf("  %-40s not for fewer elements than a block of %u\n", versions[scene.version].name,
                   block);
            continue;
        }
        struct timing timing = timing_of(&scene, "filter");
        snprintf(timing.size, sizeof timing.size, "%zu", scene.count);
        expect_line(&scene);
        TRY(report_version(&scene, &timing));
    }
    return STATUS_OK;
}

/* ---- the transpose ---- */

enum status local_memory_transpose(struct bench *bench, void *context)
{
    const struct local_memory *all = context;
    const uint32_t *cells = all->options->cells;
    struct scene scene = {.all = all};
    TRY(create(&scene, bench, cells[0], cells[1]));
    for (size_t i = 0; i < scene.rows; i++)
        for (size_t j = 0; j < scene.columns; j++)
            scene.expected[j * scene.rows + i] = scene.numbers[0][i * scene.columns + j];
    struct timing timing = timing_of(&scene, "transpose");
    printf("\nTranspose, tiles of %u x %u:\n", all->shape.tile, all->shape.tile);
    bench_head(&timing_table);
    for (scene.version = TURN_NAIVE; scene.version <= TURN_PADDED; scene.version++)
        TRY(report_version(&scene, &timing));
    return STATUS_OK;
}

/* ---- the binomial filter of the charge density ---- */

static float smoothed_along_y(const struct scene *scene, uint32_t i, uint32_t j)
{
    const uint32_t ny = scene->columns;
    const float *row = scene->numbers[0] + (size_t)i * ny;
    return row[(j + ny - 1) % ny] + 2 * row[j] + row[(j + 1) % ny];
}

static void expect_smoothed(struct scene *scene)
{
    const uint32_t nx = scene->rows, ny = scene->columns;
    for (uint32_t i = 0; i < nx; i++)
        for (uint32_t j = 0; j < ny; j++) {
            const float left = smoothed_along_y(scene, (i + nx - 1) % nx, j);
            const float right = smoothed_along_y(scene, (i + 1) % nx, j);
            scene->expected[(size_t)i * ny + j] = (left + 2 * smoothed_along_y(scene, i, j) + right) / 16;
        }
}

/* The filter works in place, so its input is written before each run. */
static enum status fill_density(void *context)
{
    const struct scene *scene = context;
    return buffer_write(scene->out, 0, scene->count * sizeof(float), scene->numbers[0]);
}

static enum status smooth(void *context)
{
    struct scene *scene = context;
    return filter_apply(scene->filter, &(struct deposit_config){.filter_passes = 1}, scene->out);
}

static enum status filter_density(struct bench *bench, void *context)
{
    static const struct {
        const char *name;
        struct filter_tile tile;
    } filters[] = {
        {"2D filter without local memory", {0}},
        {"2D filter, a tile, an item per node", {8, 32, 1}},
        {"2D filter, a tile, 4 nodes per item", {16, 32, 4}},
    };
    const struct local_memory *all = context;
    const uint32_t *cells = all->options->cells;
    const struct grid grid =
        grid_make(&(struct grid_config){.cells = {cells[0], cells[1]}, .length = {1, 1}});
    struct scene scene = {.all = all};
    TRY(create(&scene, bench, cells[0], cells[1]));
    scene.words = scene.count;
    expect_smoothed(&scene);
    struct timing timing = timing_of(&scene, "stencil");
    timing.subject.in_one_piece = true;
    timing.subject.prepare = fill_density;
    timing.subject.run = smooth;
    for (size_t n = 0; n < sizeof filters / sizeof filters[0]; n++) {
        const struct filter_tile *tile = &filters[n].tile;
        timing.version = filters[n].name;
        if (tile->rows > 0 && tile->rows / tile->item_rows * tile->columns > bench->info->group_limit) {
            printf("  %-40s not on this device: its groups are too small\n", timing.version);
            continue;
        }
        TRY(filter_create(bench->part, &grid, PRECISION_SINGLE, tile, &scene.filter));
        TRY(timing_report(all, &timing));
    }
    return STATUS_OK;
}

/* ---- the matrix product ---- */

/* Whole numbers, small enough that every sum is exact and thus the same in any order. The host goes through b
 * and c along their rows. */
static void expect_product(struct scene *scene)
{
    const size_t side = scene->rows;
    float *a = scene->numbers[0], *b = scene->numbers[1], *c = scene->expected;
    for (size_t n = 0; n < side * side; n++) {
        a[n] = (float)(atomic_operand((uint32_t)n) % 17) - 8;
        b[n] = (float)(atomic_operand(~(uint32_t)n) % 17) - 8;
    }
    memset(c, 0, side * side * sizeof *c);
    for (size_t i = 0; i < side; i++)
        for (size_t k = 0; k < side; k++)
            for (size_t j = 0; j < side; j++)
                c[i * side + j] += a[i * side + k] * b[k * side + j];
}

static enum status multiply_matrices(struct bench *bench, void *context)
{
    const struct local_memory *all = context;
    const uint32_t side = all->options->product;
    struct scene scene = {.all = all};
    TRY(create(&scene, bench, side, side));
    expect_product(&scene);
    struct timing timing = timing_of(&scene, "stencil");
    timing.work = 2.0 * side * side * side;
    timing.kind = WORK_FLOPS;
    for (scene.version = PRODUCT_PLAIN; scene.version <= PRODUCT_TILED; scene.version++)
        TRY(report_version(&scene, &timing));
    return STATUS_OK;
}

enum status local_memory_stencil(struct bench *bench, void *context)
{
    const struct local_memory *all = context;
    printf("\n2D kernels: the binomial filter, and a product with tiles of %u x %u:\n", all->shape.square,
           all->shape.square);
    bench_head(&timing_table);
    TRY(bench_case(bench, filter_density, context));
    return bench_case(bench, multiply_matrices, context);
}
