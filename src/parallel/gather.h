/* Gather: what every rank deposited, on all ranks.
 *
 * Each rank has a block: its own rows of nodes and then those beside them (ghost_rows.h), as its
 * particles left them. The blocks of all ranks lie one behind the other in one memory; each rank's device
 * reads its charge density into the rank's block there, and takes all blocks back in one piece. There, on the
 * device, a row of the box is the sum of its owner's row and of the rows beside other ranks that stand for
 * it, in the order of the ranks: the same bits on every rank and in every run.
 *
 * Where all ranks are of one machine they share this memory, and meet once: nothing is copied or sent. On
 * several machines each has its own, and the blocks travel by MPI.
 */
#ifndef RADIXPIC_PARALLEL_GATHER_H
#define RADIXPIC_PARALLEL_GATHER_H

#include "domain/fields.h"
#include "parallel/ghost_rows.h"

struct gather;

enum gather_way {
    GATHER_AUTO, /* shared where that can be had */
    GATHER_SHARED,
    GATHER_MESSAGES
};

/* Collective. The handle that owns it closes on each rank at any time. */
STATUS_CHECKED enum status gather_create(const struct rank_place *place, enum gather_way way,
                                         struct gather **gather);

/* Which way was taken: not GATHER_AUTO. For tests. */
enum gather_way gather_way(const struct gather *gather);

/* Collective. box_rho[nx][ny], of all rows, <- the sums over all ranks of rho, each on its local grid. Waits
 * for the device and for the other ranks, and then enqueues. */
STATUS_CHECKED enum status gather_sum(struct gather *gather, const struct buffer *rho,
                                      struct buffer *box_rho);

/* Sets components of the local grid on the own rows and on those beside from those of the box: each with a
 * bit in `which`, component c being c box_stride or c own_stride reals behind the first one (enqueued). */
STATUS_CHECKED enum status gather_keep(struct gather *gather, unsigned which, const struct buffer *box,
                                       uint32_t box_stride, struct buffer *own, uint32_t own_stride);

#endif
