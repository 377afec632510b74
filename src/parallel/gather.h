/* Gather: what every rank deposited, on all ranks.
 *
 * Each rank has a block: its own rows of nodes and then those beside them (ghost_rows.h), as its
 * particles left them, one component of the densities after the other. The blocks of all ranks lie one behind
 * the other in one memory; each rank's device reads its densities into the rank's block there, and takes the
 * other blocks. There, on the device, a row of the box is the sum of its owner's row and of the rows beside
 * other ranks that stand for it, in the order of the ranks: the same bits on every rank and in every run.
 *
 * Where all ranks are of one machine they share this memory, and meet once: nothing is copied or sent. On
 * several machines each has its own, and the blocks travel by MPI.
 */
#ifndef RADIXPIC_PARALLEL_GATHER_H
#define RADIXPIC_PARALLEL_GATHER_H

#include "domain/fields.h"
#include "parallel/ghost_rows.h"

struct gather;

enum gather_transport {
    GATHER_AUTO, /* shared where that can be had */
    GATHER_SHARED,
    GATHER_MESSAGES
};

/* Collective. For densities of up to `components`. The handle that owns it closes on each rank at any time.
 */
STATUS_CHECKED enum status gather_create(const struct rank_place *place, uint32_t components,
                                         enum gather_transport transport, struct gather **gather);

/* Which way was taken: not GATHER_AUTO. For tests. */
enum gather_transport gather_transport(const struct gather *gather);

/* Collective. Components of densities of the box, of all rows, <- the sums over all ranks of those on their
 * local grids; `own_stride` and `box_stride` are reals from one component to the next. Waits for the device
 * and for the other ranks, and then enqueues. */
STATUS_CHECKED enum status gather_sum(struct gather *gather, uint32_t components, const struct buffer *own,
                                      uint32_t own_stride, struct buffer *box, uint32_t box_stride);

/* Sets components of the local grid on the own rows and on those beside from those of the box: each with a
 * bit in `which`, component c being c box_stride or c own_stride reals behind the first one (enqueued). */
STATUS_CHECKED enum status gather_keep(struct gather *gather, unsigned which, const struct buffer *box,
                                       uint32_t box_stride, struct buffer *own, uint32_t own_stride);

#endif
