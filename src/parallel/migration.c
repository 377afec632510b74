/* Migration: from the end of sorted lists to messages, and from messages to a sorted list. */
#include "parallel/migration.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Particles on the host: where they are in the box, their state as the device stores it, and their ids. Each
 * is one record of bytes: uint64_t id (0 without ids), uint32_t row, uint32_t column, real[4] state. */
struct travellers {
    size_t count, room;
    char *records; /* owned: room of them */
};

struct record_head {
    uint64_t id;
    uint32_t row, column; /* of the box */
};

struct migration {
    struct communicator communicator;
    enum precision precision;
    size_t record_bytes;
    MPI_Datatype record;
    struct travellers waiting[CONFIG_MAX_SPECIES], arrived[CONFIG_MAX_SPECIES];
    uint64_t left[CONFIG_MAX_SPECIES];
};

enum status migration_create(const struct communicator *communicator, enum precision precision,
                             struct migration **migration)
{
    *migration = calloc(1, sizeof **migration);
    if (!*migration)
        return status_fail(STATUS_FAILED, "no memory for the exchange of particles");
    (*migration)->communicator = *communicator;
    (*migration)->precision = precision;
    (*migration)->record_bytes = sizeof(struct record_head) + 4 * precision_bytes(precision);
    (*migration)->record = MPI_DATATYPE_NULL;
    if (communicator->size > 1) {
        MPI_Type_contiguous((int)(*migration)->record_bytes, MPI_BYTE, &(*migration)->record);
        MPI_Type_commit(&(*migration)->record);
    }
    return STATUS_OK;
}

void migration_destroy(struct migration **migration)
{
    if (!*migration)
        return;
    for (uint32_t s = 0; s < CONFIG_MAX_SPECIES; s++) {
        free((*migration)->waiting[s].records);
        free((*migration)->arrived[s].records);
    }
    if ((*migration)->record != MPI_DATATYPE_NULL)
        MPI_Type_free(&(*migration)->record);
    free(*migration);
    *migration = NULL;
}

static enum status make_room(struct travellers *travellers, size_t count, size_t record_bytes)
{
    if (count <= travellers->room)
        return STATUS_OK;
    const size_t room = count + count / 4;
    char *records = realloc(travellers->records, room * record_bytes);
    if (!records)
        return status_fail(STATUS_FAILED, "no memory for %zu particles on their way to other ranks", count);
    travellers->records = records;
    travellers->room = room;
    return STATUS_OK;
}

/* ---- leaving ---- */

/* The cell offsets of the rows beside the own ones, from where the own cells end. */
static enum status read_beside(const struct slab *slab, const struct particles *list, size_t *cells,
                               uint32_t **offsets)
{
    const size_t own = slab_own_cells(slab);
    *cells = grid_cells(&slab->local) - own;
    *offsets = malloc((*cells + 1) * sizeof **offsets);
    if (!*offsets)
        return status_fail(STATUS_FAILED, "species %s: no memory for the cell offsets of guard rows",
                           list->species->name);
    return buffer_read(list->cell_offsets, own * sizeof **offsets, (*cells + 1) * sizeof **offsets, *offsets);
}

/* From now on the list ends with its own cells. */
static enum status cut_off(const struct slab *slab, size_t cells, uint32_t *offsets, struct particles *list)
{
    list->count = offsets[0];
    for (size_t cell = 1; cell <= cells; cell++)
        offsets[cell] = offsets[0];
    return buffer_write(list->cell_offsets, slab_own_cells(slab) * sizeof *offsets,
                        (cells + 1) * sizeof *offsets, offsets);
}

/* Brings the x of a lost particle, counted in rows from the first own one, to a row and an offset. */
static uint32_t find_lost(const struct slab *slab, enum precision precision, char *state)
{
    double x;
    float x_single;
    if (precision == PRECISION_SINGLE) {
        memcpy(&x_single, state, sizeof x_single);
        x = (double)x_single;
    } else {
        memcpy(&x, state, sizeof x);
    }
    const double row = floor(x), nx = slab->box.nx;
    const double offset = x - row; /* exact: x has digits to spare for no more than that */
    x_single = (float)offset;
    if (precision == PRECISION_SINGLE)
        memcpy(state, &x_single, sizeof x_single);
    else
        memcpy(state, &offset, sizeof offset);
    const double around = row + slab->first_row;
    return (uint32_t)(around - nx * floor(around / nx));
}

struct leavers {
    size_t count;
    char *states;
    uint64_t *ids; /* NULL without ids */
};

static enum status read_leavers(const struct migration *migration, const struct particles *list, size_t first,
                                struct leavers *leavers)
{
    const size_t state = 4 * precision_bytes(migration->precision);
    leavers->states = malloc(leavers->count * state);
    leavers->ids = list->id ? malloc(leavers->count * sizeof *leavers->ids) : NULL;
    if (!leavers->states || (list->id && !leavers->ids))
        return status_fail(STATUS_FAILED, "species %s: no memory for %zu leaving particles",
                           list->species->name, leavers->count);
    TRY(particles_read_states(list, migration->precision, first, leavers->count, leavers->states));
    return list->id ? buffer_read(list->id, first * sizeof *leavers->ids,
                                  leavers->count * sizeof *leavers->ids, leavers->ids)
                    : STATUS_OK;
}

static void record_leavers(const struct migration *migration, const struct slab *slab, size_t cells,
                           const uint32_t *offsets, const struct leavers *leavers,
                           struct travellers *travellers)
{
    const size_t state = 4 * precision_bytes(migration->precision), bytes = migration->record_bytes;
    const uint32_t ny = slab->box.ny;
    for (size_t cell = 0; cell < cells; cell++) {
        if (offsets[cell] == offsets[cell + 1])
            continue;
        const uint32_t local_row = slab->rows + (uint32_t)(cell / ny);
        const bool lost = !slab_is_whole(slab) && local_row == slab_lost_row(slab);
        struct record_head head = {.column = (uint32_t)(cell % ny)};
        head.row = lost ? 0 : slab_global_row(slab, local_row);
        for (size_t n = offsets[cell] - offsets[0]; n < offsets[cell + 1] - offsets[0]; n++) {
            head.id = leavers->ids ? leavers->ids[n] : 0;
            if (lost)
                head.row = find_lost(slab, migration->precision, leavers->states + n * state);
            char *record = travellers->records + travellers->count++ * bytes;
            memcpy(record, &head, sizeof head);
            memcpy(record + sizeof head, leavers->states + n * state, state);
        }
    }
}

enum status migration_collect(struct migration *migration, const struct slab *slab, uint32_t species,
                              struct particles *list)
{
    enum status status = STATUS_OK;
    size_t cells = 0;
    uint32_t *offsets = NULL;
    struct leavers leavers = {0};
    struct travellers *travellers = &migration->waiting[species];
    if (list->count == 0)
        return STATUS_OK;
    TRY_CLEANUP(read_beside(slab, list, &cells, &offsets));
    leavers.count = offsets[cells] - offsets[0];
    if (leavers.count == 0)
        goto cleanup;
    TRY_CLEANUP(make_room(travellers, travellers->count + leavers.count, migration->record_bytes));
    TRY_CLEANUP(read_leavers(migration, list, offsets[0], &leavers));
    record_leavers(migration, slab, cells, offsets, &leavers, travellers);
    TRY_CLEANUP(cut_off(slab, cells, offsets, list));
cleanup:
    free(leavers.states);
    free(leavers.ids);
    free(offsets);
    return status;
}

/* ---- on the way ---- */

static struct record_head head_of(const struct migration *migration, const struct travellers *travellers,
                                  size_t n)
{
    struct record_head head;
    memcpy(&head, travellers->records + n * migration->record_bytes, sizeof head);
    return head;
}

/* Where the travellers to each rank begin; counts[rank] are set. */
static void sort_by_rank(const struct migration *migration, const struct partition *partition,
                         const struct travellers *travellers, uint64_t *counts, char *sorted)
{
    const size_t ranks = (size_t)migration->communicator.size, bytes = migration->record_bytes;
    memset(counts, 0, ranks * sizeof *counts);
    for (size_t n = 0; n < travellers->count; n++)
        counts[partition_owner(partition, head_of(migration, travellers, n).row)]++;
    uint64_t *next = malloc(ranks * sizeof *next);
    if (!next)
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
    next[0] = 0;
    for (size_t rank = 1; rank < ranks; rank++)
        next[rank] = next[rank - 1] + counts[rank - 1];
    for (size_t n = 0; n < travellers->count; n++) {
        const int owner = partition_owner(partition, head_of(migration, travellers, n).row);
        memcpy(sorted + next[owner]++ * bytes, travellers->records + n * bytes, bytes);
    }
    free(next);
}

/* Counts of one species, to and from every rank. */
struct traffic {
    uint64_t *outgoing, *incoming; /* [ranks] each */
    char *sorted;                  /* outgoing records in the order of the ranks */
};

/* Receives from every rank that has something, in the order of the ranks, and sends alike. */
static enum status transfer(struct migration *migration, uint32_t species, const struct traffic *traffic,
                            MPI_Request *requests)
{
    const int ranks = migration->communicator.size;
    const size_t bytes = migration->record_bytes;
    struct travellers *arrived = &migration->arrived[species];
    uint64_t total = 0;
    for (int rank = 0; rank < ranks; rank++)
        total += traffic->incoming[rank];
    if (total > INT32_MAX)
        return status_fail(STATUS_FAILED,
                           "%llu particles would come to one rank in one step; at most 2^31 can",
                           (unsigned long long)total);
    TRY(make_room(arrived, (size_t)total, bytes));
    arrived->count = (size_t)total;
    int pending = 0;
    size_t place = 0;
    for (int rank = 0; rank < ranks; rank++) {
        if (traffic->incoming[rank])
            MPI_Irecv(arrived->records + place * bytes, (int)traffic->incoming[rank], migration->record, rank,
                      (int)species, MPI_COMM_WORLD, &requests[pending++]);
        place += traffic->incoming[rank];
    }
    place = 0;
    for (int rank = 0; rank < ranks; rank++) {
        if (traffic->outgoing[rank])
            MPI_Isend(traffic->sorted + place * bytes, (int)traffic->outgoing[rank], migration->record, rank,
                      (int)species, MPI_COMM_WORLD, &requests[pending++]);
        place += traffic->outgoing[rank];
    }
    MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
    return STATUS_OK;
}

static enum status exchange_species(struct migration *migration, const struct partition *partition,
                                    uint32_t species, struct traffic *traffic, MPI_Request *requests)
{
    struct travellers *waiting = &migration->waiting[species];
    if (waiting->count > INT32_MAX)
        return status_fail(STATUS_FAILED, "%zu particles would leave one rank in one step; at most 2^31 can",
                           waiting->count);
    traffic->sorted = malloc(waiting->count * migration->record_bytes + 1);
    if (!traffic->sorted)
        return status_fail(STATUS_FAILED, "no memory for %zu leaving particles", waiting->count);
    sort_by_rank(migration, partition, waiting, traffic->outgoing, traffic->sorted);
    MPI_Alltoall(traffic->outgoing, 1, MPI_UINT64_T, traffic->incoming, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    const enum status status = transfer(migration, species, traffic, requests);
    free(traffic->sorted);
    migration->left[species] = waiting->count;
    waiting->count = 0;
    return status;
}

enum status migration_exchange(struct migration *migration, const struct partition *partition,
                               uint32_t species_count)
{
    const size_t ranks = (size_t)migration->communicator.size;
    if (ranks == 1)
        return STATUS_OK;
    struct traffic traffic = {.outgoing = malloc(ranks * sizeof(uint64_t)),
                              .incoming = malloc(ranks * sizeof(uint64_t))};
    MPI_Request *requests = malloc(2 * ranks * sizeof *requests);
    enum status status = STATUS_OK;
    if (!traffic.outgoing || !traffic.incoming || !requests)
        status = status_fail(STATUS_FAILED, "no memory for the traffic between ranks");
    for (uint32_t s = 0; s < species_count && status == STATUS_OK; s++)
        status = exchange_species(migration, partition, s, &traffic, requests);
    free(requests);
    free(traffic.incoming);
    free(traffic.outgoing);
    return status;
}

uint64_t migration_arrived(const struct migration *migration, uint32_t species)
{
    return migration->arrived[species].count;
}

uint64_t migration_left(const struct migration *migration, uint32_t species)
{
    return migration->left[species];
}

/* ---- arriving ---- */

/* The arrays of a list, on the host. */
struct arrivals {
    uint32_t *cell_offsets; /* [cells + 1] */
    char *states;
    uint64_t *ids;
    uint32_t *keys;
};

static uint32_t local_cell(const struct slab *slab, const struct record_head *head)
{
    return (head->row - slab->first_row) * slab->box.ny + head->column;
}

/* A counting sort by cell, which keeps the order in which they came. */
static void sort_by_cell(const struct migration *migration, const struct slab *slab,
                         const struct travellers *travellers, struct arrivals *arrivals)
{
    const size_t cells = grid_cells(&slab->local), state = 4 * precision_bytes(migration->precision);
    uint32_t *offsets = arrivals->cell_offsets;
    memset(offsets, 0, (cells + 1) * sizeof *offsets);
    for (size_t n = 0; n < travellers->count; n++) {
        const struct record_head head = head_of(migration, travellers, n);
        offsets[local_cell(slab, &head)]++;
    }
    uint32_t sum = 0;
    for (size_t cell = 0; cell <= cells; cell++) { /* counts -> where the cell's particles end */
        sum += offsets[cell];
        offsets[cell] = sum;
    }
    for (size_t n = travellers->count; n-- > 0;) { /* from the last one down, to where they begin */
        const struct record_head head = head_of(migration, travellers, n);
        const uint32_t cell = local_cell(slab, &head), place = --offsets[cell];
        memcpy(arrivals->states + place * state,
               travellers->records + n * migration->record_bytes + sizeof head, state);
        arrivals->ids[place] = head.id;
        arrivals->keys[place] = cell;
    }
}

static enum status write_list(const struct migration *migration, const struct slab *slab,
                              const struct arrivals *arrivals, size_t count, struct particles *list)
{
    if (count > list->capacity)
        return status_fail(STATUS_FAILED, "species %s: %zu particles arrived where there is room for %u",
                           list->species->name, count, list->capacity);
    TRY(particles_write(list, migration->precision, 0, count, arrivals->states, arrivals->ids,
                        arrivals->keys));
    list->count = (uint32_t)count;
    return buffer_write(list->cell_offsets, 0,
                        (grid_cells(&slab->local) + (size_t)1) * sizeof *arrivals->cell_offsets,
                        arrivals->cell_offsets);
}

enum status migration_deliver(struct migration *migration, const struct slab *slab, uint32_t species,
                              struct particles *list)
{
    struct travellers *travellers = &migration->arrived[species];
    const size_t count = travellers->count;
    struct arrivals arrivals = {
        .cell_offsets = malloc((grid_cells(&slab->local) + (size_t)1) * sizeof *arrivals.cell_offsets),
        .states = malloc(count * 4 * precision_bytes(migration->precision) + 1),
        .ids = malloc(count * sizeof *arrivals.ids + 1),
        .keys = malloc(count * sizeof *arrivals.keys + 1)};
    enum status status;
    if (arrivals.cell_offsets && arrivals.states && arrivals.ids && arrivals.keys) {
        sort_by_cell(migration, slab, travellers, &arrivals);
        status = write_list(migration, slab, &arrivals, count, list);
        travellers->count = 0;
    } else {
        status = status_fail(STATUS_FAILED, "no memory for %zu particles that arrived", count);
    }
    free(arrivals.keys);
    free(arrivals.ids);
    free(arrivals.states);
    free(arrivals.cell_offsets);
    return status;
}
