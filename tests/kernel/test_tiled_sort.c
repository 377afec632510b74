/* Tiled sort: bit for bit the one stable permutation, over sizes, key bits, passes and orders of the keys. */
#include "support/sort_checks.h"

#include "sort/tiled_sort.h"

#include <string.h>

/* As for long lists; elsewhere the lists here are short. */
static const struct tiled_options two_reorders = {.reorders = 2};

static enum status run(void *sort, uint32_t count, const struct radix_lists *lists)
{
    return tiled_sort_run(sort, count, lists);
}

static void check_list(struct tiled_sort *sort, enum pattern pattern, uint32_t count, uint32_t bits)
{
    uint32_t *keys = test_array(count + (size_t)1, sizeof *keys);
    fill_keys(keys, count, bits, pattern);
    check_sort(&(struct tested_sort){sort, run, true, UINT32_C(1) << bits}, keys, count);
}

/* ---- the tests ---- */

TEST(sorts_every_size)
{
    enum { TILE = 4096 }; /* of a device with room for groups of 128 items */
    const uint32_t sizes[] = {0, 1, 2, 63, 64, 65, 1000, TILE - 1, TILE, TILE + 1, TILE + 7919};
    for (uint32_t passes = 1; passes <= 2; passes++) {
        struct tiled_sort *sort = NULL; /* with more room than any list needs, used again and again */
        assert_ok(tiled_sort_create(device, 10, passes, 30000, &two_reorders, &sort));
        for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
            check_patterns(&(struct tested_sort){sort, run, true, 1024}, 10, sizes[n], ALL_LARGEST);
    }
}

TEST(sorts_a_million_around)
{
    for (uint32_t passes = 1; passes <= 2; passes++) {
        struct tiled_sort *sort = NULL;
        assert_ok(tiled_sort_create(device, 10, passes, (1u << 20) + 1, NULL, &sort));
        check_list(sort, PIC_ORDER, (1u << 20) - 1, 10);
        check_list(sort, RARE_KEYS, (1u << 20) + 1, 10);
        check_list(sort, CHANGING, 1000003, 10); /* a prime */
    }
}

/* Rows shorter than a sector; one round; three rounds; two rounds below a whole key; digits of two lengths,
 * of keys that the first of two passes does not count whole. */
TEST(sorts_short_and_long_keys)
{
    const struct {
        uint32_t bits, passes;
    } cases[] = {{1, 1}, {4, 2}, {5, 1}, {12, 1}, {12, 2}, {15, 2}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        struct tiled_sort *sort = NULL;
        const uint32_t bits = cases[n].bits, count = 9001;
        assert_ok(tiled_sort_create(device, bits, cases[n].passes, count, &two_reorders, &sort));
        check_patterns(&(struct tested_sort){sort, run, true, UINT32_C(1) << bits}, bits, count, RARE_KEYS);
        check_list(sort, CHANGING, count, bits);
    }
}

/* Between the passes the high digit and the index share a word where they fit: with 24 bits of key they just
 * do, and just do not; with 23 they do beside a longer first digit. Few keys are sorted. */
TEST(sorts_where_words_just_fit_and_just_do_not)
{
    const struct {
        uint32_t bits, capacity;
    } cases[] = {{24, UINT32_C(1) << 20}, {24, (UINT32_C(1) << 20) + 1}, {23, (UINT32_C(1) << 20) + 1}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        struct tiled_sort *sort = NULL;
        assert_ok(tiled_sort_create(device, cases[n].bits, 2, cases[n].capacity, NULL, &sort));
        check_patterns(&(struct tested_sort){sort, run, true, 0}, cases[n].bits, 30011, PIC_ORDER);
    }
}

/* Few chunks, an odd number, more than there are tiles or places, and narrow groups. */
TEST(options_change_no_result)
{
    enum { COUNT = 70001 };
    const struct {
        struct tiled_options options;
        uint32_t passes;
    } cases[] = {{{.chunks = 1}, 1},
                 {{.chunks = 7}, 2},
                 {{.chunks = 65536, .items = 32}, 1},
                 {{.chunks = 65536, .items = 32}, 2}};
    size_t held[sizeof cases / sizeof cases[0]];
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        struct tiled_sort *sort = NULL;
        const size_t before = device_bytes_held(device);
        assert_ok(tiled_sort_create(device, 10, cases[n].passes, COUNT, &cases[n].options, &sort));
        held[n] = device_bytes_held(device) - before;
        check_patterns(&(struct tested_sort){sort, run, true, 1024}, 10, COUNT, RARE_KEYS);
    }
    assert_true(held[0] < held[2] && held[1] < held[3]);
}

/* Cells need not be a power of two, and neither offsets nor sorted keys need be asked for. */
TEST(returns_what_is_asked)
{
    enum { COUNT = 5003, CELLS = 700 };
    for (uint32_t passes = 1; passes <= 2; passes++) {
        struct tiled_sort *sort = NULL;
        struct buffer *some = NULL; /* nothing is sorted into it */
        uint32_t *sorted = test_array(COUNT, sizeof *sorted);
        fill_keys(sorted, COUNT, 9, SORTED_KEYS); /* 0..511 of 700 cells */
        assert_ok(tiled_sort_create(device, 10, passes, COUNT, NULL, &sort));
        check_sort(&(struct tested_sort){sort, run, false, 0}, sorted, COUNT);
        check_sort(&(struct tested_sort){sort, run, false, CELLS}, sorted, COUNT);
        assert_ok(buffer_create(device, COUNT * sizeof(uint32_t), "keys", &some));
        const struct radix_lists whole = {.keys = some, .permutation = some}, nowhere = {.keys = some},
                                 more_cells = {some, NULL, some, some, 1025};
        assert_int_equal(tiled_sort_run(sort, COUNT, &nowhere), STATUS_FAILED);
        assert_int_equal(tiled_sort_run(sort, COUNT + 1, &whole), STATUS_FAILED);
        assert_int_equal(tiled_sort_run(sort, COUNT, &more_cells), STATUS_FAILED);
    }
}

TEST(supports_what_fits)
{
    const struct device_info small = {.is_gpu = true, .local_memory = 32768, .group_limit = 256};
    const struct device_info tiny = {.is_gpu = true, .local_memory = 4096, .group_limit = 256};
    const struct device_info narrow = {.is_gpu = true, .local_memory = 32768, .group_limit = 32};
    for (uint32_t bits = 1; bits <= 24; bits++) {
        uint32_t passes = 0;
        assert_ok(tiled_sort_check(&small, bits, &passes));
        assert_int_equal(passes, bits <= 12 ? 1 : 2);
        assert_int_equal(tiled_sort_check(&tiny, bits, &passes), STATUS_USAGE);
        assert_int_equal(tiled_sort_check(&narrow, bits, &passes), STATUS_USAGE);
    }
    uint32_t fewest = 0;
    assert_int_equal(tiled_sort_check(&small, 0, &fewest), STATUS_USAGE);
    struct tiled_sort *sort = NULL;
    assert_int_equal(tiled_sort_create(device, 25, 0, 10, NULL, &sort), STATUS_USAGE);
    assert_int_equal(tiled_sort_create(device, 20, 1, 10, NULL, &sort), STATUS_USAGE);
    assert_int_equal(tiled_sort_create(device, 10, 3, 10, NULL, &sort), STATUS_USAGE);
    assert_null(sort);
}

TEST_MAIN(open_device, close_device)
