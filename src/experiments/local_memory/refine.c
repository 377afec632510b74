/* Local memory, part refine: a coarse grid some of whose cells get a child grid. The lecture's children are
 * launched by the parent's items (dynamic parallelism); OpenCL has that since 2.0, as device-side enqueue,
 * where a device offers it. On all others the host launches the children. */
#include "experiments/local_memory/local_memory.h"

#include <string.h>

enum way {
    UNIFORM,    /* a child grid for every cell, in one launch */
    TOGETHER,   /* one launch for the child grids of all cells over the threshold */
    ONE_BY_ONE, /* a launch for each child grid */
    BY_PARENT,  /* a launch for each child grid, by the item that finds its cell over the threshold */
    WAYS
};
static const char *const way_names[WAYS] = {
    [UNIFORM] = "a child grid for every cell",
    [TOGETHER] = "over the threshold, in one launch",
    [ONE_BY_ONE] = "over the threshold, a launch for each",
    [BY_PARENT] = "over the threshold, launched by parents",
};

/* The coarse grid of cells x cells, and where its kernels write: a word for each cell, and two more in
 * `counts`. */
struct refinement {
    struct device *device;
    struct kernel *parent, *child, *enqueuing_parent; /* the last of BY_PARENT */
    enum way way;
    uint32_t cells, threshold;
    size_t count; /* of the cells */
    struct buffer *values, *listed, *counts;
    uint32_t launches; /* that the device's own queue holds */
    uint32_t *found;   /* the values on the host, which are judged */
    uint32_t refined;  /* how many children the last run made */
};

/* A child grid for every cell, or those over the threshold; every density is above 0. */
static uint32_t threshold_of(const struct refinement *grid)
{
    return grid->way == UNIFORM ? 0 : grid->threshold;
}

/* The parent, and how many cells it has listed. */
static enum status run_parent(struct refinement *grid)
{
    const uint64_t cells = (uint64_t)grid->cells * grid->cells;
    const struct launch launch =
        launch_covering(cells, device_group_items(grid->device, 64), STAGE_FIELD, cells * sizeof(uint32_t));
    TRY(buffer_fill(grid->counts, 0));
    TRY(KERNEL_LAUNCH(grid->parent, launch, grid->values, grid->listed, grid->counts, grid->cells,
                      threshold_of(grid)));
    return buffer_read(grid->counts, 0, sizeof grid->refined, &grid->refined);
}

/* Builds what BY_PARENT needs besides. STATUS_FAILED where the device has device-side enqueue and takes these
 * kernels not; the other ways are as good as before. */
static enum status prepare_parent(struct refinement *grid)
{
    enum { LAUNCHES = 8192 };
    struct program *program = NULL;
    TRY(program_build_enqueuing(grid->device, "local_memory_enqueue.cl", PRECISION_SINGLE, &program, "%s",
                                ""));
    TRY(device_child_queue(grid->device, LAUNCHES, &grid->launches));
    return kernel_create(program, "refine_parent_enqueue", &grid->enqueuing_parent);
}

/* The parent in pieces, so that their children have room even where every cell has one; a piece begins when
 * the children of the one before have ended. */
static enum status run_enqueuing_parent(struct refinement *grid)
{
    const uint32_t cells = grid->cells * grid->cells;
    uint32_t counts[2]; /* enqueued, refused */
    TRY(device_region_begin(grid->device));
    TRY(buffer_fill(grid->counts, 0));
    for (uint32_t first = 0, end; first < cells; first = end) {
        end = cells - first < grid->launches ? cells : first + grid->launches;
        const struct launch launch =
            launch_covering(end - first, device_group_items(grid->device, 64), STAGE_FIELD, 0);
        TRY(KERNEL_LAUNCH(grid->enqueuing_parent, launch, grid->values, grid->counts, grid->cells,
                          grid->threshold, first, end));
    }
    TRY(device_region_end(grid->device, STAGE_OTHER, 0));
    TRY(buffer_read(grid->counts, 0, sizeof counts, counts));
    grid->refined = counts[0];
    if (counts[1] > 0)
        return status_fail(STATUS_FAILED, "%s: its kernels could not launch %u of %u child kernels",
                           device_info(grid->device)->name, counts[1], counts[0] + counts[1]);
    return STATUS_OK;
}

/* values[cell] = sum of refinement_density() over the child's cells where the density in the middle is above
 * the threshold (everywhere if uniform), else REFINEMENT_CELLS times that. Host-enqueued it waits between the
 * parent and its children, whose number the host must know; a child that a parent could not launch is
 * STATUS_FAILED. Timed as a whole as STAGE_OTHER, the launches as STAGE_FIELD. */
static enum status run(void *context)
{
    struct refinement *grid = context;
    struct device *device = grid->device;
    grid->refined = 0;
    if (grid->way == BY_PARENT)
        return run_enqueuing_parent(grid);
    if (grid->way == UNIFORM) /* all cells are known beforehand */
        TRY(run_parent(grid));
    TRY(device_region_begin(device));
    if (grid->way != UNIFORM)
        TRY(run_parent(grid));
    const uint32_t at_a_time = grid->way == ONE_BY_ONE ? 1 : grid->refined;
    const struct launch launch = {at_a_time, REFINEMENT_CELLS, STAGE_FIELD, 0};
    for (uint32_t first = 0; first < grid->refined; first += at_a_time)
        TRY(KERNEL_LAUNCH(grid->child, launch, grid->values, grid->listed, first, grid->cells));
    return device_region_end(device, STAGE_OTHER, 0);
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

/* Whether those found are the values, and `refined` the children, that run() must leave. */
static bool is_right(const struct refinement *grid)
{
    const uint32_t cells = grid->cells;
    uint32_t refined = 0;
    for (uint32_t i = 0; i < cells; i++)
        for (uint32_t j = 0; j < cells; j++) {
            const uint32_t density =
                refinement_density(cells, REFINEMENT * (2 * i + 1), REFINEMENT * (2 * j + 1));
            const bool has_child = density > threshold_of(grid);
            refined += has_child;
            if (grid->found[(size_t)cells * i + j] !=
                (has_child ? child_sum(cells, i, j) : REFINEMENT_CELLS * density))
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

/* Whether the device can launch children itself, and a line for below the table that says how they are
 * launched. */
static bool parents_launch(const struct local_memory *all, struct refinement *grid, size_t size, char *how)
{
    if (!all->bench->info->can_enqueue) {
        snprintf(how, size, "host-enqueued: this device has no device-side enqueue");
        return false;
    }
    if (prepare_parent(grid) != STATUS_OK) {
        const char *message = status_message();
        const size_t line = strcspn(message, "\n"); /* a build log follows */
        snprintf(how, size, "host-enqueued: this device's device-side enqueue fails: %.*s", (int)line,
                 message);
        return false;
    }
    snprintf(how, size, "launched by parents: device-enqueued; the other ways: host-enqueued");
    return true;
}

/* How many cells a way refines, on which work and size depend. */
static enum status report_way(const struct local_memory *all, struct refinement *grid)
{
    TRY(run(grid));
    struct timing timing = {.part = "refine",
                            .version = way_names[grid->way],
                            .work = (double)grid->refined * REFINEMENT_CELLS,
                            .kind = WORK_CELLS,
                            .stage = STAGE_OTHER,
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
    char how[512];
    TRY(kernel_create(all->program, "refine_parent", &grid.parent));
    TRY(kernel_create(all->program, "refine_child", &grid.child));
    TRY(DEVICE_NEW_ARRAY(bench->part, grid.found, grid.count + BEHIND));
    TRY(buffer_create(bench->part, (grid.count + BEHIND) * sizeof(uint32_t), "numbers", &grid.values));
    TRY(buffer_create(bench->part, grid.count * sizeof(uint32_t), "numbers", &grid.listed));
    TRY(buffer_create(bench->part, 2 * sizeof(uint32_t), "numbers", &grid.counts));
    timing_print_head("Refinement of a coarse grid, children of 8 x 8; rate of their cells");
    const bool by_parent = parents_launch(all, &grid, sizeof how, how);
    for (grid.way = UNIFORM; grid.way < WAYS; grid.way++)
        if (grid.way != BY_PARENT || by_parent)
            TRY(report_way(all, &grid));
    printf("  %s\n", how);
    return STATUS_OK;
}
