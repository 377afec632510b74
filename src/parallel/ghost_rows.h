/* Ghost rows: which ranks own the rows beside a slab (domain/slab.h).
 *
 * All ranks find the same from the partition alone, and give rows and runs of rows the same numbers. On small
 * grids the ghost rows of a rank may belong to several ranks, and to the same one above and below.
 */
#ifndef RADIXPIC_PARALLEL_GHOST_ROWS_H
#define RADIXPIC_PARALLEL_GHOST_ROWS_H

#include "device/device.h"
#include "domain/slab.h"
#include "parallel/communicator.h"
#include "parallel/partition.h"

/* Where a rank's parts between ranks work. Nothing is owned, and no part keeps what it points at. Where one
 * rank fails to create a part, the others wait there until its caller's communicator_meet() ends them. */
struct rank_place {
    struct device *device;
    const struct communicator *communicator;
    const struct partition *partition;
    const struct slab *slab; /* the rank's own */
    uint32_t ghost;          /* rows that the slabs of all ranks were to have; one may be whole */
    enum precision precision;
};

/* The slab of rank `rank`. */
struct slab ghost_slab(const struct rank_place *place, int rank);

/* ---- rows of nodes: those that the shapes of a slab's own particles reach ---- */

/* The first so many rows of the local grid, from the own ones up; how many there are with those below, each
 * row of the local grid counted once; and which row of the local grid is number n of them: the rows below are
 * the last. */
uint32_t ghost_upward_rows(const struct slab *slab);
uint32_t ghost_reached_rows(const struct slab *slab);
uint32_t ghost_reached_row(const struct slab *slab, uint32_t n);

/* ---- rows of cells: where particles may go in a step ---- */

/* Rows that follow one another in a local grid and in the box, all of one owner. */
struct ghost_run {
    int rank;       /* the other rank */
    int number;     /* among all runs beside a rank */
    uint32_t row;   /* the first row, in the box */
    uint32_t place; /* the first row among those beside the own ones; of a run that comes, among all rows that
                       come */
    uint32_t sent;  /* of a run that comes, the first row among those beside the other rank's own */
    uint32_t rows;
};

struct ghost_runs {
    size_t count;
    struct ghost_run *runs; /* of the device handle */
    uint32_t rows;          /* of all runs */
};

/* `out`: the rows beside the rank, but for the lost one, in the order of its local grid; where its slab is
 * whole, all rows that are not its own. `in`: its own rows that are beside others, in the order of those
 * ranks, then of their local grids. */
STATUS_CHECKED enum status ghost_runs_find(const struct rank_place *place, struct ghost_runs *out,
                                           struct ghost_runs *in);

#endif
