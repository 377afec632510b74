/* Gather: the memory of the blocks, the two ways to fill it, and what the device does with them.
 *
 * Why one meeting is enough where the memory is shared. It has two halves, which are used in turn: call k
 * uses half k mod 2, and calls k and k + 2 the same. In call k a rank
 *   1. reads its block from the device into the half, and waits for that;
 *   2. meets all others;
 *   3. enqueues the writing of the other blocks of the half to the device.
 * No block is taken before it is written, since step 2 is between all steps 1 and all steps 3 of a
 * call. No block is written that another rank still takes: rank A writes into the half of call k again
 * in step 1 of call k + 2, so after step 2 of call k + 1, where it has met every other rank B; before B came
 * there it waited in step 1 of call k + 1 for the queue of its device, which is in order, and so for the
 * writing of its step 3 of call k. With one half A could be in step 1 of call k + 1 while B is in step 3 of
 * call k.
 *
 * Of private memory one half does: no other rank reads or writes it.
 */
#include "parallel/gather.h"

#include "parallel/shared_memory.h"

#include <mpi.h>

struct gather {
    struct communicator communicator;
    struct device *device; /* not owned */
    enum precision precision;
    struct slab slab;      /* of this rank */
    uint32_t components;   /* at most, of a call */
    uint32_t block_rows;   /* of all ranks' blocks together, for each component */
    int *counts, *begins;  /* [ranks] rows of each block, and rows of the blocks before it, for a component */
    struct buffer *blocks; /* real[components][block_rows][ny] */
    struct buffer *sources; /* uint4[]: rows that are added for each row of the box, the owner's first */
    struct buffer *source_begins; /* uint[box_rows + 1]: where the sources of each row begin */
    struct buffer *kept;          /* uint2[own_rows]: see kernels/gather.cl */

    struct shared_memory shared; /* the memory of the blocks where ranks share it */
    void *memory;                /* that memory, or the rank's own, between which messages are sent */
    size_t half;                 /* bytes from one half to the other; 0: there is one */
    uint32_t turn;               /* the half of the next call */

    struct kernel *sum, *keep;
};

static size_t row_bytes(const struct gather *gather)
{
    return gather->slab.box.ny * precision_bytes(gather->precision);
}

static size_t all_bytes(const struct gather *gather)
{
    return gather->components * gather->block_rows * row_bytes(gather);
}

/* ---- which rows ---- */

static enum status find_blocks(struct gather *gather, const struct slab *slabs)
{
    const size_t ranks = (size_t)gather->communicator.size;
    gather->slab = slabs[gather->communicator.rank];
    TRY(DEVICE_NEW_ARRAY(gather->device, gather->counts, ranks));
    TRY(DEVICE_NEW_ARRAY(gather->device, gather->begins, ranks));
    for (size_t rank = 0; rank < ranks; rank++) {
        gather->counts[rank] = (int)ghost_reached_rows(&slabs[rank]);
        gather->begins[rank] = (int)gather->block_rows;
        gather->block_rows += ghost_reached_rows(&slabs[rank]);
    }
    return buffer_create(gather->device, all_bytes(gather), "densities of all ranks", &gather->blocks);
}

/* A source of gather_sum(): row n of a rank's block. */
static void set_source(const struct gather *gather, const struct slab *slabs, int rank, uint32_t n,
                       uint32_t source[4])
{
    const bool is_own = rank == gather->communicator.rank;
    source[0] = (uint32_t)gather->begins[rank];
    source[1] = is_own ? 0 : (uint32_t)gather->counts[rank];
    source[2] = is_own ? ghost_reached_row(&slabs[rank], n) : n;
}

/* The sources of each row of the box: that of its owner, then those beside other ranks, in their order. */
static enum status send_sources(struct gather *gather, struct device *scratch,
                                const struct partition *partition, const struct slab *slabs)
{
    const uint32_t rows = gather->slab.box.nx;
    uint32_t *begins = NULL, (*sources)[4] = NULL, count = 0;
    TRY(DEVICE_NEW_ARRAY(scratch, begins, rows + (size_t)1));
    TRY(DEVICE_NEW_ARRAY(scratch, sources, gather->block_rows));
    for (uint32_t row = 0; row < rows; row++) {
        const int owner = partition_owner(partition, row);
        set_source(gather, slabs, owner, row - partition->first[owner], sources[count++]);
        for (int rank = 0; rank < partition->ranks; rank++)
            for (uint32_t n = slabs[rank].rows; n < ghost_reached_rows(&slabs[rank]); n++)
                if (slab_global_row(&slabs[rank], ghost_reached_row(&slabs[rank], n)) == row)
                    set_source(gather, slabs, rank, n, sources[count++]);
        begins[row + 1] = count;
    }
    TRY(buffer_create_with(gather->device, (rows + (size_t)1) * sizeof *begins,
                           "begins of the rows between ranks", begins, &gather->source_begins));
    return buffer_create_with(gather->device, count * sizeof *sources, "rows between ranks", sources,
                              &gather->sources);
}

/* Which row of the local grid, and of the box, each row of this rank's block is. */
static enum status send_kept(struct gather *gather, struct device *scratch)
{
    const uint32_t rows = ghost_reached_rows(&gather->slab);
    uint32_t(*kept)[2] = NULL;
    TRY(DEVICE_NEW_ARRAY(scratch, kept, rows));
    for (uint32_t n = 0; n < rows; n++) {
        kept[n][0] = ghost_reached_row(&gather->slab, n);
        kept[n][1] = slab_global_row(&gather->slab, kept[n][0]);
    }
    return buffer_create_with(gather->device, rows * sizeof *kept, "rows of the rank", kept, &gather->kept);
}

static enum status find_rows(struct gather *gather, struct device *scratch, const struct rank_place *place)
{
    struct slab *slabs = NULL;
    TRY(DEVICE_NEW_ARRAY(scratch, slabs, (size_t)place->partition->ranks));
    for (int rank = 0; rank < place->partition->ranks; rank++)
        slabs[rank] = ghost_slab(place, rank);
    TRY(find_blocks(gather, slabs));
    TRY(send_sources(gather, scratch, place->partition, slabs));
    return send_kept(gather, scratch);
}

/* ---- the memory of the blocks ---- */

static enum status create_memory(struct gather *gather, enum gather_transport transport)
{
    const struct communicator *ranks = &gather->communicator;
    if (transport == GATHER_SHARED || (transport == GATHER_AUTO && ranks->local_size == ranks->size)) {
        gather->half = buffer_view_stride(all_bytes(gather)); /* whole pages */
        const enum status status =
            shared_memory_create(ranks, gather->device, 2 * gather->half, &gather->shared);
        gather->memory = gather->shared.memory;
        if (status == STATUS_OK || transport == GATHER_SHARED)
            return status;
    }
    gather->half = 0;
    return host_memory_create(gather->device, all_bytes(gather), &gather->memory);
}

enum status gather_create(const struct rank_place *place, uint32_t components,
                          enum gather_transport transport, struct gather **gather)
{
    struct device *device = place->device;
    struct gather *created;
    struct device *scratch;
    struct program *program;
    TRY(DEVICE_NEW(device, created));
    *created = (struct gather){*place->communicator, device, place->precision, .components = components};
    TRY(device_branch(device, &scratch));
    TRY(find_rows(created, scratch, place));
    device_close(&scratch);
    TRY(create_memory(created, transport));
    TRY(program_build(device, "gather.cl", created->precision, &program, "%s", ""));
    TRY(kernel_create(program, "gather_sum", &created->sum));
    TRY(kernel_create(program, "gather_keep", &created->keep));
    *gather = created;
    return STATUS_OK;
}

enum gather_transport gather_transport(const struct gather *gather)
{
    return gather->shared.memory ? GATHER_SHARED : GATHER_MESSAGES;
}

/* ---- a step ---- */

/* Waits once: for all reads, and for all that the queue had before them. */
static enum status read_block(const struct gather *gather, uint32_t components, const struct buffer *own,
                              uint32_t stride, char *half)
{
    const struct slab *slab = &gather->slab;
    const size_t bytes = row_bytes(gather), upward = ghost_upward_rows(slab);
    const size_t below = ghost_reached_rows(slab) - upward, in_folder_begin = slab->local.nx - below;
    char *block = half + (size_t)gather->begins[gather->communicator.rank] * components * bytes;
    for (uint32_t c = 0; c < components; c++, block += (upward + below) * bytes) {
        const size_t from = (size_t)c * stride * precision_bytes(gather->precision);
        TRY(host_memory_read(own, from, upward * bytes, block, STAGE_HALO));
        TRY(host_memory_read(own, from + in_folder_begin * bytes, below * bytes, block + upward * bytes,
                             STAGE_HALO));
    }
    return device_finish_queue(gather->device);
}

/* Waits until all blocks are there. */
static void meet(struct gather *gather, uint32_t components, char *half)
{
    if (gather->shared.memory) {
        shared_memory_barrier(&gather->shared);
        return;
    }
    MPI_Datatype row;
    MPI_Type_contiguous((int)(components * row_bytes(gather)), MPI_BYTE, &row);
    MPI_Type_commit(&row);
    MPI_Allgatherv(MPI_IN_PLACE, 0, row, half, gather->counts, gather->begins, row, MPI_COMM_WORLD);
    MPI_Type_free(&row);
}

/* One group per row, as in poisson.c. */
static struct launch launch_rows(const struct gather *gather, uint32_t rows, uint64_t moved_rows)
{
    return (struct launch){rows, device_row_items(gather->device, gather->slab.box.ny), STAGE_HALO,
                           moved_rows * row_bytes(gather)};
}

/* The blocks before the own one, and those behind. */
static enum status write_others(struct gather *gather, uint32_t components, char *half)
{
    const int rank = gather->communicator.rank;
    const size_t bytes = components * row_bytes(gather), begin = (size_t)gather->begins[rank] * bytes;
    const size_t end = begin + (size_t)gather->counts[rank] * bytes, all = gather->block_rows * bytes;
    if (begin > 0)
        TRY(host_memory_write(gather->blocks, 0, begin, half, STAGE_HALO));
    return end < all ? host_memory_write(gather->blocks, end, all - end, half + end, STAGE_HALO) : STATUS_OK;
}

enum status gather_sum(struct gather *gather, uint32_t components, const struct buffer *own,
                       uint32_t own_stride, struct buffer *box, uint32_t box_stride)
{
    char *const half = (char *)gather->memory + gather->turn * gather->half;
    gather->turn = 1 - gather->turn;
    TRY(read_block(gather, components, own, own_stride, half));
    const double start = timer_now(); /* not timed: the wait for the deposit */
    meet(gather, components, half);
    TRY(write_others(gather, components, half));
    device_add_time(gather->device, STAGE_HALO, timer_now() - start, 0);
    const uint64_t moved = components * (gather->block_rows + (uint64_t)gather->slab.box.nx);
    return KERNEL_LAUNCH(gather->sum, launch_rows(gather, gather->slab.box.nx, moved), gather->blocks,
                         gather->source_begins, gather->sources, gather->slab.box.ny, components, own,
                         own_stride, box, box_stride);
}

enum status gather_keep(struct gather *gather, unsigned which, const struct buffer *box, uint32_t box_stride,
                        struct buffer *own, uint32_t own_stride)
{
    const uint32_t rows = ghost_reached_rows(&gather->slab);
    const struct launch launch = launch_rows(gather, rows, 2 * (uint64_t)__builtin_popcount(which) * rows);
    return KERNEL_LAUNCH(gather->keep, launch, gather->kept, gather->slab.box.ny, which, box, box_stride, own,
                         own_stride);
}
