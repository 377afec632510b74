/* Ghost rows: which rows beside a slab are whose own (domain/slab.h).
 *
 * A rank's particles that leave it are in its ghost rows; each of those is an own row of some rank. Both
 * ranks find the same runs of rows from the partition alone, and give them the same numbers.
 */
#ifndef RADIXPIC_PARALLEL_GHOST_ROWS_H
#define RADIXPIC_PARALLEL_GHOST_ROWS_H

#include "domain/slab.h"
#include "parallel/partition.h"

/* Rows that follow one another in the local grid of the rank they are beside, and in the box, all of one
 * owner. */
struct row_run {
    int rank;           /* the other one */
    int number;         /* among all runs of the rank they are beside */
    uint32_t local_row; /* the first, in that rank's local grid */
    uint32_t row;       /* the same in the box */
    uint32_t rows;
};

struct ghost_rows {
    size_t count;
    struct row_run *runs;
    uint32_t rows; /* of all runs */
};

/* The rows beside rank `rank`, but for the lost one, in the order of its local grid; or with ghost 0 and
 * where a slab is whole, all rows that are not its own. `rows` is to be freed, also after a failure. */
STATUS_CHECKED enum status ghost_rows_leaving(const struct partition *partition, const struct grid *box,
                                              uint32_t ghost, int rank, struct ghost_rows *rows);

/* Own rows of rank `rank` that are beside others: in the order of those ranks, then of their local grids. */
STATUS_CHECKED enum status ghost_rows_coming(const struct partition *partition, const struct grid *box,
                                             uint32_t ghost, int rank, struct ghost_rows *rows);
void ghost_rows_free(struct ghost_rows *rows);

#endif
