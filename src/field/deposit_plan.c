/* Deposit plan: what is fast on GPUs and on CPUs. */
#include "field/deposit_plan.h"

#include "base/integers.h"

enum {
    GROUP_ITEMS = 256,
    CPU_GROUP_ITEMS = 64, /* a group is a loop there */

    /* Many per cell: each item of a group per piece then has several particles to add before the tree. */
    MANY_PER_CELL = 2048,

    /* A group per segment, where local memory allows: 128 items with 16 particles were the fastest on an
     * H200, from 8 to 512 particles a cell. */
    SEGMENT_ITEMS = 128,
    ITEM_PARTICLES = 16,
    FEWEST_ITEM_PARTICLES = 8, /* local memory for a segment's particles then holds the items' sums too */

    /* log2 of a segment's particles. Where an item takes it: its time, some 10 us, is far less than that of
     * the whole list and far more than that of a launch. Where a group takes it: so long that its tree and
     * the search for its cell take a small part of the time, and so short that each compute unit gets
     * GROUPS_PER_UNIT groups. */
    ITEM_SEGMENT_BITS = 13,
    LEAST_PIECE_BITS = 12,
    MOST_PIECE_BITS = 15,
    GROUPS_PER_UNIT = 8,

    /* Items that add up the pieces around a node: enough of them to fill a GPU where there are few nodes. */
    NODE_ITEMS = 1 << 17,
    MOST_NODE_LANES = 32,
    LANE_PIECES = 64, /* pieces that an item adds before deposit_long_cells pays for its launch */
    SHORT_CELL = 16   /* pieces of a cell that deposit_long_cells leaves apart */
};

const char *deposit_describe(const struct device_info *info, const struct deposit_config *config)
{
    if (config->method == DEPOSIT_METHOD_SORTED)
        return "sorted: cell by cell, in a fixed order";
    return info->has_int64_atomics ? "atomic: particle by particle, 64 bits at once"
                                   : "atomic: particle by particle, 64 bits as two words of 32";
}

/* A group per piece needs local memory for half its items' sums (shared/sum.h); a group per segment needs it
 * for its particles, a gap after those of each item, and three words an item. Neither takes all of it, since
 * several groups share it. */
struct deposit_groups deposit_groups_for(const struct device_info *info, uint32_t planes, size_t real_bytes)
{
    const size_t words = 3 * sizeof(uint32_t);
    struct deposit_groups groups = {.items = info->is_cpu ? CPU_GROUP_ITEMS : GROUP_ITEMS,
                                    .segment_items = SEGMENT_ITEMS,
                                    .item_particles = ITEM_PARTICLES};
    while (groups.items > 1 && (groups.items > info->group_limit ||
                                groups.items / 2 * planes * real_bytes > info->local_memory / 2))
        groups.items /= 2;
    while (groups.segment_items > info->group_limit)
        groups.segment_items /= 2;
    while (groups.segment_items > 1 &&
           groups.segment_items * ((groups.item_particles + 1) * 2 * real_bytes + words) >
               info->local_memory / 4 * 3) {
        const bool many = groups.item_particles > FEWEST_ITEM_PARTICLES;
        *(many ? &groups.item_particles : &groups.segment_items) /= 2;
    }
    groups.segment_bits = bits_below(groups.segment_items * groups.item_particles);
    return groups;
}

/* The host knows only the mean of the particles per cell, so no variant is chosen that a single full cell can
 * slow down. On a CPU one item with vectors is worth a whole group. On a GPU a group per segment costs the
 * same for any spread of the particles over the cells, but passes them through local memory; a group per
 * piece does without, and needs more than a handful of particles for each of its items, for the mean cell at
 * least: a nearly empty cell leaves a group idle for a moment. */
static enum deposit_variant choose_variant(const struct device_info *info, uint32_t count, uint32_t filled)
{
    if (info->is_cpu)
        return DEPOSIT_ITEM_PER_SEGMENT;
    return count / filled >= MANY_PER_CELL ? DEPOSIT_GROUP_PER_PIECE : DEPOSIT_GROUP_PER_SEGMENT;
}

static uint32_t piece_bits(const struct device_info *info, uint32_t count)
{
    const uint64_t groups = (uint64_t)info->compute_units * GROUPS_PER_UNIT;
    uint32_t bits = LEAST_PIECE_BITS;
    while (bits < MOST_PIECE_BITS && count >> (bits + 1) >= groups)
        bits++;
    return bits;
}

struct deposit_pass deposit_plan_pass(const struct device_info *info, const struct deposit_groups *groups,
                                      enum deposit_variant variant, uint32_t cells, uint32_t filled,
                                      uint32_t count)
{
    if (variant == DEPOSIT_AUTO)
        variant = choose_variant(info, count, filled);
    const bool per_piece = variant == DEPOSIT_GROUP_PER_PIECE, per_item = variant == DEPOSIT_ITEM_PER_SEGMENT;
    struct deposit_pass pass = {.variant = variant, .lanes = 1};
    pass.segment_bits = per_piece  ? piece_bits(info, count)
                        : per_item ? ITEM_SEGMENT_BITS
                                   : groups->segment_bits;
    pass.segments = divide_up(count, UINT64_C(1) << pass.segment_bits);
    pass.sum.groups = per_piece ? (size_t)pass.segments + filled - 1 : pass.segments;
    pass.sum.items = per_piece ? groups->items : per_item ? 1 : groups->segment_items;
    pass.sum.stage = STAGE_DEPOSIT;
    while (!per_item && pass.lanes < MOST_NODE_LANES && 2 * pass.lanes <= groups->items &&
           2 * pass.lanes * (uint64_t)cells <= NODE_ITEMS)
        pass.lanes *= 2;
    pass.most = pass.segments > LANE_PIECES * pass.lanes ? SHORT_CELL : UINT32_MAX;
    return pass;
}
