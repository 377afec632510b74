/* Slab: the rows of the box that one rank owns, and the local grid on which its kernels work.
 *
 * Rows i (along x) are contiguous, and so are their keys ny*i + j. The local grid is periodic like the box;
 * its first `rows` rows are the rank's own, global rows first_row, first_row + 1, ...; the rows after them
 * stand for the rows beside: the `ghost` rows above the own ones, then one row for what is lost, then the
 * `ghost` rows below. So a particle that leaves is sorted, by the same kernels, into the cell of a ghost row,
 * which says exactly where it went; leaving particles are the end of the sorted list. A particle that goes
 * beyond the ghost rows lands in the lost row, never in a wrong cell. Its offset along x there is all of its
 * x, in cells from own row 0 on, negative below (kernels/shared/push.h), rounded to the state's precision: so
 * it is found again, however far it went.
 *
 * A slab with ghost 0 is `whole`: its local grid has all rows of the box, from first_row on around the ring,
 * no row is a lost one, and any displacement finds its cell. On one rank that is the box itself.
 */
#ifndef RADIXPIC_DOMAIN_SLAB_H
#define RADIXPIC_DOMAIN_SLAB_H

#include "domain/grid.h"

struct slab {
    struct grid box;   /* of all ranks */
    struct grid local; /* as the box, but nx is rows + 2 ghost + 1 where the slab is not whole */
    uint32_t first_row, rows;
    uint32_t ghost; /* rows on each side, at least SLAB_LEAST_GHOST; 0: whole */
};

/* Rows beside a slab that its own particles' shapes reach: one below, two above (tsc, cubic). Wider shapes
 * are for one rank: simulation_create_on(). */
enum {
    SLAB_NODES_BELOW = 1,
    SLAB_NODES_ABOVE = 2,
    SLAB_NODES_BESIDE = SLAB_NODES_BELOW + SLAB_NODES_ABOVE,
    SLAB_LEAST_GHOST = 2
};

/* The slab of `rows` rows from first_row on. Whole where ghost is 0, or where rows + 2 ghost + 1 rows would
 * be no fewer than the box has. */
struct slab slab_make(const struct grid *box, uint32_t first_row, uint32_t rows, uint32_t ghost);

struct slab slab_whole_box(const struct grid *box);
bool slab_is_whole(const struct slab *slab);

/* Cells of the rank's own rows: the first of the local grid's. */
uint32_t slab_own_cells(const struct slab *slab);

/* The row of the box that a row of the local grid stands for; not for the lost row. */
uint32_t slab_global_row(const struct slab *slab, uint32_t local_row);

/* The row of the local grid for what goes beyond the ghost rows, only where the slab is not whole; and
 * whether a row is that one. */
uint32_t slab_lost_row(const struct slab *slab);
bool slab_is_lost(const struct slab *slab, uint32_t local_row);

#endif
