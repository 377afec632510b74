/* Halo: rows beside a slab, against sums over all ranks written out. */
#include "support/mpi_support.h"

#include "parallel/halo.h"
#include "support/left_rows.h"

enum { COLUMNS = 5 };

/* Rows that are not the rank's own begin with what it left there, and end with the sum of their owners. */
static void check_in(enum precision precision, const struct partition *partition, uint32_t ghost)
{
    const struct left_rows left = left_rows_make(partition, COLUMNS, ghost, precision);
    const struct slab slab = left_rows_slab(&left, ranks.rank);
    const size_t own = slab_own_cells(&slab), nodes = grid_cells(&slab.local);
    struct halo *halo = NULL;
    struct device *owner = NULL;
    assert_ok(device_open_counting(&(struct device_info){0}, &owner));
    const struct rank_place place = {owner, &ranks, partition, &slab, ghost, precision};
    assert_ok(halo_create(&place, &halo));
    void *local[FIELD_COMPONENTS];
    for (int a = 0; a < FIELD_COMPONENTS; a++)
        local[a] = test_array(nodes, sizeof(double));
    for (size_t n = 0; n < nodes; n++)
        left_store(precision, local[0], n,
                   left_there(&left, ranks.rank, (uint32_t)(n / COLUMNS), n % COLUMNS));

    halo_add(halo, local[0]);
    for (size_t n = 0; n < own; n++)
        for (int a = FIELD_COMPONENTS - 1; a >= 0; a--)
            left_store(precision, local[a], n, (a + 1) * left_load(precision, local[0], n));
    halo_fill(halo, FIELD_COMPONENTS, local);
    for (uint32_t n = 0; n < ghost_reached_rows(&slab); n++)
        for (uint32_t j = 0; j < COLUMNS; j++)
            for (int a = 0; a < FIELD_COMPONENTS; a++) {
                const uint32_t row = ghost_reached_row(&slab, n);
                const double sum = left_expected(&left, slab_global_row(&slab, row), j), times = a + 1;
                const double expected =
                    precision == PRECISION_DOUBLE ? times * sum : (double)(float)(times * sum);
                assert_near(left_load(precision, local[a], row * COLUMNS + j), expected, 0);
            }
    device_close(&owner);
}

static void check(const struct partition *partition, uint32_t ghost)
{
    check_in(PRECISION_SINGLE, partition, ghost);
    check_in(PRECISION_DOUBLE, partition, ghost);
}

TEST(rows_are_added_and_filled)
{
    for (uint32_t rows = (uint32_t)ranks.size < 2 ? 2 : (uint32_t)ranks.size; rows < 24; rows += 3) {
        struct partition partition = test_partition(ranks.size, rows);
        check(&partition, 0);
        check(&partition, 2);
        check(&partition, 4);
    }
}

TEST(rows_may_be_shared_unevenly)
{
    struct partition partition = left_uneven_partition(ranks.size, 40);
    check(&partition, 0);
    check(&partition, 2);
    check(&partition, 7);
}

MPI_TEST_MAIN(NULL, NULL)
