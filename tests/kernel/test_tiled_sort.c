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

static void check_all(uint32_t bits, uint32_t passes, uint32_t count, enum pattern last)
{
    struct tiled_sort *sort = NULL;
    assert_ok(tiled_sort_create(device, bits, passes, count, &two_reorders, &sort));
    check_patterns(&(struct tested_sort){sort, run, true, UINT32_C(1) << bits}, bits, count, last);
    tiled_sort_destroy(&sort);
}

/* ---- the tests ---- */

TEST(sorts_every_size)
{
    enum { TILE = 4096 }; /* of a device with room for groups of 128 items */
    const uint32_t sizes[] = {0, 1, 2, 63, 64, 65, 1000, TILE - 1, TILE, TILE + 1, TILE + 7919};
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
        for (uint32_t passes = 1; passes <= 2; passes++)
            check_all(10, passes, sizes[n], n < 7 ? ALL_LARGEST : NINE_WAYS);
    check_all(10, 1, TILE + 7919, ALL_LARGEST);
}

TEST(sorts_a_million_around)
{
    struct tiled_sort *sort = NULL;
    assert_ok(tiled_sort_create(device, 10, 1, (1u << 20) + 1, NULL, &sort));
    check_list(sort, PIC_ORDER, (1u << 20) - 1, 10);
    check_list(sort, NINE_WAYS, (1u << 20) + 1, 10);
    check_list(sort, CHANGING, 1000003, 10); /* a prime */
    tiled_sort_destroy(&sort);
}

TEST(sorts_short_and_long_keys)
{
    /* Rows shorter than a sector; 16 cells, found by search; one round; three rounds; digits of two lengths.
     */
    const struct {
        uint32_t bits, passes;
    } cases[] = {{1, 1}, {4, 2}, {5, 1}, {12, 1}, {15, 2}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        struct tiled_sort *sort = NULL;
        const uint32_t bits = cases[n].bits, count = 9001;
        assert_ok(tiled_sort_create(device, bits, cases[n].passes, count, &two_reorders, &sort));
        for (enum pattern pattern = RANDOM_KEYS; pattern <= NINE_WAYS; pattern++)
            check_list(sort, pattern, count, bits);
        check_list(sort, CHANGING, count, bits);
        tiled_sort_destroy(&sort);
    }
}

/* So many keys fit that the high digit and the index do not fit one word; few are sorted. */
TEST(sorts_pairs_between_passes)
{
    const uint32_t bits = 22, capacity = (UINT32_C(1) << 21) + 1; /* 11 and 22 bits */
    struct tiled_sort *sort = NULL;
    assert_ok(tiled_sort_create(device, bits, 2, capacity, NULL, &sort));
    for (enum pattern pattern = RANDOM_KEYS; pattern <= PIC_ORDER; pattern++)
        check_list(sort, pattern, 30011, bits);
    tiled_sort_destroy(&sort);
}

TEST(sorts_fewer_than_its_capacity_again_and_again)
{
    struct tiled_sort *sort = NULL;
    assert_ok(tiled_sort_create(device, 10, 1, 30000, NULL, &sort));
    const uint32_t sizes[] = {30000, 5, 0, 17777, 4096};
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
        check_list(sort, PIC_ORDER, sizes[n], 10);
    tiled_sort_destroy(&sort);
}

/* Few chunks, an odd number, more than there are tiles or places, and narrow groups; the bytes told follow.
 */
TEST(options_change_no_result)
{
    enum { COUNT = 70001 };
    const struct {
        struct tiled_options options;
        uint32_t passes;
    } cases[] = {{{.chunks = 1}, 1}, {{.chunks = 7}, 2}, {{.chunks = 65536, .items = 32}, 1}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const uint32_t passes = cases[n].passes;
        struct tiled_sort *sort = NULL;
        const size_t before = device_bytes_held(device);
        assert_ok(tiled_sort_create(device, 10, passes, COUNT, &cases[n].options, &sort));
        assert_int_equal(device_bytes_held(device) - before,
                         tiled_sort_bytes(device_info(device), 10, passes, COUNT, &cases[n].options));
        for (enum pattern pattern = RANDOM_KEYS; pattern <= NINE_WAYS; pattern++)
            check_list(sort, pattern, COUNT, 10);
        tiled_sort_destroy(&sort);
    }
    const struct device_info *info = device_info(device);
    assert_true(tiled_sort_bytes(info, 10, 1, COUNT, &(struct tiled_options){.chunks = 2}) <
                tiled_sort_bytes(info, 10, 1, COUNT, &(struct tiled_options){.chunks = 4}));
}

/* Cells need not be a power of two, and neither offsets nor sorted keys need be asked for. */
TEST(returns_what_is_asked)
{
    enum { COUNT = 5003, CELLS = 700 };
    for (uint32_t passes = 1; passes <= 2; passes++) {
        struct tiled_sort *sort = NULL;
        struct buffer *keys = NULL, *permutation = NULL, *offsets = NULL;
        uint32_t *sorted = test_array(COUNT, sizeof *sorted);
        fill_keys(sorted, COUNT, 9, SORTED_KEYS); /* 0..511 of 700 cells */
        assert_ok(tiled_sort_create(device, 10, passes, COUNT, NULL, &sort));
        check_sort(&(struct tested_sort){sort, run, false, 0}, sorted, COUNT);
        check_sort(&(struct tested_sort){sort, run, false, CELLS}, sorted, COUNT);
        assert_ok(buffer_create(device, COUNT * sizeof(uint32_t), "keys", &keys));
        assert_ok(buffer_create(device, COUNT * sizeof(uint32_t), "permutation", &permutation));
        assert_ok(buffer_create(device, (CELLS + 1) * sizeof(uint32_t), "offsets", &offsets));
        assert_int_equal(tiled_sort_run(sort, COUNT, &(struct radix_lists){.keys = keys}), STATUS_FAILED);
        assert_int_equal(
            tiled_sort_run(sort, COUNT + 1, &(struct radix_lists){.keys = keys, .permutation = permutation}),
            STATUS_FAILED);
        assert_int_equal(
            tiled_sort_run(sort, COUNT, &(struct radix_lists){keys, NULL, permutation, offsets, 1025}),
            STATUS_FAILED);
        tiled_sort_destroy(&sort);
    }
}

TEST(tells_what_it_takes)
{
    for (uint32_t bits = 10; bits <= 22; bits += 12)
        for (uint32_t passes = bits <= 12 ? 1 : 2; passes <= 2; passes++) {
            struct tiled_sort *sort = NULL;
            const size_t before = device_bytes_held(device);
            assert_ok(tiled_sort_create(device, bits, passes, 123457, &two_reorders, &sort));
            assert_int_equal(device_bytes_held(device) - before,
                             tiled_sort_bytes(device_info(device), bits, passes, 123457, NULL));
            tiled_sort_destroy(&sort);
        }
}

TEST(supports_what_fits)
{
    const struct device_info small = {.is_gpu = true, .local_memory = 32768, .group_limit = 256};
    const struct device_info tiny = {.is_gpu = true, .local_memory = 4096, .group_limit = 256};
    const struct device_info narrow = {.is_gpu = true, .local_memory = 32768, .group_limit = 32};
    for (uint32_t bits = 1; bits <= TILED_SORT_MAX_KEY_BITS; bits++) {
        assert_true(tiled_sort_supports(&small, bits));
        assert_false(tiled_sort_supports(&tiny, bits));
        assert_false(tiled_sort_supports(&narrow, bits));
    }
    assert_false(tiled_sort_supports(&small, 0));
    assert_false(tiled_sort_supports(&small, 25));
    struct tiled_sort *sort = NULL;
    assert_int_equal(tiled_sort_create(device, 25, 0, 10, NULL, &sort), STATUS_USAGE);
    assert_int_equal(tiled_sort_create(device, 20, 1, 10, NULL, &sort), STATUS_USAGE);
    assert_int_equal(tiled_sort_create(device, 10, 3, 10, NULL, &sort), STATUS_USAGE);
    assert_null(sort);
}

TEST_MAIN(open_device, close_device)
