/* Exchange: the rows between ranks, their messages, and the way to and from the device. */
#include "parallel/exchange.h"

#include "parallel/host_particles.h"

#include <string.h>

struct exchange {
    struct device *device;   /* not owned */
    struct migrate *migrate; /* not owned */
    struct slab slab;
    struct ghost_runs out, in;
    MPI_Request *requests; /* for all runs, ATTRIBUTES each */
    int pending;           /* of those */

    /* Of own rows that are beside other ranks. */
    uint32_t reached;         /* how many */
    uint32_t *reached_number; /* [local nx] their numbers, or ARRIVALS_NONE */
    struct buffer *rows;      /* the same on the device */
    uint32_t *own_rows_host;  /* [in.rows]: where each row that comes belongs */
    struct buffer *own_rows;  /* the same on the device */

    /* Of the species on its way. */
    const uint32_t *leavers; /* not owned */
    uint32_t *incoming;      /* [in.rows][ny] particles */
    struct buffer *announced;
    uint32_t *announced_host; /* the same: counts[reached][ny], begins[in.rows][ny], back[in.rows][ny] */
    size_t leaving, lost, arriving;
    bool has_room;

    struct host_particles sent, received;
    size_t room;                        /* particles in each of: */
    struct buffer *arrived[ATTRIBUTES]; /* what was received, on the device */
    struct kernel *insert[ATTRIBUTES], *cut;
};

enum { FIRST_TAG = 1024 /* below: other exchanges' */ };

/* ---- rows ---- */

/* Numbers of own rows that are beside others, and where each row that comes belongs. */
static enum status create_rows(struct exchange *exchange)
{
    struct device *device = exchange->device;
    const struct slab *slab = &exchange->slab;
    const size_t local = slab->local.nx, in = exchange->in.rows;
    uint32_t *rows = NULL, *own_rows = NULL, n = 0;
    TRY(DEVICE_NEW_ARRAY(device, rows, local));
    TRY(DEVICE_NEW_ARRAY(device, own_rows, in));
    exchange->reached_number = rows;
    exchange->own_rows_host = own_rows;
    for (size_t r = 0; r < exchange->in.count; r++)
        for (uint32_t k = 0; k < exchange->in.runs[r].rows; k++) {
            own_rows[n] = exchange->in.runs[r].row + k - slab->first_row;
            rows[own_rows[n++]] = 1;
        }
    for (uint32_t row = 0; row < local; row++)
        rows[row] = rows[row] ? exchange->reached++ : ARRIVALS_NONE;
    TRY(buffer_create_with(device, local * sizeof *rows, "the rows where particles arrive", rows,
                           &exchange->rows));
    return buffer_create_with(device, in * sizeof *rows, "the rows that come", own_rows, &exchange->own_rows);
}

static enum status create_counts(struct exchange *exchange)
{
    const size_t ny = exchange->slab.box.ny, in = exchange->in.rows;
    const size_t bytes = (exchange->reached + 2 * in) * ny * sizeof(uint32_t);
    void *memory = NULL;
    TRY(DEVICE_NEW_ARRAY(exchange->device, exchange->incoming, in * ny));
    TRY(buffer_create(exchange->device, bytes, "the numbers of arrivals", &exchange->announced));
    TRY(host_memory_create(exchange->device, bytes, &memory));
    exchange->announced_host = memory;
    return STATUS_OK;
}

enum status exchange_create(const struct rank_place *place, struct migrate *migrate,
                            struct exchange **exchange)
{
    struct device *device = place->device;
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, *exchange));
    struct exchange *created = *exchange;
    *created = (struct exchange){.device = device, .migrate = migrate, .slab = *place->slab};
    created->sent = (struct host_particles){.device = device, .precision = place->precision};
    created->received = created->sent;
    TRY(ghost_runs_find(place, &created->out, &created->in));
    TRY(DEVICE_NEW_ARRAY(device, created->requests, (created->out.count + created->in.count) * ATTRIBUTES));
    TRY(create_rows(created));
    TRY(create_counts(created));
    TRY(program_build(device, "exchange.cl", place->precision, &program, "%s", ""));
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        TRY(attribute_kernel(program, "exchange_insert", place->precision, a, &created->insert[a]));
    return kernel_create(program, "exchange_cut", &created->cut);
}

/* ---- announcing ---- */

static size_t sum_of(const uint32_t *counts, size_t count)
{
    size_t sum = 0;
    for (size_t n = 0; n < count; n++)
        sum += counts[n];
    return sum;
}

/* The first cell of the lost row, among those beside the own ones. */
static size_t lost_cell(const struct slab *slab)
{
    return (size_t)(slab_lost_row(slab) - slab->rows) * slab->box.ny;
}

/* Begins a message of a run, of which each attribute has one at a time. */
static void begin_message(struct exchange *exchange, const struct ghost_run *run, bool sends,
                          enum attribute attribute, void *elements, size_t count, MPI_Datatype type)
{
    const int tag = FIRST_TAG + run->number * ATTRIBUTES + (int)attribute;
    MPI_Request *request = &exchange->requests[exchange->pending++];
    if (sends)
        MPI_Isend(elements, (int)count, type, run->rank, tag, MPI_COMM_WORLD, request);
    else
        MPI_Irecv(elements, (int)count, type, run->rank, tag, MPI_COMM_WORLD, request);
}

static void end_messages(struct exchange *exchange)
{
    MPI_Waitall(exchange->pending, exchange->requests, MPI_STATUSES_IGNORE);
    exchange->pending = 0;
}

/* Begins the messages of all runs one way, of counts[][ny]. */
static void begin_counts(struct exchange *exchange, const struct ghost_runs *runs, const uint32_t *counts)
{
    const size_t ny = exchange->slab.box.ny;
    for (const struct ghost_run *run = runs->runs; run < runs->runs + runs->count; run++)
        begin_message(exchange, run, runs == &exchange->out, 0, (void *)(counts + run->place * ny),
                      run->rows * ny, MPI_UINT32_T);
}

/* The same of the particles of these cells, which lie in the order of the cells: one for each attribute. */
static void begin_particles(struct exchange *exchange, const struct ghost_runs *runs, const uint32_t *counts,
                            const struct host_particles *particles)
{
    const size_t ny = exchange->slab.box.ny;
    for (const struct ghost_run *run = runs->runs; run < runs->runs + runs->count; run++) {
        const size_t first = sum_of(counts, run->place * ny);
        const size_t count = sum_of(counts + run->place * ny, run->rows * ny);
        for (enum attribute a = 0; a < ATTRIBUTES && count > 0; a++) {
            if (!host_particles_have(particles, a))
                continue;
            MPI_Datatype type = host_particles_type(particles, a);
            begin_message(exchange, run, runs == &exchange->out, a, host_particles_at(particles, a, first),
                          count, type);
            MPI_Type_free(&type);
        }
    }
}

/* Counts by own cell; and of the particles of each piece (a cell of a row that comes) where they begin among
 * the arrivals, and how far those places are from the ends of their cells, where they stand behind those of
 * earlier pieces. */
static void place_arrivals(struct exchange *exchange)
{
    const size_t ny = exchange->slab.box.ny, pieces = exchange->in.rows * ny;
    uint32_t *counts = exchange->announced_host, *begins = counts + exchange->reached * ny,
             *back = begins + pieces, end = (uint32_t)exchange->arriving;
    size_t n = pieces;
    for (size_t row = exchange->in.rows; row-- > 0;) {
        uint32_t *own = counts + exchange->reached_number[exchange->own_rows_host[row]] * ny;
        for (size_t j = ny; j-- > 0;) {
            own[j] += exchange->incoming[--n];
            end -= exchange->incoming[n];
            begins[n] = end;
            back[n] = end + own[j];
        }
    }
}

/* Where there is no room, nothing arrives as far as the list is concerned. Leavers are read before the next
 * announcement, which waits for this transfer. */
static enum status send_announced(struct exchange *exchange)
{
    const size_t ny = exchange->slab.box.ny, bytes = exchange->reached * ny * sizeof(uint32_t);
    memset(exchange->announced_host, 0, bytes);
    if (exchange->has_room)
        place_arrivals(exchange);
    return buffer_send(exchange->announced, 0, exchange->has_room ? buffer_bytes(exchange->announced) : bytes,
                       exchange->announced_host);
}

/* Room on the host and on the device for what is announced. */
static enum status make_room(struct exchange *exchange)
{
    const size_t arriving = exchange->arriving, leaving = exchange->leaving;
    if (arriving > INT32_MAX || leaving > INT32_MAX)
        return status_fail(STATUS_FAILED,
                           "%zu particles would leave one rank and %zu come there in one step; fewer than "
                           "2^31 can",
                           leaving, arriving);
    exchange->sent.count = exchange->received.count = 0;
    TRY(host_particles_reserve(&exchange->sent, leaving));
    TRY(host_particles_reserve(&exchange->received, arriving));
    if (arriving <= exchange->room)
        return STATUS_OK;
    exchange->room = arriving + arriving / 4;
    for (enum attribute a = 0; a < ATTRIBUTES; a++) {
        buffer_destroy(&exchange->arrived[a]);
        TRY(buffer_create(exchange->device, exchange->room * attribute_bytes(exchange->received.precision, a),
                          "arrivals", &exchange->arrived[a]));
    }
    return STATUS_OK;
}

enum status exchange_announce(struct exchange *exchange, const uint32_t *leavers, uint32_t most,
                              struct arrival_room *room)
{
    const struct slab *slab = &exchange->slab;
    const size_t ny = slab->box.ny;
    const double start = timer_now();
    exchange->leavers = leavers;
    begin_counts(exchange, &exchange->in, exchange->incoming);
    begin_counts(exchange, &exchange->out, leavers);
    end_messages(exchange);
    exchange->arriving = sum_of(exchange->incoming, exchange->in.rows * ny);
    exchange->leaving = sum_of(leavers, (slab->local.nx - slab->rows) * ny);
    exchange->lost = slab_is_whole(slab) ? 0 : sum_of(leavers + lost_cell(slab), ny);
    exchange->has_room = exchange->arriving <= most;
    TRY(make_room(exchange));
    TRY(send_announced(exchange));
    *room = (struct arrival_room){exchange->has_room ? (uint32_t)exchange->arriving : 0, exchange->rows,
                                  exchange->announced};
    device_add_time(exchange->device, STAGE_EXCHANGE, timer_now() - start, 0);
    return STATUS_OK;
}

/* ---- following ---- */

/* Particles beyond the ghost rows, and arrivals without room, take the general path. */
static enum status pass_on(const struct exchange *exchange, uint32_t species)
{
    const struct slab *slab = &exchange->slab;
    if (exchange->lost > 0) {
        const uint32_t *leavers = exchange->leavers, row = slab_lost_row(slab);
        TRY(migrate_add(exchange->migrate, slab, species, 1, &row, leavers + lost_cell(slab), &exchange->sent,
                        sum_of(leavers, lost_cell(slab))));
    }
    if (exchange->has_room)
        return STATUS_OK;
    return migrate_add(exchange->migrate, slab, species, exchange->in.rows, exchange->own_rows_host,
                       exchange->incoming, &exchange->received, 0);
}

/* Bytes of those that left and came, without those beyond the ghost rows. */
static uint64_t bytes_moved(const struct exchange *exchange, const struct particles *list)
{
    uint64_t each = 0;
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        each += list->attribute[a] ? attribute_bytes(list->precision, a) : 0;
    return (exchange->leaving - exchange->lost + exchange->arriving) * each;
}

/* On the side queue, while the main queue still moves particles that stay. */
static enum status travel(struct exchange *exchange, uint32_t species, const struct particles *list,
                          size_t first)
{
    TRY(host_particles_read(list, first, exchange->leaving, &exchange->sent));
    const double start = timer_now(); /* nothing may fail while messages are under way */
    exchange->received.species = list->species;
    begin_particles(exchange, &exchange->in, exchange->incoming, &exchange->received);
    begin_particles(exchange, &exchange->out, exchange->leavers, &exchange->sent);
    end_messages(exchange);
    TRY(pass_on(exchange, species));
    for (enum attribute a = 0; a < ATTRIBUTES && exchange->has_room; a++)
        if (list->attribute[a] && exchange->arriving > 0)
            TRY(buffer_send(exchange->arrived[a], 0, exchange->arriving * attribute_bytes(list->precision, a),
                            host_particles_at(&exchange->received, a, 0)));
    device_add_time(exchange->device, STAGE_EXCHANGE, timer_now() - start, bytes_moved(exchange, list));
    return STATUS_OK;
}

/* Arrivals to the places left for them. */
static enum status insert(const struct exchange *exchange, const struct particles *list)
{
    const uint32_t ny = exchange->slab.box.ny, count = (uint32_t)exchange->arriving;
    const uint32_t begins = exchange->reached * ny, back = begins + exchange->in.rows * ny;
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        if (list->attribute[a])
            TRY(KERNEL_LAUNCH(
                exchange->insert[a],
                launch_flat(count, STAGE_EXCHANGE, 2 * attribute_bytes(list->precision, a) * (uint64_t)count),
                list->cell_offsets, exchange->own_rows, exchange->announced, begins, back, exchange->in.rows,
                ny, count, particles_stride(list, a), particles_first(list, a), exchange->arrived[a],
                list->attribute[a]));
    return STATUS_OK;
}

enum status exchange_follow(struct exchange *exchange, uint32_t species, struct particles *list,
                            uint64_t *left)
{
    const struct slab *slab = &exchange->slab;
    const uint32_t own = slab_own_cells(slab), cells = grid_cells(&slab->local);
    const size_t inserted = exchange->has_room ? exchange->arriving : 0;
    const size_t stay = list->count - exchange->leaving + inserted;
    TRY(device_use(exchange->device, QUEUE_SIDE));
    const enum status status = travel(exchange, species, list, stay);
    TRY(device_use(exchange->device, QUEUE_MAIN));
    TRY(status);
    TRY(device_join(exchange->device));
    if (inserted > 0)
        TRY(insert(exchange, list));
    list->count = (uint32_t)stay;
    *left += exchange->leaving - exchange->lost;
    return KERNEL_LAUNCH(exchange->cut, launch_flat(cells - own + (uint64_t)1, STAGE_EXCHANGE, 0),
                         list->cell_offsets, own, cells, list->count);
}
