/* Migration: from the end of sorted lists to messages, and from messages to a list.
 *
 * Those who go to one rank stand together in a list, in a run or two. So nobody is packed: the arrays of the
 * leavers come to the host as they are, and a message takes the runs of its rank out of them.
 */
#include "parallel/migration.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a traveller, an array each. */
enum part { PART_KEYS, PART_OFFSETS, PART_VELOCITIES, PART_IDS, PARTS };

/* An array in memory that the device reaches without a detour; it grows. */
struct array {
    struct host_memory *host_memory;
    char *elements;
    size_t room; /* bytes */
};

/* Particles on the host: uint keys (of the box, not of a slab), real2 offsets and velocities, ulong ids. */
struct travellers {
    size_t count;
    struct array parts[PARTS];
};

/* Travellers that stand together and go to one rank. */
struct run {
    int owner;
    size_t begin, count;
};

struct runs {
    size_t count, room;
    struct run *items; /* owned */
};

struct migration {
    struct communicator communicator;
    struct device *device; /* not owned */
    enum precision precision;
    size_t bytes[PARTS];         /* of an element */
    MPI_Datatype element[PARTS]; /* the same, where there are several ranks */
    struct array cells, states;  /* on the way from and to the device */
    struct travellers waiting[CONFIG_MAX_SPECIES], arrived[CONFIG_MAX_SPECIES], sorted;
    struct runs runs[CONFIG_MAX_SPECIES]; /* of those who wait */
    uint64_t left[CONFIG_MAX_SPECIES];
    bool has_ids[CONFIG_MAX_SPECIES];
};

/* ---- birth and death ---- */

enum status migration_create(const struct communicator *communicator, struct device *device,
                             enum precision precision, struct migration **migration)
{
    *migration = calloc(1, sizeof **migration);
    if (!*migration)
        return status_fail(STATUS_FAILED, "no memory for the exchange of particles");
    const size_t pair = 2 * precision_bytes(precision);
    **migration = (struct migration){.communicator = *communicator,
                                     .device = device,
                                     .precision = precision,
                                     .bytes = {sizeof(uint32_t), pair, pair, sizeof(uint64_t)}};
    for (int part = 0; part < PARTS && communicator->size > 1; part++) {
        MPI_Type_contiguous((int)(*migration)->bytes[part], MPI_BYTE, &(*migration)->element[part]);
        MPI_Type_commit(&(*migration)->element[part]);
    }
    return STATUS_OK;
}

static void destroy_travellers(struct travellers *travellers)
{
    for (int part = 0; part < PARTS; part++)
        host_memory_destroy(&travellers->parts[part].host_memory);
}

void migration_destroy(struct migration **migration)
{
    struct migration *old = *migration;
    if (!old)
        return;
    for (uint32_t s = 0; s < CONFIG_MAX_SPECIES; s++) {
        destroy_travellers(&old->waiting[s]);
        destroy_travellers(&old->arrived[s]);
        free(old->runs[s].items);
    }
    destroy_travellers(&old->sorted);
    host_memory_destroy(&old->cells.host_memory);
    host_memory_destroy(&old->states.host_memory);
    for (int part = 0; part < PARTS && old->communicator.size > 1; part++)
        MPI_Type_free(&old->element[part]);
    free(old);
    *migration = NULL;
}

/* At least `bytes` bytes, of which the first `kept` stay as they are. */
static enum status grow(const struct migration *migration, struct array *array, size_t kept, size_t bytes)
{
    if (bytes <= array->room && array->elements)
        return STATUS_OK;
    struct array grown = {.room = bytes + bytes / 4};
    void *memory = NULL;
    TRY(host_memory_create(migration->device, grown.room, &grown.host_memory, &memory));
    grown.elements = memory;
    if (kept > 0)
        memcpy(grown.elements, array->elements, kept);
    host_memory_destroy(&array->host_memory);
    *array = grown;
    return STATUS_OK;
}

static enum status make_room(const struct migration *migration, struct travellers *travellers, size_t count)
{
    for (int part = 0; part < PARTS; part++)
        TRY(grow(migration, &travellers->parts[part], travellers->count * migration->bytes[part],
                 count * migration->bytes[part]));
    return STATUS_OK;
}

/* Where the elements from number n on lie. */
static char *element(const struct migration *migration, const struct travellers *travellers, enum part part,
                     size_t n)
{
    return travellers->parts[part].elements + n * migration->bytes[part];
}

/* ---- leaving ---- */

/* Quads as offsets and velocities. */
static enum status read_quads(struct migration *migration, const struct particles *list, size_t first,
                              size_t count, char *offsets, char *velocities)
{
    const size_t pair = migration->bytes[PART_OFFSETS];
    TRY(grow(migration, &migration->states, 0, 2 * count * pair));
    const char *states = migration->states.elements;
    TRY(buffer_read(list->quad, 2 * first * pair, 2 * count * pair, migration->states.elements));
    for (size_t n = 0; n < count; n++) {
        memcpy(offsets + n * pair, states + 2 * n * pair, pair);
        memcpy(velocities + n * pair, states + (2 * n + 1) * pair, pair);
    }
    return STATUS_OK;
}

/* All but the keys of the list's particles from `first` on, behind those who wait. */
static enum status read_leavers(struct migration *migration, const struct particles *list, size_t first,
                                size_t count, struct travellers *travellers)
{
    const size_t pair = migration->bytes[PART_OFFSETS], id = migration->bytes[PART_IDS];
    char *offsets = element(migration, travellers, PART_OFFSETS, travellers->count);
    char *velocities = element(migration, travellers, PART_VELOCITIES, travellers->count);
    if (list->id)
        TRY(buffer_read(list->id, first * id, count * id,
                        element(migration, travellers, PART_IDS, travellers->count)));
    if (list->quad)
        return read_quads(migration, list, first, count, offsets, velocities);
    TRY(buffer_read(list->offset, first * pair, count * pair, offsets));
    return buffer_read(list->velocity, first * pair, count * pair, velocities);
}

/* Brings the x of a lost particle, counted in rows from the first own one, to a row of the box and an offset.
 */
static uint32_t find_lost(const struct slab *slab, enum precision precision, char *offset)
{
    double x;
    float x_single;
    if (precision == PRECISION_SINGLE) {
        memcpy(&x_single, offset, sizeof x_single);
        x = (double)x_single;
    } else {
        memcpy(&x, offset, sizeof x);
    }
    const double row = floor(x), nx = slab->box.nx;
    const double rest = x - row; /* exact: x has digits to spare for no more than that */
    x_single = (float)rest;
    if (precision == PRECISION_SINGLE)
        memcpy(offset, &x_single, sizeof x_single);
    else
        memcpy(offset, &rest, sizeof rest);
    const double around = row + slab->first_row;
    return (uint32_t)(around - nx * floor(around / nx));
}

static enum status add_run(struct runs *runs, int owner, size_t begin, size_t count)
{
    struct run *last = runs->count > 0 ? &runs->items[runs->count - 1] : NULL;
    if (last && last->owner == owner && last->begin + last->count == begin) {
        last->count += count;
        return STATUS_OK;
    }
    if (runs->count == runs->room) {
        const size_t room = 2 * runs->room + 16;
        struct run *items = realloc(runs->items, room * sizeof *items);
        if (!items)
            return status_fail(STATUS_FAILED, "no memory for the traffic between ranks");
        runs->items = items;
        runs->room = room;
    }
    runs->items[runs->count++] = (struct run){owner, begin, count};
    return STATUS_OK;
}

/* Where one who leaves is bound for. */
struct bound {
    const struct slab *slab;
    const struct partition *partition;
    uint32_t species;
};

/* Keys and runs of the travellers [begin, end) of one cell beside the own rows. */
static enum status bind_cell(struct migration *migration, const struct bound *bound, size_t cell,
                             size_t begin, size_t end)
{
    const struct slab *slab = bound->slab;
    struct travellers *travellers = &migration->waiting[bound->species];
    struct runs *runs = &migration->runs[bound->species];
    uint32_t *keys = (uint32_t *)element(migration, travellers, PART_KEYS, 0);
    const uint32_t ny = slab->box.ny, local_row = slab->rows + (uint32_t)(cell / ny);
    const uint32_t column = (uint32_t)(cell % ny);
    if (slab_is_whole(slab) || local_row != slab_lost_row(slab)) {
        const uint32_t row = slab_global_row(slab, local_row);
        for (size_t n = begin; n < end; n++)
            keys[n] = row * ny + column;
        return add_run(runs, partition_owner(bound->partition, row), begin, end - begin);
    }
    for (size_t n = begin; n < end; n++) {
        const uint32_t row =
            find_lost(slab, migration->precision, element(migration, travellers, PART_OFFSETS, n));
        keys[n] = row * ny + column;
        TRY(add_run(runs, partition_owner(bound->partition, row), n, 1));
    }
    return STATUS_OK;
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

enum status migration_collect(struct migration *migration, const struct slab *slab,
                              const struct partition *partition, uint32_t species, struct particles *list)
{
    const struct bound bound = {slab, partition, species};
    struct travellers *travellers = &migration->waiting[species];
    const size_t own = slab_own_cells(slab), cells = grid_cells(&slab->local) - own;
    const size_t word = sizeof(uint32_t), there = travellers->count;
    migration->has_ids[species] = list->id != NULL;
    if (list->count == 0)
        return STATUS_OK;
    TRY(grow(migration, &migration->cells, 0, (cells + 1) * word));
    uint32_t *offsets = (uint32_t *)migration->cells.elements;
    TRY(buffer_read(list->cell_offsets, own * word, (cells + 1) * word, offsets));
    const size_t count = offsets[cells] - offsets[0];
    if (count == 0)
        return STATUS_OK;
    TRY(make_room(migration, travellers, there + count));
    TRY(read_leavers(migration, list, offsets[0], count, travellers));
    for (size_t cell = 0; cell < cells; cell++)
        if (offsets[cell + 1] > offsets[cell])
            TRY(bind_cell(migration, &bound, cell, there + offsets[cell] - offsets[0],
                          there + offsets[cell + 1] - offsets[0]));
    travellers->count += count;
    return cut_off(slab, cells, offsets, list);
}

/* ---- who comes another way ---- */

/* Behind the others; returns how many there are now. */
static enum status add_migrants(struct migration *migration, uint32_t species, uint32_t ny,
                                const struct migrants *migrants, struct travellers *travellers, size_t *there)
{
    size_t count = 0;
    for (uint32_t j = 0; j < ny; j++)
        count += migrants->counts[j];
    migration->has_ids[species] = migrants->ids != NULL;
    *there = travellers->count;
    TRY(make_room(migration, travellers, travellers->count + count));
    const void *const states[PARTS] = {NULL, migrants->offsets, migrants->velocities, migrants->ids};
    for (enum part part = PART_OFFSETS; part < PARTS && count > 0; part++)
        if (states[part])
            memcpy(element(migration, travellers, part, travellers->count), states[part],
                   count * migration->bytes[part]);
    travellers->count += count;
    return STATUS_OK;
}

enum status migration_add_lost(struct migration *migration, const struct slab *slab,
                               const struct partition *partition, uint32_t species,
                               const struct migrants *lost)
{
    const struct bound bound = {slab, partition, species};
    const uint32_t ny = slab->box.ny, row = slab_lost_row(slab) - slab->rows;
    size_t there;
    TRY(add_migrants(migration, species, ny, lost, &migration->waiting[species], &there));
    for (uint32_t j = 0; j < ny; j++) {
        if (lost->counts[j] > 0)
            TRY(bind_cell(migration, &bound, (size_t)row * ny + j, there, there + lost->counts[j]));
        there += lost->counts[j];
    }
    return STATUS_OK;
}

enum status migration_add_arrived(struct migration *migration, const struct grid *box, uint32_t row,
                                  uint32_t species, const struct migrants *arrived)
{
    struct travellers *travellers = &migration->arrived[species];
    size_t there;
    TRY(add_migrants(migration, species, box->ny, arrived, travellers, &there));
    uint32_t *keys = (uint32_t *)element(migration, travellers, PART_KEYS, 0);
    for (uint32_t j = 0; j < box->ny; j++)
        for (uint32_t n = 0; n < arrived->counts[j]; n++)
            keys[there++] = row * box->ny + j;
    return STATUS_OK;
}

/* ---- on the way ---- */

/* The traffic of one species with all ranks. */
struct traffic {
    uint64_t *outgoing, *incoming; /* [ranks] particles */
    int *lengths, *begins;         /* [runs] of one rank at a time */
    MPI_Request *requests;         /* [2 PARTS ranks] */
    int pending;
};

static void traffic_free(struct traffic *traffic)
{
    free(traffic->outgoing);
    free(traffic->incoming);
    free(traffic->lengths);
    free(traffic->begins);
    free(traffic->requests);
}

static enum status traffic_make(size_t ranks, size_t runs, struct traffic *traffic)
{
    *traffic = (struct traffic){.outgoing = calloc(ranks, sizeof *traffic->outgoing),
                                .incoming = calloc(ranks, sizeof *traffic->incoming),
                                .lengths = malloc((runs + 1) * sizeof *traffic->lengths),
                                .begins = malloc((runs + 1) * sizeof *traffic->begins),
                                .requests = malloc(2 * PARTS * ranks * sizeof *traffic->requests)};
    if (traffic->outgoing && traffic->incoming && traffic->lengths && traffic->begins && traffic->requests)
        return STATUS_OK;
    traffic_free(traffic);
    return status_fail(STATUS_FAILED, "no memory for the traffic between ranks");
}

/* Ids come last, where there are some. */
static enum part parts_of(const struct migration *migration, uint32_t species)
{
    return migration->has_ids[species] ? PARTS : PART_IDS;
}

/* Receives from every rank that has something, in the order of the ranks. */
static void receive(struct migration *migration, uint32_t species, struct traffic *traffic)
{
    size_t place = migration->arrived[species].count;
    for (int rank = 0; rank < migration->communicator.size; rank++) {
        for (enum part part = 0; part < parts_of(migration, species) && traffic->incoming[rank] > 0; part++)
            MPI_Irecv(element(migration, &migration->arrived[species], part, place),
                      (int)traffic->incoming[rank], migration->element[part], rank,
                      (int)(species * PARTS + part), MPI_COMM_WORLD, &traffic->requests[traffic->pending++]);
        place += traffic->incoming[rank];
    }
}

/* Sends every rank its runs, as one message an array. */
static void send(struct migration *migration, uint32_t species, struct traffic *traffic)
{
    const struct runs *runs = &migration->runs[species];
    for (int rank = 0; rank < migration->communicator.size; rank++) {
        int count = 0;
        for (size_t n = 0; n < runs->count; n++)
            if (runs->items[n].owner == rank) {
                traffic->lengths[count] = (int)runs->items[n].count;
                traffic->begins[count++] = (int)runs->items[n].begin;
            }
        for (enum part part = 0; part < parts_of(migration, species) && count > 0; part++) {
            MPI_Datatype message;
            MPI_Type_indexed(count, traffic->lengths, traffic->begins, migration->element[part], &message);
            MPI_Type_commit(&message);
            MPI_Isend(element(migration, &migration->waiting[species], part, 0), 1, message, rank,
                      (int)(species * PARTS + part), MPI_COMM_WORLD, &traffic->requests[traffic->pending++]);
            MPI_Type_free(&message); /* once the message is gone */
        }
    }
}

static enum status exchange_species(struct migration *migration, uint32_t species, struct traffic *traffic)
{
    struct travellers *waiting = &migration->waiting[species], *arrived = &migration->arrived[species];
    struct runs *runs = &migration->runs[species];
    for (size_t n = 0; n < runs->count; n++)
        traffic->outgoing[runs->items[n].owner] += runs->items[n].count;
    MPI_Alltoall(traffic->outgoing, 1, MPI_UINT64_T, traffic->incoming, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    uint64_t total = 0;
    for (int rank = 0; rank < migration->communicator.size; rank++)
        total += traffic->incoming[rank];
    if (total > INT32_MAX || waiting->count > INT32_MAX)
        return status_fail(
            STATUS_FAILED,
            "%llu particles would leave one rank and %llu come there in one step; at most 2^31 "
            "can",
            (unsigned long long)waiting->count, (unsigned long long)total);
    TRY(make_room(migration, arrived, arrived->count + (size_t)total));
    receive(migration, species, traffic);
    send(migration, species, traffic);
    MPI_Waitall(traffic->pending, traffic->requests, MPI_STATUSES_IGNORE);
    arrived->count += (size_t)total;
    migration->left[species] = waiting->count;
    waiting->count = runs->count = 0;
    return STATUS_OK;
}

enum status migration_exchange(struct migration *migration, uint32_t species_count)
{
    if (migration->communicator.size == 1)
        return STATUS_OK;
    for (uint32_t s = 0; s < species_count; s++) {
        struct traffic traffic;
        TRY(traffic_make((size_t)migration->communicator.size, migration->runs[s].count, &traffic));
        const enum status status = exchange_species(migration, s, &traffic);
        traffic_free(&traffic);
        TRY(status);
    }
    return STATUS_OK;
}

uint64_t migration_arrived(const struct migration *migration, uint32_t species)
{
    return migration->arrived[species].count;
}

uint64_t migration_left(const struct migration *migration, uint32_t species)
{
    return migration->left[species];
}

uint64_t migration_held(const struct migration *migration, uint32_t species)
{
    return migration->waiting[species].count + migration->arrived[species].count;
}

/* ---- arriving ---- */

/* Keys of the box become those of the slab, whose first row is its own. */
static void make_local(const struct migration *migration, const struct slab *slab,
                       struct travellers *travellers)
{
    uint32_t *keys = (uint32_t *)element(migration, travellers, PART_KEYS, 0);
    const uint32_t first_key = slab->first_row * slab->box.ny;
    for (size_t n = 0; n < travellers->count; n++)
        keys[n] -= first_key;
}

/* Writes travellers behind the particles of a list of pairs. */
static enum status write_behind(const struct migration *migration, const struct travellers *travellers,
                                struct particles *list)
{
    const size_t count = travellers->count;
    if (list->count + count > list->capacity)
        return status_fail(STATUS_FAILED, "species %s: %zu particles arrived where there is room for %u",
                           list->species->name, count, list->capacity - list->count);
    struct buffer *const buffers[PARTS] = {list->key, list->offset, list->velocity, list->id};
    for (enum part part = 0; part < PARTS; part++)
        if (buffers[part])
            TRY(buffer_write(buffers[part], list->count * migration->bytes[part],
                             count * migration->bytes[part], element(migration, travellers, part, 0)));
    list->count += (uint32_t)count;
    return STATUS_OK;
}

enum status migration_append(struct migration *migration, const struct slab *slab, uint32_t species,
                             struct particles *list)
{
    struct travellers *travellers = &migration->arrived[species];
    make_local(migration, slab, travellers);
    TRY(write_behind(migration, travellers, list));
    travellers->count = 0;
    return STATUS_OK;
}

/* A counting sort by cell into migration->sorted, which keeps the order in which they came. */
static void sort_by_cell(struct migration *migration, const struct travellers *travellers, size_t cells,
                         uint32_t *offsets)
{
    const uint32_t *keys = (const uint32_t *)element(migration, travellers, PART_KEYS, 0);
    memset(offsets, 0, (cells + 1) * sizeof *offsets);
    for (size_t n = 0; n < travellers->count; n++)
        offsets[keys[n]]++;
    uint32_t sum = 0;
    for (size_t cell = 0; cell <= cells; cell++) { /* counts -> where the cell's particles end */
        sum += offsets[cell];
        offsets[cell] = sum;
    }
    for (size_t n = travellers->count; n-- > 0;) { /* from the last one down, to where they begin */
        const uint32_t place = --offsets[keys[n]];
        for (enum part part = 0; part < PARTS; part++)
            memcpy(element(migration, &migration->sorted, part, place),
                   element(migration, travellers, part, n), migration->bytes[part]);
    }
}

enum status migration_deliver(struct migration *migration, const struct slab *slab, uint32_t species,
                              struct particles *list)
{
    struct travellers *travellers = &migration->arrived[species];
    const size_t cells = grid_cells(&slab->local), offsets_bytes = (cells + 1) * sizeof(uint32_t);
    migration->sorted.count = 0;
    TRY(make_room(migration, &migration->sorted, travellers->count));
    TRY(grow(migration, &migration->cells, 0, offsets_bytes));
    make_local(migration, slab, travellers);
    sort_by_cell(migration, travellers, cells, (uint32_t *)migration->cells.elements);
    migration->sorted.count = travellers->count;
    list->count = 0;
    TRY(write_behind(migration, &migration->sorted, list));
    travellers->count = 0;
    return buffer_write(list->cell_offsets, 0, offsets_bytes, migration->cells.elements);
}
