/* Cell shuffle: against a host twin that sorts each cell's (key, place) by qsort, every way of doing it.
 * The keys are random numbers of counters that no other cell, place, species or step has, so every order is
 * as likely as any other. */
#include "support/sorted_particles.h"

#include "shared/random.h"
#include "sort/cell_shuffle.h"
#include "support/device_fixture.h"

/* What the draws follow from. */
enum { SPECIES = 3 };
static const uint64_t seed_of_draws = 0x123456789abcdef0, step = 70000000000;

/* Where the cells of a list start. */
struct cells {
    uint32_t cells, count, fullest;
    uint32_t *offsets; /* [cells + 1] */
};

/* ---- lists ---- */

static struct cells cells_of(uint32_t cells, const uint32_t *counts)
{
    struct cells list = {.cells = cells, .offsets = test_array(cells + (size_t)1, sizeof *list.offsets)};
    for (uint32_t c = 0; c < cells; c++) {
        list.offsets[c + 1] = list.offsets[c] + counts[c];
        if (counts[c] > list.fullest)
            list.fullest = counts[c];
    }
    list.count = list.offsets[cells];
    return list;
}

/* About `each` particles a cell, some cells empty, and `hot` in one of them. */
static struct cells hot_cell(uint32_t cells, uint32_t each, uint32_t hot)
{
    uint32_t *counts = test_array(cells, sizeof *counts);
    uint64_t seed = cells + each;
    for (uint32_t c = 0; c < cells; c++)
        counts[c] = (uint32_t)(test_random(&seed) * (2 * each + 1));
    counts[cells / 3] = hot;
    return cells_of(cells, counts);
}

/* ---- the twin ---- */

static int by_key_then_place(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* What the permutation must be; counts keys that two particles of a cell have in common. */
static uint32_t *twin(const struct cells *list, uint32_t *ties)
{
    uint32_t *permutation = test_array(list->count + (size_t)1, sizeof *permutation);
    uint64_t *words = test_array(list->fullest + (size_t)1, sizeof *words);
    *ties = 0;
    for (uint32_t c = 0; c < list->cells; c++) {
        const uint32_t start = list->offsets[c], count = list->offsets[c + 1] - start;
        for (uint32_t p = 0; p < count; p++) {
            const random_words counter = {{c, p / 4, (uint32_t)step, (uint32_t)(step >> 32) << 8 | SPECIES}};
            words[p] = (uint64_t)random_words_at(counter, seed_of_draws).word[p % 4] << 32 | p;
        }
        qsort(words, count, sizeof *words, by_key_then_place);
        for (uint32_t p = 0; p < count; p++) {
            permutation[start + p] = start + (uint32_t)words[p];
            *ties += p > 0 && words[p] >> 32 == words[p - 1] >> 32;
        }
    }
    return permutation;
}

/* ---- on the device ---- */

enum { GHOST = 64, UNTOUCHED = 0x5eed };

/* What lies behind the permutation must stay. */
static uint32_t *shuffled(const struct cells *list, const struct cell_shuffle_options *options)
{
    struct cell_shuffle *shuffle = NULL;
    const size_t length = list->count + (size_t)GHOST;
    uint32_t *met = test_array(length, sizeof *met);
    struct buffer *offsets = test_buffer((list->cells + 1) * sizeof *list->offsets, list->offsets);
    struct buffer *permutation = test_buffer(length * sizeof *met, NULL);
    assert_ok(buffer_fill(permutation, UNTOUCHED));
    assert_ok(cell_shuffle_create(device, list->cells, list->count, options, &shuffle));
    for (int again = test_is_small(); again < 2; again++) /* the second time with all that is left */
        assert_ok(cell_shuffle_run(shuffle, offsets, list->count, seed_of_draws, SPECIES, step, permutation));
    assert_ok(buffer_read(permutation, 0, length * sizeof *met, met));
    for (uint32_t n = 0; n < GHOST; n++)
        assert_int_equal(met[list->count + n], UNTOUCHED);
    return met;
}

/* Each particle of a cell once, at a place of that cell. */
static void check_inside_cells(const struct cells *list, const uint32_t *permutation)
{
    unsigned char *seen = test_array(list->count + (size_t)1, 1);
    for (uint32_t c = 0; c < list->cells; c++)
        for (uint32_t j = list->offsets[c]; j < list->offsets[c + 1]; j++) {
            const uint32_t source = permutation[j];
            if (source < list->offsets[c] || source >= list->offsets[c + 1] || seen[source]++)
                fail_msg("cell %u, place %u of the list: %u", c, j, source);
        }
}

/* False where local memory does not hold it. */
static bool fits(const struct cell_shuffle_options *way)
{
    const size_t local_memory = device_info(device)->local_memory;
    return way->long_buckets * sizeof(uint32_t) + way->cell_most * 16 + 4096 <= local_memory;
}

static void check_way(const struct cells *list, const struct cell_shuffle_options *way,
                      const uint32_t *expected)
{
    if (way && !fits(way))
        return;
    uint32_t *met = shuffled(list, way);
    check_inside_cells(list, met);
    for (uint32_t j = 0; j < list->count; j++)
        if (met[j] != expected[j])
            fail_msg("%u cells, short up to %u, %u buckets: place %u is %u, expected %u", list->cells,
                     way ? way->cell_most : 0, way ? way->long_buckets : 0, j, met[j], expected[j]);
}

/* Every way. */
static void check_ways(struct cells list)
{
    const struct cell_shuffle_options ways[] = {
        {.cell_items = 1, .cell_most = 4096},  /* as on a CPU, */
        {.cell_items = 16, .cell_most = 1000}, /* and as on a GPU */
        {.cell_items = 4, .cell_most = 16, .long_buckets = 256},
        {.cell_most = 4, .cell_items = 1, .long_buckets = 4096}, /* nearly all cells are long; */
        {.cell_most = 4, .cell_items = 64, .long_buckets = 7},   /* items without a bucket, */
        {.cell_most = 4, .cell_items = 1, .long_buckets = 1},    /* and one for all */
    };
    uint32_t ties = 0;
    uint32_t *expected = twin(&list, &ties);
    check_inside_cells(&list, expected);
    check_way(&list, NULL, expected);
    for (size_t n = 0; n < sizeof ways / sizeof ways[0]; n++)
        check_way(&list, &ways[n], expected);
}

/* ---- the right order, by every way ---- */

/* Lengths around powers of two, short beside long. */
TEST(lengths_of_all_kinds)
{
    static const uint32_t counts[] = {0,  1, 0,  2,  3, 4,   5,    0,   0,   6,   7,    8,    9,   15,
                                      16, 0, 17, 31, 0, 32,  33,   63,  1,   64,  65,   127,  128, 129,
                                      2,  3, 0,  0,  0, 255, 256,  257, 511, 512, 513,  1023, 0,   1024,
                                      1,  1, 1,  1,  1, 1,   1025, 2,   2,   2,   4095, 4096, 4097};
    const uint32_t all = sizeof counts / sizeof counts[0];
    check_ways(cells_of(test_is_small() ? 20 : all, counts));
    check_ways(cells_of(9, counts)); /* the last block has cells that are not there */
    check_ways(cells_of(1, counts + 8));
    check_ways(cells_of(1, counts + 1));
}

/* Ordinary ones; half of all particles in one; all in one, alone or behind others; and none. */
TEST(cells_of_all_kinds)
{
    const uint32_t many = test_is_small() ? 70 : 5000;
    uint32_t counts[50] = {0};
    check_ways(cells_of(50, counts));
    counts[49] = many;
    check_ways(cells_of(50, counts));
    check_ways(cells_of(1, &many));
    check_ways(hot_cell(test_is_small() ? 18 : 4099, test_is_small() ? 8 : 30, 30));
    check_ways(test_is_small() ? hot_cell(18, 4, 72) : hot_cell(4001, 5, 20005));
}

/* So many particles that keys occur twice, where the place must decide: of 300,003 keys 10.5 pairs are alike
 * on average. */
TEST(keys_that_are_alike)
{
    needs_speed();
    struct cells list = hot_cell(100, 50, 300003);
    const struct cell_shuffle_options few = {.cell_most = 4, .cell_items = 1, .long_buckets = 1};
    uint32_t ties = 0;
    uint32_t *expected = twin(&list, &ties);
    assert_true(ties > 0);
    check_way(&list, NULL, expected);
    check_way(&list, &few, expected);
}

/* ---- the rest ---- */

/* Device bytes that a cell shuffle takes, counted without a device. */
static void assert_bytes(uint32_t cells, uint32_t capacity, const struct cell_shuffle_options *options,
                         uint64_t expected)
{
    struct device *counting = NULL;
    struct cell_shuffle *shuffle = NULL;
    assert_ok(device_open_counting(device_info(device), &counting));
    assert_ok(cell_shuffle_create(counting, cells, capacity, options, &shuffle));
    assert_int_equal(device_bytes_held(counting), expected);
    device_close(&counting);
}

/* A word for each cell that can be long, and one more, for the most cells and particles too. */
TEST(memory_is_bounded)
{
    const struct cell_shuffle_options options = {.cell_items = 16, .cell_most = 64};
    assert_bytes(CONFIG_MAX_CELLS, CONFIG_MAX_PARTICLES, &options,
                 4 + CONFIG_MAX_PARTICLES / 65 * UINT64_C(4));
    assert_bytes(40, 1000, &options, 4 + 15 * 4);
    assert_bytes(1, 100, NULL, 4);
}

TEST(more_than_it_has_room_for)
{
    struct cell_shuffle *shuffle = NULL;
    struct buffer *none = test_buffer(0, NULL);
    assert_ok(cell_shuffle_create(device, 10, 100, NULL, &shuffle));
    assert_fails(cell_shuffle_run(shuffle, none, 101, 1, 0, 0, none), "101");
}

TEST_MAIN(open_device, close_device)
