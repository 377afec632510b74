/* Chunked sort: properties over sizes, key bits, passes and degenerate keys. */
#include "support/sort_checks.h"

#include "sort/chunked_sort.h"

#include <string.h>

static enum status run(void *sort, uint32_t count, const struct radix_lists *lists)
{
    return chunked_sort_run(sort, count, lists);
}

/* Keys of more than 20 bits have too many cells to count here. */
static uint32_t cells_of(uint32_t key_bits)
{
    return key_bits <= 20 ? largest_key(key_bits) + 1 : 0;
}

/* A list in both variants, with and without what may be left out. */
static void check_both(uint32_t key_bits, struct chunked_options options, const uint32_t *keys,
                       uint32_t count)
{
    for (int portable = 0; portable < 2; portable++) {
        struct chunked_sort *sort = NULL;
        options.portable = portable;
        assert_ok(chunked_sort_create(device, key_bits, count, &options, &sort));
        check_sort(&(struct tested_sort){sort, run, true, cells_of(key_bits)}, keys, count);
        check_sort(&(struct tested_sort){sort, run, false, 0}, keys, count);
    }
}

/* Every pattern. */
static void check_all(uint32_t key_bits, uint32_t passes, uint32_t chunks, uint32_t count)
{
    for (int portable = 0; portable < 2; portable++) {
        const struct chunked_options options = {passes, chunks, portable};
        struct chunked_sort *sort = NULL;
        assert_ok(chunked_sort_create(device, key_bits, count, &options, &sort));
        check_patterns(&(struct tested_sort){sort, run, !portable, cells_of(key_bits)}, key_bits, count,
                       CHANGING);
    }
}

/* ---- whole sorts ---- */

TEST(sorts_every_size)
{
    const uint32_t sizes[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 1000, 1023, 1025, 7919};
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
        for (uint32_t passes = 1; passes <= 3; passes++)
            check_all(10, passes, passes == 3 ? 1 : 0, sizes[n]);
}

TEST(sorts_a_million_around)
{
    const uint32_t sizes[] = {(1u << 20) - 1, (1u << 20) + 1, 1000003}; /* the last is a prime */
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
        for (uint32_t passes = 1; passes <= 2; passes++)
            check_all(10, passes, 0, sizes[n]);
}

/* Lists too long for the caches are written past them. */
TEST(sorts_more_than_the_caches_hold)
{
    check_all(12, 0, 0, 5000011);
    check_all(18, 0, 3, 5000011); /* and in two passes */
}

TEST(sorts_keys_of_every_length)
{
    for (uint32_t b = 1; b <= 32; b++)
        check_all(b, 0, 3, 3000);
}

TEST(sorts_in_any_number_of_passes)
{
    const struct {
        uint32_t b, passes, chunks;
    } sets[] = {{10, 10, 2}, {16, 1, 2},  {17, 2, 5}, {20, 5, 7},
                {30, 6, 4},  {32, 32, 1}, {32, 2, 1}, {7, 9, 64}};
    for (size_t n = 0; n < sizeof sets / sizeof sets[0]; n++)
        check_all(sets[n].b, sets[n].passes, sets[n].chunks, 5003);
}

/* Between passes a word holds the index and what is left of the key if both fit, and else the index alone. */
TEST(sorts_where_words_just_fit_and_just_do_not)
{
    enum { COUNT = 4096 }; /* indices of 12 bits: 20 are left */
    for (uint32_t left = 19; left <= 21; left++)
        check_all(left + 8, 4, 2, COUNT); /* 27..29 bits, digits of 7 or 8 */
    check_all(32, 0, 2, COUNT);
    check_all(24, 2, 2, COUNT + 1);
}

/* One cell that holds half of all, in the midst of others: a hot cell. */
TEST(sorts_a_hot_cell)
{
    enum { COUNT = 100000 };
    uint32_t *keys = test_array(COUNT, sizeof *keys);
    for (uint32_t j = 0; j < COUNT; j++)
        keys[j] = scramble(j) % 2 ? 77 : scramble(3 * j) % 1024;
    check_both(10, (struct chunked_options){0}, keys, COUNT);
}

/* Stretches of few distinct keys beside stretches of many, so that blocks of both kinds meet in a chunk. */
TEST(sorts_mixed_stretches)
{
    enum { COUNT = 300000 };
    uint32_t *keys = test_array(COUNT, sizeof *keys);
    for (uint32_t many = 1; many <= 15; many += 7) { /* of 16 stretches */
        for (uint32_t j = 0; j < COUNT; j++)
            keys[j] = scramble(j) % (scramble(j / 1500) % 16 < many ? 1024 : 1 + j / 1500 % 30);
        check_both(10, (struct chunked_options){.chunks = 3}, keys, COUNT);
    }
}

TEST(sorts_fewer_than_its_capacity)
{
    enum { CAPACITY = 50000 };
    uint32_t *keys = test_array(CAPACITY, sizeof *keys);
    const uint32_t counts[] = {CAPACITY, 300, 7, 0, 20001};
    for (uint32_t passes = 1; passes <= 2; passes++) {
        const struct chunked_options options = {.passes = passes};
        struct chunked_sort *sort = NULL;
        assert_ok(chunked_sort_create(device, 10, CAPACITY, &options, &sort));
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
            fill_keys(keys, counts[n], 10, n % 2 ? RANDOM_KEYS : NEIGHBOURS);
            check_sort(&(struct tested_sort){sort, run, true, 1024}, keys, counts[n]);
        }
    }
}

/* Fewer and more cells than keys could tell apart. */
TEST(gives_offsets_of_any_number_of_cells)
{
    enum { COUNT = 5000, BITS = 10 };
    const uint32_t cells[] = {1, 1000, 1024, 1500};
    uint32_t keys[COUNT];
    for (uint32_t passes = 1; passes <= 2; passes++)
        for (size_t n = 0; n < sizeof cells / sizeof cells[0]; n++) {
            const struct chunked_options options = {.passes = passes};
            struct chunked_sort *sort = NULL;
            assert_ok(chunked_sort_create(device, BITS, COUNT, &options, &sort));
            for (uint32_t j = 0; j < COUNT; j++)
                keys[j] = scramble(j) % (cells[n] < 1024 ? cells[n] : 1024);
            check_sort(&(struct tested_sort){sort, run, false, cells[n]}, keys, COUNT);
        }
}

TEST(refuses_what_it_cannot_sort)
{
    struct chunked_sort *sort = NULL;
    assert_int_equal(chunked_sort_create(device, 17, 100, &(struct chunked_options){.passes = 1}, &sort),
                     STATUS_USAGE);
    assert_null(sort);
    assert_non_null(strstr(status_message(), "17 bits, more than 16"));
    assert_ok(chunked_sort_create(device, 10, 100, NULL, &sort));
    struct buffer *input = NULL, *permutation = NULL;
    assert_ok(buffer_create(device, 400, "keys", &input));
    assert_ok(buffer_create(device, 400, "permutation", &permutation));
    const struct radix_lists nowhere = {.keys = input}, whole = {.keys = input, .permutation = permutation};
    assert_int_equal(chunked_sort_run(sort, 100, &nowhere), STATUS_FAILED);
    assert_int_equal(chunked_sort_run(sort, 101, &whole), STATUS_FAILED);
}

TEST_MAIN(open_device, close_device)
