/* Tile plan: what follows from the device. */
#include "device/tile_plan.h"

enum {
    CHUNKS_PER_SCAN_ITEM = 16, /* CHUNKS_EACH of kernels/shared/tiles.h */
    GROUPS_PER_UNIT = 4,       /* what one compute unit of a large GPU holds of the reorder */
    TILES_PER_CHUNK = 4,
    LOCAL_MARGIN = 512 /* local bytes for single words and the compiler's own */
};

uint32_t tile_length(const struct tile_plan *plan)
{
    return plan->items * TILE_KEYS;
}

uint32_t tile_count(const struct tile_plan *plan, uint32_t count)
{
    return count / tile_length(plan) + (count % tile_length(plan) != 0);
}

uint32_t tile_row(const struct tile_plan *plan)
{
    const uint32_t radix = UINT32_C(1) << plan->digit_bits;
    return radix < TILE_SCAN_BINS ? TILE_SCAN_BINS : radix;
}

size_t tile_local_bytes(uint32_t items, uint32_t digit_bits)
{
    const struct tile_plan plan = {.digit_bits = digit_bits, .items = items};
    const size_t tile = tile_length(&plan);
    const size_t staged = (tile + tile / 32) * sizeof(uint32_t),
                 counters = TILE_SOME * items * sizeof(uint16_t);
    return staged + counters + 2 * items * sizeof(uint32_t) + tile_row(&plan) * (sizeof(uint32_t) + 1) +
           LOCAL_MARGIN;
}

/* The most items of a group, 128, 64 or 32, that the device has room for; 0 where it has room for none. */
static uint32_t items_for(const struct device_info *info, uint32_t digit_bits)
{
    for (uint32_t items = 128; items >= 32; items /= 2)
        if (2 * items <= info->group_limit && tile_local_bytes(items, digit_bits) <= info->local_memory)
            return items;
    return 0;
}

bool tile_plan_make(const struct device_info *info, uint32_t digit_bits, struct tile_plan *plan)
{
    if (digit_bits < 1 || digit_bits > TILE_MAX_DIGIT_BITS)
        return false;
    *plan = (struct tile_plan){.digit_bits = digit_bits, .items = items_for(info, digit_bits)};
    /* On a CPU device an item is a loop turn, and many of them in a group gain nothing. */
    const size_t most_scan_items = info->is_cpu ? 256 : 1024;
    plan->scan_items = 64;
    while (plan->scan_items * 2 <= most_scan_items && plan->scan_items * 2 <= info->group_limit)
        plan->scan_items *= 2;
    plan->max_chunks = plan->scan_items / TILE_SCAN_BINS * CHUNKS_PER_SCAN_ITEM;
    if (digit_bits > 10) /* rows are long: fewer of them */
        plan->max_chunks /= 2;
    const uint32_t busy = GROUPS_PER_UNIT * info->compute_units;
    plan->min_chunks = busy < plan->max_chunks ? busy : plan->max_chunks;
    return plan->items > 0;
}

uint32_t tile_chunks(const struct tile_plan *plan, uint32_t count)
{
    const uint32_t tiles = tile_count(plan, count);
    uint32_t chunks = tiles / TILES_PER_CHUNK;
    chunks = chunks < plan->min_chunks ? plan->min_chunks : chunks;
    chunks = chunks > plan->max_chunks ? plan->max_chunks : chunks;
    return tiles < chunks ? tiles : chunks;
}
