/* Local memory, part refine: a coarse grid some of whose cells get a child grid. The lecture's children are
 * launched by the parent's items (dynamic parallelism); OpenCL has that since 2.0, as device-side enqueue,
 * where a device offers it. On all others the host launches the children. */
#include "experiments/local_memory/local_memory.h"

#include <string.h>

static const char *const way_names[REFINE_WAYS] = {
    [REFINE_UNIFORM] = "a child grid for every cell",
    [REFINE_TOGETHER] = "over the threshold, in one launch",
    [REFINE_ONE_BY_ONE] = "over the threshold, a launch for each",
    [REFINE_BY_PARENT] = "over the threshold, launched by parents",
};

struct refine {
    const struct ladder *ladder;
    enum refine_way way;
    uint32_t refined;
    uint32_t *values; /* of the host */
    struct refinement grid;
};

static enum status clear(void *context)
{
    const struct refine *refine = context;
    return buffer_fill(refine->grid.values, 0);
}

static enum status run_refine(void *context)
{
    struct refine *refine = context;
    return local_refine_run(refine->ladder->kernels, refine->way, &refine->grid, &refine->refined);
}

static enum status verify(void *context, bool *right)
{
    const struct refine *refine = context;
    const size_t count = (size_t)refine->grid.cells * refine->grid.cells;
    TRY(buffer_read(refine->grid.values, 0, count * sizeof(uint32_t), refine->values));
    *right = local_refine_right(refine->way, &refine->grid, refine->values, refine->refined);
    return STATUS_OK;
}

/* Whether the device can launch children itself, and a line for below the table that says how they are
 * launched. */
static bool parents_launch(const struct ladder *ladder, size_t size, char *how)
{
    if (!ladder->bench->info->can_enqueue) {
        snprintf(how, size, "host-enqueued: this device has no device-side enqueue");
        return false;
    }
    if (local_refine_prepare(ladder->kernels) != STATUS_OK) {
        const char *message = status_message();
        const size_t line = strcspn(message, "\n"); /* a build log follows */
        snprintf(how, size, "host-enqueued: this device's device-side enqueue fails: %.*s", (int)line,
                 message);
        return false;
    }
    snprintf(how, size, "launched by parents: device-enqueued; the other ways: host-enqueued");
    return true;
}

/* How many cells a way refines, on which rung and size depend. */
static enum status climb(const struct ladder *ladder, struct refine *refine)
{
    const uint32_t cells = refine->grid.cells;
    struct rung rung = {
        .part = "refine", .version = way_names[refine->way], .unit = "Gcells/s", .stage = STAGE_OTHER};
    TRY(run_refine(refine));
    snprintf(rung.size, sizeof rung.size, "%u of %ux%u", refine->refined, cells, cells);
    rung.work = (double)refine->refined * REFINEMENT_CELLS;
    return ladder_climb(
        ladder, &rung,
        (struct subject){.context = refine, .prepare = clear, .run = run_refine, .verify = verify});
}

enum status ladder_refine(struct bench *bench, void *context)
{
    const struct ladder *ladder = context;
    const uint32_t cells = ladder->options->coarse;
    const size_t count = (size_t)cells * cells;
    struct refine refine = {.ladder = ladder, .grid = {.cells = cells, .threshold = REFINEMENT_PEAK / 64}};
    char how[512];
    TRY(DEVICE_NEW_ARRAY(bench->part, refine.values, count));
    TRY(ladder_array(ladder, count, &refine.grid.values));
    TRY(ladder_array(ladder, count, &refine.grid.listed));
    TRY(ladder_array(ladder, 2, &refine.grid.counts));
    ladder_print_head(ladder, "Refinement of a coarse grid, children of 8 x 8; rate of their cells");
    const bool by_parent = parents_launch(ladder, sizeof how, how);
    for (int way = 0; way < REFINE_WAYS; way++) {
        refine.way = (enum refine_way)way;
        if (way != REFINE_BY_PARENT || by_parent)
            TRY(climb(ladder, &refine));
    }
    printf("  %s\n", how);
    return STATUS_OK;
}
