/* Sorter: what a config gets, by the config itself, and by the device where that leaves it open. */
#include "support/test_support.h"

#include "sort/sorter.h"

enum { COUNT = 1 << 20, BITS = 10 };

static struct sorter_plan plan;
static const struct sort_config two_passes = {.passes = 2}, any_passes = {.passes = SORT_AUTO};

static const struct device_info gpu = {.name = "gpu",
                                       .driver = "1",
                                       .is_gpu = true,
                                       .compute_units = 12,
                                       .local_memory = 48 << 10,
                                       .group_limit = 1024};
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

TEST(the_kind_of_device_decides)
{
    struct device_info other = gpu, small = gpu;
    other.is_gpu = false;
    small.local_memory = 10 << 10;
    assert_described(&gpu, &two_passes, "b = 10 bits, p = 2 passes; method tiled (default)");
    assert_described(&cpu, &two_passes, "b = 10 bits, p = 2 passes; 8 chunks; method chunked (default)");
    assert_int_equal(planned(&other, &two_passes, BITS, COUNT)->method, SORT_METHOD_PAPER);
    /* no room for a tile */
    assert_int_equal(planned(&small, &two_passes, BITS, COUNT)->method, SORT_METHOD_PAPER);
    assert_true(plan.is_default);
}

TEST(keys_and_passes_that_tiles_do_not_sort_go_to_paper)
{
    const struct sort_config three = {.passes = 3};
    assert_int_equal(planned(&gpu, &any_passes, 24, COUNT)->method, SORT_METHOD_TILED);
    assert_int_equal(plan.passes, 2);
    assert_int_equal(planned(&gpu, &any_passes, 25, COUNT)->method, SORT_METHOD_PAPER);
    assert_int_equal(planned(&gpu, &three, BITS, COUNT)->method, SORT_METHOD_PAPER);
    assert_int_equal(plan.passes, 3);
}

TEST(fewest_passes_are_the_default_of_auto)
{
    assert_int_equal(planned(&gpu, &any_passes, BITS, COUNT)->passes, 1);
    assert_int_equal(planned(&cpu, &any_passes, BITS, COUNT)->passes, 1);
    /* the list is longer than the table */
    assert_int_equal(planned(&cpu, &any_passes, 16, 16 * COUNT)->passes, 1);
    assert_int_equal(planned(&cpu, &any_passes, 16, COUNT)->passes, 2);
    assert_int_equal(planned(&cpu, &any_passes, 32, COUNT)->method, SORT_METHOD_CHUNKED);
    assert_in_range(plan.passes, 2, 3);
    const struct sort_config paper = {.method = SORT_METHOD_PAPER, .passes = SORT_AUTO};
    assert_int_equal(planned(&cpu, &paper, BITS, COUNT)->passes, 1); /* a CPU's caches hold long digits */
    /* the local memory of a wide group does not */
    assert_in_range(planned(&gpu, &paper, BITS, COUNT)->radix.radix_bits, 1, 6);
}

TEST(a_parameter_of_paper_asks_for_paper)
{
    const struct sort_config cases[] = {
        {.passes = 2, .items_per_group = 4},    {.passes = 2, .groups = 4},
        {.passes = 2, .histogram_splits = 600}, {.passes = 2, .transpose = TRANSPOSE_OFF},
        {.passes = 2, .table = TABLE_ROWS},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        assert_ok(sorter_plan_make(&gpu, &cases[n], BITS, COUNT, &plan));
        assert_int_equal(plan.method, SORT_METHOD_PAPER);
        assert_true(plan.is_default);
    }
}

TEST(what_does_not_fit_is_refused)
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
        assert_refuses(sorter_plan_make(&gpu, &cases[n].config, cases[n].bits, COUNT, &plan), cases[n].word);
    }
}

TEST_MAIN(NULL, NULL)
