/* Crossing: the rows between ranks, their messages, and the way to and from the device. */
#include "parallel/crossing.h"

#include "parallel/ghost_rows.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum state_part { STATE_OFFSETS, STATE_VELOCITIES, STATE_IDS, STATE_PARTS };

/* Particles on the host, in memory that the device reaches, and with `buffers` on the device. */
struct staging {
    size_t room; /* particles */
    struct host_memory *memory[STATE_PARTS];
    char *elements[STATE_PARTS];
    struct buffer *buffers[STATE_PARTS];
};

struct crossing {
    struct communicator communicator;
    struct device *device;             /* not owned */
    const struct partition *partition; /* not owned */
    struct migration *migration;       /* not owned */
    struct slab slab;
    enum precision precision;
    size_t bytes[STATE_PARTS];         /* of an element */
    MPI_Datatype element[STATE_PARTS]; /* the same */
    struct ghost_rows out, in;
    MPI_Request *requests; /* owned: for all runs, STATE_PARTS each */

    /* Of own rows that somebody can come to. */
    uint32_t reached;         /* how many */
    uint32_t *reached_number; /* owned: [slab.rows] their numbers, or ARRIVALS_NONE */
    struct buffer *rows;      /* uint[local nx]: the same, on the device */
    struct buffer *own_rows;  /* uint[in.rows]: where each row that comes belongs */

    /* Of the species on its way. */
    uint32_t *incoming; /* owned: [in.rows][ny] particles */
    struct buffer *announced;
    struct host_memory *announced_memory;
    uint32_t *announced_host; /* the same: counts[reached][ny], begins[in.rows][ny], behind[in.rows][ny] */
    const uint32_t *leavers;  /* not owned; NULL: nobody leaves */
    uint64_t leaving, lost, arriving;
    bool has_room;

    struct staging leaving_states, arriving_states;
    struct program *program;
    struct kernel *insert, *insert_ids, *cut;
    uint64_t left, moved_bytes;
};

enum { FIRST_TAG = 1024 /* below: other exchanges' */, ITEMS = 64 };

/* ---- rows ---- */

static enum status find_rows(struct crossing *crossing, uint32_t ghost)
{
    const struct grid *box = &crossing->slab.box;
    const int me = crossing->communicator.rank;
    TRY(ghost_rows_leaving(crossing->partition, box, ghost, me, &crossing->out));
    TRY(ghost_rows_coming(crossing->partition, box, ghost, me, &crossing->in));
    crossing->requests =
        calloc((crossing->out.count + crossing->in.count) * STATE_PARTS + 1, sizeof *crossing->requests);
    return crossing->requests ? STATUS_OK
                              : status_fail(STATUS_FAILED, "no memory for the messages between ranks");
}

/* Numbers of own rows that are reached, and where each row that comes belongs; on the device too. */
static enum status upload_rows(struct crossing *crossing, uint32_t *rows, uint32_t *own_rows)
{
    const struct slab *slab = &crossing->slab;
    uint32_t n = 0;
    for (uint32_t row = 0; row < slab->local.nx; row++)
        rows[row] = ARRIVALS_NONE;
    for (size_t r = 0; r < crossing->in.count; r++)
        for (uint32_t k = 0; k < crossing->in.runs[r].rows; k++) {
            own_rows[n] = crossing->in.runs[r].row + k - slab->first_row;
            rows[own_rows[n++]] = 0;
        }
    for (uint32_t row = 0; row < slab->rows; row++) {
        if (rows[row] != ARRIVALS_NONE)
            rows[row] = crossing->reached++;
        crossing->reached_number[row] = rows[row];
    }
    TRY(buffer_write(crossing->rows, 0, slab->local.nx * sizeof *rows, rows));
    return buffer_write(crossing->own_rows, 0, n * sizeof *own_rows, own_rows);
}

static enum status create_rows(struct crossing *crossing)
{
    const size_t word = sizeof(uint32_t), local = crossing->slab.local.nx, in = crossing->in.rows;
    const size_t ny = crossing->slab.box.ny;
    uint32_t *rows = malloc((local + in) * word);
    crossing->reached_number = malloc(crossing->slab.rows * word);
    crossing->incoming = calloc(in * ny + 1, word);
    enum status status = STATUS_OK;
    if (!rows || !crossing->reached_number || !crossing->incoming)
        status = status_fail(STATUS_FAILED, "no memory for the rows between ranks");
    else {
        TRY_CLEANUP(
            buffer_create(crossing->device, local * word, "the rows that are reached", &crossing->rows));
        TRY_CLEANUP(buffer_create(crossing->device, in * word, "the rows that come", &crossing->own_rows));
        TRY_CLEANUP(upload_rows(crossing, rows, rows + local));
        const size_t announced = (crossing->reached + 2 * in) * ny * word;
        void *memory = NULL;
        TRY_CLEANUP(buffer_create(crossing->device, announced, "the numbers of those who come",
                                  &crossing->announced));
        TRY_CLEANUP(host_memory_create(crossing->device, announced, &crossing->announced_memory, &memory));
        crossing->announced_host = memory;
    }
cleanup:
    free(rows);
    return status;
}

static int tag_of(const struct row_run *run, enum state_part part)
{
    return FIRST_TAG + run->number * STATE_PARTS + (int)part;
}

/* ---- birth and death ---- */

static enum status create_kernels(struct crossing *crossing)
{
    TRY(program_build(crossing->device, "crossing.cl", crossing->precision, &crossing->program, "%s", ""));
    TRY(kernel_create(crossing->program, "crossing_insert", &crossing->insert));
    TRY(kernel_create(crossing->program, "crossing_insert_ids", &crossing->insert_ids));
    return kernel_create(crossing->program, "crossing_cut", &crossing->cut);
}

enum status crossing_create(const struct communicator *communicator, struct device *device,
                            const struct partition *partition, const struct slab *slab, uint32_t ghost,
                            enum precision precision, struct migration *migration, struct crossing **crossing)
{
    *crossing = calloc(1, sizeof **crossing);
    if (!*crossing)
        return status_fail(STATUS_FAILED, "no memory for the rows between ranks");
    struct crossing *created = *crossing;
    const size_t pair = 2 * precision_bytes(precision);
    *created = (struct crossing){.communicator = *communicator,
                                 .device = device,
                                 .partition = partition,
                                 .migration = migration,
                                 .slab = *slab,
                                 .precision = precision,
                                 .bytes = {pair, pair, sizeof(uint64_t)}};
    for (int part = 0; part < STATE_PARTS; part++) {
        MPI_Type_contiguous((int)created->bytes[part], MPI_BYTE, &created->element[part]);
        MPI_Type_commit(&created->element[part]);
    }
    enum status status = find_rows(created, ghost);
    if (status == STATUS_OK)
        status = create_rows(created);
    if (status == STATUS_OK)
        status = create_kernels(created);
    if (status != STATUS_OK)
        crossing_destroy(crossing);
    return status;
}

static void destroy_staging(struct staging *staging)
{
    for (int part = 0; part < STATE_PARTS; part++) {
        host_memory_destroy(&staging->memory[part]);
        buffer_destroy(&staging->buffers[part]);
    }
}

void crossing_destroy(struct crossing **crossing)
{
    struct crossing *old = *crossing;
    if (!old)
        return;
    destroy_staging(&old->leaving_states);
    destroy_staging(&old->arriving_states);
    host_memory_destroy(&old->announced_memory);
    buffer_destroy(&old->announced);
    buffer_destroy(&old->rows);
    buffer_destroy(&old->own_rows);
    kernel_destroy(&old->insert);
    kernel_destroy(&old->insert_ids);
    kernel_destroy(&old->cut);
    program_destroy(&old->program);
    for (int part = 0; part < STATE_PARTS; part++)
        MPI_Type_free(&old->element[part]);
    ghost_rows_free(&old->out);
    ghost_rows_free(&old->in);
    free(old->requests);
    free(old->reached_number);
    free(old->incoming);
    free(old);
    *crossing = NULL;
}

/* Room for `count` particles and some more; what was there is lost. */
static enum status make_room(struct crossing *crossing, struct staging *staging, size_t count, bool on_device)
{
    if (count <= staging->room)
        return STATUS_OK;
    TRY(device_finish(crossing->device)); /* or it may still read what is destroyed */
    destroy_staging(staging);
    staging->room = count + count / 4;
    for (int part = 0; part < STATE_PARTS; part++) {
        const size_t bytes = staging->room * crossing->bytes[part];
        void *memory = NULL;
        TRY(host_memory_create(crossing->device, bytes, &staging->memory[part], &memory));
        staging->elements[part] = memory;
        if (on_device)
            TRY(buffer_create(crossing->device, bytes, "particles that come", &staging->buffers[part]));
    }
    return STATUS_OK;
}

/* ---- announcing ---- */

static const uint32_t nobody_leaves[] = {0};

/* The particles of the cells [first, first + count). */
static uint64_t sum_of(const uint32_t *counts, size_t count)
{
    uint64_t sum = 0;
    for (size_t n = 0; n < count; n++)
        sum += counts[n];
    return sum;
}

/* Where the leavers of a run are counted. */
static size_t run_begin(const struct crossing *crossing, const struct row_run *run)
{
    return (size_t)(run->local_row - crossing->slab.rows) * crossing->slab.box.ny;
}

static void exchange_counts(struct crossing *crossing)
{
    const size_t ny = crossing->slab.box.ny;
    int pending = 0;
    size_t place = 0;
    for (size_t r = 0; r < crossing->in.count; r++) {
        const struct row_run *run = &crossing->in.runs[r];
        memset(crossing->incoming + place, 0, run->rows * ny * sizeof *crossing->incoming);
        MPI_Irecv(crossing->incoming + place, (int)(run->rows * ny), MPI_UINT32_T, run->rank,
                  tag_of(run, STATE_OFFSETS), MPI_COMM_WORLD, &crossing->requests[pending++]);
        place += run->rows * ny;
    }
    for (size_t r = 0; r < crossing->out.count; r++) {
        const struct row_run *run = &crossing->out.runs[r];
        const bool any = crossing->leavers != NULL; /* an empty message says that nobody leaves */
        MPI_Isend(any ? crossing->leavers + run_begin(crossing, run) : nobody_leaves,
                  any ? (int)(run->rows * ny) : 0, MPI_UINT32_T, run->rank, tag_of(run, STATE_OFFSETS),
                  MPI_COMM_WORLD, &crossing->requests[pending++]);
    }
    MPI_Waitall(pending, crossing->requests, MPI_STATUSES_IGNORE);
}

/* Counts by own cell, and where the particles of each piece (a cell of a row that comes) begin among the
 * arrivals, and how far from the end of their cell: behind those of earlier pieces. */
static void place_arrivals(struct crossing *crossing)
{
    const size_t ny = crossing->slab.box.ny, pieces = crossing->in.rows * ny;
    uint32_t *counts = crossing->announced_host, *begins = counts + crossing->reached * ny,
             *behind = begins + pieces;
    uint32_t sum = 0;
    memset(counts, 0, crossing->reached * ny * sizeof *counts);
    for (size_t n = 0; n < pieces; n++) {
        begins[n] = sum;
        sum += crossing->incoming[n];
    }
    size_t n = pieces;
    for (size_t r = crossing->in.count; r-- > 0;) {
        const struct row_run *run = &crossing->in.runs[r];
        for (uint32_t k = run->rows; k-- > 0;) {
            uint32_t *row = counts + crossing->reached_number[run->row + k - crossing->slab.first_row] * ny;
            for (size_t j = ny; j-- > 0;) {
                row[j] += crossing->incoming[--n];
                behind[n] = row[j];
            }
        }
    }
}

/* Where there is no room, nobody comes as far as the list is concerned. */
static enum status send_announced(struct crossing *crossing)
{
    const size_t ny = crossing->slab.box.ny;
    if (crossing->has_room)
        place_arrivals(crossing);
    else
        memset(crossing->announced_host, 0, crossing->reached * ny * sizeof *crossing->announced_host);
    const size_t words = (crossing->reached + (crossing->has_room ? 2 * (size_t)crossing->in.rows : 0)) * ny;
    /* Whoever has leavers waits for their numbers before the next announcement, and so for this write. */
    return crossing->leavers
               ? buffer_send(crossing->announced, 0, words * sizeof(uint32_t), crossing->announced_host)
               : buffer_write(crossing->announced, 0, words * sizeof(uint32_t), crossing->announced_host);
}

enum status crossing_announce(struct crossing *crossing, const uint32_t *leavers, uint32_t most,
                              struct arrival_room *room)
{
    const size_t ny = crossing->slab.box.ny;
    const double start = timer_now();
    crossing->leavers = leavers;
    exchange_counts(crossing);
    crossing->arriving = sum_of(crossing->incoming, crossing->in.rows * ny);
    crossing->leaving = leavers ? sum_of(leavers, (crossing->slab.local.nx - crossing->slab.rows) * ny) : 0;
    crossing->lost = leavers && !slab_is_whole(&crossing->slab)
                         ? sum_of(leavers + (slab_lost_row(&crossing->slab) - crossing->slab.rows) * ny, ny)
                         : 0;
    crossing->has_room = crossing->arriving <= most;
    if (crossing->arriving > INT32_MAX || crossing->leaving > INT32_MAX)
        return status_fail(
            STATUS_FAILED,
            "%llu particles would leave one rank and %llu come there in one step; fewer than 2^31 can",
            (unsigned long long)crossing->leaving, (unsigned long long)crossing->arriving);
    TRY(make_room(crossing, &crossing->leaving_states, crossing->leaving, false));
    TRY(make_room(crossing, &crossing->arriving_states, crossing->arriving, true));
    TRY(send_announced(crossing));
    *room = (struct arrival_room){crossing->has_room ? (uint32_t)crossing->arriving : 0, crossing->rows,
                                  crossing->announced};
    device_add_time(crossing->device, STAGE_EXCHANGE, timer_now() - start, 0);
    return STATUS_OK;
}

/* ---- following ---- */

static enum state_part parts_of(const struct particles *list)
{
    return list->id ? STATE_PARTS : STATE_IDS;
}

/* Posts the receives; returns how many. */
static int receive(struct crossing *crossing, const struct particles *list)
{
    const size_t ny = crossing->slab.box.ny;
    size_t place = 0, cell = 0;
    int pending = 0;
    for (size_t r = 0; r < crossing->in.count; r++) {
        const struct row_run *run = &crossing->in.runs[r];
        const uint64_t count = sum_of(crossing->incoming + cell, run->rows * ny);
        for (enum state_part part = 0; part < parts_of(list) && count > 0; part++)
            MPI_Irecv(crossing->arriving_states.elements[part] + place * crossing->bytes[part], (int)count,
                      crossing->element[part], run->rank, tag_of(run, part), MPI_COMM_WORLD,
                      &crossing->requests[pending++]);
        place += count;
        cell += run->rows * ny;
    }
    return pending;
}

/* Sends each run, and waits for everything. The leavers lie in the order of their cells. */
static void send_and_wait(struct crossing *crossing, const struct particles *list, int pending)
{
    const size_t ny = crossing->slab.box.ny;
    for (size_t r = 0; r < crossing->out.count && crossing->leavers; r++) {
        const struct row_run *run = &crossing->out.runs[r];
        const size_t begin = run_begin(crossing, run);
        const uint64_t first = sum_of(crossing->leavers, begin),
                       count = sum_of(crossing->leavers + begin, run->rows * ny);
        for (enum state_part part = 0; part < parts_of(list) && count > 0; part++)
            MPI_Isend(crossing->leaving_states.elements[part] + first * crossing->bytes[part], (int)count,
                      crossing->element[part], run->rank, tag_of(run, part), MPI_COMM_WORLD,
                      &crossing->requests[pending++]);
    }
    MPI_Waitall(pending, crossing->requests, MPI_STATUSES_IGNORE);
}

/* The leavers, from element `first` of the list on, when they are in place. */
static enum status read_leavers(struct crossing *crossing, const struct particles *list, size_t first)
{
    const struct buffer *const buffers[STATE_PARTS] = {list->offset, list->velocity, list->id};
    for (enum state_part part = 0; part < parts_of(list) && crossing->leaving > 0; part++)
        TRY(buffer_read(buffers[part], first * crossing->bytes[part],
                        crossing->leaving * crossing->bytes[part], crossing->leaving_states.elements[part]));
    return STATUS_OK;
}

/* The staged particles from number `first` on, of a row of cells. */
static struct migrants migrants_of(const struct crossing *crossing, const struct staging *staging,
                                   const struct particles *list, const uint32_t *counts, size_t first)
{
    return (struct migrants){
        counts, staging->elements[STATE_OFFSETS] + first * crossing->bytes[STATE_OFFSETS],
        staging->elements[STATE_VELOCITIES] + first * crossing->bytes[STATE_VELOCITIES],
        list->id ? staging->elements[STATE_IDS] + first * crossing->bytes[STATE_IDS] : NULL};
}

/* Those lost wait for the next exchange of the migration. */
static enum status pass_on_lost(const struct crossing *crossing, uint32_t species,
                                const struct particles *list)
{
    if (crossing->lost == 0)
        return STATUS_OK;
    const size_t cell =
        (size_t)(slab_lost_row(&crossing->slab) - crossing->slab.rows) * crossing->slab.box.ny;
    const struct migrants lost =
        migrants_of(crossing, &crossing->leaving_states, list, crossing->leavers + cell,
                    (size_t)sum_of(crossing->leavers, cell));
    return migration_add_lost(crossing->migration, &crossing->slab, crossing->partition, species, &lost);
}

/* Those for whom there is no room are kept with what the migration brought. */
static enum status pass_on_arrivals(const struct crossing *crossing, uint32_t species,
                                    const struct particles *list)
{
    const struct grid *box = &crossing->slab.box;
    const uint32_t *counts = crossing->incoming;
    size_t first = 0;
    for (size_t r = 0; r < crossing->in.count; r++)
        for (uint32_t k = 0; k < crossing->in.runs[r].rows; k++, counts += box->ny) {
            const struct migrants arrived =
                migrants_of(crossing, &crossing->arriving_states, list, counts, first);
            TRY(migration_add_arrived(crossing->migration, box, crossing->in.runs[r].row + k, species,
                                      &arrived));
            first += sum_of(counts, box->ny);
        }
    return STATUS_OK;
}

/* On the side queue, while the main queue still moves those who stay. */
static enum status travel(struct crossing *crossing, uint32_t species, const struct particles *list,
                          size_t first)
{
    TRY(read_leavers(crossing, list, first)); /* nothing may fail while messages are under way */
    const double start = timer_now();
    const int pending = receive(crossing, list);
    send_and_wait(crossing, list, pending);
    TRY(pass_on_lost(crossing, species, list));
    if (!crossing->has_room && crossing->arriving > 0)
        TRY(pass_on_arrivals(crossing, species, list));
    for (enum state_part part = 0; part < parts_of(list) && crossing->has_room && crossing->arriving > 0;
         part++)
        TRY(buffer_send(crossing->arriving_states.buffers[part], 0,
                        crossing->arriving * crossing->bytes[part],
                        crossing->arriving_states.elements[part]));
    device_add_time(crossing->device, STAGE_EXCHANGE, timer_now() - start, 0);
    return STATUS_OK;
}

/* To the places left for them. */
static enum status insert(struct crossing *crossing, const struct particles *list)
{
    const uint32_t ny = crossing->slab.box.ny, count = (uint32_t)crossing->arriving;
    const uint32_t begins = crossing->reached * ny, behind = begins + crossing->in.rows * ny;
    struct buffer *const *arrived = crossing->arriving_states.buffers;
    struct launch launch = launch_covering(count, device_group_items(crossing->device, ITEMS), STAGE_EXCHANGE,
                                           8 * (uint64_t)count * precision_bytes(crossing->precision));
    TRY(KERNEL_LAUNCH(crossing->insert, launch, arg_buffer(list->cell_offsets),
                      arg_buffer(crossing->own_rows), arg_buffer(crossing->announced), arg_uint(begins),
                      arg_uint(behind), arg_uint(crossing->in.rows), arg_uint(ny), arg_uint(count),
                      arg_buffer(arrived[STATE_OFFSETS]), arg_buffer(arrived[STATE_VELOCITIES]),
                      arg_buffer(list->offset), arg_buffer(list->velocity)));
    if (!list->id)
        return STATUS_OK;
    launch.bytes = 2 * sizeof(uint64_t) * (uint64_t)count;
    return KERNEL_LAUNCH(crossing->insert_ids, launch, arg_buffer(list->cell_offsets),
                         arg_buffer(crossing->own_rows), arg_buffer(crossing->announced), arg_uint(begins),
                         arg_uint(behind), arg_uint(crossing->in.rows), arg_uint(ny), arg_uint(count),
                         arg_buffer(arrived[STATE_IDS]), arg_buffer(list->id));
}

enum status crossing_follow(struct crossing *crossing, uint32_t species, struct particles *list)
{
    const struct slab *slab = &crossing->slab;
    const uint32_t own = slab_own_cells(slab), cells = grid_cells(&slab->local);
    const bool inserts = crossing->has_room && crossing->arriving > 0;
    const uint64_t stay = list->count - crossing->leaving + (inserts ? crossing->arriving : 0);
    TRY(device_use(crossing->device, QUEUE_SIDE));
    const enum status status = travel(crossing, species, list, (size_t)stay);
    TRY(device_use(crossing->device, QUEUE_MAIN));
    TRY(status);
    TRY(device_join(crossing->device));
    uint64_t each = 0;
    for (enum state_part part = 0; part < parts_of(list); part++)
        each += crossing->bytes[part];
    crossing->left = crossing->leaving - crossing->lost;
    crossing->moved_bytes = (crossing->leaving - crossing->lost + crossing->arriving) * each;
    if (inserts)
        TRY(insert(crossing, list));
    list->count = (uint32_t)stay;
    if (!crossing->leavers)
        return STATUS_OK;
    return KERNEL_LAUNCH(crossing->cut,
                         launch_covering(cells - own + (uint64_t)1,
                                         device_group_items(crossing->device, ITEMS), STAGE_EXCHANGE, 0),
                         arg_buffer(list->cell_offsets), arg_uint(own), arg_uint(cells),
                         arg_uint(list->count));
}

uint64_t crossing_left(const struct crossing *crossing)
{
    return crossing->left;
}

uint64_t crossing_bytes(const struct crossing *crossing)
{
    return crossing->moved_bytes;
}
