/* Radix sort: properties over sizes, key bits, parameters, degenerate keys and both orders of the table, and
 * each phase alone. */
#include "support/sort_checks.h"

#include <string.h>

static enum status run(void *sort, uint32_t count, const struct radix_lists *lists)
{
    return radix_sort_run(sort, count, lists);
}

static struct tested_sort tested_of(struct radix_sort *sort, const struct radix_plan *plan)
{
    return (struct tested_sort){sort, run, true, plan->key_bits <= 12 ? largest_key(plan->key_bits) + 1 : 0};
}

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
    assert_ok(radix_plan_make_radix(device_info(device), &config, b, r, &plan));
    return plan;
}

/* The list and the table, each both ways. */
enum { WAYS = 4 };

static bool is_transposed(int way)
{
    return way % 2 == 1;
}

static bool has_rows(int way)
{
    return way / 2 == 1;
}

static void check_plan(const struct radix_plan *plan, uint32_t count, enum pattern last)
{
    struct radix_sort *sort = NULL;
    assert_ok(radix_sort_create(device, plan, count, true, false, &sort));
    const struct tested_sort tested = tested_of(sort, plan);
    check_patterns(&tested, plan->key_bits, count, last);
}

static int by_key(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* ---- whole sorts ---- */

TEST(sorts_every_size)
{
    const uint32_t sizes[] = {0, 1, 2, 63, 64, 65, 1000, 7919};
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
        for (int way = 0; way < WAYS; way++) {
            const struct radix_plan plan = plan_of(10, 5, 4, 3, 4, is_transposed(way), has_rows(way));
            check_plan(&plan, sizes[n], ALL_LARGEST);
        }
}

TEST(sorts_a_million_around)
{
    const uint32_t sizes[] = {(1u << 20) - 1, (1u << 20) + 1, 1000003}; /* the last is a prime */
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
        for (int way = 0; way < WAYS; way++) {
            const struct radix_plan plan = plan_of(10, 5, 8, 16, 8, is_transposed(way), has_rows(way));
            check_plan(&plan, sizes[n], is_transposed(way) ? RANDOM_KEYS : ALL_EQUAL);
        }
}

TEST(sorts_keys_of_every_length)
{
    for (uint32_t b = 1; b <= 32; b++)
        for (int rows = 0; rows < 2; rows++) {
            const struct radix_plan plan = plan_of(b, b < 5 ? b : 5, 2, 3, 3, b % 2, rows);
            check_plan(&plan, 1000, ALL_LARGEST);
        }
}

TEST(sorts_with_any_parameters)
{
    const struct {
        uint32_t b, r, items, groups, splits;
        bool transpose;
    } sets[] = {
        {10, 5, 1, 4, 1, false},    /* the paper's CPU parameters */
        {10, 10, 1, 2, 1, false},   /* one pass */
        {30, 5, 128, 4, 512, true}, /* the paper's GTX 470, fewer groups */
        {30, 6, 16, 16, 512, true}, /* its 320M */
        {11, 3, 7, 5, 9, true},     /* nothing divides anything */
        {11, 3, 7, 5, 9, false},    {12, 7, 3, 11, 1, true}, {9, 1, 5, 2, 3, false}, {16, 8, 8, 2, 64, false},
        {10, 5, 1, 1, 1, true},     {1, 1, 64, 8, 7, true}, /* more parts than some entries need */
    };
    for (size_t n = 0; n < sizeof sets / sizeof sets[0]; n++)
        for (int rows = 0; rows < 2; rows++) {
            const struct radix_plan plan = plan_of(sets[n].b, sets[n].r, sets[n].items, sets[n].groups,
                                                   sets[n].splits, sets[n].transpose, rows);
            check_plan(&plan, 5003, REVERSED);
        }
}

TEST(sorts_fewer_than_its_capacity)
{
    uint32_t keys[300];
    fill_keys(keys, 300, 10, RANDOM_KEYS);
    for (int way = 0; way < WAYS; way++) {
        const struct radix_plan plan = plan_of(10, 5, 4, 3, 2, is_transposed(way), has_rows(way));
        struct radix_sort *sort = NULL;
        assert_ok(radix_sort_create(device, &plan, 4096, true, false, &sort));
        const struct tested_sort tested = tested_of(sort, &plan);
        check_sort(&tested, keys, 300);
        check_sort(&tested, keys, 7); /* and again with another count */
    }
}

/* Keys only, and without an array for them: what is returned is what was asked for. */
TEST(returns_what_is_asked)
{
    enum { COUNT = 777, CELLS = 1024 };
    uint32_t keys[COUNT], sorted_keys[COUNT];
    uint32_t *expected = test_array(COUNT, sizeof *expected);
    struct buffer *input = NULL, *sorted = NULL;
    fill_keys(keys, COUNT, 10, RANDOM_KEYS);
    memcpy(expected, keys, sizeof keys);
    qsort(expected, COUNT, sizeof *expected, by_key);
    assert_ok(buffer_create(device, sizeof keys, "keys", &input));
    assert_ok(buffer_create(device, sizeof keys, "sorted keys", &sorted));
    assert_ok(buffer_write(input, 0, sizeof keys, keys));
    const struct radix_lists nowhere = {.keys = input}, alone = {.keys = input, .sorted_keys = sorted};
    for (uint32_t passes = 1; passes <= 3; passes++)
        for (int way = 0; way < WAYS; way++) {
            const struct radix_plan plan =
                plan_of(10, (10 + passes - 1) / passes, 4, 3, 2, is_transposed(way), has_rows(way));
            struct radix_sort *keys_only = NULL, *no_keys = NULL;
            assert_ok(radix_sort_create(device, &plan, COUNT, false, false, &keys_only));
            assert_ok(radix_sort_create(device, &plan, COUNT, true, true, &no_keys));
            assert_ok(radix_sort_run(keys_only, COUNT, &alone));
            assert_ok(buffer_read(sorted, 0, sizeof keys, sorted_keys));
            assert_memory_equal(sorted_keys, expected, sizeof keys);
            check_sort(&(struct tested_sort){no_keys, run, false, CELLS}, keys, COUNT);
            if (!is_transposed(way)) /* a transposed sort has a list to spare */
                assert_int_equal(radix_sort_run(keys_only, COUNT, &nowhere), STATUS_FAILED);
            assert_int_equal(radix_sort_run(keys_only, COUNT + 1, &alone), STATUS_FAILED);
            assert_int_equal(radix_sort_run(no_keys, COUNT, &nowhere), STATUS_FAILED);
        }
}

/* ---- each phase alone ---- */

/* Where entry `n` of `items` items lies, counted in the order c, g, i. */
static uint32_t place_in(bool rows, uint32_t n, uint32_t items, uint32_t radix)
{
    return rows ? n % items * radix + n / items : n;
}

static void count_digits(bool rows)
{
    enum { COUNT = 1000, R = 8, I = 3, G = 4 };
    uint32_t keys[COUNT], table[R * I * G], expected[R * I * G] = {0};
    fill_keys(keys, COUNT, 9, RANDOM_KEYS);
    const struct radix_plan plan = plan_of(9, 3, I, G, 2, false, rows);
    struct radix_sort *sort = NULL;
    struct buffer *input = NULL;
    assert_ok(radix_sort_create(device, &plan, COUNT, false, false, &sort));
    assert_ok(buffer_create(device, sizeof keys, "keys", &input));
    assert_ok(buffer_write(input, 0, sizeof keys, keys));
    assert_ok(radix_sort_histogram(sort, input, COUNT, 1));
    assert_ok(buffer_read(radix_sort_table(sort), 0, sizeof table, table));
    const uint32_t chunk = (COUNT + I * G - 1) / (I * G);
    for (uint32_t j = 0; j < COUNT; j++) {
        const uint32_t c = (keys[j] >> 3) & (R - 1);
        expected[place_in(rows, c * G * I + j / chunk, G * I, R)]++; /* H(c G I + g I + i) */
    }
    assert_memory_equal(table, expected, sizeof table);
}

TEST(counts_digits_per_item)
{
    count_digits(false);
    count_digits(true);
}

/* However the table lies, the sums run in the order c, g, i. */
static void scan_table(uint32_t splits, bool rows)
{
    enum { R = 32, I = 5, G = 7 };
    const struct radix_plan plan = plan_of(10, 5, I, G, splits, false, rows);
    const uint32_t length = (uint32_t)radix_plan_table_length(&plan);
    uint32_t *table = test_array(length, sizeof *table);
    uint32_t *expected = test_array(length, sizeof *expected);
    uint32_t sum = 0;
    for (uint32_t n = 0; n < length; n++) {
        const uint32_t k = place_in(rows, n, G * I, R);
        table[k] = scramble(k) % 1000;
        expected[k] = sum;
        sum += table[k];
    }
    struct radix_sort *sort = NULL;
    assert_ok(radix_sort_create(device, &plan, 10, false, false, &sort));
    assert_ok(buffer_write(radix_sort_table(sort), 0, length * sizeof *table, table));
    assert_ok(radix_sort_scan(sort));
    assert_ok(buffer_read(radix_sort_table(sort), 0, length * sizeof *table, table));
    assert_memory_equal(table, expected, length * sizeof *table);
}

TEST(scans_tables_of_any_split)
{
    const uint32_t splits[] = {1, 2, 3, 7, 64, 500};
    for (size_t n = 0; n < sizeof splits / sizeof splits[0]; n++) {
        scan_table(splits[n], false);
        scan_table(splits[n], true);
    }
}

/* ---- plans ---- */

static const struct device_info small_gpu = {
    .name = "a small GPU", .is_gpu = true, .compute_units = 4, .local_memory = 16384, .group_limit = 256};

TEST(plans_the_short_key)
{
    struct radix_plan plan;
    const struct sort_config two_passes = {.passes = 2};
    assert_ok(radix_plan_make(&small_gpu, &two_passes, 10, &plan));
    assert_int_equal(plan.key_bits, 10);
    assert_int_equal(plan.radix_bits, 5);
    assert_int_equal(plan.passes, 2);
    assert_int_equal(plan.items_per_group, 64); /* 2^(5+2) * 128 = 16384 bytes are not below 16384 */
    assert_true(plan.transpose);
    assert_ok(radix_plan_make(&small_gpu, &two_passes, 11, &plan));
    assert_int_equal(plan.radix_bits, 6);
    assert_int_equal(plan.items_per_group, 32);
    assert_ok(radix_plan_make(&small_gpu, &(struct sort_config){.passes = 6, .key_bits = 30}, 10, &plan));
    assert_int_equal(plan.key_bits, 30);
    assert_int_equal(plan.radix_bits, 5);
    assert_int_equal(plan.passes, 6);
    /* Passes that are not needed are not made: 10 bits in 4 passes are digits of 3 bits; 7 bits in 6 are
     * digits of 2, and 4 of those cover the key. */
    assert_ok(radix_plan_make(&small_gpu, &(struct sort_config){.passes = 6}, 7, &plan));
    assert_int_equal(plan.passes, 4);
}

TEST(plans_the_table_as_asked)
{
    static const struct device_info cpu = {
        .name = "a CPU", .is_cpu = true, .compute_units = 2, .local_memory = 1 << 20, .group_limit = 4096};
    const struct {
        const struct device_info *info;
        enum table_kind table;
        const char *expected;
    } cases[] = {{&cpu, TABLE_AUTO, "columns"},          {&small_gpu, TABLE_AUTO, "columns"},
                 {&cpu, TABLE_COLUMNS, "columns"},       {&cpu, TABLE_ROWS, "rows"},
                 {&small_gpu, TABLE_COLUMNS, "columns"}, {&small_gpu, TABLE_ROWS, "rows"}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        struct radix_plan plan;
        const struct sort_config config = {.passes = 2, .table = cases[n].table};
        assert_ok(radix_plan_make(cases[n].info, &config, 10, &plan));
        assert_string_equal(radix_plan_table_name(&plan), cases[n].expected);
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
         "items_per_group (I) = 256",
         "the 16384 of a small GPU by 16385"},
        {{.passes = 2, .items_per_group = 128},
         "items_per_group (I) = 128",
         "the 16384 of a small GPU by 1;"},
        {{.passes = 5, .items_per_group = 32, .groups = 65536, .histogram_splits = 4096},
         "65536 of items_per_group (I) = 32",
         "1048576 more than the 1048576"},
        {{.passes = 2, .items_per_group = 512}, "items_per_group (I) = 512", "more than the 256 items"},
        {{.passes = 1, .key_bits = 20}, "passes (p) = 1", "outside 1..16"},
        {{.passes = 2, .items_per_group = 64, .groups = 64, .histogram_splits = 1},
         "histogram_splits (s) = 1",
         "more than"},
        {{.passes = 2, .histogram_splits = 8192}, "histogram_splits (s) = 8192", "16384 more than the 16384"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        assert_int_equal(radix_plan_make(&small_gpu, &cases[n].config, 10, &plan), STATUS_USAGE);
        assert_sentence_holds(cases[n].names);
        assert_sentence_holds(cases[n].by);
    }
}

TEST_MAIN(open_device, close_device)
