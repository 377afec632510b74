/* Partition: which rows of the box belong to which rank: contiguous ranges in the order of the ranks, each of
 * at least one row. The same on every rank. */
#ifndef RADIXPIC_PARALLEL_PARTITION_H
#define RADIXPIC_PARALLEL_PARTITION_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct partition {
    int ranks;
    uint32_t rows;   /* of the box */
    uint32_t *first; /* [ranks + 1], owned: rank r has rows [first[r], first[r + 1]) */
};

/* Ranges of nearly equal length. STATUS_USAGE for more ranks than rows. The caller destroys it. */
STATUS_CHECKED enum status partition_even(int ranks, uint32_t rows, struct partition *partition);
void partition_destroy(struct partition *partition);

/* The rank that owns a row, and how many rows a rank has. */
int partition_owner(const struct partition *partition, uint32_t row);
uint32_t partition_rows(const struct partition *partition, int rank);

/* Moves the ends so that the most particles of a rank are as few as contiguous rows allow: loads[rows] counts
 * the particles of each row of the box. Ends that do so already stay. Returns whether an end moved. */
bool partition_balance(struct partition *partition, const uint64_t *loads);

/* Most particles of a rank over the mean of all; 1 where there are none. */
double partition_imbalance(const struct partition *partition, const uint64_t *loads);

#endif
