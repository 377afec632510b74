/* Chunked sort: the plan of its passes, and their launches. */
#include "sort/fast_sorts.h"

#include "base/integers.h"

enum {
    LINE = 16,             /* LINE of kernels/chunked_sort.cl */
    ONE_PASS_BITS = 14,    /* of a key sorted in one pass: lists nearly in order touch little of the table */
    FIRST_DIGIT_MOST = 12, /* the counters and lines of a chunk still live in the second cache */
    RADIX_BITS_AUTO = 11,  /* of a digit where several passes are made */
    RADIX_BITS_MOST = 16,
    COUNTED_BITS = 18, /* of keys counted whole for their cell offsets */
    PASSES_MOST = 32,
    CHUNKS_PER_UNIT = 4, /* more than one, so that a late thread does not keep all waiting */
    FLAT_ITEMS = 256,
    KEYS_PER_CELL_COUNT = 8, /* as long as a list is counted again, beside a known count of a cell's */
    CACHED_BYTES = 2 << 20   /* a result of more than this a compute unit goes past the caches */
};

/* SOURCE of kernels/chunked_sort.cl. */
enum source { SOURCE_KEYS, SOURCE_PACKED, SOURCE_SIGMA, SOURCES };

struct pass {
    enum source source;
    uint32_t shift, radix_bits;
    bool packs; /* writes words with the unsorted bits of the key, not indices alone */
};

struct plan {
    uint32_t key_bits, chunks, passes;
    uint32_t radix_bits; /* of the widest digit */
    uint32_t index_bits; /* of an entry's number */
    struct pass pass[PASSES_MOST];
};

struct chunked_sort {
    struct device *device; /* not owned */
    struct plan plan;
    uint32_t capacity;
    struct kernel *histogram[SOURCES], *reorder[SOURCES];
    struct kernel *scan, *fold, *known_counts, *offsets_of_table;
    struct sorted_order order;
    struct buffer *tables[2];  /* H(digit, chunk), chunk slowest: uint[chunks][R]; of the passes in turn */
    struct buffer *few;        /* uint[chunks]: chunks whose blocks hold few distinct digits */
    struct buffer *begins;     /* uint[chunks + 1]: the chunks of the list that a pass reads */
    struct buffer *next;       /* uint[chunks][R] */
    struct buffer *lines;      /* uint[chunks][R][LINE] */
    struct buffer *cell_table; /* H(key, chunk): uint[chunks][2^b], with counts_cells() */
    struct buffer *scratch;    /* uint[capacity], between passes */
};

/* ---- the plan ---- */

/* Bits of the first digit: an equal share, or more of them if the rest of the key then fits in a word beside
 * the index. */
static uint32_t first_digit_bits(uint32_t key_bits, uint32_t share, uint32_t index_bits)
{
    const uint32_t room = 32 - index_bits;
    const uint32_t wanted = key_bits > room ? key_bits - room : 0;
    return wanted > share && wanted <= FIRST_DIGIT_MOST ? wanted : share;
}

/* One pass for short keys, and for longer ones where the list is long beside the table of their counts. */
static uint32_t fewest_passes(uint32_t key_bits, uint32_t chunks, uint32_t capacity)
{
    const bool is_long = key_bits <= RADIX_BITS_MOST && (uint64_t)chunks << key_bits <= capacity;
    return key_bits <= ONE_PASS_BITS || is_long ? 1 : divide_up(key_bits, RADIX_BITS_AUTO);
}

static struct plan make_plan(const struct device_info *device, uint32_t key_bits, uint32_t capacity,
                             const struct chunked_options *options)
{
    const uint32_t usual = CHUNKS_PER_UNIT * device->compute_units;
    const uint32_t chunks = options->chunks ? options->chunks : usual;
    const uint32_t fewest = fewest_passes(key_bits, chunks, capacity);
    const uint32_t passes = at_most(options->passes ? options->passes : fewest, key_bits);
    const uint32_t share = divide_up(key_bits, passes);
    struct plan plan = {.key_bits = key_bits, .chunks = chunks, .index_bits = bits_below(capacity)};
    enum source source = SOURCE_KEYS;
    for (uint32_t shift = 0; shift < key_bits; plan.passes++) {
        const uint32_t digit =
            shift == 0 && passes > 1 ? first_digit_bits(key_bits, share, plan.index_bits) : share;
        struct pass *pass = &plan.pass[plan.passes];
        *pass =
            (struct pass){.source = source, .shift = shift, .radix_bits = at_most(digit, key_bits - shift)};
        shift += pass->radix_bits;
        pass->packs = shift < key_bits && key_bits - shift + plan.index_bits <= 32;
        source = pass->packs ? SOURCE_PACKED : SOURCE_SIGMA;
        plan.radix_bits = at_least(plan.radix_bits, pass->radix_bits);
    }
    return plan;
}

/* Whether the first of several passes counts whole keys where cell offsets are wanted: its digits' counts are
 * sums of those. */
static bool counts_cells(const struct plan *plan)
{
    return plan->passes > 1 && plan->key_bits <= COUNTED_BITS;
}

/* Whether the counts of the second of two passes follow from those, in less time than counting again takes.
 */
static bool knows_counts(const struct plan *plan, uint32_t count)
{
    return counts_cells(plan) && plan->passes == 2 &&
           (uint64_t)plan->chunks << plan->key_bits <= count / KEYS_PER_CELL_COUNT;
}

enum status chunked_sort_resolve(const struct device_info *info, uint32_t key_bits, uint32_t capacity,
                                 struct chunked_options *options)
{
    const struct plan plan = make_plan(info, key_bits, capacity, options);
    options->passes = plan.passes;
    options->chunks = plan.chunks;
    if (plan.radix_bits <= RADIX_BITS_MOST)
        return STATUS_OK;
    return status_fail(
        STATUS_USAGE,
        "sort: %u passes (p) over keys of %u bits (b) have digits of %u bits, more than %d bits; "
        "take more passes",
        plan.passes, key_bits, plan.radix_bits, RADIX_BITS_MOST);
}

/* ---- making one ---- */

static enum status create_pass_kernels(struct chunked_sort *sort, enum source source, bool portable)
{
    struct program *program = NULL;
    if (sort->histogram[source])
        return STATUS_OK;
    const bool streaming = (uint64_t)sort->capacity * sizeof(uint32_t) >
                           (uint64_t)CACHED_BYTES * device_info(sort->device)->compute_units;
    TRY(program_build(sort->device, "chunked_sort.cl", PRECISION_SINGLE, &program,
                      "-D SOURCE=%d -D PORTABLE=%d -D STREAMING=%d", (int)source, portable, streaming));
    TRY(kernel_create(program, "chunked_histogram", &sort->histogram[source]));
    TRY(kernel_create(program, "chunked_reorder", &sort->reorder[source]));
    if (source != SOURCE_KEYS)
        return STATUS_OK;
    TRY(kernel_create(program, "chunked_scan", &sort->scan));
    TRY(kernel_create(program, "chunked_fold", &sort->fold));
    TRY(kernel_create(program, "chunked_known_counts", &sort->known_counts));
    return kernel_create(program, "chunked_offsets_of_table", &sort->offsets_of_table);
}

static enum status create_parts(struct chunked_sort *sort, bool portable)
{
    const struct plan *plan = &sort->plan;
    const size_t word = sizeof(uint32_t), table = (size_t)plan->chunks << plan->radix_bits;
    const size_t cells = counts_cells(plan) ? (size_t)plan->chunks << plan->key_bits : 0;
    for (uint32_t n = 0; n < plan->passes; n++)
        TRY(create_pass_kernels(sort, plan->pass[n].source, portable));
    sort->order = sorted_order_make(sort->device, sort->capacity);
    for (uint32_t n = 0; n < at_most(plan->passes, 2); n++)
        TRY(buffer_create(sort->device, table * word, "the sort's histogram", &sort->tables[n]));
    TRY(buffer_create(sort->device, plan->chunks * word, "the sort's chunks", &sort->few));
    TRY(buffer_create(sort->device, (plan->chunks + 1) * word, "where the sort's chunks begin",
                      &sort->begins));
    TRY(buffer_create(sort->device, table * word, "the sort's places", &sort->next));
    TRY(buffer_create(sort->device, table * LINE * word, "the sort's lines", &sort->lines));
    TRY(buffer_create(sort->device, cells * word, "the sort's cell counts", &sort->cell_table));
    return buffer_create(sort->device, plan->passes > 1 ? sort->capacity * word : 0,
                         "the list between sort passes", &sort->scratch);
}

enum status chunked_sort_create(struct device *device, uint32_t key_bits, uint32_t capacity,
                                struct chunked_options options, struct chunked_sort **sort)
{
    const struct plan plan = make_plan(device_info(device), key_bits, capacity, &options);
    *sort = NULL;
    TRY(chunked_sort_resolve(device_info(device), key_bits, capacity, &options));
    TRY(DEVICE_NEW(device, *sort));
    **sort = (struct chunked_sort){.device = device, .plan = plan, .capacity = capacity};
    return create_parts(*sort, options.portable);
}

/* ---- one sort ---- */

/* Words a pass moves to read one entry. */
static uint64_t words_read(enum source source)
{
    return source == SOURCE_SIGMA ? 2 : 1;
}

/* Counts digits of `radix_bits` bits into `table`. */
static enum status count_digits(struct chunked_sort *sort, const struct pass *pass, uint32_t radix_bits,
                                uint32_t count, const struct buffer *keys, const struct buffer *from,
                                struct buffer *table)
{
    const struct plan *plan = &sort->plan;
    const uint32_t radix = UINT32_C(1) << radix_bits, chunk = round_up(divide_up(count, plan->chunks), LINE);
    const uint64_t words = words_read(pass->source) * count + (uint64_t)plan->chunks * radix;
    return KERNEL_LAUNCH(sort->histogram[pass->source],
                         ((struct launch){plan->chunks, 1, STAGE_SORT_HISTOGRAM, words * sizeof(uint32_t)}),
                         from, keys, table, sort->few, sort->begins, count, chunk, radix, pass->shift,
                         plan->index_bits, radix_bits);
}

/* The counts of the first digit, by way of the counts of whole keys. */
static enum status count_cells(struct chunked_sort *sort, uint32_t count, const struct buffer *keys)
{
    const struct plan *plan = &sort->plan;
    const struct pass *first = &plan->pass[0];
    const uint32_t radix = UINT32_C(1) << first->radix_bits, cells = UINT32_C(1) << plan->key_bits;
    const uint64_t entries = (uint64_t)plan->chunks * radix, words = (uint64_t)plan->chunks * cells + entries;
    TRY(count_digits(sort, first, plan->key_bits, count, keys, keys, sort->cell_table));
    return KERNEL_LAUNCH(sort->fold,
                         launch_covering(entries, FLAT_ITEMS, STAGE_SORT_HISTOGRAM, words * sizeof(uint32_t)),
                         sort->cell_table, sort->tables[0], plan->chunks, cells, radix);
}

/* The counts of the second digit from those, for chunks that begin where other entries follow in the list. */
static enum status take_known_counts(struct chunked_sort *sort, uint32_t count)
{
    const struct plan *plan = &sort->plan;
    const uint64_t words = (uint64_t)plan->chunks << plan->key_bits;
    return KERNEL_LAUNCH(sort->known_counts,
                         ((struct launch){plan->chunks, 1, STAGE_SORT_HISTOGRAM, words * sizeof(uint32_t)}),
                         sort->cell_table, sort->tables[0], sort->tables[1], sort->few, sort->begins, count,
                         plan->pass[0].radix_bits, plan->pass[1].radix_bits);
}

static enum status scan(struct chunked_sort *sort, struct buffer *table, uint32_t bits)
{
    const uint32_t chunks = sort->plan.chunks, radix = UINT32_C(1) << bits;
    const uint64_t bytes = 2 * sizeof(uint32_t) * (uint64_t)chunks * radix;
    return KERNEL_LAUNCH(sort->scan, ((struct launch){1, 1, STAGE_SORT_SCAN, bytes}), table, radix, chunks);
}

static enum status reorder(struct chunked_sort *sort, const struct pass *pass, uint32_t count,
                           const struct buffer *keys, const struct buffer *from, const struct buffer *table,
                           struct buffer *to)
{
    const struct plan *plan = &sort->plan;
    const uint32_t radix = UINT32_C(1) << pass->radix_bits;
    const uint64_t words = (words_read(pass->source) + 1) * count + (uint64_t)plan->chunks * radix;
    return KERNEL_LAUNCH(sort->reorder[pass->source],
                         ((struct launch){plan->chunks, 1, STAGE_SORT_REORDER, words * sizeof(uint32_t)}),
                         from, keys, to, table, sort->few, sort->begins, sort->next, sort->lines, radix,
                         pass->shift, plan->index_bits, pass->radix_bits, pass->packs ? UINT32_MAX : 0);
}

/* keys -> ... -> permutation, by way of the scratch list. */
static enum status run_passes(struct chunked_sort *sort, uint32_t count, const struct radix_lists *lists)
{
    const struct plan *plan = &sort->plan;
    const bool cells = counts_cells(plan) && lists->cell_offsets;
    const struct buffer *from = lists->keys;
    for (uint32_t n = 0; n < plan->passes; n++) {
        const struct pass *pass = &plan->pass[n];
        const bool ends_in_result = (plan->passes - 1 - n) % 2 == 0;
        struct buffer *to = ends_in_result ? lists->permutation : sort->scratch, *table = sort->tables[n % 2];
        if (n == 0 && cells)
            TRY(count_cells(sort, count, lists->keys));
        else if (n == 1 && cells && knows_counts(plan, count))
            TRY(take_known_counts(sort, count));
        else
            TRY(count_digits(sort, pass, pass->radix_bits, count, lists->keys, from, table));
        TRY(scan(sort, table, pass->radix_bits));
        TRY(reorder(sort, pass, count, lists->keys, from, table, to));
        from = to;
    }
    return STATUS_OK;
}

/* From a scanned table of whole keys where there is one, or else from the keys in their new order. */
static enum status make_offsets(struct chunked_sort *sort, uint32_t count, const struct radix_lists *lists)
{
    const struct plan *plan = &sort->plan;
    const uint64_t entries = (uint64_t)lists->cells + 1;
    if (count == 0 || (plan->passes > 1 && !counts_cells(plan)))
        return sorted_order_cells(&sort->order, count, lists, NULL);
    if (counts_cells(plan))
        TRY(scan(sort, sort->cell_table, plan->key_bits));
    return KERNEL_LAUNCH(
        sort->offsets_of_table,
        launch_covering(entries, FLAT_ITEMS, STAGE_SORT_OFFSETS, 2 * sizeof(uint32_t) * entries),
        counts_cells(plan) ? sort->cell_table : sort->tables[0], lists->cell_offsets, count, lists->cells,
        UINT32_C(1) << plan->key_bits);
}

enum status chunked_sort_run(struct chunked_sort *sort, uint32_t count, const struct radix_lists *lists)
{
    TRY(sorted_order_check(&sort->order, count, lists));
    if (count > 0)
        TRY(run_passes(sort, count, lists));
    if (lists->cell_offsets)
        TRY(make_offsets(sort, count, lists));
    return sorted_order_keys(&sort->order, count, lists);
}
