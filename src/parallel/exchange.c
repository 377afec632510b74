/* Exchange: counts and particles of the rows between ranks, and the way to and from the device. */
#include "parallel/exchange.h"

#include "base/integers.h"
#include "parallel/outbox.h"
#include "parallel/run_messages.h"

#include <string.h>

/* Particles that come in one run of rows. */
struct parcel {
    struct host_particles *from;
    size_t first, count;
};

struct exchange {
    struct device *device;   /* not owned */
    struct migrate *migrate; /* not owned */
    struct slab slab;
    struct ghost_runs out, in;
    struct parcel *parcels; /* [in.count] */
    struct run_messages *messages;
    struct outboxes *outboxes; /* NULL: all is sent in messages */
    int rank;

    /* The own rows that lie beside other ranks. */
    uint32_t reached;         /* how many these rows are */
    uint32_t *reached_number; /* [local nx] the number of each row among them, or ARRIVALS_NONE */
    struct buffer *rows;      /* reached_number on the device */
    uint32_t *own_rows_host;  /* [in.rows]: where each row that comes belongs */
    struct buffer *own_rows;  /* own_rows_host on the device */

    /* What is exchanged of the species at hand. */
    uint32_t *leavers;  /* [cells beside], in the outbox, where there is one */
    uint32_t *incoming; /* [in.rows][ny] particles */
    struct buffer *announced;
    uint32_t *announced_host; /* `announced`: counts[reached][ny], begins[in.rows][ny], back[in.rows][ny] */
    size_t leaving, lost, arriving;
    bool fits;

    struct host_particles sent, received; /* in messages */
    struct host_particles *leaves;        /* where leavers go: an outbox or `sent` */
    size_t capacity;                      /* particles in each array of `arrived` */
    struct buffer *arrived[ATTRIBUTES];   /* what was received, on the device */
    struct kernel *insert[ATTRIBUTES];
};

/* ---- rows ---- */

static size_t cells_beside(const struct slab *slab)
{
    return (size_t)(slab->local.nx - slab->rows) * slab->box.ny;
}

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

static enum status create_leavers(struct exchange *exchange, const struct rank_place *place, size_t outbox)
{
    TRY(outboxes_create(place, outbox, &exchange->outboxes));
    if (!exchange->outboxes)
        return DEVICE_NEW_ARRAY(exchange->device, exchange->leavers, cells_beside(&exchange->slab));
    exchange->leavers = outboxes_counts(exchange->outboxes, exchange->rank);
    return STATUS_OK;
}

enum status exchange_create(const struct rank_place *place, struct migrate *migrate, size_t outbox,
                            struct exchange **exchange)
{
    struct device *device = place->device;
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, *exchange));
    struct exchange *created = *exchange;
    *created = (struct exchange){
        .device = device, .migrate = migrate, .slab = *place->slab, .rank = place->communicator->rank};
    created->sent = (struct host_particles){.device = device, .precision = place->precision};
    created->received = created->sent;
    TRY(ghost_runs_find(place, &created->out, &created->in));
    TRY(run_messages_create(device, created->out.count + created->in.count, &created->messages));
    TRY(create_rows(created));
    TRY(create_counts(created));
    TRY(DEVICE_NEW_ARRAY(device, created->parcels, created->in.count));
    TRY(create_leavers(created, place, outbox));
    TRY(program_build(device, "exchange.cl", place->precision, &program, "%s", ""));
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        TRY(attribute_kernel(program, "exchange_insert", place->precision, a, &created->insert[a]));
    return STATUS_OK;
}

size_t exchange_outbox_capacity(const struct exchange *exchange)
{
    return exchange->outboxes ? outboxes_capacity(exchange->outboxes) : 0;
}

/* ---- announcing ---- */

/* Leavers to the owners of their rows, and those of others to `incoming`. */
static void swap_counts(struct exchange *exchange)
{
    const size_t ny = exchange->slab.box.ny;
    const struct ghost_run *in = exchange->in.runs, *out = exchange->out.runs;
    if (exchange->outboxes)
        outboxes_announce(exchange->outboxes, exchange->leaving);
    for (const struct ghost_run *run = in; run < in + exchange->in.count; run++) {
        uint32_t *incoming = exchange->incoming + run->place * ny;
        if (exchange->outboxes)
            memcpy(incoming, outboxes_counts(exchange->outboxes, run->rank) + run->sent * ny,
                   run->rows * ny * sizeof *incoming);
        else
            run_messages_counts(exchange->messages, run, false, run->rows * ny, incoming);
    }
    for (const struct ghost_run *run = out; run < out + exchange->out.count && !exchange->outboxes; run++)
        run_messages_counts(exchange->messages, run, true, run->rows * ny,
                            exchange->leavers + run->place * ny);
    run_messages_end(exchange->messages);
}

/* Where the particles of each run will be found; their numbers are known. */
static void find_parcels(struct exchange *exchange)
{
    const size_t ny = exchange->slab.box.ny;
    const struct outboxes *outboxes = exchange->outboxes;
    exchange->leaves = outboxes ? outboxes_particles(outboxes, exchange->rank) : NULL;
    if (!exchange->leaves)
        exchange->leaves = &exchange->sent;
    for (size_t n = 0; n < exchange->in.count; n++) {
        const struct ghost_run *run = &exchange->in.runs[n];
        const uint32_t *incoming = exchange->incoming;
        struct host_particles *outbox = outboxes ? outboxes_particles(outboxes, run->rank) : NULL;
        exchange->parcels[n] =
            (struct parcel){outbox ? outbox : &exchange->received,
                            outbox ? sum_of(outboxes_counts(outboxes, run->rank), run->sent * ny)
                                   : sum_of(incoming, run->place * ny),
                            sum_of(incoming + run->place * ny, run->rows * ny)};
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
    if (exchange->fits)
        place_arrivals(exchange);
    return buffer_send(exchange->announced, 0, exchange->fits ? buffer_bytes(exchange->announced) : bytes,
                       exchange->announced_host);
}

/* Memory on the host and on the device for the particles that are announced. */
static enum status reserve(struct exchange *exchange)
{
    const size_t arriving = exchange->arriving, leaving = exchange->leaving;
    if (arriving > INT32_MAX || leaving > INT32_MAX)
        return status_fail(STATUS_FAILED,
                           "%zu particles would leave one rank and %zu come there in one step; fewer than "
                           "2^31 can",
                           leaving, arriving);
    exchange->leaves->count = exchange->received.count = 0;
    TRY(host_particles_reserve(exchange->leaves, leaving));
    for (size_t n = 0; n < exchange->in.count; n++)
        if (exchange->parcels[n].from == &exchange->received)
            TRY(host_particles_reserve(&exchange->received, arriving));
    if (arriving <= exchange->capacity)
        return STATUS_OK;
    exchange->capacity = arriving + arriving / 4;
    for (enum attribute a = 0; a < ATTRIBUTES; a++) {
        buffer_destroy(&exchange->arrived[a]);
        TRY(buffer_create(exchange->device,
                          exchange->capacity * attribute_bytes(exchange->received.precision, a), "arrivals",
                          &exchange->arrived[a]));
    }
    return STATUS_OK;
}

enum status exchange_announce(struct exchange *exchange, const uint32_t *leavers, uint32_t most,
                              struct arrival_gaps *gaps)
{
    const struct slab *slab = &exchange->slab;
    const size_t ny = slab->box.ny;
    const double start = timer_now();
    const size_t beside = cells_beside(slab);
    if (exchange->outboxes) {
        TRY(outboxes_fit(exchange->outboxes));
        exchange->leavers = outboxes_counts(exchange->outboxes, exchange->rank);
    }
    memcpy(exchange->leavers, leavers, beside * sizeof *leavers);
    exchange->leaving = sum_of(leavers, beside);
    swap_counts(exchange);
    find_parcels(exchange);
    exchange->arriving = sum_of(exchange->incoming, exchange->in.rows * ny);
    exchange->lost = slab_is_whole(slab) ? 0 : sum_of(leavers + lost_cell(slab), ny);
    exchange->fits = exchange->arriving <= most;
    TRY(reserve(exchange));
    TRY(send_announced(exchange));
    *gaps = (struct arrival_gaps){exchange->fits ? (uint32_t)exchange->arriving : 0, exchange->rows,
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
        TRY(migrate_add(exchange->migrate, slab, species, 1, &row, leavers + lost_cell(slab),
                        exchange->leaves, sum_of(leavers, lost_cell(slab))));
    }
    for (size_t n = 0; n < exchange->in.count && !exchange->fits; n++) {
        const struct ghost_run *run = &exchange->in.runs[n];
        TRY(migrate_add(exchange->migrate, slab, species, run->rows, exchange->own_rows_host + run->place,
                        exchange->incoming + (size_t)run->place * slab->box.ny, exchange->parcels[n].from,
                        exchange->parcels[n].first));
    }
    return STATUS_OK;
}

/* `late` particles that leave the cells beside the own ones, the last in each, wait for migrate_deliver(),
 * and the leavers before them are brought together. The leaving ones are the list's from `first` on. */
static enum status set_aside_late(struct exchange *exchange, struct device *branch, uint32_t species,
                                  const struct particles *list, size_t first, size_t late)
{
    const struct slab *slab = &exchange->slab;
    const size_t ny = slab->box.ny, own = slab_own_cells(slab), beside = grid_cells(&slab->local) - own;
    struct host_particles all = {.device = branch, .precision = list->precision}, last = all;
    uint32_t *offsets = NULL, *counts = NULL;
    TRY(DEVICE_NEW_ARRAY(branch, offsets, beside + 1));
    TRY(DEVICE_NEW_ARRAY(branch, counts, beside));
    TRY(buffer_read(list->cell_offsets, own * sizeof *offsets, (beside + 1) * sizeof *offsets, offsets));
    TRY(host_particles_reserve(&last, late));
    TRY(host_particles_read(list, first, exchange->leaving + late, &all));
    TRY(device_finish_queue(exchange->device));
    exchange->leaves->count = 0;
    for (size_t cell = 0; cell < beside; cell++) {
        const size_t begin = offsets[cell] - first, leavers = exchange->leavers[cell];
        counts[cell] = offsets[cell + 1] - offsets[cell] - (uint32_t)leavers;
        host_particles_copy(&all, begin, exchange->leaves, exchange->leaves->count, leavers);
        host_particles_copy(&all, begin + leavers, &last, last.count, counts[cell]);
        exchange->leaves->count += leavers;
        last.count += counts[cell];
    }
    last.count = 0;
    for (uint32_t row = slab->rows; row < slab->local.nx; row++, counts += ny) {
        TRY(migrate_add(exchange->migrate, slab, species, 1, &row, counts, &last, last.count));
        last.count += sum_of(counts, ny);
    }
    return STATUS_OK;
}

/* The leaving particles are on the host when this is through; *first is where the leavers of the list begin,
 * and becomes where all leaving particles begin. */
static enum status read_leaving(struct exchange *exchange, uint32_t species, const struct particles *list,
                                const uint32_t *leaving_begin, size_t *first)
{
    struct device *branch = NULL;
    TRY(host_particles_read(list, *first, exchange->leaving, exchange->leaves));
    TRY(device_finish_queue(exchange->device));
    const size_t late = leaving_begin ? *first - *leaving_begin : 0;
    if (late == 0)
        return STATUS_OK;
    *first -= late;
    TRY(device_branch(exchange->device, &branch));
    return device_close_after(&branch, set_aside_late(exchange, branch, species, list, *first, late));
}

/* Arrivals to the device, one behind the other, those that lie so already at once. */
static enum status send_arrivals(struct exchange *exchange, const struct particles *list)
{
    size_t at = 0;
    for (size_t n = 0; n < exchange->in.count && exchange->fits;) {
        struct parcel parcel = exchange->parcels[n];
        while (++n < exchange->in.count && exchange->parcels[n].from == parcel.from &&
               exchange->parcels[n].first == parcel.first + parcel.count)
            parcel.count += exchange->parcels[n].count;
        for (enum attribute a = 0; a < ATTRIBUTES; a++) {
            const size_t bytes = attribute_bytes(list->precision, a);
            if (list->attribute[a])
                TRY(buffer_send(exchange->arrived[a], at * bytes, parcel.count * bytes,
                                host_particles_at(parcel.from, a, parcel.first)));
        }
        at += parcel.count;
    }
    return STATUS_OK;
}

/* Bytes of the particles that left and came, without those beyond the ghost rows. */
static uint64_t bytes_moved(const struct exchange *exchange, const struct particles *list)
{
    uint64_t each = 0;
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        each += list->attribute[a] ? attribute_bytes(list->precision, a) : 0;
    return (exchange->leaving - exchange->lost + exchange->arriving) * each;
}

/* Begins the messages for particles that no outbox holds. Leavers lie in the order of their cells. */
static void begin_messages(struct exchange *exchange)
{
    const size_t ny = exchange->slab.box.ny;
    const uint32_t *leavers = exchange->leavers;
    for (size_t n = 0; n < exchange->in.count; n++) {
        const struct parcel *parcel = &exchange->parcels[n];
        if (parcel->from == &exchange->received)
            run_messages_particles(exchange->messages, &exchange->in.runs[n], false, parcel->from,
                                   parcel->first, parcel->count);
    }
    for (size_t n = 0; n < exchange->out.count && exchange->leaves == &exchange->sent; n++) {
        const struct ghost_run *run = &exchange->out.runs[n];
        run_messages_particles(exchange->messages, run, true, &exchange->sent,
                               sum_of(leavers, run->place * ny),
                               sum_of(leavers + run->place * ny, run->rows * ny));
    }
}

/* Particles travel between ranks; with the last species ranks also announce whether they hold particles for
 * migrate_deliver(). */
static void send(struct exchange *exchange, bool is_last)
{
    bool holds = migrate_holds(exchange->migrate) || exchange->lost > 0 || !exchange->fits;
    begin_messages(exchange);
    if (exchange->outboxes)
        holds = outboxes_send(exchange->outboxes, holds);
    if (exchange->outboxes && is_last)
        migrate_answer(exchange->migrate, holds);
    run_messages_end(exchange->messages);
}

/* On the side queue, while the main queue still moves particles that stay. */
static enum status travel(struct exchange *exchange, uint32_t species, bool is_last,
                          const struct particles *list, const uint32_t *leaving_begin, size_t *first)
{
    TRY(read_leaving(exchange, species, list, leaving_begin, first));
    const double start = timer_now(); /* nothing may fail while messages are under way */
    for (size_t n = 0; n < exchange->in.count; n++)
        exchange->parcels[n].from->species = list->species;
    send(exchange, is_last);
    TRY(pass_on(exchange, species));
    if (is_last && !exchange->outboxes)
        migrate_ask(exchange->migrate);
    TRY(send_arrivals(exchange, list));
    device_add_time(exchange->device, STAGE_EXCHANGE, timer_now() - start, bytes_moved(exchange, list));
    return STATUS_OK;
}

/* Arrivals to the places left for them; the cell offsets end with the own cells. */
static enum status insert(const struct exchange *exchange, const struct particles *list, uint32_t count)
{
    const struct slab *slab = &exchange->slab;
    const uint32_t own = slab_own_cells(slab), cells = grid_cells(&slab->local), ny = slab->box.ny;
    const uint32_t begins = exchange->reached * ny, back = begins + exchange->in.rows * ny;
    for (enum attribute a = 0; a < ATTRIBUTES && (a == 0 || count > 0); a++)
        if (list->attribute[a])
            TRY(KERNEL_LAUNCH(exchange->insert[a],
                              launch_flat(at_least(count, cells - own), STAGE_EXCHANGE,
                                          2 * attribute_bytes(list->precision, a) * (uint64_t)count),
                              list->cell_offsets, exchange->own_rows, exchange->announced, begins, back,
                              exchange->in.rows, ny, count, own, cells, particles_stride(list, a),
                              particles_first(list, a), count > 0 ? exchange->arrived[a] : list->attribute[a],
                              list->attribute[a]));
    return STATUS_OK;
}

enum status exchange_follow(struct exchange *exchange, uint32_t species, bool is_last,
                            const uint32_t *leaving_begin, struct particles *list, uint64_t *left)
{
    const size_t inserted = exchange->fits ? exchange->arriving : 0;
    size_t stay = list->count - exchange->leaving + inserted;
    TRY(device_use(exchange->device, QUEUE_SIDE));
    const enum status status = travel(exchange, species, is_last, list, leaving_begin, &stay);
    char *sentence = status_take(); /* a lost device cannot join its queues either */
    TRY(status_keep(status, sentence, device_join(exchange->device)));
    list->count = (uint32_t)stay;
    *left += exchange->leaving - exchange->lost;
    return insert(exchange, list, (uint32_t)inserted);
}
