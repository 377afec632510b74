/* Halo: rows beside a slab, against sums over all ranks written out here. */
#include "support/mpi_support.h"

#include "parallel/halo.h"

#include <stdlib.h>

enum { COLUMNS = 5 };

/* What rank `rank` left on local row `row`, column j: no two alike. */
static double left_there(int rank, uint32_t row, size_t j)
{
    return 1000.0 * (rank + 1) + 10.0 * row + (double)j;
}

/* The rows of a rank that its particles reach: the own ones and those beside. */
static bool reaches(const struct slab *slab, uint32_t row)
{
    const uint32_t nx = slab->local.nx;
    return row < slab->rows + SLAB_NODES_ABOVE || row + SLAB_NODES_BELOW >= nx;
}

static struct slab slab_of(const struct partition *partition, const struct grid *box, uint32_t guard,
                           int rank)
{
    return slab_make(box, partition->first[rank], partition_rows(partition, rank), guard);
}

/* The sum on a row of the box, over all local rows of all ranks that stand for it. */
static double expected_sum(const struct partition *partition, const struct grid *box, uint32_t guard,
                           uint32_t row, size_t j)
{
    double sum = 0;
    for (int rank = 0; rank < partition->ranks; rank++) {
        const struct slab slab = slab_of(partition, box, guard, rank);
        for (uint32_t local = 0; local < slab.local.nx; local++) {
            const bool lost = !slab_is_whole(&slab) && local == slab_lost_row(&slab);
            if (!lost && reaches(&slab, local) && slab_global_row(&slab, local) == row)
                sum += left_there(rank, local, j);
        }
    }
    return sum;
}

static void store(enum precision precision, void *values, size_t n, double value)
{
    if (precision == PRECISION_DOUBLE)
        ((double *)values)[n] = value;
    else
        ((float *)values)[n] = (float)value;
}

static double load(enum precision precision, const void *values, size_t n)
{
    return precision == PRECISION_DOUBLE ? ((const double *)values)[n] : (double)((const float *)values)[n];
}

static void check(const struct partition *partition, uint32_t guard, enum precision precision)
{
    const struct grid_config cells = {.cells = {partition->rows, COLUMNS}, .length = {1, 1}};
    const struct grid box = grid_make(&cells);
    const struct slab slab = slab_of(partition, &box, guard, ranks.rank);
    struct halo *halo = NULL;
    assert_ok(halo_create(&ranks, partition, &box, guard, precision, &halo));
    void *all = calloc((size_t)box.nx * COLUMNS, sizeof(double));
    void *beside = calloc((size_t)HALO_ROWS * COLUMNS, sizeof(double));
    assert_true(all && beside);
    const size_t real = precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float);
    void *own = (char *)all + (size_t)slab.first_row * COLUMNS * real;
    for (size_t n = 0; n < (size_t)slab.rows * COLUMNS; n++)
        store(precision, own, n, left_there(ranks.rank, (uint32_t)(n / COLUMNS), n % COLUMNS));
    for (uint32_t n = 0; n < halo_rows(halo); n++)
        for (uint32_t j = 0; j < COLUMNS; j++)
            store(precision, beside, n * COLUMNS + j, left_there(ranks.rank, halo_local_row(halo, n), j));

    halo_add(halo, own, beside);
    for (size_t n = 0; n < (size_t)slab.rows * COLUMNS; n++)
        assert_near(
            load(precision, own, n),
            expected_sum(partition, &box, guard, slab.first_row + (uint32_t)(n / COLUMNS), n % COLUMNS), 0);
    halo_fill(halo, own, beside);
    for (uint32_t n = 0; n < halo_rows(halo); n++)
        for (uint32_t j = 0; j < COLUMNS; j++)
            assert_near(
                load(precision, beside, n * COLUMNS + j),
                expected_sum(partition, &box, guard, slab_global_row(&slab, halo_local_row(halo, n)), j), 0);
    halo_gather(halo, all);
    for (size_t n = 0; n < (size_t)box.nx * COLUMNS; n++)
        assert_near(load(precision, all, n),
                    expected_sum(partition, &box, guard, (uint32_t)(n / COLUMNS), n % COLUMNS), 0);
    free(beside);
    free(all);
    halo_destroy(&halo);
}

static void rows_are_added_filled_and_gathered(void **state)
{
    (void)state;
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++)
        for (uint32_t rows = (uint32_t)ranks.size < 2 ? 2 : (uint32_t)ranks.size; rows < 24; rows += 3) {
            struct partition partition;
            assert_ok(partition_even(ranks.size, rows, &partition));
            check(&partition, 0, precision);
            check(&partition, 2, precision);
            check(&partition, 4, precision);
            partition_destroy(&partition);
        }
}

/* All rows but one each are with the last rank. */
static void rows_may_be_shared_unevenly(void **state)
{
    (void)state;
    uint32_t first[64] = {0};
    assert_true(ranks.size < 63);
    for (int rank = 0; rank < ranks.size; rank++)
        first[rank] = (uint32_t)rank;
    first[ranks.size] = 40;
    struct partition partition;
    assert_ok(partition_given(ranks.size, first, &partition));
    check(&partition, 0, PRECISION_DOUBLE);
    check(&partition, 2, PRECISION_DOUBLE);
    check(&partition, 7, PRECISION_SINGLE);
    partition_destroy(&partition);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_added_filled_and_gathered),
        cmocka_unit_test(rows_may_be_shared_unevenly),
    };
    return mpi_run_tests("halo", tests, NULL, NULL);
}
