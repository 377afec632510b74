/* Sort checks: lists of keys that a sort may find hard, and whether all that it gives for one of them is
 * right. */
#ifndef RADIXPIC_TEST_SORT_CHECKS_H
#define RADIXPIC_TEST_SORT_CHECKS_H

#include "support/device_fixture.h"

#include "experiments/sorting/sorting.h"

/* ---- keys ---- */

enum pattern {
    RANDOM_KEYS,
    PIC_ORDER, /* sorted, then moved by up to one cell along both axes: a chunk holds few distinct keys */
    NINE_WAYS, /* the same, moved both ways: more than the 8 that the tiled sort's shortest path takes */
    RARE_KEYS, /* a few of many keys in any stretch beside one that most have: many short runs */
    HOT_CELL,  /* one key that half of all have */
    STRETCHES, /* of few distinct keys beside those of many, more and more of these */
    CHANGING,  /* a part of each of the first three: chunks of one list take different paths */
    ALL_EQUAL,
    ALTERNATING,
    SORTED_KEYS,
    REVERSED,
    ALL_LARGEST,
    NEIGHBOURS, /* rising, by up to three back or on: few distinct keys in any stretch */
    PATTERNS
};

static inline uint32_t largest_key(uint32_t bits)
{
    return bits == 32 ? UINT32_MAX : (UINT32_C(1) << bits) - 1;
}

/* A counter-based generator (the finaliser of MurmurHash3): key j does not depend on the others. */
static inline uint32_t scramble(uint32_t j)
{
    j ^= j >> 16;
    j *= 0x85ebca6bu;
    j ^= j >> 13;
    j *= 0xc2b2ae35u;
    return j ^ (j >> 16);
}

static inline uint32_t key_of(enum pattern pattern, uint32_t j, uint32_t count, uint32_t bits)
{
    const uint32_t largest = largest_key(bits), random = scramble(j + 1);
    const uint32_t rising = (uint32_t)((uint64_t)j * largest / (count > 1 ? count - 1 : 1));
    const uint32_t row = UINT32_C(1) << bits / 2; /* cells along y */
    switch (pattern) {
    case RANDOM_KEYS:
        return random & largest;
    case PIC_ORDER:
        return (rising + random % 2 + random / 2 % 2 * row) & largest;
    case NINE_WAYS:
        return (rising + random % 3 - 1 + (random / 3 % 3 - 1) * row) & largest;
    case RARE_KEYS:
        return (random % 32 > 0 ? 1 : random / 32 % 16 * row) & largest;
    case HOT_CELL:
        return random % 2 ? largest / 13 : scramble(3 * j) & largest;
    case STRETCHES:
        return (scramble(j / 1500) % 16 <= (uint64_t)j * 15 / count ? random : random % (1 + j / 1500 % 30)) &
               largest;
    case ALL_EQUAL:
        return largest / 2;
    case ALTERNATING:
        return j % 2 ? 0 : largest;
    case SORTED_KEYS:
        return rising;
    case REVERSED:
        return largest - rising;
    case NEIGHBOURS:
        return rising < 3 || rising > largest - 3 ? rising : rising - 3 + scramble(j) % 7;
    case CHANGING:
        return key_of((enum pattern)((uint64_t)j * 3 / count), j, count, bits);
    case ALL_LARGEST:
    case PATTERNS:
        break;
    }
    return largest;
}

static inline void fill_keys(uint32_t *keys, uint32_t count, uint32_t bits, enum pattern pattern)
{
    for (uint32_t j = 0; j < count; j++)
        keys[j] = key_of(pattern, j, count, bits);
}

/* ---- what is given for them ---- */

/* Sorts a list and checks all that comes out, and that nothing else is written. `cells`: 0 asks for no
 * offsets. */
static inline void check_sort(struct sorter *sorter, bool gives_keys, uint32_t cells, const uint32_t *keys,
                              uint32_t count)
{
    enum { KEYS, SORTED, PERMUTATION, OFFSETS, LISTS };
    const size_t word = sizeof(uint32_t), lengths[LISTS] = {count, count, count, cells + (size_t)1};
    const uint32_t unset = 0xdeadbeef; /* so that a place never written is seen */
    struct device *branch = NULL;      /* a check takes as much as all arrays of many a test */
    struct buffer *lists[LISTS];
    uint32_t *found[LISTS], *offsets = NULL;
    struct sort_verdict verdict;
    assert_ok(device_branch(device, &branch));
    assert_ok(DEVICE_NEW_ARRAY(branch, offsets, cells + (size_t)1));
    for (int n = 0; n < LISTS; n++) {
        assert_ok(buffer_create(branch, lengths[n] * word, "a list", &lists[n]));
        assert_ok(buffer_fill(lists[n], unset));
        assert_ok(DEVICE_NEW_ARRAY(branch, found[n], lengths[n] + 1));
    }
    assert_ok(buffer_write(lists[KEYS], 0, count * word, keys));
    assert_ok(sorter_run(sorter, count,
                         &(struct radix_lists){lists[KEYS], gives_keys ? lists[SORTED] : NULL,
                                               lists[PERMUTATION], cells ? lists[OFFSETS] : NULL, cells}));
    for (int n = 0; n < LISTS; n++)
        assert_ok(buffer_read(lists[n], 0, lengths[n] * word, found[n]));
    if (count > 0)
        assert_memory_equal(found[KEYS], keys, count * word); /* kept */
    assert_ok(host_judge_sort(branch, keys, gives_keys ? found[SORTED] : NULL, found[PERMUTATION], count,
                              &verdict));
    if (!sort_is_right(&verdict))
        fail_msg("%u keys: sorted %d, stable %d, a permutation %d", count, verdict.sorted, verdict.stable,
                 verdict.permutation);
    for (uint32_t j = 0; j < count && !gives_keys; j++)
        assert_int_equal(found[SORTED][j], unset);
    host_cell_offsets(keys, cells > 0 ? count : 0, cells, offsets);
    if (cells > 0)
        assert_memory_equal(found[OFFSETS], offsets, lengths[OFFSETS] * word);
    device_close(&branch);
}

/* Lists of every pattern, or of each `apart`-th one with another `first`, every second one with keys. Keys of
 * more than 20 bits have too many cells to count here. */
static inline void check_patterns(struct sorter *sorter, uint32_t bits, uint32_t count, size_t first,
                                  size_t apart)
{
    uint32_t *keys = test_array(count + (size_t)1, sizeof *keys);
    for (size_t pattern = first % apart; pattern < PATTERNS; pattern += apart) {
        fill_keys(keys, count, bits, (enum pattern)pattern);
        check_sort(sorter, pattern % 2 == 0, bits <= 20 ? UINT32_C(1) << bits : 0, keys, count);
    }
}

#endif
