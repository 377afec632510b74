/* All to all: the memory of the blocks, and the two ways to fill it.
 *
 * In each part a rank reads its pieces from the device, waits for that, and meets all others, after which
 * it enqueues the writing of theirs. The memory has two halves, which moves use in turn, so that one meeting
 * a part is enough: gather.c explains why.
 */
#include "parallel/all_to_all.h"

#include "parallel/shared_memory.h"

#include <mpi.h>
#include <string.h>

struct all_to_all {
    struct communicator communicator;
    struct device *device; /* not owned */
    size_t *begins;        /* [from][to] of the blocks in a half */
    size_t half;           /* bytes from one half to the other; 0: there is one */
    bool is_shared;        /* ranks share the memory; else each has its own, and messages are sent */
    struct shared_memory shared;
    void *memory;
    uint32_t turn; /* the half of the next move */
    /* [2][ranks]: bytes of a block before the part, and up to its end */
    size_t *sent[2], *received[2];
    MPI_Request *requests;
};

enum { TAG = 0 /* below those of run_messages.c */ };

/* ---- creation ---- */

/* Gives a block to every pair of ranks that uses the memory. */
static void place_blocks(struct all_to_all *all, const size_t *most)
{
    const int ranks = all->communicator.size, me = all->communicator.rank;
    size_t end = 0;
    for (int from = 0; from < ranks; from++)
        for (int to = 0; to < ranks; to++) {
            all->begins[from * ranks + to] = end;
            if (from != to && (all->is_shared || from == me || to == me))
                end += (most[from * ranks + to] + 63) / 64 * 64;
        }
    all->half = buffer_view_stride(end > 0 ? end : 1);
}

static enum status create_memory(struct all_to_all *all, enum gather_transport transport, const size_t *most)
{
    const bool is_one_machine = all->communicator.local_size == all->communicator.size;
    if (transport == GATHER_SHARED || (transport == GATHER_AUTO && is_one_machine)) {
        all->is_shared = true;
        place_blocks(all, most);
        const enum status status =
            shared_memory_create(&all->communicator, all->device, 2 * all->half, &all->shared);
        all->memory = all->shared.memory;
        if (status == STATUS_OK || transport == GATHER_SHARED)
            return status;
    }
    all->is_shared = false;
    place_blocks(all, most);
    TRY(host_memory_create(all->device, all->half, &all->memory));
    all->half = 0;
    return STATUS_OK;
}

enum status all_to_all_create(const struct rank_place *place, enum gather_transport transport,
                              const size_t *most, struct all_to_all **created)
{
    const size_t ranks = (size_t)place->communicator->size;
    struct all_to_all *all = NULL;
    TRY(DEVICE_NEW(place->device, all));
    all->communicator = *place->communicator;
    all->device = place->device;
    TRY(DEVICE_NEW_ARRAY(place->device, all->begins, ranks * ranks));
    TRY(DEVICE_NEW_ARRAY(place->device, all->requests, 2 * ranks));
    for (int n = 0; n < 2; n++) {
        TRY(DEVICE_NEW_ARRAY(place->device, all->sent[n], ranks));
        TRY(DEVICE_NEW_ARRAY(place->device, all->received[n], ranks));
    }
    *created = all;
    return create_memory(all, transport, most);
}

/* ---- a move ---- */

void pieces_add(struct pieces *pieces, struct piece piece)
{
    struct piece *last = pieces->count > 0 ? &pieces->list[pieces->count - 1] : NULL;
    if (last && last->part == piece.part && last->rank == piece.rank && last->buffer == piece.buffer &&
        last->offset + last->bytes == piece.offset)
        last->bytes += piece.bytes;
    else if (piece.bytes > 0)
        pieces->list[pieces->count++] = piece;
}

static char *block(const struct all_to_all *all, int from, int to)
{
    return (char *)all->memory + all->turn * all->half + all->begins[from * all->communicator.size + to];
}

/* The part begins where the last one ended. */
static void begin_part(const struct all_to_all *all, size_t *const places[2])
{
    memcpy(places[0], places[1], (size_t)all->communicator.size * sizeof *places[0]);
}

static enum status read_part(struct all_to_all *all, uint32_t part, const struct pieces *out, size_t *next)
{
    begin_part(all, all->sent);
    for (; *next < out->count && out->list[*next].part == part; ++*next) {
        const struct piece *piece = &out->list[*next];
        char *const to = block(all, all->communicator.rank, piece->rank) + all->sent[1][piece->rank];
        TRY(host_memory_read(piece->buffer, piece->offset, piece->bytes, to, STAGE_HALO));
        all->sent[1][piece->rank] += piece->bytes;
    }
    return device_finish(all->device);
}

/* Waits until all ranks have read the part from their devices. */
static void meet(struct all_to_all *all)
{
    const int ranks = all->communicator.size, me = all->communicator.rank;
    if (all->is_shared) {
        shared_memory_barrier(&all->shared);
        return;
    }
    int pending = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const size_t sent = all->sent[1][rank] - all->sent[0][rank],
                     received = all->received[1][rank] - all->received[0][rank];
        if (received > 0)
            MPI_Irecv(block(all, rank, me) + all->received[0][rank], (int)received, MPI_BYTE, rank, TAG,
                      MPI_COMM_WORLD, &all->requests[pending++]);
        if (sent > 0)
            MPI_Isend(block(all, me, rank) + all->sent[0][rank], (int)sent, MPI_BYTE, rank, TAG,
                      MPI_COMM_WORLD, &all->requests[pending++]);
    }
    MPI_Waitall(pending, all->requests, MPI_STATUSES_IGNORE);
}

static enum status write_part(struct all_to_all *all, uint32_t part, const struct pieces *in, size_t first)
{
    size_t *const places = all->received[0];
    for (size_t n = first; n < in->count && in->list[n].part == part; n++) {
        const struct piece *piece = &in->list[n];
        const char *const from = block(all, piece->rank, all->communicator.rank) + places[piece->rank];
        TRY(host_memory_write(piece->buffer, piece->offset, piece->bytes, from, STAGE_HALO));
        places[piece->rank] += piece->bytes;
    }
    return STATUS_OK;
}

/* The writes of a part go to the side queue, where the reads of the next one pass them. */
static enum status move_part(struct all_to_all *all, uint32_t part, const struct pieces *out,
                             size_t *next_out, const struct pieces *in, size_t *next_in)
{
    const size_t first_in = *next_in;
    begin_part(all, all->received);
    for (; *next_in < in->count && in->list[*next_in].part == part; ++*next_in)
        all->received[1][in->list[*next_in].rank] += in->list[*next_in].bytes;
    TRY(read_part(all, part, out, next_out));
    const double start = timer_now(); /* not timed: the wait for what comes before */
    meet(all);
    TRY(device_use(all->device, QUEUE_SIDE));
    const enum status status = write_part(all, part, in, first_in);
    TRY(device_use(all->device, QUEUE_MAIN));
    device_add_time(all->device, STAGE_HALO, timer_now() - start, 0);
    return status;
}

enum status all_to_all_move(struct all_to_all *all, uint32_t parts, const struct pieces *out,
                            const struct pieces *in)
{
    const size_t ranks = (size_t)all->communicator.size;
    size_t next_out = 0, next_in = 0;
    if (ranks == 1)
        return STATUS_OK;
    memset(all->sent[1], 0, ranks * sizeof *all->sent[1]);
    memset(all->received[1], 0, ranks * sizeof *all->received[1]);
    for (uint32_t part = 0; part < parts; part++)
        TRY(move_part(all, part, out, &next_out, in, &next_in));
    all->turn = 1 - all->turn;
    return device_join(all->device);
}
