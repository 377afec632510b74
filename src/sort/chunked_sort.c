/* Chunked sort: the plan of its passes, and their launches. */
#include "sort/fast_sorts.h"

#include "base/integers.h"

enum {
    LINE = 16,             /* LINE of kernels/chunked_sort.cl */
    ONE_PASS_BITS = 12,    /* of a key sorted in one pass: lists nearly in order touch little of the table */
    KEYS_PER_COUNT = 32,   /* of longer ones: entries of the list for each of the table */
    FIRST_DIGIT_MOST = 12, /* the counters and lines of a chunk still live in the second cache */
    RADIX_BITS_AUTO = 11,  /* of a digit where several passes are made */
    RADIX_BITS_MOST = 16,
    PASSES_MOST = 32,
    CHUNKS_PER_UNIT = 4,   /* more than one, so that a late thread does not keep all waiting */
    CACHED_BYTES = 2 << 20 /* a result of more than this a compute unit goes past the caches */
};

/* What a pass reads, as in kernels/chunked_sort.cl. */
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
    struct kernel *bins[SOURCES];
    struct kernel *scan;
    struct sorted_order order;
    struct buffer *table;   /* H(digit, chunk), chunk slowest: uint[chunks][R] */
    struct buffer *few;     /* uint[chunks]: chunks whose blocks hold few distinct digits */
    struct buffer *next;    /* uint[chunks][R] */
    struct buffer *lines;   /* uint[chunks][R][LINE] */
    struct buffer *scratch; /* uint[capacity], between passes */
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
    const bool is_long =
        key_bits <= RADIX_BITS_MOST && (uint64_t)chunks << key_bits <= capacity / KEYS_PER_COUNT;
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
    if (plan.passes == 2) /* the first sorts by the high digit */
        plan.pass[0].shift = plan.pass[1].radix_bits;
    return plan;
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

static enum status create_kernels(struct chunked_sort *sort, const struct chunked_options *options)
{
    static const char *const names[SOURCES][3] = {
        {"chunked_histogram_keys", "chunked_reorder_keys", "chunked_bins_keys"},
        {"chunked_histogram_packed", "chunked_reorder_packed", "chunked_bins_packed"},
        {"chunked_histogram_sigma", "chunked_reorder_sigma", "chunked_bins_sigma"}};
    struct program *program = NULL;
    const bool streaming = (uint64_t)sort->capacity * sizeof(uint32_t) >
                           (uint64_t)CACHED_BYTES * device_info(sort->device)->compute_units;
    TRY(program_build(sort->device, "chunked_sort.cl", PRECISION_SINGLE, &program,
                      "-D PORTABLE=%d -D STREAMING=%d -D MOST_LOW_BITS=%d -D KEY=%s", options->portable,
                      streaming, sort->plan.passes == 2 ? sort->plan.pass[1].radix_bits : 0,
                      key_type(options->short_keys)));
    for (uint32_t n = 0; n < sort->plan.passes; n++) {
        const enum source source = sort->plan.pass[n].source;
        if (sort->histogram[source])
            continue;
        TRY(kernel_create(program, names[source][0], &sort->histogram[source]));
        TRY(kernel_create(program, names[source][1], &sort->reorder[source]));
        TRY(kernel_create(program, names[source][2], &sort->bins[source]));
    }
    return kernel_create(program, "chunked_scan", &sort->scan);
}

static enum status create_parts(struct chunked_sort *sort, const struct chunked_options *options)
{
    const struct plan *plan = &sort->plan;
    const size_t word = sizeof(uint32_t), table = (size_t)plan->chunks << plan->radix_bits;
    TRY(create_kernels(sort, options));
    sort->order = (struct sorted_order){
        .device = sort->device, .capacity = sort->capacity, .short_keys = options->short_keys};
    TRY(buffer_create(sort->device, table * word, "the sort's histogram", &sort->table));
    TRY(buffer_create(sort->device, plan->chunks * word, "the sort's chunks", &sort->few));
    TRY(buffer_create(sort->device, table * word, "the sort's places", &sort->next));
    TRY(buffer_create(sort->device, table * LINE * word, "the sort's lines", &sort->lines));
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
    return create_parts(*sort, &options);
}

/* ---- one sort ---- */

/* Words a pass moves to read one entry. */
static uint64_t words_read(enum source source)
{
    return source == SOURCE_SIGMA ? 2 : 1;
}

/* Entries of a chunk: all but the last have as many. */
static uint32_t chunk_length(const struct plan *plan, uint32_t count)
{
    return round_up(divide_up(count, plan->chunks), LINE);
}

static enum status count_digits(struct chunked_sort *sort, const struct pass *pass, uint32_t count,
                                const struct buffer *keys, const struct buffer *from)
{
    const struct plan *plan = &sort->plan;
    const uint32_t radix = UINT32_C(1) << pass->radix_bits;
    const uint64_t words = words_read(pass->source) * count + (uint64_t)plan->chunks * radix;
    return KERNEL_LAUNCH(sort->histogram[pass->source],
                         ((struct launch){plan->chunks, 1, STAGE_SORT_HISTOGRAM, words * sizeof(uint32_t)}),
                         from, keys, sort->table, sort->few, count, chunk_length(plan, count), radix,
                         pass->shift, plan->index_bits, pass->radix_bits);
}

/* With the cell offsets, where the pass is the only one. */
static enum status scan(struct chunked_sort *sort, uint32_t bits, const struct radix_lists *lists)
{
    const bool offsets = lists->cell_offsets && sort->plan.passes == 1;
    const uint32_t chunks = sort->plan.chunks, radix = UINT32_C(1) << bits;
    const uint64_t bytes = 2 * sizeof(uint32_t) * (uint64_t)chunks * radix;
    return KERNEL_LAUNCH(sort->scan, ((struct launch){1, 1, STAGE_SORT_SCAN, bytes}), sort->table, radix,
                         chunks, offsets ? lists->cell_offsets : sort->few, offsets ? lists->cells : 0);
}

static enum status reorder(struct chunked_sort *sort, const struct pass *pass, uint32_t count,
                           const struct buffer *keys, const struct buffer *from, struct buffer *to)
{
    const struct plan *plan = &sort->plan;
    const uint32_t radix = UINT32_C(1) << pass->radix_bits;
    const bool by_high_digit = plan->passes == 2;
    const uint32_t unsorted = by_high_digit ? (UINT32_C(1) << pass->shift) - 1 : UINT32_MAX;
    const uint64_t words = (words_read(pass->source) + 1) * count + (uint64_t)plan->chunks * radix;
    return KERNEL_LAUNCH(sort->reorder[pass->source],
                         ((struct launch){plan->chunks, 1, STAGE_SORT_REORDER, words * sizeof(uint32_t)}),
                         from, keys, to, sort->table, sort->few, sort->next, sort->lines, count,
                         chunk_length(plan, count), radix, pass->shift, plan->index_bits, pass->radix_bits,
                         by_high_digit ? 0 : pass->radix_bits, pass->packs ? unsorted : 0);
}

/* The second of two passes, which makes the cell offsets too. */
static enum status sort_bins(struct chunked_sort *sort, uint32_t count, const struct radix_lists *lists)
{
    const struct plan *plan = &sort->plan;
    const struct pass *pass = &plan->pass[1];
    const uint64_t words = 2 * (words_read(pass->source) + 1) * (uint64_t)count;
    return KERNEL_LAUNCH(sort->bins[pass->source],
                         ((struct launch){UINT32_C(1) << plan->pass[0].radix_bits, 1, STAGE_SORT_REORDER,
                                          words * sizeof(uint32_t)}),
                         sort->scratch, lists->keys, lists->permutation, sort->table,
                         lists->cell_offsets ? lists->cell_offsets : sort->few, count,
                         lists->cell_offsets ? lists->cells : 0, plan->index_bits, pass->radix_bits);
}

/* keys -> ... -> permutation, by way of the scratch list. */
static enum status run_passes(struct chunked_sort *sort, uint32_t count, const struct radix_lists *lists)
{
    const struct plan *plan = &sort->plan;
    const struct buffer *from = lists->keys;
    for (uint32_t n = 0; n < plan->passes; n++) {
        const struct pass *pass = &plan->pass[n];
        const bool ends_in_result = (plan->passes - 1 - n) % 2 == 0;
        struct buffer *to = ends_in_result ? lists->permutation : sort->scratch;
        if (plan->passes == 2 && n == 1)
            return sort_bins(sort, count, lists);
        TRY(count_digits(sort, pass, count, lists->keys, from));
        TRY(scan(sort, pass->radix_bits, lists));
        TRY(reorder(sort, pass, count, lists->keys, from, to));
        from = to;
    }
    return STATUS_OK;
}

enum status chunked_sort_run(struct chunked_sort *sort, uint32_t count, const struct radix_lists *lists)
{
    TRY(sorted_order_check(&sort->order, count, lists));
    if (count > 0)
        TRY(run_passes(sort, count, lists));
    if (lists->cell_offsets && (count == 0 || sort->plan.passes > 2))
        TRY(sorted_order_cells(&sort->order, count, lists, NULL));
    return sorted_order_keys(&sort->order, count, lists);
}
