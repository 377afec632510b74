/* Deposit plan: what is fast on GPUs and on CPUs. */
#include "field/deposit_plan.h"

#include "base/integers.h"
#include "shared/wide_shape.h"

enum {
    GROUP_ITEMS = 256,
    CPU_GROUP_ITEMS = 64, /* a group is a loop there */

    /* A group that sums a segment, where local memory allows: 128 items with 16 particles were the fastest on
     * an H200, from 8 to 512 particles a cell. Of the current, each row of more than two nodes has an item,
     * and the items of all rows have a run of 32 particles in common. */
    SEGMENT_ITEMS = 128,
    CHARGE_PARTICLES = 16,
    CURRENT_PARTICLES = 1024, /* of a segment */
    CURRENT_RUNS = 128,
    SHARED_RUNS = 32,
    FEWEST_ITEM_PARTICLES = 8,

    /* log2 of a segment's particles where an item sums it: its time, some 10 us, is far less than that of the
     * whole list and far more than that of a launch. */
    ITEM_SEGMENT_BITS = 13,

    /* Items that add up the pieces around a node: enough of them to fill a GPU where there are few nodes. */
    NODE_ITEMS = 1 << 17,
    MOST_NODE_LANES = 32,
    COPY_NODES = 1 << 16, /* that atomic additions are spread over, where a copy more has no more */
    LANE_PIECES = 64,     /* pieces that an item adds before deposit_long_cells pays for its launch */
    SHORT_CELL = 16       /* pieces of a cell that deposit_long_cells leaves apart */
};

/* A group that sums a segment needs local memory for its particles, which then holds the items' sums, two
 * words a run, and 16 bits for each particle that may be beside its cell (kernels/shared/deposit_groups.h).
 * Several groups share it. */
static void fit_segments(const struct device_info *info, uint32_t components, size_t real_bytes,
                         struct deposit_plan *plan)
{
    const size_t sample = components == 1 ? 2 : 5, sums = components * plan->nodes * plan->nodes;
    plan->shares = components == 1 || plan->nodes == 2 ? 1 : plan->nodes;
    size_t runs = components == 1 ? SEGMENT_ITEMS : plan->shares == 1 ? CURRENT_RUNS : SHARED_RUNS;
    plan->item_particles = components == 1 ? CHARGE_PARTICLES : CURRENT_PARTICLES / runs;
    if (plan->shares > info->group_limit)
        plan->shares = 1;
    while (runs * plan->shares > info->group_limit)
        runs /= 2;
    while (runs > 1) {
        const size_t staged = (plan->item_particles + 1) * sample;
        const size_t beside = plan->beside ? plan->item_particles * sizeof(uint16_t) : 0;
        const size_t bytes = (staged < sums ? sums : staged) * real_bytes + 2 * sizeof(uint32_t) + beside;
        if (runs * bytes <= info->local_memory / 4 * 3)
            break;
        const bool shorter = staged > sums && plan->item_particles > FEWEST_ITEM_PARTICLES;
        *(shorter ? &plan->item_particles : &runs) /= 2;
    }
    plan->segment_items = runs * plan->shares;
    plan->segment_bits = bits_below(runs * plan->item_particles);
}

/* The other groups need local memory for half their items' sums (shared/sum.h). */
struct deposit_plan deposit_plan_make(const struct device_info *info, uint32_t cells, enum shape_kind shape,
                                      uint32_t components, enum precision precision)
{
    const int order = (int)shape;
    const bool is_wide = components > 1 && SHAPE_WIDE_NODES_OF(order) > SHAPE_NODES_OF(order);
    const bool beside = is_wide && !info->is_cpu && info->has_int64_atomics && precision == PRECISION_SINGLE;
    const uint32_t nodes =
        (uint32_t)(is_wide && !beside ? SHAPE_WIDE_NODES_OF(order) : SHAPE_NODES_OF(order));
    const uint32_t planes = components * nodes * nodes;
    const size_t real_bytes = precision_bytes(precision);
    struct deposit_plan plan = {.nodes = nodes,
                                .vectors = info->is_cpu,
                                .beside = beside,
                                .items = info->is_cpu ? CPU_GROUP_ITEMS : GROUP_ITEMS,
                                .segment_bits = ITEM_SEGMENT_BITS,
                                .lanes = 1,
                                .copies = 1};
    while (plan.items > 1 &&
           (plan.items > info->group_limit || plan.items / 2 * planes * real_bytes > info->local_memory / 2))
        plan.items /= 2;
    if (plan.vectors)
        return plan;
    fit_segments(info, components, real_bytes, &plan);
    while (beside && 2 * plan.copies * (uint64_t)cells <= COPY_NODES)
        plan.copies *= 2;
    while (plan.lanes < MOST_NODE_LANES && 2 * plan.lanes <= plan.items &&
           2 * plan.lanes * (uint64_t)cells <= NODE_ITEMS)
        plan.lanes *= 2;
    return plan;
}

uint32_t deposit_plan_most(const struct deposit_plan *plan, uint32_t segments)
{
    /* On a CPU the pieces of a cell, of thousands of particles each, are added up in far less than a launch.
     */
    return !plan->vectors && segments > LANE_PIECES * plan->lanes ? SHORT_CELL : UINT32_MAX;
}
