/* Left rows: what the particles of every rank left on the rows of its local grid, and its sum on a row of the
 * box, written out. */
#ifndef RADIXPIC_TEST_LEFT_ROWS_H
#define RADIXPIC_TEST_LEFT_ROWS_H

#include "support/test_support.h"

#include "config/config.h"
#include "domain/slab.h"
#include "parallel/partition.h"

/* Slabs of all ranks. */
struct left_rows {
    const struct partition *partition;
    struct grid box;
    uint32_t ghost;
    enum precision precision; /* in which is added */
    int round;                /* another one, other values */
};

static inline struct left_rows left_rows_make(const struct partition *partition, uint32_t columns,
                                              uint32_t ghost, enum precision precision)
{
    const struct grid_config cells = {.cells = {partition->rows, columns}, .length = {1, 1}};
    return (struct left_rows){partition, grid_make(&cells), ghost, precision, 0};
}

static inline struct slab left_rows_slab(const struct left_rows *left, int rank)
{
    return slab_make(&left->box, left->partition->first[rank], partition_rows(left->partition, rank),
                     left->ghost);
}

/* What rank `rank` left on local row `row`, column j: no two alike, and of sizes so different that the order
 * of a sum shows in its last digits. */
static inline double left_there(const struct left_rows *left, int rank, uint32_t row, size_t j)
{
    const double size = 1 + 12.3 * ((7 * (uint32_t)rank + 3 * row) % 11);
    const double value = size * (1000.0 * (rank + 1) + 10.0 * row + (double)j + 1.0 / (3 + left->round));
    return left->precision == PRECISION_DOUBLE ? value : (double)(float)value;
}

static inline double left_sum(const struct left_rows *left, double a, double b)
{
    return left->precision == PRECISION_DOUBLE ? a + b : (double)((float)a + (float)b);
}

/* Whether a local row is one beside the own ones that particles reach, and stands for this row of the box. */
static inline bool left_beside(const struct slab *slab, uint32_t local, uint32_t row)
{
    const bool lost = !slab_is_whole(slab) && local == slab_lost_row(slab);
    const bool reached = local < slab->rows + SLAB_NODES_ABOVE || local + SLAB_NODES_BELOW >= slab->local.nx;
    return local >= slab->rows && !lost && reached && slab_global_row(slab, local) == row;
}

/* The sum on a row of the box: its owner's row, and then what others left, in the order of the ranks. */
static inline double left_expected(const struct left_rows *left, uint32_t row, size_t j)
{
    const int owner = partition_owner(left->partition, row);
    double sum = left_there(left, owner, row - left->partition->first[owner], j);
    for (int rank = 0; rank < left->partition->ranks; rank++) {
        const struct slab slab = left_rows_slab(left, rank);
        for (uint32_t local = slab.rows; local < slab.local.nx; local++)
            if (left_beside(&slab, local, row))
                sum = left_sum(left, sum, left_there(left, rank, local, j));
    }
    return sum;
}

static inline void left_store(enum precision precision, void *values, size_t n, double value)
{
    if (precision == PRECISION_DOUBLE)
        ((double *)values)[n] = value;
    else
        ((float *)values)[n] = (float)value;
}

static inline double left_load(enum precision precision, const void *values, size_t n)
{
    return precision == PRECISION_DOUBLE ? ((const double *)values)[n] : (double)((const float *)values)[n];
}

/* All rows but one each are with the last rank. */
static inline struct partition left_uneven_partition(int count, uint32_t rows)
{
    struct partition partition = test_partition(count, rows);
    for (int rank = 0; rank < count; rank++)
        partition.first[rank] = (uint32_t)rank;
    return partition;
}

#endif
