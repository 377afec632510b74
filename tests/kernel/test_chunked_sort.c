/* Chunked sort: properties over sizes, key bits, passes and degenerate keys. */
#include "support/device_fixture.h"
#include "support/sort_keys.h"

#include "sort/chunked_sort.h"

#include <string.h>

/* ---- one sort and its properties ---- */

/* permutation, sorted keys and cell offsets against one another and the keys. A sort that gives a bijection,
 * keys that do not fall, and equal keys in their order has given the only right answer. */
static void check_permutation(const uint32_t *keys, const uint32_t *permutation, uint32_t count)
{
    uint8_t *seen = calloc(count + 1, 1);
    for (uint32_t j = 0; j < count; j++) {
        const uint32_t source = permutation[j];
        if (source >= count || seen[source])
            fail_msg("permutation[%u] = %u of %u is no entry, or twice in it", j, source, count);
        seen[source] = 1;
        if (j == 0)
            continue;
        const uint32_t before = permutation[j - 1];
        if (keys[before] > keys[source] || (keys[before] == keys[source] && before > source))
            fail_msg("at %u: key %u of entry %u comes after key %u of entry %u", j, keys[source], source,
                     keys[before], before);
    }
    free(seen);
}

static void check_cell_offsets(const uint32_t *keys, const uint32_t *offsets, uint32_t count, uint32_t cells)
{
    uint32_t *expected = calloc((size_t)cells + 1, sizeof *expected);
    for (uint32_t j = 0; j < count; j++)
        expected[keys[j] + 1]++;
    for (uint32_t c = 0; c < cells; c++)
        expected[c + 1] += expected[c];
    assert_memory_equal(offsets, expected, (cells + 1) * sizeof *expected);
    free(expected);
}

static struct buffer *new_buffer(size_t bytes)
{
    struct buffer *buffer = NULL;
    assert_ok(buffer_create(device, bytes, "a test's array", &buffer));
    assert_ok(buffer_fill(buffer, 0xdeadbeef)); /* so that a place never written is seen */
    return buffer;
}

static uint32_t *read_back(const struct buffer *buffer)
{
    uint32_t *copy = malloc(buffer_bytes(buffer) + 4);
    assert_ok(buffer_read(buffer, 0, buffer_bytes(buffer), copy));
    return copy;
}

/* Sorts and checks every property; what is asked for beside the permutation is a choice. Keys of more than
 * 20 bits have too many cells to count here. */
static void check_sort(struct chunked_sort *sort, uint32_t key_bits, const uint32_t *keys, uint32_t count,
                       bool with_keys, bool with_offsets)
{
    const uint32_t cells = with_offsets && key_bits <= 20 ? largest_key(key_bits) + 1 : 0;
    const size_t bytes = count * sizeof(uint32_t);
    struct buffer *input = new_buffer(bytes), *sorted = new_buffer(bytes), *permutation = new_buffer(bytes);
    struct buffer *offsets = new_buffer((cells + 1) * sizeof(uint32_t));
    assert_ok(buffer_write(input, 0, bytes, keys));
    const struct radix_lists lists = {input, with_keys ? sorted : NULL, permutation, cells ? offsets : NULL,
                                      cells};
    assert_ok(chunked_sort_run(sort, count, &lists));

    uint32_t *kept = read_back(input), *got_keys = read_back(sorted), *got = read_back(permutation);
    uint32_t *got_offsets = read_back(offsets);
    if (count > 0)
        assert_memory_equal(kept, keys, bytes); /* the input is kept */
    check_permutation(keys, got, count);
    for (uint32_t j = 0; j < count; j++)
        if (got_keys[j] != (with_keys ? keys[got[j]] : 0xdeadbeef))
            fail_msg("sorted_keys[%u] = %u", j, got_keys[j]);
    if (cells)
        check_cell_offsets(keys, got_offsets, count, cells);
    uint32_t *const copies[] = {kept, got_keys, got, got_offsets};
    struct buffer *buffers[] = {input, sorted, permutation, offsets};
    for (size_t n = 0; n < 4; n++) {
        free(copies[n]);
        buffer_destroy(&buffers[n]);
    }
}

/* Every pattern, in both variants, with and without what may be left out. */
static void check_patterns(uint32_t key_bits, uint32_t passes, uint32_t chunks, uint32_t count)
{
    uint32_t *keys = malloc((count + 1) * sizeof *keys);
    for (int portable = 0; portable < 2; portable++) {
        const struct chunked_options options = {passes, chunks, portable};
        struct chunked_sort *sort = NULL;
        assert_ok(chunked_sort_create(device, key_bits, count, &options, &sort));
        for (enum pattern pattern = RANDOM_KEYS; pattern < PATTERNS; pattern++) {
            fill_keys(keys, count, key_bits, pattern);
            check_sort(sort, key_bits, keys, count, pattern % 2 == 0, pattern != ALTERNATING);
        }
        chunked_sort_destroy(&sort);
    }
    free(keys);
}

/* ---- whole sorts ---- */

TEST(sorts_every_size)
{
    const uint32_t sizes[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 1000, 1023, 1025, 7919};
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
        for (uint32_t passes = 1; passes <= 3; passes++)
            check_patterns(10, passes, passes == 3 ? 1 : 0, sizes[n]);
}

TEST(sorts_a_million_around)
{
    const uint32_t sizes[] = {(1u << 20) - 1, (1u << 20) + 1, 1000003}; /* the last is a prime */
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
        for (uint32_t passes = 1; passes <= 2; passes++)
            check_patterns(10, passes, 0, sizes[n]);
}

/* Lists too long for the caches are written past them. */
TEST(sorts_more_than_the_caches_hold)
{
    check_patterns(12, 0, 0, 5000011);
    check_patterns(18, 0, 3, 5000011); /* and in two passes */
}

TEST(sorts_keys_of_every_length)
{
    for (uint32_t b = 1; b <= 32; b++)
        check_patterns(b, 0, 3, 3000);
}

TEST(sorts_in_any_number_of_passes)
{
    const struct {
        uint32_t b, passes, chunks;
    } sets[] = {{10, 10, 2}, {16, 1, 2},  {17, 2, 5}, {20, 5, 7},
                {30, 6, 4},  {32, 32, 1}, {32, 2, 1}, {7, 9, 64}};
    for (size_t n = 0; n < sizeof sets / sizeof sets[0]; n++)
        check_patterns(sets[n].b, sets[n].passes, sets[n].chunks, 5003);
}

/* Between passes a word holds the index and what is left of the key if both fit, and else the index alone. */
TEST(sorts_where_words_just_fit_and_just_do_not)
{
    enum { COUNT = 4096 }; /* indices of 12 bits: 20 are left */
    for (uint32_t left = 19; left <= 21; left++)
        check_patterns(left + 8, 4, 2, COUNT); /* 27..29 bits, digits of 7 or 8 */
    check_patterns(32, 0, 2, COUNT);
    check_patterns(24, 2, 2, COUNT + 1);
}

/* One cell that holds half of all, in the midst of others: a hot cell. */
TEST(sorts_a_hot_cell)
{
    enum { COUNT = 100000 };
    uint32_t *keys = malloc(COUNT * sizeof *keys);
    for (uint32_t j = 0; j < COUNT; j++)
        keys[j] = scramble(j) % 2 ? 77 : scramble(3 * j) % 1024;
    struct chunked_sort *sort = NULL;
    assert_ok(chunked_sort_create(device, 10, COUNT, NULL, &sort));
    check_sort(sort, 10, keys, COUNT, true, true);
    chunked_sort_destroy(&sort);
    free(keys);
}

/* Stretches of few distinct keys beside stretches of many, so that blocks of both kinds meet in a chunk. */
TEST(sorts_mixed_stretches)
{
    enum { COUNT = 300000 };
    uint32_t *keys = malloc(COUNT * sizeof *keys);
    for (uint32_t many = 1; many <= 15; many += 7) { /* of 16 stretches */
        for (uint32_t j = 0; j < COUNT; j++)
            keys[j] = scramble(j) % (scramble(j / 1500) % 16 < many ? 1024 : 1 + j / 1500 % 30);
        for (int portable = 0; portable < 2; portable++) {
            const struct chunked_options options = {.chunks = 3, .portable = portable};
            struct chunked_sort *sort = NULL;
            assert_ok(chunked_sort_create(device, 10, COUNT, &options, &sort));
            check_sort(sort, 10, keys, COUNT, false, true);
            chunked_sort_destroy(&sort);
        }
    }
    free(keys);
}

TEST(sorts_fewer_than_its_capacity)
{
    enum { CAPACITY = 50000 };
    uint32_t *keys = malloc(CAPACITY * sizeof *keys);
    const uint32_t counts[] = {CAPACITY, 300, 7, 0, 20001};
    for (uint32_t passes = 1; passes <= 2; passes++) {
        const struct chunked_options options = {.passes = passes};
        struct chunked_sort *sort = NULL;
        assert_ok(chunked_sort_create(device, 10, CAPACITY, &options, &sort));
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
            fill_keys(keys, counts[n], 10, n % 2 ? RANDOM_KEYS : NEIGHBOURS);
            check_sort(sort, 10, keys, counts[n], true, true);
        }
        chunked_sort_destroy(&sort);
    }
    free(keys);
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
            const size_t offset_bytes = (cells[n] + 1) * sizeof(uint32_t);
            struct chunked_sort *sort = NULL;
            assert_ok(chunked_sort_create(device, BITS, COUNT, &options, &sort));
            for (uint32_t j = 0; j < COUNT; j++)
                keys[j] = scramble(j) % (cells[n] < 1024 ? cells[n] : 1024);
            struct buffer *input = new_buffer(sizeof keys), *permutation = new_buffer(sizeof keys);
            struct buffer *offsets = new_buffer(offset_bytes);
            assert_ok(buffer_write(input, 0, sizeof keys, keys));
            assert_ok(chunked_sort_run(
                sort, COUNT,
                &(struct radix_lists){
                    .keys = input, .permutation = permutation, .cell_offsets = offsets, .cells = cells[n]}));
            uint32_t *got = read_back(offsets);
            check_cell_offsets(keys, got, COUNT, cells[n]);
            free(got);
            buffer_destroy(&input);
            buffer_destroy(&permutation);
            buffer_destroy(&offsets);
            chunked_sort_destroy(&sort);
        }
}

TEST(takes_the_bytes_it_foretells)
{
    const uint32_t bits[] = {5, 10, 14, 15, 20, 32};
    for (size_t n = 0; n < sizeof bits / sizeof bits[0]; n++) {
        struct chunked_sort *sort = NULL;
        const size_t before = device_bytes_held(device);
        assert_ok(chunked_sort_create(device, bits[n], 12345, NULL, &sort));
        assert_int_equal(device_bytes_held(device) - before,
                         chunked_sort_bytes(device_info(device), bits[n], 12345, NULL));
        chunked_sort_destroy(&sort);
        assert_int_equal(device_bytes_held(device), before);
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
    assert_int_equal(chunked_sort_passes(sort), 1);
    struct buffer *input = new_buffer(400), *permutation = new_buffer(400);
    const struct radix_lists nowhere = {.keys = input}, whole = {.keys = input, .permutation = permutation};
    assert_int_equal(chunked_sort_run(sort, 100, &nowhere), STATUS_FAILED);
    assert_int_equal(chunked_sort_run(sort, 101, &whole), STATUS_FAILED);
    buffer_destroy(&input);
    buffer_destroy(&permutation);
    chunked_sort_destroy(&sort);
}

TEST_MAIN(open_device, close_device)
