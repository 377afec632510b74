/* Halo: rows beside a slab, against sums over all ranks written out. */
#include "support/mpi_support.h"

#include "parallel/halo.h"
#include "support/left_rows.h"

enum { COLUMNS = 5 };

static void check(const struct partition *partition, uint32_t ghost)
{
    const struct left_rows left = left_rows_make(partition, COLUMNS, ghost, PRECISION_DOUBLE);
    const struct slab slab = left_rows_slab(&left, ranks.rank);
    struct halo *halo = NULL;
    struct device *owner = NULL;
    assert_ok(device_open_counting(&(struct device_info){0}, &owner));
    assert_ok(halo_create(&ranks, owner, partition, &left.box, ghost, &halo));
    double *own = device_alloc(owner, (size_t)slab.rows * COLUMNS, sizeof *own);
    double *beside = device_alloc(owner, (size_t)GHOST_NODE_ROWS * COLUMNS, sizeof *beside);
    assert_true(own && beside);
    for (size_t n = 0; n < (size_t)slab.rows * COLUMNS; n++)
        own[n] = left_there(&left, ranks.rank, (uint32_t)(n / COLUMNS), n % COLUMNS);
    for (uint32_t n = 0; n < halo_rows(halo); n++)
        for (uint32_t j = 0; j < COLUMNS; j++)
            beside[n * COLUMNS + j] = left_there(&left, ranks.rank, halo_local_row(halo, n), j);

    halo_add(halo, own, beside);
    for (size_t n = 0; n < (size_t)slab.rows * COLUMNS; n++)
        assert_near(own[n], left_expected(&left, slab.first_row + (uint32_t)(n / COLUMNS), n % COLUMNS), 0);
    halo_fill(halo, own, beside);
    for (uint32_t n = 0; n < halo_rows(halo); n++)
        for (uint32_t j = 0; j < COLUMNS; j++)
            assert_near(beside[n * COLUMNS + j],
                        left_expected(&left, slab_global_row(&slab, halo_local_row(halo, n)), j), 0);
    device_close(&owner);
}

TEST(rows_are_added_and_filled)
{
    for (uint32_t rows = (uint32_t)ranks.size < 2 ? 2 : (uint32_t)ranks.size; rows < 24; rows += 3) {
        struct partition partition;
        assert_ok(partition_even(ranks.size, rows, &partition));
        check(&partition, 0);
        check(&partition, 2);
        check(&partition, 4);
        partition_destroy(&partition);
    }
}

TEST(rows_may_be_shared_unevenly)
{
    struct partition partition = left_uneven_partition(ranks.size, 40);
    check(&partition, 0);
    check(&partition, 2);
    check(&partition, 7);
    partition_destroy(&partition);
}

MPI_TEST_MAIN(NULL, NULL)
