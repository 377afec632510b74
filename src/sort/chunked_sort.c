/* Chunked sort: the plan of its passes, and their launches. */
#include "sort/fast_sorts.h"

#include "base/integers.h"

enum {
    LINE = 16, /* LINE and SCANNED of kernels/chunked_sort.cl */
    SCANNED = 256,
    ONE_PASS_BITS = 12,    /* of a key sorted in one pass: lists nearly in order touch little of the table */
    KEYS_PER_COUNT = 32,   /* of longer ones: entries of the list for each of the table */
    FIRST_DIGIT_MOST = 12, /* the counters and lines of a chunk still live in the second cache */
    RADIX_BITS_AUTO = 11,  /* of a digit where several passes are made */
    RADIX_BITS_MOST = 16,
    LOW_BITS_USUAL = 13, /* of two digits: half of the longest key that a grid has */
    PASSES_MOST = 32,
    CHUNKS_PER_UNIT = 4,   /* more than one, so that a late thread does not keep all waiting */
    CACHED_BYTES = 2 << 20 /* a result of more than this a compute unit goes past the caches */
};

/* What a pass reads, as in kernels/chunked_sort.cl. */
enum source { SOURCE_KEYS, SOURCE_PACKED, SOURCE_SIGMA };

struct pass {
    enum source source;
    uint32_t shift, radix_bits;
    bool packs; /* writes words with the unsorted bits of the key, not indices alone */
    struct kernel *histogram, *scan, *reorder, *bins;
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
    struct sorted_order order;
    struct buffer *table;   /* H(digit, chunk), chunk slowest: uint[chunks][R] */
    struct buffer *few;     /* uint[chunks]: chunks whose blocks hold few distinct digits */
    struct buffer *totals;  /* uint[chunks][R / SCANNED]: sums of H */
    struct buffer *next;    /* uint[chunks][R] */
    struct buffer *lines;   /* uint[chunks][R][LINE] */
    struct buffer *scratch; /* uint[capacity], between passes */
};

/* ---- the plan ---- */

/* Bits of the first digit: an equal share, or more if the rest then fits in a word beside the index. */
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
                             const struct fast_options *options)
{
    const uint32_t chunks = options->chunks ? options->chunks : CHUNKS_PER_UNIT * device->compute_units;
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

static enum status resolve(const struct device_info *info, uint32_t key_bits, uint32_t capacity,
                           struct fast_options *options)
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

static uint32_t scan_items(uint32_t radix)
{
    return divide_up(radix, SCANNED);
}

static enum status create_kernels(struct chunked_sort *sort, const struct fast_options *options)
{
    const struct plan *plan = &sort->plan;
    /* One value for nearly all keys: a driver has the kernels already where another grid was sorted. */
    const bool has_long_digit = plan->passes == 2 && plan->pass[1].radix_bits > LOW_BITS_USUAL;
    for (struct pass *pass = sort->plan.pass; pass < sort->plan.pass + plan->passes; pass++) {
        struct program *program = NULL;
        TRY(program_build(sort->device, "chunked_sort.cl", PRECISION_SINGLE, &program,
                          "-D READS=%d -D PORTABLE=%d -D MOST_LOW_BITS=%d -D KEY=%s", pass->source,
                          options->portable, has_long_digit ? RADIX_BITS_MOST : LOW_BITS_USUAL,
                          key_type(options->short_keys)));
        TRY(kernel_create(program, "chunked_histogram", &pass->histogram));
        TRY(kernel_create(program, "chunked_scan", &pass->scan));
        TRY(kernel_create(program, "chunked_reorder", &pass->reorder));
        TRY(kernel_create(program, "chunked_bins", &pass->bins));
    }
    return STATUS_OK;
}

static enum status create_parts(struct chunked_sort *sort, const struct fast_options *options)
{
    const struct plan *plan = &sort->plan;
    const size_t word = sizeof(uint32_t), table = (size_t)plan->chunks << plan->radix_bits;
    TRY(create_kernels(sort, options));
    sort->order = (struct sorted_order){
        .device = sort->device, .capacity = sort->capacity, .short_keys = options->short_keys};
    TRY(buffer_create(sort->device, table * word, "the sort's histogram", &sort->table));
    TRY(buffer_create(sort->device, plan->chunks * word, "the sort's chunks", &sort->few));
    TRY(buffer_create(sort->device, (size_t)plan->chunks * scan_items(UINT32_C(1) << plan->radix_bits) * word,
                      "the sort's totals", &sort->totals));
    TRY(buffer_create(sort->device, table * word, "the sort's places", &sort->next));
    TRY(buffer_create(sort->device, table * LINE * word, "the sort's lines", &sort->lines));
    return buffer_create(sort->device, plan->passes > 1 ? sort->capacity * word : 0,
                         "the list between sort passes", &sort->scratch);
}

static enum status create(struct device *device, uint32_t key_bits, uint32_t capacity,
                          struct fast_options options, void **sort)
{
    const struct plan plan = make_plan(device_info(device), key_bits, capacity, &options);
    struct chunked_sort *created = NULL;
    TRY(resolve(device_info(device), key_bits, capacity, &options));
    TRY(DEVICE_NEW(device, created));
    *sort = created;
    *created = (struct chunked_sort){.device = device, .plan = plan, .capacity = capacity};
    return create_parts(created, &options);
}

/* ---- one sort ---- */

/* Words a pass moves to read one entry. */
static uint64_t words_read(enum source source)
{
    return source == SOURCE_SIGMA ? 2 : 1;
}

/* One pass over all chunks, with the cell offsets where it is the only one. */
static enum status sort_chunks(struct chunked_sort *sort, const struct pass *pass, uint32_t count,
                               const struct radix_lists *lists, const struct buffer *from, struct buffer *to)
{
    const struct plan *plan = &sort->plan;
    const bool offsets = lists->cell_offsets && plan->passes == 1, by_high_digit = plan->passes == 2;
    const uint32_t chunks = plan->chunks, radix = UINT32_C(1) << pass->radix_bits;
    const uint32_t chunk = round_up(divide_up(count, chunks), LINE); /* all but the last have as many */
    const uint32_t unsorted = by_high_digit ? (UINT32_C(1) << pass->shift) - 1 : UINT32_MAX;
    const uint64_t word = sizeof(uint32_t), read = words_read(pass->source) * count,
                   table = (uint64_t)chunks * radix;
    const bool streams =
        sort->capacity * word > (uint64_t)CACHED_BYTES * device_info(sort->device)->compute_units;
    TRY(KERNEL_LAUNCH(pass->histogram,
                      ((struct launch){chunks, 1, STAGE_SORT_HISTOGRAM, (read + table) * word}), from,
                      lists->keys, sort->table, sort->few, sort->totals, count, chunk, radix, pass->shift,
                      plan->index_bits, pass->radix_bits));
    TRY(KERNEL_LAUNCH(pass->scan, ((struct launch){scan_items(radix), 1, STAGE_SORT_SCAN, 3 * table * word}),
                      sort->table, sort->totals, radix, chunks, offsets ? lists->cell_offsets : sort->few,
                      offsets ? lists->cells : 0));
    return KERNEL_LAUNCH(pass->reorder,
                         ((struct launch){chunks, 1, STAGE_SORT_REORDER, (read + count + table) * word}),
                         from, lists->keys, to, sort->table, sort->few, sort->next, sort->lines, count, chunk,
                         radix, pass->shift, plan->index_bits, pass->radix_bits,
                         by_high_digit ? 0 : pass->radix_bits, pass->packs ? unsorted : 0, streams);
}

/* The second of two passes, which makes the cell offsets too. */
static enum status sort_bins(struct chunked_sort *sort, uint32_t count, const struct radix_lists *lists)
{
    const struct plan *plan = &sort->plan;
    const struct pass *pass = &plan->pass[1];
    const uint64_t words = 2 * (words_read(pass->source) + 1) * (uint64_t)count;
    return KERNEL_LAUNCH(pass->bins,
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
        TRY(sort_chunks(sort, pass, count, lists, from, to));
        from = to;
    }
    return STATUS_OK;
}

static enum status run(void *chunked, uint32_t count, const struct radix_lists *lists)
{
    struct chunked_sort *sort = chunked;
    TRY(sorted_order_check(&sort->order, count, lists));
    if (count > 0)
        TRY(run_passes(sort, count, lists));
    if (lists->cell_offsets && (count == 0 || sort->plan.passes > 2))
        TRY(sorted_order_cells(&sort->order, count, lists, NULL));
    return sorted_order_keys(&sort->order, count, lists);
}

const struct fast_sort chunked_sort = {resolve, create, run};
