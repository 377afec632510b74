/* Tiled sort: bit for bit the one stable permutation, over sizes, key bits, passes and orders of the keys. */
#include "support/device_fixture.h"

#include "sort/tiled_sort.h"

#include <string.h>

/* ---- keys ---- */

enum pattern {
    RANDOM_KEYS,
    PIC_ORDER, /* sorted, then moved by up to one cell along both axes: a chunk holds few distinct keys */
    NINE_WAYS, /* the same, moved both ways: more than the 8 that the shortest path takes */
    ALL_EQUAL,
    ALTERNATING,
    SORTED_KEYS,
    REVERSED,
    ALL_LARGEST,
    CHANGING, /* a part of each of the first three: chunks of one list take different paths */
    PATTERNS
};

/* A counter-based generator (the finaliser of MurmurHash3): key j does not depend on the others. */
static uint32_t scramble(uint32_t j)
{
    j ^= j >> 16;
    j *= 0x85ebca6bu;
    j ^= j >> 13;
    j *= 0xc2b2ae35u;
    return j ^ (j >> 16);
}

static uint32_t key_of(enum pattern pattern, uint32_t j, uint32_t count, uint32_t bits)
{
    const uint32_t largest = (UINT32_C(1) << bits) - 1, random = scramble(j + 1);
    const uint32_t rising = (uint32_t)((uint64_t)j * largest / (count > 1 ? count - 1 : 1));
    const uint32_t row = UINT32_C(1) << bits / 2; /* cells along y */
    switch (pattern) {
    case RANDOM_KEYS:
        return random & largest;
    case PIC_ORDER:
        return (rising + random % 2 + random / 2 % 2 * row) & largest;
    case NINE_WAYS:
        return (rising + random % 3 - 1 + (random / 3 % 3 - 1) * row) & largest;
    case ALL_EQUAL:
        return largest / 2;
    case ALTERNATING:
        return j % 2 ? 0 : largest;
    case SORTED_KEYS:
        return rising;
    case REVERSED:
        return largest - rising;
    case CHANGING:
        return key_of((enum pattern)((uint64_t)j * 3 / count), j, count, bits);
    case ALL_LARGEST:
    case PATTERNS:
        break;
    }
    return largest;
}

/* As for long lists; elsewhere the lists here are short. */
static const struct tiled_options two_reorders = {.reorders = 2};

/* ---- one sort against a counting sort ---- */

struct expected {
    uint32_t *keys, *permutation, *sorted_keys, *offsets;
};

static struct expected expect(enum pattern pattern, uint32_t count, uint32_t bits, uint32_t cells)
{
    const size_t bins = (size_t)1 << bits;
    struct expected expected = {
        malloc((count + 1) * sizeof(uint32_t)), malloc((count + 1) * sizeof(uint32_t)),
        malloc((count + 1) * sizeof(uint32_t)), malloc((cells + 1) * sizeof(uint32_t))};
    uint32_t *next = calloc(bins + 1, sizeof *next);
    for (uint32_t j = 0; j < count; j++) {
        expected.keys[j] = key_of(pattern, j, count, bits);
        next[expected.keys[j] + 1]++;
    }
    for (size_t c = 0; c < bins; c++)
        next[c + 1] += next[c];
    memcpy(expected.offsets, next, (cells + 1) * sizeof *next);
    for (uint32_t j = 0; j < count; j++) {
        const uint32_t place = next[expected.keys[j]]++;
        expected.permutation[place] = j;
        expected.sorted_keys[place] = expected.keys[j];
    }
    free(next);
    return expected;
}

static void expected_free(struct expected *expected)
{
    free(expected->keys);
    free(expected->permutation);
    free(expected->sorted_keys);
    free(expected->offsets);
}

static void check_words(const struct buffer *buffer, const uint32_t *expected, size_t count, const char *what)
{
    uint32_t *found = malloc((count + 1) * sizeof *found);
    assert_ok(buffer_read(buffer, 0, count * sizeof *found, found));
    for (size_t n = 0; n < count; n++)
        if (found[n] != expected[n])
            fail_msg("%s[%zu] = %u, expected %u (of %zu)", what, n, found[n], expected[n], count);
    free(found);
}

/* Sorts a list and checks all that comes out, and that the keys are kept. */
static void check_sort(struct tiled_sort *sort, enum pattern pattern, uint32_t count, uint32_t bits,
                       uint32_t cells)
{
    const size_t bytes = count * sizeof(uint32_t);
    struct expected expected = expect(pattern, count, bits, cells);
    struct buffer *keys = NULL, *sorted = NULL, *permutation = NULL, *offsets = NULL;
    assert_ok(buffer_create(device, bytes, "keys", &keys));
    assert_ok(buffer_create(device, bytes, "sorted keys", &sorted));
    assert_ok(buffer_create(device, bytes, "permutation", &permutation));
    assert_ok(buffer_create(device, (cells + 1) * sizeof(uint32_t), "offsets", &offsets));
    assert_ok(buffer_write(keys, 0, bytes, expected.keys));
    assert_ok(buffer_fill(sorted, 0xdeadbeef)); /* so that a place never written is seen */
    assert_ok(buffer_fill(permutation, 0xdeadbeef));
    assert_ok(buffer_fill(offsets, 0xdeadbeef));

    assert_ok(tiled_sort_run(sort, count, &(struct radix_lists){keys, sorted, permutation, offsets, cells}));
    check_words(permutation, expected.permutation, count, "permutation");
    check_words(sorted, expected.sorted_keys, count, "sorted key");
    check_words(offsets, expected.offsets, cells + 1, "cell offset");
    check_words(keys, expected.keys, count, "key");

    buffer_destroy(&keys);
    buffer_destroy(&sorted);
    buffer_destroy(&permutation);
    buffer_destroy(&offsets);
    expected_free(&expected);
}

static void check_patterns(uint32_t bits, uint32_t passes, uint32_t count, enum pattern last)
{
    struct tiled_sort *sort = NULL;
    assert_ok(tiled_sort_create(device, bits, passes, count, &two_reorders, &sort));
    for (enum pattern pattern = RANDOM_KEYS; pattern <= last; pattern++)
        check_sort(sort, pattern, count, bits, UINT32_C(1) << bits);
    tiled_sort_destroy(&sort);
}

/* ---- the tests ---- */

TEST(sorts_every_size)
{
    enum { TILE = 4096 }; /* of a device with room for groups of 128 items */
    const uint32_t sizes[] = {0, 1, 2, 63, 64, 65, 1000, TILE - 1, TILE, TILE + 1, TILE + 7919};
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
        for (uint32_t passes = 1; passes <= 2; passes++)
            check_patterns(10, passes, sizes[n], n < 7 ? ALL_LARGEST : NINE_WAYS);
    check_patterns(10, 1, TILE + 7919, ALL_LARGEST);
}

TEST(sorts_a_million_around)
{
    struct tiled_sort *sort = NULL;
    assert_ok(tiled_sort_create(device, 10, 1, (1u << 20) + 1, NULL, &sort));
    check_sort(sort, PIC_ORDER, (1u << 20) - 1, 10, 1024);
    check_sort(sort, NINE_WAYS, (1u << 20) + 1, 10, 1024);
    check_sort(sort, CHANGING, 1000003, 10, 1024); /* a prime */
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
            check_sort(sort, pattern, count, bits, UINT32_C(1) << bits);
        check_sort(sort, CHANGING, count, bits, UINT32_C(1) << bits);
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
        check_sort(sort, pattern, 30011, bits, UINT32_C(1) << bits);
    tiled_sort_destroy(&sort);
}

TEST(sorts_fewer_than_its_capacity_again_and_again)
{
    struct tiled_sort *sort = NULL;
    assert_ok(tiled_sort_create(device, 10, 1, 30000, NULL, &sort));
    const uint32_t sizes[] = {30000, 5, 0, 17777, 4096};
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
        check_sort(sort, PIC_ORDER, sizes[n], 10, 1024);
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
            check_sort(sort, pattern, COUNT, 10, 1024);
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
        struct expected expected = expect(SORTED_KEYS, COUNT, 9, CELLS > 512 ? 512 : CELLS);
        for (uint32_t c = 0; c < COUNT; c++) /* keys 0..511 of 700 cells */
            assert_true(expected.keys[c] < 512);
        assert_ok(tiled_sort_create(device, 10, passes, COUNT, NULL, &sort));
        assert_ok(buffer_create(device, COUNT * sizeof(uint32_t), "keys", &keys));
        assert_ok(buffer_create(device, COUNT * sizeof(uint32_t), "permutation", &permutation));
        assert_ok(buffer_create(device, (CELLS + 1) * sizeof(uint32_t), "offsets", &offsets));
        assert_ok(buffer_write(keys, 0, COUNT * sizeof(uint32_t), expected.keys));
        assert_ok(
            tiled_sort_run(sort, COUNT, &(struct radix_lists){.keys = keys, .permutation = permutation}));
        check_words(permutation, expected.permutation, COUNT, "permutation");
        assert_ok(buffer_fill(permutation, 0xdeadbeef));
        assert_ok(tiled_sort_run(
            sort, COUNT,
            &(struct radix_lists){
                .keys = keys, .permutation = permutation, .cell_offsets = offsets, .cells = CELLS}));
        uint32_t found[CELLS + 1];
        assert_ok(buffer_read(offsets, 0, sizeof found, found));
        for (uint32_t c = 0; c <= CELLS; c++)
            assert_int_equal(found[c], c <= 512 ? expected.offsets[c] : COUNT);
        assert_int_equal(tiled_sort_run(sort, COUNT, &(struct radix_lists){.keys = keys}), STATUS_FAILED);
        assert_int_equal(
            tiled_sort_run(sort, COUNT + 1, &(struct radix_lists){.keys = keys, .permutation = permutation}),
            STATUS_FAILED);
        assert_int_equal(
            tiled_sort_run(sort, COUNT, &(struct radix_lists){keys, NULL, permutation, offsets, 1025}),
            STATUS_FAILED);
        buffer_destroy(&keys);
        buffer_destroy(&permutation);
        buffer_destroy(&offsets);
        tiled_sort_destroy(&sort);
        expected_free(&expected);
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
