/* Partition: every row has one rank, each rank a row, and no other ends share the particles better. */
#include "support/test_support.h"

#include "parallel/partition.h"

static void check_sound(const struct partition *partition, int ranks, uint32_t rows)
{
    assert_int_equal(partition->ranks, ranks);
    assert_true(partition->rows == rows);
    assert_true(partition->first[0] == 0 && partition->first[ranks] == rows);
    for (int rank = 0; rank < ranks; rank++) {
        assert_true(partition->first[rank] < partition->first[rank + 1]);
        assert_true(partition_rows(partition, rank) == partition->first[rank + 1] - partition->first[rank]);
    }
}

/* ---- even and given ---- */

static void check_even(int ranks, uint32_t rows)
{
    struct partition partition;
    assert_ok(partition_even(ranks, rows, &partition));
    check_sound(&partition, ranks, rows);
    const uint32_t least = rows / (uint32_t)ranks;
    for (int rank = 0; rank < ranks; rank++)
        assert_in_range(partition_rows(&partition, rank), least, least + (rows % (uint32_t)ranks > 0));
    partition_destroy(&partition);
    assert_null(partition.first);
}

TEST(even_lengths_differ_by_one_at_most)
{
    for (uint32_t rows = 1; rows <= 40; rows++)
        for (int ranks = 1; ranks <= (int)rows; ranks++)
            check_even(ranks, rows);
    check_even(4095, 4294967295U);
}

TEST(more_ranks_than_rows_are_refused)
{
    struct partition partition;
    assert_refuses(partition_even(9, 8, &partition), "9 ranks", "8 rows");
    assert_null(partition.first);
    partition_destroy(&partition);
}

/* All ways of ending the ranges of a few rows, one for each set of rows that begin a range. */
static struct partition from_set(uint32_t rows, unsigned set)
{
    uint32_t first[32] = {0};
    int ranks = 1;
    for (uint32_t row = 1; row < rows; row++)
        if (set >> (row - 1) & 1U)
            first[ranks++] = row;
    first[ranks] = rows;
    struct partition partition;
    assert_ok(partition_even(ranks, rows, &partition));
    memcpy(partition.first, first, ((size_t)ranks + 1) * sizeof *first);
    return partition;
}

TEST(the_owner_of_a_row_has_it)
{
    const uint32_t rows = 9;
    for (unsigned set = 0; set < 1U << (rows - 1); set++) {
        struct partition partition = from_set(rows, set);
        check_sound(&partition, partition.ranks, rows);
        for (uint32_t row = 0; row < rows; row++) {
            const int owner = partition_owner(&partition, row);
            assert_in_range(owner, 0, partition.ranks - 1);
            assert_true(partition.first[owner] <= row && row < partition.first[owner + 1]);
        }
        partition_destroy(&partition);
    }
}

/* ---- balance ---- */

static uint64_t most_load(const struct partition *partition, const uint64_t *loads)
{
    uint64_t most = 0;
    for (int rank = 0; rank < partition->ranks; rank++) {
        uint64_t load = 0;
        for (uint32_t row = partition->first[rank]; row < partition->first[rank + 1]; row++)
            load += loads[row];
        if (load > most)
            most = load;
    }
    return most;
}

/* Over all partitions among that many ranks. */
static uint64_t least_most_load(int ranks, uint32_t rows, const uint64_t *loads)
{
    uint64_t least = UINT64_MAX;
    for (unsigned set = 0; set < 1U << (rows - 1); set++) {
        struct partition partition = from_set(rows, set);
        if (partition.ranks == ranks && most_load(&partition, loads) < least)
            least = most_load(&partition, loads);
        partition_destroy(&partition);
    }
    return least;
}

/* From even ends; a second time nothing is left to do. */
static void check_balance(int ranks, uint32_t rows, const uint64_t *loads)
{
    struct partition partition, before;
    assert_ok(partition_even(ranks, rows, &partition));
    assert_ok(partition_even(ranks, rows, &before));
    const uint64_t least = least_most_load(ranks, rows, loads);
    const bool moved = partition_balance(&partition, loads);
    check_sound(&partition, ranks, rows);
    assert_true(most_load(&partition, loads) == least);
    assert_true(moved == (most_load(&before, loads) > least));
    const size_t bytes = ((size_t)ranks + 1) * sizeof *partition.first;
    assert_true(moved == (memcmp(partition.first, before.first, bytes) != 0));
    assert_false(partition_balance(&partition, loads));
    partition_destroy(&before);
    partition_destroy(&partition);
}

TEST(balanced_ends_are_the_best_there_are)
{
    enum { MOST_ROWS = 9, LISTS = 20 };
    uint64_t loads[MOST_ROWS], seed = 88172645463325252U;
    for (uint32_t rows = 1; rows <= MOST_ROWS; rows++)
        for (int ranks = 1; ranks <= (int)rows; ranks++)
            for (uint64_t list = 0; list < LISTS; list++) {
                for (uint32_t row = 0; row < rows; row++) {
                    seed = seed * 6364136223846793005U + 1442695040888963407U;
                    /* lists of few particles and of many, some with empty rows */
                    loads[row] = (seed >> 40) % (2 + list * list * list);
                }
                check_balance(ranks, rows, loads);
            }
}

TEST(the_imbalance_is_the_most_over_the_mean)
{
    const uint64_t loads[5] = {4, 0, 1, 2, 5}, none[5] = {0};
    struct partition partition;
    assert_ok(partition_even(3, 5, &partition));
    memcpy(partition.first, (const uint32_t[]){0, 2, 4, 5}, 4 * sizeof(uint32_t)); /* 4, 3, 5 of 12 */
    assert_near(partition_imbalance(&partition, loads), 1.25, 0);
    assert_near(partition_imbalance(&partition, none), 1, 0);
    assert_false(partition_balance(&partition, none)); /* without particles no end moves */
    assert_memory_equal(partition.first, ((const uint32_t[]){0, 2, 4, 5}), 4 * sizeof(uint32_t));
    partition_destroy(&partition);
}

TEST_MAIN(NULL, NULL)
