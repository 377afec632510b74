/* Tiled sort: the shape of its launches, its arrays, and the passes in their order. */
#include "sort/tiled_sort.h"

#include "device/tile_plan.h"

#include <stdlib.h>

/* What a list holds before and after a pass; the numbers are those of kernels/tiled_sort.cl. */
enum form { FORM_KEYS = 0, FORM_PACKED = 1, FORM_PAIRS = 2 };

enum {
    MAX_PASSES = 2,
    SHORT_ITEMS = 64,          /* where one pass goes over a short list: more groups, which end together */
    SHORT_TILES_PER_UNIT = 64, /* of TILE_MOST_ITEMS: up to here a list is short */
    KEYS_PER_SEARCH = 512,     /* keys a cell from which on searching its offset beats passing all keys */
    SEARCH_ITEMS = 64,         /* of kernels/tiled_sort.cl */
    FLAT_ITEMS = 64            /* of a group where every item has one word */
};

/* The shape of a sort: everything that follows from the device, the key and the capacity. */
struct shape {
    struct tile_plan tiles; /* of the first digit, which is the longer one */
    uint32_t reorders;      /* kernels of the reorder */
    uint32_t passes;
    uint32_t digit_bits[MAX_PASSES];
    enum form between; /* of the list between two passes */
    uint32_t index_bits;
};

struct pass {
    struct program *program;
    struct kernel *histogram, *scan, *reorder_few, *reorder;
};

struct tiled_sort {
    struct device *device; /* not owned */
    struct shape shape;
    uint32_t key_bits, capacity;
    struct pass passes[MAX_PASSES];
    struct kernel *sorted_keys, *find_offsets, *mark_offsets;
    struct buffer *table;          /* uint[chunks][row] */
    struct buffer *lists;          /* uint[chunks][TILE_LIST_WORDS]: the distinct digits of each chunk */
    struct buffer *totals;         /* uint[row]; zero between sorts */
    struct buffer *between;        /* uint[capacity]: packed words, or sigma */
    struct buffer *between_digits; /* ushort[capacity] with FORM_PAIRS, else empty */
};

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

uint32_t tiled_sort_fewest_passes(uint32_t key_bits)
{
    return divide_up(key_bits, TILE_MAX_DIGIT_BITS);
}

static uint32_t bits_of(uint32_t value)
{
    uint32_t bits = 0;
    while (bits < 32 && value >> bits > 0)
        bits++;
    return bits;
}

/* False where the device has no room for a tile. */
static bool make_shape(const struct device_info *info, uint32_t key_bits, uint32_t passes, uint32_t capacity,
                       const struct tiled_options *options, struct shape *shape)
{
    *shape = (struct shape){.passes = passes > 0 ? passes : tiled_sort_fewest_passes(key_bits)};
    shape->digit_bits[0] = divide_up(key_bits, shape->passes);
    shape->digit_bits[1] = key_bits - shape->digit_bits[0];
    const uint64_t short_tiles = (uint64_t)SHORT_TILES_PER_UNIT * info->compute_units;
    const bool is_short = capacity / (TILE_MOST_ITEMS * TILE_KEYS) < short_tiles;
    /* With two passes the reorder holds the tile's words too. */
    const struct tile_wishes wishes = {.items = options && options->items > 0    ? options->items
                                                : is_short && shape->passes == 1 ? SHORT_ITEMS
                                                                                 : 0,
                                       .chunks = options ? options->chunks : 0,
                                       .held_words = shape->passes - 1};
    shape->reorders = options && options->reorders > 0 ? options->reorders : is_short ? 1 : 2;
    const uint32_t index_bits = bits_of(capacity > 0 ? capacity - 1 : 0);
    if (shape->passes == 2) {
        const bool fits = index_bits + shape->digit_bits[1] <= 32;
        shape->between = fits ? FORM_PACKED : FORM_PAIRS;
    }
    shape->index_bits = shape->between == FORM_PACKED ? 32 - shape->digit_bits[1] : 0;
    return tile_plan_make(info, shape->digit_bits[0], &wishes, &shape->tiles);
}

bool tiled_sort_supports(const struct device_info *info, uint32_t key_bits)
{
    struct shape shape;
    return key_bits >= 1 && key_bits <= TILED_SORT_MAX_KEY_BITS &&
           make_shape(info, key_bits, 0, 0, NULL, &shape);
}

/* ---- making one ---- */

struct array_sizes {
    size_t table, lists, totals, between, between_digits;
};

static struct array_sizes sizes_of(const struct shape *shape, uint32_t capacity)
{
    const size_t word = sizeof(uint32_t), chunks = tile_chunks(&shape->tiles, capacity);
    const size_t row = tile_row(shape->tiles.digit_bits);
    return (struct array_sizes){
        .table = chunks * row * word,
        .lists = chunks * TILE_LIST_WORDS * word,
        .totals = row * word,
        .between = shape->passes == 2 ? capacity * word : 0,
        .between_digits = shape->between == FORM_PAIRS ? divide_up(capacity, 2) * word : 0, /* ushorts */
    };
}

uint64_t tiled_sort_bytes(const struct device_info *info, uint32_t key_bits, uint32_t passes,
                          uint32_t capacity, const struct tiled_options *options)
{
    struct shape shape;
    if (!make_shape(info, key_bits, passes, capacity, options, &shape))
        return 0;
    const struct array_sizes sizes = sizes_of(&shape, capacity);
    return (uint64_t)sizes.table + sizes.lists + sizes.totals + sizes.between + sizes.between_digits;
}

static enum status create_pass(struct tiled_sort *sort, uint32_t number)
{
    const struct shape *shape = &sort->shape;
    struct pass *pass = &sort->passes[number];
    const bool last = number + 1 == shape->passes;
    TRY(program_build(sort->device, "tiled_sort.cl", PRECISION_SINGLE, &pass->program,
                      "-D ITEMS=%u -D SCAN_ITEMS=%u -D DIGIT_BITS=%u -D SHIFT=%u -D INDEX_BITS=%u "
                      "-D INPUT=%d -D NEXT=%d",
                      shape->tiles.items, shape->tiles.scan_items, shape->digit_bits[number],
                      number == 0 ? 0 : shape->digit_bits[0], shape->index_bits,
                      number == 0 ? FORM_KEYS : shape->between, last ? FORM_KEYS : shape->between));
    TRY(kernel_create(pass->program, "tiled_histogram", &pass->histogram));
    TRY(kernel_create(pass->program, "tiled_scan", &pass->scan));
    TRY(kernel_create(pass->program, "tiled_reorder_few", &pass->reorder_few));
    return kernel_create(pass->program, "tiled_reorder", &pass->reorder);
}

static enum status create_parts(struct tiled_sort *sort)
{
    struct device *device = sort->device;
    for (uint32_t n = 0; n < sort->shape.passes; n++)
        TRY(create_pass(sort, n));
    TRY(kernel_create(sort->passes[0].program, "tiled_sorted_keys", &sort->sorted_keys));
    TRY(kernel_create(sort->passes[0].program, "tiled_find_offsets", &sort->find_offsets));
    TRY(kernel_create(sort->passes[0].program, "tiled_mark_offsets", &sort->mark_offsets));
    const struct array_sizes sizes = sizes_of(&sort->shape, sort->capacity);
    TRY(buffer_create(device, sizes.table, "the sort's table of counts", &sort->table));
    TRY(buffer_create(device, sizes.lists, "the sort's lists of distinct digits", &sort->lists));
    TRY(buffer_create(device, sizes.totals, "the sort's totals", &sort->totals));
    TRY(buffer_create(device, sizes.between, "the list between sort passes", &sort->between));
    TRY(buffer_create(device, sizes.between_digits, "the digits between sort passes", &sort->between_digits));
    return buffer_fill(sort->totals, 0);
}

static enum status refuse(const struct device_info *info, uint32_t key_bits)
{
    return status_fail(STATUS_USAGE,
                       "the tiled sort does not sort keys of %u bits on %s (at most %d; it has %zu bytes of "
                       "local memory and "
                       "groups of up to %zu items)",
                       key_bits, info->name, TILED_SORT_MAX_KEY_BITS, info->local_memory, info->group_limit);
}

enum status tiled_sort_create(struct device *device, uint32_t key_bits, uint32_t passes, uint32_t capacity,
                              const struct tiled_options *options, struct tiled_sort **sort)
{
    *sort = NULL;
    const struct device_info *info = device_info(device);
    if (!tiled_sort_supports(info, key_bits))
        return refuse(info, key_bits);
    const uint32_t fewest = tiled_sort_fewest_passes(key_bits), most = key_bits > 1 ? MAX_PASSES : 1;
    if (passes != 0 && (passes < fewest || passes > most))
        return status_fail(STATUS_USAGE, "the tiled sort sorts keys of %u bits in %u to %u passes, not %u",
                           key_bits, fewest, most, passes);
    struct shape shape;
    if (!make_shape(info, key_bits, passes, capacity, options, &shape))
        return refuse(info, key_bits);
    struct tiled_sort *created = calloc(1, sizeof *created);
    if (!created)
        return status_fail(STATUS_FAILED, "no memory for the sort");
    created->device = device;
    created->key_bits = key_bits;
    created->capacity = capacity;
    created->shape = shape;
    const enum status status = create_parts(created);
    if (status != STATUS_OK)
        tiled_sort_destroy(&created);
    *sort = created;
    return status;
}

static void destroy_pass(struct pass *pass)
{
    kernel_destroy(&pass->histogram);
    kernel_destroy(&pass->scan);
    kernel_destroy(&pass->reorder_few);
    kernel_destroy(&pass->reorder);
    program_destroy(&pass->program);
}

void tiled_sort_destroy(struct tiled_sort **sort)
{
    if (!*sort)
        return;
    struct tiled_sort *old = *sort;
    kernel_destroy(&old->sorted_keys);
    kernel_destroy(&old->find_offsets);
    kernel_destroy(&old->mark_offsets);
    for (uint32_t n = 0; n < MAX_PASSES; n++)
        destroy_pass(&old->passes[n]);
    buffer_destroy(&old->table);
    buffer_destroy(&old->lists);
    buffer_destroy(&old->totals);
    buffer_destroy(&old->between);
    buffer_destroy(&old->between_digits);
    free(old);
    *sort = NULL;
}

/* ---- sorting ---- */

/* A list as a pass sees it: keys with nothing, packed words with nothing, or digits with sigma. */
struct stream {
    const struct buffer *keys, *values;
};

static uint64_t bytes_per_key(enum form form)
{
    return form == FORM_PAIRS ? sizeof(uint16_t) : sizeof(uint32_t);
}

/* Bytes of one entry of the list in this form, as a reorder reads or writes it; sigma alone is a word. */
static uint64_t bytes_per_entry(enum form form)
{
    return form == FORM_PAIRS ? sizeof(uint16_t) + sizeof(uint32_t) : sizeof(uint32_t);
}

static enum status count_and_scan(struct tiled_sort *sort, const struct pass *pass, uint32_t digit_bits,
                                  enum form form, const struct buffer *keys, uint32_t count,
                                  struct buffer *offsets, uint32_t cells)
{
    const struct shape *shape = &sort->shape;
    const uint32_t chunks = tile_chunks(&shape->tiles, count), row = tile_row(digit_bits);
    const uint64_t table_bytes = (uint64_t)chunks * row * sizeof(uint32_t);
    TRY(KERNEL_LAUNCH(pass->histogram,
                      ((struct launch){chunks, 2 * (size_t)shape->tiles.items, STAGE_SORT_HISTOGRAM,
                                       bytes_per_key(form) * count + table_bytes}),
                      arg_buffer(keys), arg_buffer(sort->table), arg_buffer(sort->lists),
                      arg_buffer(sort->totals), arg_uint(count)));
    /* Any buffer stands in for offsets that are not asked for. */
    return KERNEL_LAUNCH(
        pass->scan,
        ((struct launch){row / TILE_SCAN_BINS, shape->tiles.scan_items, STAGE_SORT_SCAN, 2 * table_bytes}),
        arg_buffer(sort->table), arg_buffer(sort->totals), arg_buffer(offsets ? offsets : sort->lists),
        arg_uint(chunks), arg_uint(offsets ? cells : 0));
}

static enum status one_pass(struct tiled_sort *sort, uint32_t number, const struct radix_lists *lists,
                            uint32_t count)
{
    const struct shape *shape = &sort->shape;
    const struct pass *pass = &sort->passes[number];
    const uint32_t digit_bits = shape->digit_bits[number];
    const bool last = number + 1 == shape->passes;
    const enum form input = number == 0 ? FORM_KEYS : shape->between;
    const enum form output = last ? FORM_KEYS : shape->between;
    /* Where no sigma is read, any buffer stands in for it. */
    struct stream from = {lists->keys, lists->keys};
    if (number > 0)
        from = (struct stream){input == FORM_PAIRS ? sort->between_digits : sort->between, sort->between};
    TRY(count_and_scan(sort, pass, digit_bits, input, from.keys, count,
                       shape->passes == 1 ? lists->cell_offsets : NULL, lists->cells));
    const uint64_t bytes = (bytes_per_entry(input) + bytes_per_entry(output)) * count;
    struct buffer *const sent = last ? lists->permutation : sort->between;
    struct launch launch = {tile_chunks(&shape->tiles, count), shape->tiles.items, STAGE_SORT_REORDER, bytes};
    /* Each kernel takes the chunks that it is made for; the bytes of both are told with the first. */
    if (shape->reorders == 2) {
        TRY(KERNEL_LAUNCH(pass->reorder_few, launch, arg_buffer(from.keys), arg_buffer(from.values),
                          arg_buffer(sort->table), arg_buffer(sort->lists), arg_buffer(sent),
                          arg_buffer(sort->between_digits), arg_uint(count)));
        launch.bytes = 0;
    }
    return KERNEL_LAUNCH(pass->reorder, launch, arg_buffer(from.keys), arg_buffer(from.values),
                         arg_buffer(sort->table), arg_buffer(sort->lists), arg_buffer(sort->totals),
                         arg_buffer(sent), arg_buffer(sort->between_digits), arg_uint(count),
                         arg_uint(shape->reorders == 2 ? TILE_FEW : 0));
}

/* Cell offsets from the sorted order, where no pass counted whole keys. */
static enum status derive_offsets(struct tiled_sort *sort, uint32_t count, const struct radix_lists *lists)
{
    const uint64_t word = sizeof(uint32_t), entries = (uint64_t)lists->cells + 1;
    if (lists->cells <= count / KEYS_PER_SEARCH)
        return KERNEL_LAUNCH(
            sort->find_offsets,
            ((struct launch){(size_t)entries, SEARCH_ITEMS, STAGE_SORT_REORDER, entries * word}),
            arg_buffer(lists->keys), arg_buffer(lists->permutation), arg_buffer(lists->cell_offsets),
            arg_uint(count));
    return KERNEL_LAUNCH(sort->mark_offsets,
                         launch_covering((uint64_t)count + 1, FLAT_ITEMS, STAGE_SORT_REORDER,
                                         (2 * (uint64_t)count + entries) * word),
                         arg_buffer(lists->keys), arg_buffer(lists->permutation),
                         arg_buffer(lists->cell_offsets), arg_uint(count), arg_uint(lists->cells));
}

enum status tiled_sort_run(struct tiled_sort *sort, uint32_t count, const struct radix_lists *lists)
{
    if (count > sort->capacity)
        return status_fail(STATUS_FAILED, "sort: %u keys are more than the %u it was made for", count,
                           sort->capacity);
    if (!lists->permutation)
        return status_fail(STATUS_FAILED, "sort: the tiled sort was given no permutation to write");
    if (lists->cell_offsets && lists->cells > UINT32_C(1) << sort->key_bits)
        return status_fail(STATUS_FAILED, "sort: keys of %u bits cannot have %u cells", sort->key_bits,
                           lists->cells);
    if (count > 0)
        for (uint32_t pass = 0; pass < sort->shape.passes; pass++)
            TRY(one_pass(sort, pass, lists, count));
    if (lists->sorted_keys)
        TRY(KERNEL_LAUNCH(
            sort->sorted_keys,
            launch_covering(count, FLAT_ITEMS, STAGE_SORT_REORDER, 3 * sizeof(uint32_t) * (uint64_t)count),
            arg_buffer(lists->keys), arg_buffer(lists->permutation), arg_buffer(lists->sorted_keys),
            arg_uint(count)));
    if (lists->cell_offsets && (sort->shape.passes > 1 || count == 0))
        return derive_offsets(sort, count, lists);
    return STATUS_OK;
}
