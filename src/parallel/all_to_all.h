/* All to all: from every rank to every other one a block, which is made of pieces of buffers on the sender's
 * device and becomes pieces of buffers on the receiver's.
 *
 * Where all ranks are of one machine they share the memory of the blocks, which the devices reach: nothing is
 * copied by the hosts or sent. On several machines each has its own, and the blocks travel by MPI.
 */
#ifndef RADIXPIC_PARALLEL_ALL_TO_ALL_H
#define RADIXPIC_PARALLEL_ALL_TO_ALL_H

#include "parallel/gather.h"

struct all_to_all;

/* Bytes of a buffer for or from another rank. */
struct piece {
    uint32_t part;
    int rank;
    struct buffer *buffer;
    size_t offset, bytes;
};

struct pieces {
    struct piece *list; /* of the caller, with room for all */
    size_t count;
};

/* Collective. most[from * ranks + to]: the bytes of the largest block, the same array on every rank; not
 * kept. The handle that owns it closes on each rank at any time. */
STATUS_CHECKED enum status all_to_all_create(const struct rank_place *place, enum gather_transport transport,
                                             const size_t *most, struct all_to_all **created);

/* Appends a piece to a list, or to its last piece, where it goes on with that. */
void pieces_add(struct pieces *pieces, struct piece piece);

/* Collective. Sends `out` and receives `in`, in `parts` parts, as many on every rank; lists are in the order
 * of the parts. What the pieces of a part hold for a rank, one behind the other, is what that rank's pieces
 * of the part take. While a part is received the next one is sent. Waits for the device and for the other
 * ranks, and then enqueues. */
STATUS_CHECKED enum status all_to_all_move(struct all_to_all *all, uint32_t parts, const struct pieces *out,
                                           const struct pieces *in);

#endif
