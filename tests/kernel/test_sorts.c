/* Sorts: every method gives the one stable permutation, over sizes, key bits, parameters and orders of the
 * keys; and the plans of the radix sort. Of its phases alone tests/library/test_package.py has the numbers.
 */
#include "support/sort_checks.h"

/* ---- ways to sort ---- */

static struct radix_plan plan_of(uint32_t b, uint32_t r, uint32_t items, uint32_t groups, uint32_t splits,
                                 bool transpose, bool table_rows)
{
    const struct sort_config config = {.passes = 1,
                                       .items_per_group = items,
                                       .groups = groups,
                                       .histogram_splits = splits,
                                       .transpose = transpose ? TRANSPOSE_ON : TRANSPOSE_OFF,
                                       .table = table_rows ? TABLE_ROWS : TABLE_COLUMNS};
    struct radix_plan plan;
    assert_ok(radix_plan_make(device_info(device), &config, b, r, &plan));
    return plan;
}

static struct sorter_plan paper(uint32_t b, uint32_t r, uint32_t items, uint32_t groups, uint32_t splits,
                                bool transpose)
{
    return (struct sorter_plan){.method = SORT_METHOD_PAPER,
                                .key_bits = b,
                                .radix = plan_of(b, r, items, groups, splits, transpose, false)};
}

static struct sorter_plan tiled(uint32_t bits, uint32_t passes, uint32_t chunks, uint32_t items)
{
    return (struct sorter_plan){.method = SORT_METHOD_TILED,
                                .key_bits = bits,
                                .fast = {.passes = passes, .chunks = chunks, .items = items}};
}

/* In the second of two passes each item has a table of up to 256 KiB. A GPU reserves that for all items which
 * it could hold at once, tens of gigabytes, and tests beside this one need some too: there, a sort in two
 * passes takes three. */
static struct sorter_plan chunked(uint32_t bits, uint32_t passes, uint32_t chunks)
{
    const bool has_two = passes == 2 || (passes == 0 && bits > 12 && bits <= 22);
    if (has_two && device_info(device)->is_gpu)
        passes = 3;
    return (struct sorter_plan){
        .method = SORT_METHOD_CHUNKED, .key_bits = bits, .fast = {.passes = passes, .chunks = chunks}};
}

/* Each has a second variant: the table by rows, the reorders of long lists, the portable kernels. */
enum { VARIANTS = 2 };

static struct sorter *sorter_of(struct sorter_plan plan, int variant, uint32_t capacity)
{
    struct sorter *sorter = NULL;
    test_optimise(plan.method != SORT_METHOD_TILED);
    plan.radix.table_rows = variant == 1;
    plan.fast.reorders = variant == 1 ? 2 : 0;
    plan.fast.portable = variant == 1;
    assert_ok(sorter_create(device, &plan, capacity, &sorter));
    return sorter;
}

/* ---- whole sorts ---- */

/* One sorter for lists of all sizes, one after the other: all patterns of the first, a third of each other.
 */
static void check_sizes(struct sorter_plan plan, int variant, uint32_t capacity, const uint32_t *sizes,
                        size_t size_count)
{
    struct sorter *sorter = sorter_of(plan, variant, capacity);
    for (size_t n = 0; n < size_count; n++)
        check_patterns(sorter, plan.key_bits, sizes[n], n, n == 0 ? 1 : 3);
}

static void check_variant(struct sorter_plan plan, int variant, uint32_t count)
{
    check_sizes(plan, variant, count, &count, 1);
}

static void check_variants(struct sorter_plan plan, uint32_t count)
{
    for (int variant = 0; variant < VARIANTS; variant++)
        check_variant(plan, variant, count);
}

/* Long lists, the first the longest, of patterns with more than one kind of stretch. */
static void check_long(struct sorter_plan plan, int variant, const uint32_t sizes[3])
{
    static const enum pattern patterns[] = {RARE_KEYS, STRETCHES, CHANGING};
    struct sorter *sorter = sorter_of(plan, variant, sizes[0]);
    uint32_t *keys = test_array(sizes[0], sizeof *keys);
    for (int n = 0; n < 3; n++) {
        fill_keys(keys, sizes[n], plan.key_bits, patterns[n]);
        check_sort(sorter, n == 0, 1U << plan.key_bits, keys, sizes[n]);
    }
}

/* By each method in any number of passes. */
enum { USUAL_PLANS = 7 };

static struct sorter_plan usual_plan(size_t n)
{
    const struct sorter_plan plans[USUAL_PLANS] = {paper(10, 5, 4, 3, 4, false),
                                                   paper(10, 5, 4, 3, 4, true),
                                                   tiled(10, 1, 0, 0),
                                                   tiled(10, 2, 0, 0),
                                                   chunked(10, 1, 0),
                                                   chunked(10, 2, 0),
                                                   chunked(10, 3, 1)};
    return plans[n];
}

TEST(sorts_every_size)
{
    enum { TILE = 4096, MOST = TILE + 7919 };
    const uint32_t sizes[] = {MOST, 0,    1,    2,        15,   16,       17,   63,  64,
                              65,   1000, 1023, TILE - 1, 1025, TILE + 1, TILE, 7919};
    for (size_t n = 0; n < VARIANTS * USUAL_PLANS; n++)
        check_sizes(usual_plan(n / VARIANTS), n % VARIANTS, MOST, sizes, sizeof sizes / sizeof sizes[0]);
}

TEST(sorts_a_million_around)
{
    const uint32_t sizes[] = {(1u << 20) + 1, (1u << 20) - 1, 1000003}; /* the last is a prime */
    for (size_t n = 0; n < VARIANTS * USUAL_PLANS; n++)
        check_long(usual_plan(n / VARIANTS), n % VARIANTS, sizes);
}

/* Lists too long for the caches are written past them. */
TEST(sorts_more_than_the_caches_hold)
{
    const uint32_t sizes[] = {5000011, 5000011, 5000011};
    for (int variant = 0; variant < VARIANTS; variant++) {
        check_long(chunked(12, 0, 0), variant, sizes);
        check_long(chunked(18, 0, 3), variant, sizes); /* and in two passes */
    }
}

/* Of tiles, whose programs take seconds to build: rows shorter than a sector, and three rounds. Digits of two
 * lengths, the first of which takes two rounds and does not count whole keys, are in windows below. */
TEST(sorts_keys_of_every_length)
{
    check_variant(tiled(1, 1, 0, 0), 0, 9001);
    check_variant(tiled(12, 1, 0, 0), 1, 9001);
    for (uint32_t b = 1; b <= 32; b++)
        check_variant(paper(b, b < 5 ? 1 : 5, 4, 3, 3, b < 5 || b % 2), b / 2 % VARIANTS, 1000);
    /* the shortest and those around 8, 12, 16, 24 and 32 bits; in two passes each needs programs of its own
     */
    static const uint32_t chunked_bits[] = {1, 2, 3, 5, 8, 9, 11, 12, 13, 16, 17, 24, 25, 31, 32};
    for (size_t n = 0; n < sizeof chunked_bits / sizeof chunked_bits[0]; n++)
        check_variant(chunked(chunked_bits[n], 0, 3), n % VARIANTS, 3000);
}

/* Digits that rise, or fall, along the list and go round: of most tiles in a window, of some with one digit
 * outside it. */
TEST(sorts_tiles_whose_digits_are_in_a_window)
{
    enum { COUNT = 50021, BITS = 15, LOW_BITS = 8 };
    uint32_t *keys = test_array(COUNT, sizeof *keys);
    for (uint32_t n = 0; n < 2 * VARIANTS; n++) {
        struct sorter *sorter = sorter_of(tiled(BITS, 2, 1, 0), n % VARIANTS, COUNT);
        if (n < VARIANTS)
            check_patterns(sorter, BITS, 9001, 0, 1);
        for (uint32_t j = 0; j < COUNT; j++) {
            const uint32_t place = n / VARIANTS ? COUNT - j : j, any = scramble(j);
            keys[j] = ((place / 150 + any % 3) & 255) | (any >> 8 & 3) << LOW_BITS;
        }
        for (uint32_t j = 9000; j < COUNT; j += 20000)
            keys[j] = (keys[j] + 100) & ((1U << BITS) - 1);
        check_sort(sorter, false, 1U << BITS, keys, COUNT);
    }
}

/* Digits and items of a group are in a program: each of these is in few. */
TEST(sorts_with_any_parameters)
{
    const struct sorter_plan plans[] = {
        paper(10, 5, 1, 4, 1, false),    /* the paper's CPU parameters */
        paper(10, 10, 4, 2, 1, false),   /* one pass */
        paper(30, 5, 128, 4, 512, true), /* the paper's GTX 470, fewer groups */
        paper(11, 3, 7, 5, 9, true),     /* nothing divides anything */
        paper(11, 3, 7, 5, 9, false),
        paper(1, 1, 4, 128, 7, true), /* more parts than some entries need */
        paper(9, 1, 4, 2, 3, true),
        paper(10, 5, 1, 1, 1, true),
        tiled(10, 1, 1, 0), /* few chunks, an odd number, more than there are tiles or places */
        tiled(10, 2, 7, 0),
        tiled(10, 2, 65536, 0),
        chunked(10, 10, 2),
        chunked(16, 1, 2),
        chunked(17, 2, 5),
        chunked(20, 5, 7),
        chunked(30, 6, 4),
        chunked(32, 32, 1),
        chunked(7, 9, 64)};
    for (size_t n = 0; n < sizeof plans / sizeof plans[0]; n++)
        check_variant(plans[n], n % VARIANTS, plans[n].method == SORT_METHOD_TILED ? 12007 : 5003);
    /* Of two passes over whole words the second goes through 65,536 digits for nearly each key. */
    check_variant(chunked(32, 2, 1), 1, 509);
}

/* Between passes a word holds the index and what is left of the key if both fit, and else the index alone.
 * With 24 bits of key they just do in two passes of tiles, and just do not. */
TEST(sorts_where_words_just_fit_and_just_do_not)
{
    enum { COUNT = 4096 }; /* indices of 12 bits: 20 are left */
    /* Random keys and four other patterns: each takes long. */
    for (uint32_t more = 0; more < 2; more++)
        check_patterns(sorter_of(tiled(24, 2, 0, 0), 1, (1u << 20) + more), 24, 30011, 0, 3);
    for (uint32_t left = 19; left <= 21; left++)
        check_variants(chunked(left + 8, 4, 2), COUNT); /* 27..29 bits, digits of 7 or 8 */
    check_variants(chunked(32, 0, 2), COUNT);
    for (int variant = 0; variant < VARIANTS; variant++)
        check_patterns(sorter_of(chunked(24, 2, 2), variant, COUNT + 1), 24, COUNT + 1, 0, 3);
}

/* Offsets of fewer cells and of more than the keys could tell apart, or none, and no keys. */
TEST(returns_what_is_asked)
{
    enum { COUNT = 9001 };
    const uint32_t cells[] = {0, 1, 700, 1024, 1500};
    const struct sorter_plan others[] = {paper(10, 10, 4, 3, 2, false), paper(10, 10, 4, 3, 2, true),
                                         paper(10, 4, 4, 3, 2, true)};
    uint32_t *keys = test_array(COUNT, sizeof *keys);
    struct buffer *some = test_buffer(COUNT * sizeof *keys, NULL); /* nothing is sorted into it */
    const struct radix_lists whole = {.keys = some, .permutation = some}, nowhere = {.keys = some},
                             more_cells = {some, NULL, some, some, 1025};
    for (size_t n = 0; n < USUAL_PLANS + sizeof others / sizeof others[0]; n++) {
        const struct sorter_plan way = n < USUAL_PLANS ? usual_plan(n) : others[n - USUAL_PLANS];
        const bool is_tiled = way.method == SORT_METHOD_TILED;
        struct sorter *sorter = sorter_of(way, n / 2 % VARIANTS, COUNT);
        for (size_t c = 0; c < sizeof cells / sizeof cells[0] - is_tiled; c++) {
            for (uint32_t j = 0; j < COUNT; j++)
                keys[j] = scramble(j) % 1024 % (cells[c] > 0 ? cells[c] : 1024);
            check_sort(sorter, false, cells[c], keys, COUNT);
        }
        assert_int_equal(sorter_run(sorter, COUNT, &nowhere), STATUS_FAILED);
        assert_int_equal(sorter_run(sorter, COUNT + 1, &whole), STATUS_FAILED);
        if (is_tiled)
            assert_int_equal(sorter_run(sorter, COUNT, &more_cells), STATUS_FAILED);
    }
}

static int by_key(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The radix sort without a permutation. */
TEST(sorts_keys_alone)
{
    enum { COUNT = 777 };
    uint32_t keys[COUNT], sorted_keys[COUNT];
    fill_keys(keys, COUNT, 10, RANDOM_KEYS);
    struct buffer *input = test_buffer(sizeof keys, keys), *sorted = test_buffer(sizeof keys, NULL);
    qsort(keys, COUNT, sizeof *keys, by_key);
    const struct radix_lists nowhere = {.keys = input}, alone = {.keys = input, .sorted_keys = sorted};
    for (uint32_t n = 0; n < 3; n++) {
        const uint32_t radix_bits[] = {10, 5, 4}; /* 1 to 3 passes */
        const bool transpose = n % 2, table_rows = n < 2;
        const struct radix_plan plan = plan_of(10, radix_bits[n], 4, 3, 2, transpose, table_rows);
        struct radix_sort *sort = NULL;
        assert_ok(radix_sort_create(device, &plan, COUNT, false, &sort));
        assert_ok(radix_sort_run(sort, COUNT, &alone));
        assert_ok(buffer_read(sorted, 0, sizeof keys, sorted_keys));
        assert_memory_equal(sorted_keys, keys, sizeof keys);
        if (!transpose) /* a transposed sort has a list to spare */
            assert_int_equal(radix_sort_run(sort, COUNT, &nowhere), STATUS_FAILED);
        assert_int_equal(radix_sort_run(sort, COUNT + 1, &alone), STATUS_FAILED);
    }
}

/* Keys as ushorts, in a context of others, with a workspace which these overwrite between two sorts. */
TEST(sorts_short_keys_in_a_workspace)
{
    enum { COUNT = 9001, CELLS = 1024, BYTES = 4 << 20 };
    const struct sorter_plan plans[] = {paper(10, 5, 4, 3, 4, false), tiled(10, 2, 0, 0)};
    static uint32_t keys[COUNT], permutation[COUNT], offsets[CELLS + 1], expected[CELLS + 1];
    static uint16_t short_keys[COUNT], sorted_keys[COUNT];
    const struct device_native native = device_native(device);
    struct buffer *workspace = test_buffer(BYTES, NULL);
    fill_keys(keys, COUNT, 10, CHANGING);
    for (uint32_t j = 0; j < COUNT; j++)
        short_keys[j] = (uint16_t)keys[j];
    host_cell_offsets(keys, COUNT, CELLS, expected);
    for (size_t n = 0; n < sizeof plans / sizeof plans[0]; n++) {
        struct device *guest = NULL;
        struct sorter *sorter = NULL;
        struct sorter_plan plan = plans[n];
        struct sort_verdict verdict;
        struct buffer *lists[4];
        struct buffer *borrowed = NULL;
        plan.radix.short_keys = plan.fast.short_keys = true;
        assert_ok(device_open_in(native.context, native.device, &guest));
        assert_ok(buffer_create_with(guest, sizeof short_keys, "keys", short_keys, &lists[0]));
        assert_ok(buffer_create(guest, sizeof sorted_keys, "sorted keys", &lists[1]));
        assert_ok(buffer_create(guest, sizeof permutation, "a permutation", &lists[2]));
        assert_ok(buffer_create(guest, sizeof offsets, "offsets", &lists[3]));
        assert_ok(buffer_borrow(guest, buffer_native(workspace), BYTES, "workspace", &borrowed));
        device_place_buffers(guest, borrowed);
        assert_ok(sorter_create(guest, &plan, COUNT, &sorter));
        for (int round = 0; round < 3; round++) {
            assert_ok(buffer_fill(workspace, 0xdeadbeef));
            assert_ok(device_finish(device));
            assert_ok(sorter_run(sorter, COUNT,
                                 &(struct radix_lists){lists[0], lists[1], lists[2], lists[3], CELLS}));
            assert_ok(buffer_read(lists[1], 0, sizeof sorted_keys, sorted_keys));
            assert_ok(buffer_read(lists[2], 0, sizeof permutation, permutation));
            assert_ok(buffer_read(lists[3], 0, sizeof offsets, offsets));
            assert_ok(host_judge_sort(guest, keys, NULL, permutation, COUNT, &verdict));
            assert_true(sort_is_right(&verdict));
            for (uint32_t j = 0; j < COUNT; j++)
                assert_int_equal(sorted_keys[j], keys[permutation[j]]);
            assert_memory_equal(offsets, expected, sizeof offsets);
        }
        device_close(&guest);
    }
}

/* ---- what fits ---- */

TEST(tiles_are_sorted_where_they_fit)
{
    const struct device_info small = {.is_gpu = true, .local_memory = 32768, .group_limit = 256};
    const struct device_info tiny = {.is_gpu = true, .local_memory = 4096, .group_limit = 256};
    const struct device_info narrow = {.is_gpu = true, .local_memory = 32768, .group_limit = 32};
    struct fast_options options = {0};
    for (uint32_t bits = 1; bits <= 24; bits++) {
        options.passes = 0;
        assert_ok(tiled_sort.resolve(&small, bits, UINT32_MAX, &options));
        assert_int_equal(options.passes, bits <= 12 ? 1 : 2);
        assert_int_equal(tiled_sort.resolve(&tiny, bits, UINT32_MAX, &options), STATUS_USAGE);
        assert_int_equal(tiled_sort.resolve(&narrow, bits, UINT32_MAX, &options), STATUS_USAGE);
    }
    assert_int_equal(tiled_sort.resolve(&small, 0, UINT32_MAX, &options), STATUS_USAGE);
}

TEST(refuses_what_it_cannot_sort)
{
    const struct sorter_plan plans[] = {tiled(25, 0, 0, 0), tiled(20, 1, 0, 0), tiled(10, 3, 0, 0),
                                        chunked(17, 1, 0)};
    for (size_t n = 0; n < sizeof plans / sizeof plans[0]; n++) {
        struct sorter *sorter = NULL;
        assert_int_equal(sorter_create(device, &plans[n], 100, &sorter), STATUS_USAGE);
    }
    assert_sentence_holds("17 bits, more than 16");
}

/* Bytes of a sort by tiles in one pass. */
static size_t bytes_with(uint32_t chunks)
{
    const size_t held = device_bytes_held(device);
    sorter_of(tiled(10, 1, chunks, 0), 0, 70001);
    return device_bytes_held(device) - held;
}

TEST(more_chunks_take_more_memory)
{
    assert_true(bytes_with(1) < bytes_with(65536));
}

/* ---- plans ---- */

static const struct device_info small_gpu = {
    .name = "a small GPU", .is_gpu = true, .compute_units = 4, .local_memory = 16384, .group_limit = 256};

TEST(plans_the_short_key)
{
    struct radix_plan plan;
    const struct sort_config two_passes = {.passes = 2};
    assert_ok(radix_plan_make(&small_gpu, &two_passes, 10, 0, &plan));
    assert_int_equal(plan.key_bits, 10);
    assert_int_equal(plan.radix_bits, 5);
    assert_int_equal(plan.passes, 2);
    assert_int_equal(plan.items_per_group, 64); /* 2^(5+2) * 128 = 16384 bytes are not below 16384 */
    assert_true(plan.transpose);
    assert_ok(radix_plan_make(&small_gpu, &two_passes, 11, 0, &plan));
    assert_int_equal(plan.radix_bits, 6);
    assert_int_equal(plan.items_per_group, 32);
    assert_ok(radix_plan_make(&small_gpu, &(struct sort_config){.passes = 6, .key_bits = 30}, 10, 0, &plan));
    assert_int_equal(plan.key_bits, 30);
    assert_int_equal(plan.radix_bits, 5);
    assert_int_equal(plan.passes, 6);
    /* Passes that are not needed are not made: 10 bits in 4 passes are digits of 3 bits; 7 bits in 6 are
     * digits of 2, and 4 of those cover the key. */
    assert_ok(radix_plan_make(&small_gpu, &(struct sort_config){.passes = 6}, 7, 0, &plan));
    assert_int_equal(plan.passes, 4);
}

TEST(plans_the_table_as_asked)
{
    static const enum table_kind tables[] = {TABLE_AUTO, TABLE_COLUMNS, TABLE_ROWS};
    static const char *const names[] = {"columns", "columns", "rows"};
    for (int n = 0; n < 3; n++) {
        struct radix_plan plan;
        const struct sort_config config = {.passes = 2, .table = tables[n]};
        assert_ok(radix_plan_make(&small_gpu, &config, 10, 0, &plan));
        assert_string_equal(radix_plan_table_name(&plan), names[n]);
    }
}

TEST(refuses_plans_that_do_not_fit)
{
    struct radix_plan plan;
    const struct {
        struct sort_config config;
        const char *names; /* the parameter at fault, as the message says it */
        const char *by;    /* by how much */
    } cases[] = {
        {{.passes = 2, .items_per_group = 256},
         "items_per_group (I) = 256 with radix bits (r) = 5",
         "16385 more than the 16383 that a small GPU"},
        {{.passes = 2, .items_per_group = 128}, "items_per_group (I) = 128", "1 more than"},
        {{.passes = 5, .items_per_group = 32, .groups = 65536, .histogram_splits = 4096},
         "groups (G) = 65536",
         "1048576 more than the 1048576"},
        {{.passes = 2, .items_per_group = 512}, "items_per_group (I) = 512", "more than the 256"},
        {{.passes = 1, .key_bits = 20}, "passes (p) = 1", "outside 1..16"},
        {{.passes = 2, .items_per_group = 64, .groups = 64, .histogram_splits = 1},
         "histogram_splits (s) = 1",
         "take a larger s"},
        {{.passes = 2, .histogram_splits = 8192}, "histogram_splits (s) = 8192", "16384 more than the 16384"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        assert_refuses(radix_plan_make(&small_gpu, &cases[n].config, 10, 0, &plan), cases[n].names,
                       cases[n].by);
    }
}

TEST_MAIN(open_device, close_device)
