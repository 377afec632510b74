/* Neighbour rows: the rows of nodes beside a rank's own, which its particles reach, and their owners.
 *
 * On small grids several ranks may lie within reach, or a rank beside itself, around the ring.
 */
#ifndef RADIXPIC_PARALLEL_NEIGHBOUR_ROWS_H
#define RADIXPIC_PARALLEL_NEIGHBOUR_ROWS_H

#include "domain/slab.h"
#include "parallel/partition.h"

struct neighbour_row {
    int reacher, owner; /* ranks */
    uint32_t number;    /* among the rows beside the reacher */
    uint32_t local_row; /* of the reacher's local grid */
    uint32_t row;       /* of the box */
};

/* Most rows beside a rank. */
enum { ROWS_BESIDE = SLAB_NODES_BELOW + SLAB_NODES_ABOVE };

/* The rows beside rank `rank`, for slabs with this number of ghost rows: those above its own, which follow
 * them in the local grid, then the last of the local grid, below; each row of the local grid once. Returns
 * how many. */
uint32_t neighbour_rows(const struct partition *partition, const struct grid *box, uint32_t ghost, int rank,
                        struct neighbour_row rows[ROWS_BESIDE]);

#endif
