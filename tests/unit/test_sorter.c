/* Sorter: what a config gets, by the config itself, by what was tuned, and by the device, in this order. */
#include "support/cache_folder.h"

#include "sort/sorter.h"

#define IN_CACHE(name) TEST_WITH(name, open_cache, close_cache)

enum { COUNT = 1 << 20, BITS = 10 };

static struct sorter_plan plan;
static const struct sort_config two_passes = {.passes = 2}, any_passes = {.passes = SORT_AUTO};

static const struct device_info cpu = {.name = "cpu",
                                       .driver = "1",
                                       .is_cpu = true,
                                       .compute_units = 2,
                                       .local_memory = 1 << 20,
                                       .group_limit = 4096};

/* The plan of the config, which `plan` is then too. */
static const struct sorter_plan *planned(const struct device_info *info, const struct sort_config *config,
                                         uint32_t key_bits, uint32_t count)
{
    assert_ok(sorter_plan_make(info, config, key_bits, count, &plan));
    return &plan;
}

static void assert_described(const struct device_info *info, const struct sort_config *config,
                             const char *expected)
{
    char text[256];
    sorter_plan_describe(planned(info, config, BITS, COUNT), text, sizeof text);
    assert_string_equal(text, expected);
}

/* ---- without a cache ---- */

IN_CACHE(the_kind_of_device_decides)
{
    struct device_info other = cache_device, small = cache_device;
    other.is_gpu = false;
    small.local_memory = 10 << 10;
    assert_described(&cache_device, &two_passes, "b = 10 bits, p = 2 passes; method tiled (default)");
    assert_described(&cpu, &two_passes, "b = 10 bits, p = 2 passes; 8 chunks; method chunked (default)");
    assert_int_equal(planned(&other, &two_passes, BITS, COUNT)->method, SORT_METHOD_PAPER);
    /* no room for a tile */
    assert_int_equal(planned(&small, &two_passes, BITS, COUNT)->method, SORT_METHOD_PAPER);
    assert_int_equal(plan.source, PLAN_DEFAULT);
    assert_string_equal(plan.note, "");
}

IN_CACHE(keys_and_passes_that_tiles_do_not_sort_go_to_paper)
{
    const struct sort_config three = {.passes = 3};
    assert_int_equal(planned(&cache_device, &any_passes, 24, COUNT)->method, SORT_METHOD_TILED);
    assert_int_equal(plan.passes, 2);
    assert_int_equal(planned(&cache_device, &any_passes, 25, COUNT)->method, SORT_METHOD_PAPER);
    assert_int_equal(planned(&cache_device, &three, BITS, COUNT)->method, SORT_METHOD_PAPER);
    assert_int_equal(plan.passes, 3);
}

IN_CACHE(fewest_passes_are_the_default_of_auto)
{
    assert_int_equal(planned(&cache_device, &any_passes, BITS, COUNT)->passes, 1);
    assert_int_equal(planned(&cpu, &any_passes, BITS, COUNT)->passes, 1);
    /* the list is longer than the table */
    assert_int_equal(planned(&cpu, &any_passes, 16, 16 * COUNT)->passes, 1);
    assert_int_equal(planned(&cpu, &any_passes, 16, COUNT)->passes, 2);
    assert_int_equal(planned(&cpu, &any_passes, 32, COUNT)->method, SORT_METHOD_CHUNKED);
    assert_in_range(plan.passes, 2, 3);
    const struct sort_config paper = {.method = SORT_METHOD_PAPER, .passes = SORT_AUTO};
    assert_int_equal(planned(&cpu, &paper, BITS, COUNT)->passes, 1); /* a CPU's caches hold long digits */
    /* the local memory of a wide group does not */
    assert_in_range(planned(&cache_device, &paper, BITS, COUNT)->radix.radix_bits, 1, 6);
}

IN_CACHE(a_parameter_of_paper_asks_for_paper)
{
    const struct sort_config cases[] = {
        {.passes = 2, .items_per_group = 4},    {.passes = 2, .groups = 4},
        {.passes = 2, .histogram_splits = 600}, {.passes = 2, .transpose = TRANSPOSE_OFF},
        {.passes = 2, .table = TABLE_ROWS},
    };
    struct tuning_entry entry = cache_entry(SORT_METHOD_TILED, 2);
    write_entries(&entry, 1);
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        assert_ok(sorter_plan_make(&cache_device, &cases[n], BITS, COUNT, &plan));
        assert_int_equal(plan.method, SORT_METHOD_PAPER);
        assert_int_equal(plan.source, PLAN_DEFAULT);
    }
}

IN_CACHE(what_does_not_fit_is_refused)
{
    static const struct {
        struct sort_config config;
        uint32_t bits;
        const char *word;
    } cases[] = {
        {{.method = SORT_METHOD_TILED, .passes = 3}, 10, "1 to 2 passes"},
        {{.method = SORT_METHOD_TILED, .passes = 1}, 20, "2 to 2 passes"},
        {{.method = SORT_METHOD_TILED, .passes = 2}, 25, "25 bits"},
        {{.method = SORT_METHOD_CHUNKED, .passes = 1}, 20, "16 bits"},
        {{.passes = 1}, 20, "more passes"},
        {{.passes = 1, .items_per_group = 2048}, 10, "items_per_group"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        assert_refuses(sorter_plan_make(&cache_device, &cases[n].config, cases[n].bits, COUNT, &plan),
                       cases[n].word);
    }
}

/* ---- with one ---- */

IN_CACHE(the_tuned_sort_is_taken)
{
    struct tuning_entry entries[] = {cache_entry(SORT_METHOD_TILED, 1), cache_entry(SORT_METHOD_CHUNKED, 2),
                                     cache_entry(SORT_METHOD_TILED, 2),
                                     cache_entry(SORT_METHOD_PAPER, 2)}; /* the fastest first */
    entries[3].sort.items_per_group = 16;
    entries[3].sort.groups = 3;
    write_entries(entries, 4);
    assert_int_equal(planned(&cache_device, &two_passes, BITS, COUNT)->method, SORT_METHOD_CHUNKED);
    assert_described(&cache_device, &any_passes,
                     "b = 10 bits, p = 1 passes; method tiled (tuned 2026-11-21)");
    const struct sort_config tiled = {.method = SORT_METHOD_TILED, .passes = 2};
    assert_described(&cache_device, &tiled, "b = 10 bits, p = 2 passes; method tiled (tuned 2026-11-21)");
    const struct sort_config paper = {.method = SORT_METHOD_PAPER, .passes = 2};
    assert_int_equal(planned(&cache_device, &paper, BITS, COUNT)->radix.items_per_group, 16);
    assert_int_equal(plan.radix.groups, 3);
    assert_int_equal(plan.radix.key_bits, BITS);
    assert_string_equal(plan.note, "");
}

IN_CACHE(what_was_tuned_for_something_else_is_not)
{
    struct tuning_entry entry = cache_entry(SORT_METHOD_CHUNKED, 2);
    write_entries(&entry, 1);
    struct device_info other = cache_device;
    strcpy(other.driver, "1.2.4");
    const struct sort_config longer_key = {.passes = 2, .key_bits = 12}, three = {.passes = 3};
    /* the nearest length, which is the only one */
    assert_int_equal(planned(&cache_device, &two_passes, BITS, 2 * COUNT)->source, PLAN_TUNED);
    assert_int_equal(planned(&other, &two_passes, BITS, COUNT)->source, PLAN_DEFAULT);
    assert_int_equal(planned(&cache_device, &longer_key, BITS, COUNT)->source, PLAN_DEFAULT);
    assert_int_equal(planned(&cache_device, &three, BITS, COUNT)->source, PLAN_DEFAULT);
    assert_ok(sorter_plan_default(&cache_device, &two_passes, BITS, COUNT, &plan));
    assert_int_equal(plan.source, PLAN_DEFAULT);
}

IN_CACHE(a_tuned_sort_that_does_not_fit_is_noted_and_left)
{
    struct tuning_entry entry = cache_entry(SORT_METHOD_PAPER, 2);
    entry.sort.items_per_group = 4096; /* a group may have 1024 */
    write_entries(&entry, 1);
    assert_int_equal(planned(&cache_device, &two_passes, BITS, COUNT)->method, SORT_METHOD_TILED);
    assert_int_equal(plan.source, PLAN_DEFAULT);
    assert_non_null(strstr(plan.note, "2026-11-21"));
    assert_non_null(strstr(plan.note, "items_per_group"));
}

IN_CACHE(a_broken_file_is_noted_and_left)
{
    write_text(cache.file, "format: 2\nsorts: [{method: tiled\n");
    assert_int_equal(planned(&cpu, &two_passes, BITS, COUNT)->method, SORT_METHOD_CHUNKED);
    assert_int_equal(plan.source, PLAN_DEFAULT);
    assert_non_null(strstr(plan.note, cache.file));
}

TEST_MAIN(NULL, NULL)
