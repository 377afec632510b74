/* Gather: the memory of the blocks, the two ways to fill it, and what the device does with them.
 *
 * Why one meeting is enough where the memory is shared. It has two halves, which are used in turn: call k
 * uses half k mod 2, and calls k and k + 2 the same. In call k a rank
 *   1. reads its block from the device into the half, and waits for that;
 *   2. meets all others (a barrier);
 *   3. enqueues the writing of all blocks of the half to the device.
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

#include "parallel/ghost_rows.h"
#include "parallel/shared_memory.h"

#include <mpi.h>
#include <stdatomic.h>

struct gather {
    struct communicator communicator;
    struct device *device; /* not owned */
    enum precision precision;
    uint32_t box_rows, ny;
    uint32_t block_rows;    /* of all ranks' blocks together */
    uint32_t own_begin;     /* row among those where this rank's block begins */
    uint32_t own_rows;      /* of its block */
    uint32_t upward_rows;   /* the first of these: from local row 0 on */
    uint32_t below;         /* local row of the one after them, if there is one */
    int *counts, *begins;   /* reals of the blocks of each rank; messages only */
    struct buffer *blocks;  /* real[block_rows][ny] */
    struct buffer *sources; /* uint[box_rows + ...]: block rows for the rows of the box, the owner's first */
    struct buffer *source_begins; /* uint[box_rows + 1] in it */
    struct buffer *kept;          /* uint2[own_rows]: see kernels/gather.cl */

    bool is_shared; /* the memory of the blocks; else it is private, and messages are sent */
    char *halves[2];
    uint32_t turn; /* of the halves */

    struct program *program;
    struct kernel *sum, *keep;
};

static size_t row_bytes(const struct gather *gather)
{
    return gather->ny * precision_bytes(gather->precision);
}

static size_t all_bytes(const struct gather *gather)
{
    return gather->block_rows * row_bytes(gather);
}

/* ---- which rows ---- */

/* Tables on the host, while they are made. */
struct tables {
    uint32_t *block_begins;  /* [ranks + 1]: first row of each rank's block */
    uint32_t *source_begins; /* [box rows + 1] */
    uint32_t *source_ends;   /* [box rows]: of those entered so far */
    uint32_t *sources;       /* [block rows] */
    uint32_t (*kept)[2];     /* [own rows] */
};

static enum status tables_allocate(struct device *scratch, const struct gather_setup *setup,
                                   struct tables *tables)
{
    const size_t ranks = (size_t)setup->partition->ranks, rows = setup->box->nx;
    TRY(DEVICE_NEW_ARRAY(scratch, tables->block_begins, ranks + 1));
    TRY(DEVICE_NEW_ARRAY(scratch, tables->source_begins, rows + 1));
    TRY(DEVICE_NEW_ARRAY(scratch, tables->source_ends, rows));
    TRY(DEVICE_NEW_ARRAY(scratch, tables->sources, rows + ranks * GHOST_NODE_ROWS));
    return DEVICE_NEW_ARRAY(scratch, tables->kept, rows + GHOST_NODE_ROWS);
}

/* Block rows for each row of the box: that of its owner, then those beside other ranks, in their order. */
static void find_sources(const struct gather_setup *setup, struct tables *tables)
{
    const struct partition *partition = setup->partition;
    struct ghost_row beside[GHOST_NODE_ROWS];
    for (uint32_t row = 0; row < setup->box->nx; row++)
        tables->source_begins[row + 1] = 1;
    for (int rank = 0; rank < partition->ranks; rank++) {
        const uint32_t count = ghost_rows_of_nodes(partition, setup->box, setup->ghost, rank, beside);
        for (uint32_t n = 0; n < count; n++)
            tables->source_begins[beside[n].row + 1]++;
        tables->block_begins[rank + 1] = tables->block_begins[rank] + partition_rows(partition, rank) + count;
    }
    for (uint32_t row = 0; row < setup->box->nx; row++) {
        tables->source_begins[row + 1] += tables->source_begins[row];
        tables->source_ends[row] = tables->source_begins[row];
    }
    for (int rank = 0; rank < partition->ranks; rank++)
        for (uint32_t n = 0; n < partition_rows(partition, rank); n++)
            tables->sources[tables->source_ends[partition->first[rank] + n]++] =
                tables->block_begins[rank] + n;
    for (int rank = 0; rank < partition->ranks; rank++) {
        const uint32_t count = ghost_rows_of_nodes(partition, setup->box, setup->ghost, rank, beside);
        for (uint32_t n = 0; n < count; n++)
            tables->sources[tables->source_ends[beside[n].row]++] =
                tables->block_begins[rank] + partition_rows(partition, rank) + n;
    }
}

/* The rows of this rank's block: which of the local grid, and of the box. */
static void find_own_rows(struct gather *gather, const struct gather_setup *setup, struct tables *tables)
{
    const int rank = gather->communicator.rank;
    const uint32_t rows = partition_rows(setup->partition, rank);
    struct ghost_row beside[GHOST_NODE_ROWS];
    const uint32_t count = ghost_rows_of_nodes(setup->partition, setup->box, setup->ghost, rank, beside);
    for (uint32_t n = 0; n < rows + count; n++) {
        tables->kept[n][0] = n < rows ? n : beside[n - rows].local_row;
        tables->kept[n][1] = n < rows ? setup->partition->first[rank] + n : beside[n - rows].row;
    }
    gather->block_rows = tables->block_begins[setup->partition->ranks];
    gather->own_begin = tables->block_begins[rank];
    gather->own_rows = rows + count;
    while (gather->upward_rows < rows + count && tables->kept[gather->upward_rows][0] == gather->upward_rows)
        gather->upward_rows++;
    gather->below = tables->kept[rows + count - 1][0];
}

static enum status send_table(struct gather *gather, const void *table, size_t bytes, const char *what,
                              struct buffer **buffer)
{
    TRY(buffer_create(gather->device, bytes, what, buffer));
    return buffer_write(*buffer, 0, bytes, table);
}

static enum status send_tables(struct gather *gather, const struct tables *tables)
{
    TRY(buffer_create(gather->device, all_bytes(gather), "charge density of all ranks", &gather->blocks));
    TRY(send_table(gather, tables->source_begins, (gather->box_rows + 1) * sizeof *tables->source_begins,
                   "begins of the rows between ranks", &gather->source_begins));
    TRY(send_table(gather, tables->sources, gather->block_rows * sizeof *tables->sources,
                   "rows between ranks", &gather->sources));
    return send_table(gather, tables->kept, gather->own_rows * sizeof *tables->kept, "rows of the rank",
                      &gather->kept);
}

static enum status keep_counts(struct gather *gather, size_t ranks, const struct tables *tables)
{
    TRY(DEVICE_NEW_ARRAY(gather->device, gather->counts, ranks));
    TRY(DEVICE_NEW_ARRAY(gather->device, gather->begins, ranks));
    for (size_t rank = 0; rank < ranks; rank++) {
        const uint32_t begin = tables->block_begins[rank], end = tables->block_begins[rank + 1];
        gather->counts[rank] = (int)((end - begin) * gather->ny);
        gather->begins[rank] = (int)(begin * gather->ny);
    }
    return STATUS_OK;
}

static enum status find_rows(struct gather *gather, const struct gather_setup *setup)
{
    struct device *scratch;
    struct tables tables;
    TRY(device_branch(gather->device, &scratch));
    TRY(tables_allocate(scratch, setup, &tables));
    find_sources(setup, &tables);
    find_own_rows(gather, setup, &tables);
    TRY(keep_counts(gather, (size_t)setup->partition->ranks, &tables));
    TRY(send_tables(gather, &tables));
    device_close(&scratch);
    return STATUS_OK;
}

/* ---- the memory of the blocks ---- */

/* Collective. No rank comes from here before all devices have the memory: to take it over a driver may write
 * there what it read there. */
static enum status share_memory(struct gather *gather)
{
    const size_t half = buffer_view_stride(all_bytes(gather)); /* whole pages */
    void *memory = NULL;
    struct host_memory *held; /* by the handle */
    TRY(shared_memory_create(&gather->communicator, gather->device, 2 * half, &memory));
    double failed = host_memory_adopt(gather->device, memory, 2 * half, &held) != STATUS_OK;
    communicator_max(&gather->communicator, 1, &failed);
    if (failed > 0)
        return status_fail(STATUS_FAILED, "a device cannot reach the memory that the ranks share");
    gather->is_shared = true;
    gather->halves[0] = memory;
    gather->halves[1] = gather->halves[0] + half;
    return STATUS_OK;
}

static enum status create_memory(struct gather *gather, enum gather_way way)
{
    const bool is_one_machine = gather->communicator.local_size == gather->communicator.size;
    if (way == GATHER_SHARED || (way == GATHER_AUTO && is_one_machine)) {
        const enum status status = share_memory(gather);
        if (status == STATUS_OK || way == GATHER_SHARED)
            return status;
    }
    void *memory = NULL;
    struct host_memory *held;
    TRY(host_memory_create(gather->device, all_bytes(gather), &held, &memory));
    gather->halves[0] = gather->halves[1] = memory;
    return STATUS_OK;
}

enum status gather_create(const struct communicator *communicator, struct device *device,
                          const struct gather_setup *setup, enum gather_way way, struct gather **gather)
{
    struct gather *created;
    TRY(DEVICE_NEW(device, created));
    created->communicator = *communicator;
    created->device = device;
    created->precision = setup->precision;
    created->box_rows = setup->box->nx;
    created->ny = setup->box->ny;
    TRY(find_rows(created, setup));
    TRY(create_memory(created, way));
    TRY(program_build(device, "gather.cl", created->precision, &created->program, "%s", ""));
    TRY(kernel_create(created->program, "gather_sum", &created->sum));
    TRY(kernel_create(created->program, "gather_keep", &created->keep));
    *gather = created;
    return STATUS_OK;
}

enum gather_way gather_way(const struct gather *gather)
{
    return gather->is_shared ? GATHER_SHARED : GATHER_MESSAGES;
}

/* ---- a step ---- */

/* Waits once: for both reads, and for all that the queue had before them. */
static enum status read_block(const struct gather *gather, const struct buffer *rho, char *half)
{
    const size_t bytes = row_bytes(gather);
    char *const block = half + gather->own_begin * bytes, *const last = block + gather->upward_rows * bytes;
    if (gather->upward_rows < gather->own_rows)
        TRY(host_memory_read(rho, gather->below * bytes, bytes, last));
    return buffer_read(rho, 0, gather->upward_rows * bytes, block);
}

/* Until all blocks are there. The fences order what is in the memory around what MPI does with its own. */
static void meet(const struct gather *gather, char *half)
{
    if (gather->is_shared) {
        atomic_thread_fence(memory_order_seq_cst);
        MPI_Barrier(MPI_COMM_WORLD);
        atomic_thread_fence(memory_order_seq_cst);
        return;
    }
    const MPI_Datatype real = gather->precision == PRECISION_DOUBLE ? MPI_DOUBLE : MPI_FLOAT;
    MPI_Allgatherv(MPI_IN_PLACE, 0, real, half, gather->counts, gather->begins, real, MPI_COMM_WORLD);
}

/* One group per row, as in poisson.c. */
static struct launch launch_rows(const struct gather *gather, uint32_t rows, uint64_t moved_rows)
{
    return (struct launch){rows, device_row_items(gather->device, gather->ny), STAGE_HALO,
                           moved_rows * row_bytes(gather)};
}

enum status gather_sum(struct gather *gather, const struct buffer *rho, struct buffer *box_rho)
{
    char *const half = gather->halves[gather->turn];
    gather->turn = 1 - gather->turn;
    TRY(device_finish(gather->device)); /* so that the deposit is not timed as waiting for rows */
    const double start = timer_now();
    TRY(read_block(gather, rho, half));
    meet(gather, half);
    TRY(host_memory_write(gather->blocks, 0, all_bytes(gather), half, STAGE_HALO));
    device_add_time(gather->device, STAGE_HALO, timer_now() - start, gather->own_rows * row_bytes(gather));
    const uint64_t moved = gather->block_rows + (uint64_t)gather->box_rows;
    return KERNEL_LAUNCH(gather->sum, launch_rows(gather, gather->box_rows, moved),
                         arg_buffer(gather->blocks), arg_buffer(gather->source_begins),
                         arg_buffer(gather->sources), arg_uint(gather->ny), arg_buffer(box_rho));
}

enum status gather_keep(struct gather *gather, struct buffer *const from[3], struct buffer *const to[3])
{
    const struct launch launch = launch_rows(gather, gather->own_rows, 6 * (uint64_t)gather->own_rows);
    return KERNEL_LAUNCH(gather->keep, launch, arg_buffer(gather->kept), arg_uint(gather->ny),
                         arg_buffer(from[0]), arg_buffer(from[1]), arg_buffer(from[2]), arg_buffer(to[0]),
                         arg_buffer(to[1]), arg_buffer(to[2]));
}
