/* Local memory, part refine: a coarse grid some of whose cells get a child grid. The lecture's children are
 * launched by the parent's items (dynamic parallelism); in OpenCL 1.2 the host launches them. */
#include "experiments/local_memory/local_memory.h"

enum method {
    UNIFORM,    /* a child grid for every cell, in one launch */
    TOGETHER,   /* one launch for the child grids of all cells over the threshold */
    ONE_BY_ONE, /* a launch for each child grid */
    METHODS
};
static const char *const method_names[METHODS] = {
    [UNIFORM] = "a child grid for every cell",
    [TOGETHER] = "over the threshold, in one launch",
    [ONE_BY_ONE] = "over the threshold, a launch for each",
};

/* The coarse grid of cells x cells, and where its kernels write. */
struct refinement {
    struct device *device;
    struct kernel *parent, *child;
    enum method method;
    uint32_t cells, threshold;
    size_t count;                                  /* of the cells */
    struct buffer *values, *listed, *listed_count; /* a word for each cell; how many are listed */
    uint32_t *found;                               /* the values on the host, which are judged */
    uint32_t refined;                              /* how many children the last run made */
};

/* A child grid for every cell, or those over the threshold; every density is above 0. */
static uint32_t threshold_of(const struct refinement *grid)
{
    return grid->method == UNIFORM ? 0 : grid->threshold;
}

/* The parent, and how many cells it has listed. */
static enum status run_parent(struct refinement *grid)
{
    const uint64_t cells = (uint64_t)grid->cells * grid->cells;
    const struct launch launch = launch_flat(cells, STAGE_FIELD, cells * sizeof(uint32_t));
    TRY(buffer_fill(grid->listed_count, 0));
    TRY(KERNEL_LAUNCH(grid->parent, launch, grid->values, grid->listed, grid->listed_count, grid->cells,
                      threshold_of(grid)));
    return buffer_read(grid->listed_count, 0, sizeof grid->refined, &grid->refined);
}

/* values[cell] = sum of refinement_density() over the child's cells where the density in the middle is above
 * the threshold (everywhere if uniform), else REFINEMENT_CELLS times that. Between parent and children the
 * host waits for their number. All is timed as STAGE_OTHER, launches as STAGE_FIELD. */
static enum status run(void *context)
{
    struct refinement *grid = context;
    struct device *device = grid->device;
    grid->refined = 0;
    if (grid->method == UNIFORM) /* all cells are known beforehand */
        TRY(run_parent(grid));
    TRY(device_region_begin(device));
    if (grid->method != UNIFORM)
        TRY(run_parent(grid));
    const uint32_t at_a_time = grid->method == ONE_BY_ONE ? 1 : grid->refined;
    const struct launch launch = {at_a_time, REFINEMENT_CELLS, STAGE_FIELD, 0};
    for (uint32_t first = 0; first < grid->refined; first += at_a_time)
        TRY(KERNEL_LAUNCH(grid->child, launch, grid->values, grid->listed, first, grid->cells));
    return device_region_end(device, STAGE_OTHER, 0, STATUS_OK);
}

/* In halves of a fine cell, of which a cell is 2 * REFINEMENT wide. */
static uint32_t child_sum(uint32_t cells, uint32_t i, uint32_t j)
{
    uint32_t sum = 0;
    for (uint32_t di = 0; di < REFINEMENT; di++)
        for (uint32_t dj = 0; dj < REFINEMENT; dj++)
            sum += refinement_density(cells, 2 * (REFINEMENT * i + di) + 1, 2 * (REFINEMENT * j + dj) + 1);
    return sum;
}

/* The values found, and the number of children in `refined`, are those that run() must leave. */
static bool is_right(const struct refinement *grid)
{
    const uint32_t cells = grid->cells;
    uint32_t refined = 0;
    for (uint32_t cell = 0; cell < grid->count; cell++) {
        const uint32_t density = coarse_density(cell, cells);
        const bool has_child = density > threshold_of(grid);
        refined += has_child;
        if (grid->found[cell] !=
            (has_child ? child_sum(cells, cell / cells, cell % cells) : REFINEMENT_CELLS * density))
            return false;
    }
    return refined == grid->refined;
}

/* ---- the part ---- */

static enum status clear(void *context)
{
    const struct refinement *grid = context;
    return buffer_fill(grid->values, 0);
}

static enum status verify(void *context, bool *right)
{
    const struct refinement *grid = context;
    TRY(buffer_read(grid->values, 0, (grid->count + BEHIND) * sizeof *grid->found, grid->found));
    *right = is_right(grid);
    for (size_t n = grid->count; n < grid->count + BEHIND; n++)
        *right = *right && grid->found[n] == 0;
    return STATUS_OK;
}

/* How many cells a method refines, on which work and size depend. */
static enum status report_method(const struct local_memory *all, struct refinement *grid)
{
    TRY(run(grid));
    struct timing timing = {.part = "refine",
                            .version = method_names[grid->method],
                            .work = (double)grid->refined * REFINEMENT_CELLS,
                            .kind = WORK_CELLS,
                            .subject = {.context = grid, .prepare = clear, .run = run, .verify = verify}};
    snprintf(timing.size, sizeof timing.size, "%u of %ux%u", grid->refined, grid->cells, grid->cells);
    return timing_report(all, &timing);
}

enum status local_memory_refine(struct bench *bench, void *context)
{
    const struct local_memory *all = context;
    const uint32_t cells = all->options->coarse;
    struct refinement grid = {
        .device = bench->device, .cells = cells, .threshold = all->threshold, .count = (size_t)cells * cells};
    TRY(kernel_create(all->program, "refine_parent", &grid.parent));
    TRY(kernel_create(all->program, "refine_child", &grid.child));
    TRY(DEVICE_NEW_ARRAY(bench->part, grid.found, grid.count + BEHIND));
    TRY(buffer_create(bench->part, (grid.count + BEHIND) * sizeof(uint32_t), "numbers", &grid.values));
    TRY(buffer_create(bench->part, grid.count * sizeof(uint32_t), "numbers", &grid.listed));
    TRY(buffer_create(bench->part, sizeof(uint32_t), "numbers", &grid.listed_count));
    printf("\nRefinement of a coarse grid, children of 8 x 8; rate of their cells:\n");
    bench_head(&timing_table);
    for (grid.method = UNIFORM; grid.method < METHODS; grid.method++)
        TRY(report_method(all, &grid));
    return STATUS_OK;
}
