/* Tiled sort: the shape of its launches, its arrays, and the passes in their order. */
#include "sort/fast_sorts.h"

#include "base/integers.h"
#include "device/tile_plan.h"

/* What a list holds before and after a pass; the numbers are those of kernels/tiled_sort.cl. */
enum form { FORM_KEYS = 0, FORM_PACKED = 1, FORM_PAIRS = 2 };

enum {
    MAX_PASSES = 2,
    SHORT_ITEMS = 64,          /* where a list is short: more groups, which end together */
    LEAST_KEYS = 8,            /* of an item */
    LONG_ROW_BITS = 11,        /* of digits: rows of local memory then leave room to few groups */
    WINDOW_CELLS = 16,         /* of a tile in PIC order: its digits then mostly fit in a window */
    RUN_WORDS = 129,           /* of kernels/tiled_sort.cl */
    SHORT_TILES_PER_UNIT = 64, /* of TILE_MOST_ITEMS: up to here it is */
};

/* The shape of a sort: everything that follows from the device, the key and the capacity. */
struct shape {
    struct tile_plan tiles; /* of the first digit, which is the longer one */
    uint32_t reorders;      /* kernels of the reorder */
    uint32_t passes;
    uint32_t digit_bits[MAX_PASSES];
    bool counts_cells; /* the first pass ranks whole keys, so that it counts the cells too */
    enum form between; /* of the list between two passes */
    uint32_t index_bits;
};

struct pass {
    struct kernel *histogram, *scan, *reorder_registers, *reorder;
    struct buffer *table; /* uint[chunks][row] */
};

struct tiled_sort {
    struct device *device; /* not owned */
    struct shape shape;
    uint32_t key_bits, capacity;
    bool short_keys;
    struct pass passes[MAX_PASSES];
    struct sorted_order order;
    struct buffer *lists;          /* uint[chunks][TILE_LIST_WORDS]: the distinct digits of each chunk */
    struct buffer *totals;         /* TOTALS of kernels/shared/tiles.h; zero between sorts */
    struct buffer *runs;           /* uint[chunks][RUN_WORDS] with two passes */
    struct buffer *between;        /* uint[capacity] with two passes: packed words, or sigma */
    struct buffer *between_digits; /* ushort[capacity] with FORM_PAIRS */
};

/* False where the device has no room for a tile. */
static bool make_shape(const struct device_info *info, uint32_t key_bits, uint32_t capacity,
                       const struct fast_options *options, struct shape *shape)
{
    *shape = (struct shape){.passes = options->passes};
    const uint64_t short_tiles = (uint64_t)SHORT_TILES_PER_UNIT * info->compute_units;
    const uint32_t tiles = capacity / (TILE_MOST_ITEMS * TILE_KEYS);
    const bool is_short = tiles < short_tiles;
    shape->reorders = options->reorders > 0 ? options->reorders : is_short ? 1 : 2;
    shape->digit_bits[0] = divide_up(key_bits, shape->passes);
    shape->digit_bits[1] = key_bits - shape->digit_bits[0];
    if (shape->passes == 2) {
        shape->between = shape->digit_bits[1] + bits_below(capacity) <= 32 ? FORM_PACKED : FORM_PAIRS;
        shape->counts_cells = key_bits <= TILE_MAX_DIGIT_BITS;
    }
    uint32_t items = options->items, keys = 0;
    if (items == 0 && shape->passes == 2 && !shape->counts_cells && !options->any_order) {
        /* Tiles of digits that, in PIC order, fit in a window. */
        const uint64_t of_window = (uint64_t)WINDOW_CELLS * (capacity >> key_bits);
        keys = TILE_KEYS;
        while (keys > LEAST_KEYS && TILE_MOST_ITEMS * (uint64_t)keys > of_window)
            keys /= 2;
        items = TILE_MOST_ITEMS * (uint64_t)keys > of_window ? SHORT_ITEMS : 0;
    } else if (items == 0 && is_short) {
        /* Tiles of half the length: as 64 items, or, where a group has a tile or two, or there is room for
         * few groups, as 128 items with fewer keys each. */
        const bool is_wide =
            tiles <= TILE_GROUPS_PER_UNIT * info->compute_units || shape->digit_bits[0] >= LONG_ROW_BITS;
        keys = is_wide ? TILE_KEYS / 2 : 0;
        items = is_wide ? 0 : SHORT_ITEMS;
    }
    const struct tile_request request = {.items = items,
                                         .keys = keys,
                                         .chunks = options->chunks,
                                         .ranked_bits = shape->counts_cells ? key_bits : 0};
    shape->index_bits = shape->between == FORM_PACKED ? 32 - shape->digit_bits[1] : 0;
    return tile_plan_make(info, shape->digit_bits[0], &request, &shape->tiles);
}

static enum status resolve(const struct device_info *info, uint32_t key_bits, uint32_t capacity,
                           struct fast_options *options)
{
    const uint32_t fewest = divide_up(key_bits, TILE_MAX_DIGIT_BITS), most = key_bits > 1 ? MAX_PASSES : 1;
    struct shape shape;
    (void)capacity;
    if (key_bits < 1 || key_bits > TILED_SORT_MAX_KEY_BITS ||
        !make_shape(info, key_bits, UINT32_MAX, &(struct fast_options){.passes = fewest}, &shape))
        return status_fail(
            STATUS_USAGE,
            "sort: the method tiled has no sort of keys of %u bits for %s (at most %d bits; it "
            "has %zu bytes of local memory and groups of up to %zu items); take the method paper",
            key_bits, info->name, TILED_SORT_MAX_KEY_BITS, info->local_memory, info->group_limit);
    options->passes = options->passes > 0 ? options->passes : fewest;
    if (options->passes < fewest || options->passes > most)
        return status_fail(STATUS_USAGE,
                           "sort: the method tiled sorts keys of %u bits in %u to %u passes (p), not in %u",
                           key_bits, fewest, most, options->passes);
    return STATUS_OK;
}

/* ---- making one ---- */

static enum status create_pass(struct tiled_sort *sort, uint32_t number)
{
    const struct shape *shape = &sort->shape;
    struct pass *pass = &sort->passes[number];
    struct program *program = NULL;
    const bool is_first = number == 0, is_last = number + 1 == shape->passes;
    const char *key = key_type(is_first ? sort->short_keys : shape->between == FORM_PAIRS);
    TRY(program_build(sort->device, "tiled_sort.cl", PRECISION_SINGLE, &program,
                      "-D ITEMS=%u -D KEYS=%u -D SCAN_ITEMS=%u -D DIGIT_BITS=%u -D BIN_BITS=%u "
                      "-D NEXT_BITS=%u -D INDEX_BITS=%u -D INPUT=%d -D NEXT=%d -D KEY=%s -D KEY4=%s4",
                      shape->tiles.items, shape->tiles.keys, shape->tiles.scan_items,
                      is_first && shape->counts_cells ? sort->key_bits : shape->digit_bits[number],
                      shape->digit_bits[number], is_first ? shape->digit_bits[1] : 0, shape->index_bits,
                      is_first ? FORM_KEYS : shape->between, is_last ? FORM_KEYS : shape->between, key, key));
    TRY(kernel_create(program, "tiled_histogram", &pass->histogram));
    TRY(kernel_create(program, "tiled_scan", &pass->scan));
    TRY(kernel_create(program, "tiled_reorder_registers", &pass->reorder_registers));
    TRY(kernel_create(program, "tiled_reorder", &pass->reorder));
    const size_t word = sizeof(uint32_t), chunks = tile_chunks(&shape->tiles, sort->capacity);
    return buffer_create(sort->device, chunks * tile_row(shape->digit_bits[number]) * word,
                         "the sort's table of counts", &pass->table);
}

static enum status create_parts(struct tiled_sort *sort)
{
    const struct shape *shape = &sort->shape;
    struct device *device = sort->device;
    const size_t word = sizeof(uint32_t), chunks = tile_chunks(&shape->tiles, sort->capacity);
    const size_t totals =
        tile_row(shape->digit_bits[0]) + (shape->counts_cells ? ((size_t)1 << sort->key_bits) + 1 : 0);
    const size_t runs = shape->passes == 2 ? chunks * RUN_WORDS : 0;
    const size_t between = shape->passes == 2 ? sort->capacity : 0;
    const size_t digits = shape->between == FORM_PAIRS ? divide_up(sort->capacity, 2) : 0; /* of ushorts */
    for (uint32_t n = 0; n < shape->passes; n++)
        TRY(create_pass(sort, n));
    sort->order =
        (struct sorted_order){.device = device, .capacity = sort->capacity, .short_keys = sort->short_keys};
    TRY(buffer_create(device, chunks * TILE_LIST_WORDS * word, "the sort's lists of distinct digits",
                      &sort->lists));
    TRY(buffer_create(device, runs * word, "the sort's runs", &sort->runs));
    TRY(buffer_create(device, between * word, "the list between sort passes", &sort->between));
    TRY(buffer_create(device, digits * word, "the digits between sort passes", &sort->between_digits));
    return buffer_create_zeroed(device, totals * word, "the sort's totals", &sort->totals);
}

static enum status create(struct device *device, uint32_t key_bits, uint32_t capacity,
                          struct fast_options options, void **sort)
{
    struct tiled_sort *created = NULL;
    TRY(resolve(device_info(device), key_bits, capacity, &options));
    TRY(DEVICE_NEW(device, created));
    *sort = created;
    *created = (struct tiled_sort){
        .device = device, .key_bits = key_bits, .capacity = capacity, .short_keys = options.short_keys};
    if (!make_shape(device_info(device), key_bits, capacity, &options, &created->shape))
        return status_fail(STATUS_USAGE, "sort: %s has no room for the tiles of keys of %u bits in %u passes",
                           device_info(device)->name, key_bits, options.passes);
    return create_parts(created);
}

/* ---- sorting ---- */

/* Bytes of one entry of the list in this form, as a reorder reads or writes it; sigma alone is a word. */
static uint64_t bytes_per_entry(enum form form)
{
    return form == FORM_PAIRS ? sizeof(uint16_t) + sizeof(uint32_t) : sizeof(uint32_t);
}

static enum status one_pass(struct tiled_sort *sort, uint32_t number, const struct radix_lists *lists,
                            uint32_t count)
{
    const struct shape *shape = &sort->shape;
    const struct pass *pass = &sort->passes[number];
    const bool is_first = number == 0, is_last = number + 1 == shape->passes;
    const enum form input = is_first ? FORM_KEYS : shape->between,
                    output = is_last ? FORM_KEYS : shape->between;
    struct buffer *table = pass->table, *next_table = is_last ? sort->lists : sort->passes[1].table;
    /* Where no sigma is read, or no offsets are written, any buffer stands in. */
    const struct buffer *values = is_first ? lists->keys : sort->between;
    const struct buffer *keys = input == FORM_PAIRS ? sort->between_digits : values;
    struct buffer *sent = is_last ? lists->permutation : sort->between;
    const bool offsets = is_first && lists->cell_offsets && (is_last || shape->counts_cells);

    const uint32_t chunks = tile_chunks(&shape->tiles, count), row = tile_row(shape->digit_bits[number]);
    const uint64_t table_bytes = (uint64_t)chunks * row * sizeof(uint32_t);
    /* Only keys that are counted have bytes: a second pass has most counts from the first. */
    const uint64_t counted = is_first || !shape->counts_cells ? count : 0;
    const uint64_t key_bytes = input == FORM_PAIRS ? sizeof(uint16_t) : sizeof(uint32_t);
    TRY(KERNEL_LAUNCH(pass->histogram,
                      ((struct launch){chunks, 2 * (size_t)shape->tiles.items, STAGE_SORT_HISTOGRAM,
                                       key_bytes * counted + table_bytes}),
                      keys, table, sort->lists, sort->totals, next_table, sort->runs, count));
    TRY(KERNEL_LAUNCH(pass->scan,
                      ((struct launch){row / TILE_SCAN_BINS + (is_first && shape->counts_cells),
                                       shape->tiles.scan_items, STAGE_SORT_SCAN, 2 * table_bytes}),
                      table, sort->totals, offsets ? lists->cell_offsets : sort->lists, chunks,
                      offsets ? lists->cells : 0));
    const uint64_t bytes = (bytes_per_entry(input) + bytes_per_entry(output)) * count;
    struct launch launch = {chunks, shape->tiles.items, STAGE_SORT_REORDER, bytes};
    /* Each kernel takes the chunks that it is made for; the bytes of both are told with the first. */
    const bool two_reorders = shape->reorders == 2 && (is_first || !shape->counts_cells);
    if (two_reorders) {
        TRY(KERNEL_LAUNCH(pass->reorder_registers, launch, keys, values, table, sort->lists, sent,
                          sort->between_digits, count));
        launch.bytes = 0;
    }
    return KERNEL_LAUNCH(pass->reorder, launch, keys, values, table, sort->lists, sort->totals, next_table,
                         sort->runs, sent, sort->between_digits, count,
                         two_reorders ? TILE_REGISTER_DIGITS : 0);
}

static enum status run(void *tiled, uint32_t count, const struct radix_lists *lists)
{
    struct tiled_sort *sort = tiled;
    TRY(sorted_order_check(&sort->order, count, lists));
    if (lists->cell_offsets && lists->cells > UINT32_C(1) << sort->key_bits)
        return status_fail(STATUS_FAILED, "sort: keys of %u bits cannot have %u cells", sort->key_bits,
                           lists->cells);
    if (count > 0)
        for (uint32_t pass = 0; pass < sort->shape.passes; pass++)
            TRY(one_pass(sort, pass, lists, count));
    TRY(sorted_order_keys(&sort->order, count, lists));
    if (lists->cell_offsets && (count == 0 || (sort->shape.passes > 1 && !sort->shape.counts_cells)))
        return sorted_order_cells(&sort->order, count, lists, NULL);
    return STATUS_OK;
}

const struct fast_sort tiled_sort = {resolve, create, run};
