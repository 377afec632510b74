/* Migration: from the end of sorted lists to messages, and from messages to a sorted list. */
#include "parallel/migration.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Particles on the host: each is one record of bytes, a head and its state, real[4], as the device stores it.
 */
struct record_head {
    uint64_t id;          /* 0 without ids */
    uint32_t row, column; /* of the box */
};

struct travellers {
    size_t count, room;
    char *records; /* owned: room of them */
};

/* Memory for transfers from and to the device, which grows. */
struct staging {
    struct host_memory *host_memory;
    void *memory;
    size_t bytes;
};

enum staging_kind { STAGED_CELLS, STAGED_IDS, STAGED_STATES, STAGED_KEYS, STAGED_KINDS };

struct migration {
    struct communicator communicator;
    struct device *device; /* not owned */
    enum precision precision;
    size_t record_bytes;
    MPI_Datatype record;
    struct staging staging[STAGED_KINDS];
    struct travellers waiting[CONFIG_MAX_SPECIES], arrived[CONFIG_MAX_SPECIES], sorted;
    uint64_t left[CONFIG_MAX_SPECIES];
};

enum status migration_create(const struct communicator *communicator, struct device *device,
                             enum precision precision, struct migration **migration)
{
    *migration = calloc(1, sizeof **migration);
    if (!*migration)
        return status_fail(STATUS_FAILED, "no memory for the exchange of particles");
    (*migration)->communicator = *communicator;
    (*migration)->device = device;
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
    free((*migration)->sorted.records);
    for (int kind = 0; kind < STAGED_KINDS; kind++)
        host_memory_destroy(&(*migration)->staging[kind].host_memory);
    if ((*migration)->record != MPI_DATATYPE_NULL)
        MPI_Type_free(&(*migration)->record);
    free(*migration);
    *migration = NULL;
}

static enum status make_room(const struct migration *migration, struct travellers *travellers, size_t count)
{
    if (count <= travellers->room)
        return STATUS_OK;
    const size_t room = count + count / 4;
    char *records = realloc(travellers->records, room * migration->record_bytes);
    if (!records)
        return status_fail(STATUS_FAILED, "no memory for %zu particles on their way to other ranks", count);
    travellers->records = records;
    travellers->room = room;
    return STATUS_OK;
}

/* At least `bytes` bytes for a kind of data; what was in it is lost. */
static enum status stage(struct migration *migration, enum staging_kind kind, size_t bytes, void **memory)
{
    struct staging *staging = &migration->staging[kind];
    if (bytes > staging->bytes || !staging->memory) {
        host_memory_destroy(&staging->host_memory);
        staging->bytes = bytes + bytes / 4;
        TRY(host_memory_create(migration->device, staging->bytes, &staging->host_memory, &staging->memory));
    }
    *memory = staging->memory;
    return STATUS_OK;
}

/* ---- leaving ---- */

/* What a list says of the rows beside the own ones. */
struct leavers {
    size_t cells, count;
    uint32_t *offsets; /* [cells + 1], from where the own cells end */
    char *states;
    uint64_t *ids; /* NULL without ids */
};

static enum status read_beside(struct migration *migration, const struct slab *slab,
                               const struct particles *list, struct leavers *leavers)
{
    const size_t own = slab_own_cells(slab), word = sizeof *leavers->offsets;
    void *memory = NULL;
    leavers->cells = grid_cells(&slab->local) - own;
    TRY(stage(migration, STAGED_CELLS, (leavers->cells + 1) * word, &memory));
    leavers->offsets = memory;
    TRY(buffer_read(list->cell_offsets, own * word, (leavers->cells + 1) * word, memory));
    leavers->count = leavers->offsets[leavers->cells] - leavers->offsets[0];
    return STATUS_OK;
}

static enum status read_leavers(struct migration *migration, const struct particles *list,
                                struct leavers *leavers)
{
    void *memory = NULL;
    TRY(stage(migration, STAGED_STATES, leavers->count * 4 * precision_bytes(migration->precision), &memory));
    leavers->states = memory;
    TRY(particles_read_states(list, migration->precision, leavers->offsets[0], leavers->count, memory));
    if (!list->id)
        return STATUS_OK;
    const size_t each = sizeof *leavers->ids;
    TRY(stage(migration, STAGED_IDS, leavers->count * each, &memory));
    leavers->ids = memory;
    return buffer_read(list->id, leavers->offsets[0] * each, leavers->count * each, memory);
}

/* From now on the list ends with its own cells. */
static enum status cut_off(const struct slab *slab, const struct leavers *leavers, struct particles *list)
{
    uint32_t *offsets = leavers->offsets;
    list->count = offsets[0];
    for (size_t cell = 1; cell <= leavers->cells; cell++)
        offsets[cell] = offsets[0];
    return buffer_write(list->cell_offsets, slab_own_cells(slab) * sizeof *offsets,
                        (leavers->cells + 1) * sizeof *offsets, offsets);
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

/* A head and a state as a record; the sizes are constants, so that copies are a few moves. */
static void write_record(const struct migration *migration, const struct record_head *head, const char *state,
                         char *record)
{
    memcpy(record, head, sizeof *head);
    if (migration->precision == PRECISION_SINGLE)
        memcpy(record + sizeof *head, state, 4 * sizeof(float));
    else
        memcpy(record + sizeof *head, state, 4 * sizeof(double));
}

static void record_leavers(const struct migration *migration, const struct slab *slab,
                           const struct leavers *leavers, struct travellers *travellers)
{
    const size_t state = 4 * precision_bytes(migration->precision), bytes = migration->record_bytes;
    const uint32_t ny = slab->box.ny, *offsets = leavers->offsets;
    for (size_t cell = 0; cell < leavers->cells; cell++) {
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
            write_record(migration, &head, leavers->states + n * state,
                         travellers->records + travellers->count++ * bytes);
        }
    }
}

enum status migration_collect(struct migration *migration, const struct slab *slab, uint32_t species,
                              struct particles *list)
{
    struct travellers *travellers = &migration->waiting[species];
    struct leavers leavers = {0};
    if (list->count == 0)
        return STATUS_OK;
    TRY(read_beside(migration, slab, list, &leavers));
    if (leavers.count == 0)
        return STATUS_OK;
    TRY(make_room(migration, travellers, travellers->count + leavers.count));
    TRY(read_leavers(migration, list, &leavers));
    record_leavers(migration, slab, &leavers, travellers);
    return cut_off(slab, &leavers, list);
}

/* ---- on the way ---- */

static struct record_head head_of(const struct migration *migration, const struct travellers *travellers,
                                  size_t n)
{
    struct record_head head;
    memcpy(&head, travellers->records + n * migration->record_bytes, sizeof head);
    return head;
}

/* Those from record `first` on who go to the same row: they stand together, but for the lost. */
static size_t run_length(const struct migration *migration, const struct travellers *travellers, size_t first)
{
    const uint32_t row = head_of(migration, travellers, first).row;
    size_t end = first + 1;
    while (end < travellers->count && head_of(migration, travellers, end).row == row)
        end++;
    return end - first;
}

/* Brings the travellers into the order of the ranks they go to; counts[rank] of them to each. */
static enum status sort_by_rank(struct migration *migration, const struct partition *partition,
                                const struct travellers *travellers, uint64_t *counts)
{
    const size_t ranks = (size_t)migration->communicator.size, bytes = migration->record_bytes;
    TRY(make_room(migration, &migration->sorted, travellers->count));
    uint64_t *next = calloc(ranks, sizeof *next);
    if (!next)
        return status_fail(STATUS_FAILED, "no memory for the traffic between ranks");
    memset(counts, 0, ranks * sizeof *counts);
    for (size_t n = 0, run; n < travellers->count; n += run) {
        run = run_length(migration, travellers, n);
        counts[partition_owner(partition, head_of(migration, travellers, n).row)] += run;
    }
    for (size_t rank = 1; rank < ranks; rank++)
        next[rank] = next[rank - 1] + counts[rank - 1];
    for (size_t n = 0, run; n < travellers->count; n += run) {
        run = run_length(migration, travellers, n);
        const int owner = partition_owner(partition, head_of(migration, travellers, n).row);
        memcpy(migration->sorted.records + next[owner] * bytes, travellers->records + n * bytes, run * bytes);
        next[owner] += run;
    }
    free(next);
    return STATUS_OK;
}

/* Counts of one species, to and from every rank. */
struct traffic {
    uint64_t *outgoing, *incoming; /* [ranks] each */
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
    TRY(make_room(migration, arrived, (size_t)total));
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
            MPI_Isend(migration->sorted.records + place * bytes, (int)traffic->outgoing[rank],
                      migration->record, rank, (int)species, MPI_COMM_WORLD, &requests[pending++]);
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
    TRY(sort_by_rank(migration, partition, waiting, traffic->outgoing));
    MPI_Alltoall(traffic->outgoing, 1, MPI_UINT64_T, traffic->incoming, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    const enum status status = transfer(migration, species, traffic, requests);
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

static uint32_t local_cell(const struct slab *slab, const struct record_head *head)
{
    return (head->row - slab->first_row) * slab->box.ny + head->column;
}

/* Records, in the order that `place` says or their own, as the arrays of a list. */
struct arrays {
    char *states;
    uint64_t *ids;
    uint32_t *keys;
};

static enum status stage_arrays(struct migration *migration, size_t count, struct arrays *arrays)
{
    void *memory = NULL;
    TRY(stage(migration, STAGED_STATES, count * 4 * precision_bytes(migration->precision), &memory));
    arrays->states = memory;
    TRY(stage(migration, STAGED_IDS, count * sizeof *arrays->ids, &memory));
    arrays->ids = memory;
    TRY(stage(migration, STAGED_KEYS, count * sizeof *arrays->keys, &memory));
    arrays->keys = memory;
    return STATUS_OK;
}

static void place_record(const struct migration *migration, const struct slab *slab,
                         const struct travellers *travellers, size_t n, size_t place,
                         const struct arrays *arrays)
{
    const struct record_head head = head_of(migration, travellers, n);
    const size_t state = 4 * precision_bytes(migration->precision);
    memcpy(arrays->states + place * state, travellers->records + n * migration->record_bytes + sizeof head,
           state);
    arrays->ids[place] = head.id;
    arrays->keys[place] = local_cell(slab, &head);
}

/* A counting sort by cell, which keeps the order in which they came. */
static void sort_by_cell(const struct migration *migration, const struct slab *slab,
                         const struct travellers *travellers, const struct arrays *arrays, uint32_t *offsets)
{
    const size_t cells = grid_cells(&slab->local);
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
        place_record(migration, slab, travellers, n, --offsets[local_cell(slab, &head)], arrays);
    }
}

static enum status require_room(size_t count, const struct particles *list)
{
    if (list->count + count <= list->capacity)
        return STATUS_OK;
    return status_fail(STATUS_FAILED, "species %s: %zu particles arrived where there is room for %u",
                       list->species->name, count, list->capacity - list->count);
}

enum status migration_append(struct migration *migration, const struct slab *slab, uint32_t species,
                             struct particles *list)
{
    struct travellers *travellers = &migration->arrived[species];
    const size_t count = travellers->count;
    struct arrays arrays;
    TRY(require_room(count, list));
    TRY(stage_arrays(migration, count, &arrays));
    for (size_t n = 0; n < count; n++)
        place_record(migration, slab, travellers, n, n, &arrays);
    TRY(particles_write(list, migration->precision, list->count, count, arrays.states, arrays.ids,
                        arrays.keys));
    list->count += (uint32_t)count;
    travellers->count = 0;
    return STATUS_OK;
}

enum status migration_deliver(struct migration *migration, const struct slab *slab, uint32_t species,
                              struct particles *list)
{
    struct travellers *travellers = &migration->arrived[species];
    const size_t count = travellers->count,
                 offsets_bytes = (grid_cells(&slab->local) + (size_t)1) * sizeof(uint32_t);
    struct arrays arrays;
    void *offsets = NULL;
    list->count = 0;
    TRY(require_room(count, list));
    TRY(stage_arrays(migration, count, &arrays));
    TRY(stage(migration, STAGED_CELLS, offsets_bytes, &offsets));
    sort_by_cell(migration, slab, travellers, &arrays, offsets);
    TRY(particles_write(list, migration->precision, 0, count, arrays.states, arrays.ids, arrays.keys));
    list->count = (uint32_t)count;
    travellers->count = 0;
    return buffer_write(list->cell_offsets, 0, offsets_bytes, offsets);
}
