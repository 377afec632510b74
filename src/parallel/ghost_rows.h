/* Ghost rows: whose own rows the rows beside a slab are (domain/slab.h).
 *
 * All ranks find the same from the partition alone, and give rows and runs of rows the same numbers. On small
 * grids the ghost rows of a rank may belong to several ranks, and to the same one above and below.
 */
#ifndef RADIXPIC_PARALLEL_GHOST_ROWS_H
#define RADIXPIC_PARALLEL_GHOST_ROWS_H

#include "device/device.h"
#include "domain/slab.h"
#include "parallel/partition.h"

/* ---- rows of nodes: those that the shapes of a rank's own particles reach ---- */

struct ghost_row {
    int reacher, owner; /* ranks */
    uint32_t number;    /* among the ghost rows of nodes of the reacher */
    uint32_t local_row; /* of the reacher's local grid */
    uint32_t row;       /* of the box */
};

/* The most of them beside a rank. */
enum { GHOST_NODE_ROWS = SLAB_NODES_BELOW + SLAB_NODES_ABOVE };

/* Those beside rank `rank`, for slabs with this number of ghost rows: those above its own, which follow them
 * in the local grid, then the last of the local grid, below; each row of the local grid once. Returns how
 * many. */
uint32_t ghost_rows_of_nodes(const struct partition *partition, const struct grid *box, uint32_t ghost,
                             int rank, struct ghost_row rows[GHOST_NODE_ROWS]);

/* ---- rows of cells: where particles may go in a step ---- */

/* Rows that follow one another in a local grid and in the box, all of one owner. */
struct ghost_run {
    int rank;           /* the other one */
    int number;         /* among all runs beside a rank */
    uint32_t local_row; /* the first, in that rank's local grid */
    uint32_t row;       /* the same in the box */
    uint32_t rows;
};

struct ghost_runs {
    size_t count;
    struct ghost_run *runs; /* of the device handle */
    uint32_t rows;          /* of all runs */
};

/* `out`: the rows beside rank `rank`, but for the lost one, in the order of its local grid; where its slab is
 * whole, all rows that are not its own. `in`: its own rows that are beside others, in the order of those
 * ranks, then of their local grids. */
STATUS_CHECKED enum status ghost_runs_find(struct device *device, const struct partition *partition,
                                           const struct grid *box, uint32_t ghost, int rank,
                                           struct ghost_runs *out, struct ghost_runs *in);

#endif
