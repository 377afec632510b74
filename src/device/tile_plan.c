/* Tile plan: what follows from the device. */
#include "device/tile_plan.h"

#include "base/integers.h"

enum {
    CHUNKS_PER_SCAN_ITEM = 16, /* CHUNKS_EACH of kernels/shared/tiles.h */
    LEAST_ITEMS = 32,
    TILES_PER_CHUNK = 4,
    LOCAL_MARGIN = 640 /* local bytes for single words and the compiler's own */
};

uint32_t tile_length(const struct tile_plan *plan)
{
    return plan->items * plan->keys;
}

uint32_t tile_count(const struct tile_plan *plan, uint32_t count)
{
    return divide_up(count, tile_length(plan));
}

uint32_t tile_row(uint32_t digit_bits)
{
    const uint32_t radix = UINT32_C(1) << digit_bits;
    return radix < TILE_SCAN_BINS ? TILE_SCAN_BINS : radix;
}

/* Local bytes of the reorder kernel that needs the most, for groups of `items`. */
static size_t local_bytes(uint32_t items, uint32_t keys, uint32_t ranked_bits)
{
    const size_t tile = (size_t)items * keys;
    const size_t staged = (tile + tile / 32) * sizeof(uint32_t);
    const size_t counters = TILE_LISTED_DIGITS * items * sizeof(uint16_t);
    return staged + counters + 2 * items * sizeof(uint32_t) + tile_row(ranked_bits) * (sizeof(uint32_t) + 1) +
           LOCAL_MARGIN;
}

/* The most items of a group, TILE_MOST_ITEMS or half or a quarter of them, asked for and that the
 * device has room for; 0 where it has room for none. */
static uint32_t items_for(const struct device_info *info, uint32_t ranked_bits, uint32_t keys,
                          const struct tile_request *request)
{
    uint32_t most = TILE_MOST_ITEMS;
    while (request->items > 0 && most > request->items && most > LEAST_ITEMS)
        most /= 2;
    for (uint32_t items = most; items >= LEAST_ITEMS; items /= 2)
        if (2 * items <= info->group_limit && local_bytes(items, keys, ranked_bits) <= info->local_memory)
            return items;
    return 0;
}

bool tile_plan_make(const struct device_info *info, uint32_t digit_bits, const struct tile_request *request,
                    struct tile_plan *plan)
{
    static const struct tile_request none = {0};
    const struct tile_request *asked = request ? request : &none;
    *plan = (struct tile_plan){.digit_bits = digit_bits, .keys = asked->keys > 0 ? asked->keys : TILE_KEYS};
    if (digit_bits < 1 || digit_bits > TILE_MAX_DIGIT_BITS)
        return false;
    plan->items = items_for(info, at_least(asked->ranked_bits, digit_bits), plan->keys, asked);
    if (plan->items == 0)
        return false;
    /* On a CPU device an item is a loop turn, and many of them in a group gain nothing. */
    const size_t most_scan_items = info->is_cpu ? 256 : 1024;
    plan->scan_items = 64;
    while (plan->scan_items * 2 <= most_scan_items && plan->scan_items * 2 <= info->group_limit)
        plan->scan_items *= 2;
    plan->max_chunks = plan->scan_items / TILE_SCAN_BINS * CHUNKS_PER_SCAN_ITEM;
    if (digit_bits > 10) /* rows are long: fewer of them */
        plan->max_chunks /= 2;
    if (asked->chunks > 0 && asked->chunks < plan->max_chunks)
        plan->max_chunks = asked->chunks;
    const uint32_t busy =
        TILE_GROUPS_PER_UNIT * TILE_MOST_ITEMS * TILE_KEYS / tile_length(plan) * info->compute_units;
    const uint32_t wanted = asked->chunks > 0 ? asked->chunks : busy;
    plan->min_chunks = wanted < plan->max_chunks ? wanted : plan->max_chunks;
    return true;
}

uint32_t tile_chunks(const struct tile_plan *plan, uint32_t count)
{
    const uint32_t tiles = tile_count(plan, count);
    return at_most(at_most(at_least(tiles / TILES_PER_CHUNK, plan->min_chunks), plan->max_chunks), tiles);
}
