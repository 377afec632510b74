/* Migrate: from the end of sorted lists to messages, and from messages to sorted lists. */
#include "parallel/migrate.h"

#include "parallel/host_particles.h"

#include <math.h>
#include <string.h>

struct migrate {
    struct communicator communicator;
    const struct partition *partition; /* not owned */
    enum precision precision;
    struct device *device; /* not owned */
    struct device *branch; /* owns the particles held until migrate_deliver(); NULL: there are none */
    struct host_particles waiting[CONFIG_MAX_SPECIES], arrived[CONFIG_MAX_SPECIES], sorted;
    bool is_asked; /* the ranks are asked whether any of them holds particles */
    int any;       /* the answer, valid where `asked` is done or was never begun */
    MPI_Request asked;
    int *sent, *sent_begins, *received, *received_begins; /* [ranks] particles of a species */
    uint32_t *begins;                                     /* [ranks + 1] */
};

enum status migrate_create(struct device *device, const struct communicator *communicator,
                           const struct partition *partition, enum precision precision,
                           struct migrate **migrate)
{
    const size_t ranks = (size_t)communicator->size;
    TRY(DEVICE_NEW(device, *migrate));
    struct migrate *created = *migrate;
    *created = (struct migrate){
        .communicator = *communicator, .partition = partition, .precision = precision, .device = device};
    created->asked = MPI_REQUEST_NULL;
    TRY(DEVICE_NEW_ARRAY(device, created->sent, 4 * ranks));
    created->sent_begins = created->sent + ranks;
    created->received = created->sent + 2 * ranks;
    created->received_begins = created->sent + 3 * ranks;
    return DEVICE_NEW_ARRAY(device, created->begins, ranks + 1);
}

/* ---- what is held ---- */

static enum status hold(struct migrate *migrate)
{
    if (migrate->branch)
        return STATUS_OK;
    TRY(device_branch(migrate->device, &migrate->branch));
    migrate->sorted = (struct host_particles){.device = migrate->branch, .precision = migrate->precision};
    for (uint32_t s = 0; s < CONFIG_MAX_SPECIES; s++)
        migrate->waiting[s] = migrate->arrived[s] = migrate->sorted;
    return STATUS_OK;
}

/* Frees the memory: at a start it held all particles, which the steps do not need. */
static void release(struct migrate *migrate)
{
    device_close(&migrate->branch);
    for (uint32_t s = 0; s < CONFIG_MAX_SPECIES; s++)
        migrate->waiting[s].count = migrate->arrived[s].count = 0;
}

/* Brings the x of a lost particle, counted in rows from the first own one, to a row of the box and an offset.
 */
static uint32_t find_lost(const struct slab *slab, enum precision precision, void *offset)
{
    const bool single = precision == PRECISION_SINGLE;
    const double x = single ? (double)*(float *)offset : *(double *)offset, nx = slab->box.nx;
    const double row = floor(x), around = row + slab->first_row;
    if (single) /* exact: x has digits to spare for no more than that */
        *(float *)offset = (float)(x - row);
    else
        *(double *)offset = x - row;
    return (uint32_t)(around - nx * floor(around / nx));
}

enum status migrate_add(struct migrate *migrate, const struct slab *slab, uint32_t species,
                        uint32_t row_count, const uint32_t *rows, const uint32_t *counts,
                        const struct host_particles *from, size_t first)
{
    const uint32_t ny = slab->box.ny;
    const bool lost = slab_is_lost(slab, rows[0]), arrives = rows[0] < slab->rows;
    size_t count = 0;
    for (size_t cell = 0; cell < (size_t)row_count * ny; cell++)
        count += counts[cell];
    TRY(hold(migrate));
    struct host_particles *to = arrives ? &migrate->arrived[species] : &migrate->waiting[species];
    TRY(host_particles_reserve(to, to->count + count));
    host_particles_copy(from, first, to, to->count, count);
    uint32_t *keys = host_particles_at(to, PART_KEY, 0);
    for (size_t cell = 0; cell < (size_t)row_count * ny; cell++)
        for (uint32_t k = counts[cell]; k > 0; k--, to->count++) {
            const uint32_t row =
                lost ? find_lost(slab, to->precision, host_particles_at(to, ATTRIBUTE_OFFSET, to->count))
                     : slab_global_row(slab, rows[cell / ny]);
            keys[to->count] = row * ny + (uint32_t)(cell % ny);
        }
    return STATUS_OK;
}

/* ---- rows change hands ---- */

/* Reads the particles of cells [begin, end) with their keys. offsets[] are those of the own cells of `from`.
 */
static enum status read_cells(struct migrate *migrate, const struct slab *from, uint32_t species,
                              const struct particles *list, const uint32_t *offsets, uint32_t begin,
                              uint32_t end)
{
    struct host_particles *waiting = &migrate->waiting[species];
    size_t n = waiting->count;
    TRY(host_particles_read(list, offsets[begin], offsets[end] - offsets[begin], waiting));
    uint32_t *keys = host_particles_at(waiting, PART_KEY, 0);
    for (uint32_t cell = begin; cell < end; cell++)
        for (uint32_t p = offsets[cell]; p < offsets[cell + 1]; p++)
            keys[n++] = from->first_row * from->box.ny + cell;
    return STATUS_OK;
}

/* Keeps the particles [begin, end) of the list alone. */
static enum status keep(struct particles *list, uint32_t begin, uint32_t end)
{
    struct particle_array arrays[ATTRIBUTES];
    list->count = end - begin;
    if (begin == 0 || list->count == 0)
        return STATUS_OK;
    for (uint32_t n = particles_arrays(list, arrays); n-- > 0;)
        TRY(buffer_copy(*arrays[n].now, begin * arrays[n].bytes, *arrays[n].spare, 0,
                        list->count * arrays[n].bytes, STAGE_EXCHANGE));
    particles_swap(list);
    return STATUS_OK;
}

static uint32_t clamp(int64_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : (uint32_t)value;
}

enum status migrate_change_slab(struct migrate *migrate, const struct slab *from, const struct slab *to,
                                uint32_t species, struct particles *list)
{
    const uint32_t own = slab_own_cells(from), cells = grid_cells(&to->local);
    const int64_t shift = ((int64_t)to->first_row - from->first_row) * from->box.ny; /* of the first cell */
    const uint32_t begin = clamp(shift, 0, own), end = clamp(shift + slab_own_cells(to), begin, own);
    uint32_t *offsets = NULL, *made = NULL;
    TRY(hold(migrate));
    TRY(DEVICE_NEW_ARRAY(migrate->branch, offsets, own + (size_t)1));
    TRY(DEVICE_NEW_ARRAY(migrate->branch, made, cells + (size_t)1));
    TRY(buffer_read(list->cell_offsets, 0, (own + (size_t)1) * sizeof *offsets, offsets));
    TRY(host_particles_reserve(&migrate->waiting[species], migrate->waiting[species].count + offsets[begin] +
                                                               (offsets[own] - offsets[end])));
    TRY(read_cells(migrate, from, species, list, offsets, 0, begin));
    TRY(read_cells(migrate, from, species, list, offsets, end, own));
    TRY(device_finish_queue(migrate->device));
    TRY(keep(list, offsets[begin], offsets[end]));
    for (uint32_t cell = 0; cell <= cells; cell++)
        made[cell] = offsets[clamp(shift + cell, begin, end)] - offsets[begin];
    buffer_destroy(&list->cell_offsets);
    return buffer_create_with(list->device, (cells + (size_t)1) * sizeof *made, "cell offsets", made,
                              &list->cell_offsets);
}

/* ---- sorting ---- */

/* What particles are sorted by: their owners, or where `partition` is NULL their cells in a slab. */
struct order {
    const struct partition *partition;
    uint32_t ny, first_key;
    uint32_t bins;
};

static uint32_t bin_of(const struct order *order, uint32_t key)
{
    return order->partition ? (uint32_t)partition_owner(order->partition, key / order->ny)
                            : key - order->first_key;
}

/* A stable counting sort; particles of a bin that follow one another are moved together. begins[bins + 1]
 * become those of the bins. */
static enum status sort_into(struct host_particles *sorted, const struct host_particles *particles,
                             const struct order *order, uint32_t *begins)
{
    const size_t count = particles->count;
    const uint32_t *keys = host_particles_at(particles, PART_KEY, 0);
    sorted->count = 0;
    TRY(host_particles_reserve(sorted, count));
    memset(begins, 0, (order->bins + (size_t)1) * sizeof *begins);
    for (size_t n = 0; n < count; n++)
        begins[bin_of(order, keys[n]) + 1]++;
    for (size_t bin = 0; bin < order->bins; bin++)
        begins[bin + 1] += begins[bin];
    for (size_t n = 0, end; n < count; n = end) {
        const uint32_t bin = bin_of(order, keys[n]);
        for (end = n + 1; end < count && bin_of(order, keys[end]) == bin;)
            end++;
        host_particles_copy(particles, n, sorted, begins[bin], end - n);
        begins[bin] += (uint32_t)(end - n);
    }
    memmove(begins + 1, begins, order->bins * sizeof *begins); /* ends of bins are begins of the next */
    begins[0] = 0;
    sorted->count = count;
    return STATUS_OK;
}

/* ---- travelling ---- */

/* Sorts the waiting particles of a species by their owners, and counts how many each gets. */
static enum status prepare(struct migrate *migrate, const struct slab *slab, uint32_t species)
{
    const struct host_particles *waiting = &migrate->waiting[species];
    const struct order order = {migrate->partition, slab->box.ny, 0, (uint32_t)migrate->communicator.size};
    if (waiting->count > INT32_MAX)
        return status_fail(STATUS_FAILED, "%zu particles would leave one rank at a time; fewer than 2^31 can",
                           waiting->count);
    TRY(sort_into(&migrate->sorted, waiting, &order, migrate->begins));
    for (uint32_t rank = 0; rank < order.bins; rank++) {
        migrate->sent_begins[rank] = (int)migrate->begins[rank];
        migrate->sent[rank] = (int)(migrate->begins[rank + 1] - migrate->begins[rank]);
    }
    return STATUS_OK;
}

/* Makes memory for *coming particles behind those that arrived before. */
static enum status reserve_arrivals(struct migrate *migrate, struct host_particles *arrived, size_t *coming)
{
    *coming = 0;
    for (int rank = 0; rank < migrate->communicator.size; rank++) {
        migrate->received_begins[rank] = (int)*coming;
        *coming += (size_t)migrate->received[rank];
    }
    if (*coming > INT32_MAX)
        return status_fail(STATUS_FAILED,
                           "%zu particles would come to one rank at a time; fewer than 2^31 can", *coming);
    return host_particles_reserve(arrived, arrived->count + *coming);
}

/* Sends the waiting particles of a species to their owners. A rank that failed before takes part up to the
 * agreement, or the others would wait for it. */
static enum status travel(struct migrate *migrate, const struct slab *slab, uint32_t species,
                          const struct species_config *config, enum status status)
{
    struct host_particles *waiting = &migrate->waiting[species], *arrived = &migrate->arrived[species];
    size_t coming = 0;
    waiting->species = arrived->species = config;
    TRY_IF_OK(prepare(migrate, slab, species));
    MPI_Alltoall(migrate->sent, 1, MPI_INT, migrate->received, 1, MPI_INT, MPI_COMM_WORLD);
    TRY_IF_OK(reserve_arrivals(migrate, arrived, &coming));
    TRY(communicator_agree(&migrate->communicator, status));
    for (unsigned part = 0; part < PARTS; part++) {
        if (!host_particles_have(arrived, part))
            continue;
        MPI_Datatype type = host_particles_type(arrived, part);
        MPI_Alltoallv(host_particles_at(&migrate->sorted, part, 0), migrate->sent, migrate->sent_begins, type,
                      host_particles_at(arrived, part, arrived->count), migrate->received,
                      migrate->received_begins, type, MPI_COMM_WORLD);
        MPI_Type_free(&type);
    }
    arrived->count += coming;
    return STATUS_OK;
}

/* ---- arriving ---- */

/* Makes the arrived particles a short sorted list, which is merged into the long one, so that the others are
 * not sorted again. */
static enum status bring_in(struct migrate *migrate, const struct slab *slab,
                            const struct host_particles *arrived, struct particles *list)
{
    const uint32_t cells = grid_cells(&slab->local), ny = slab->box.ny;
    const struct order order = {NULL, ny, slab->first_row * ny, cells};
    struct device *branch = migrate->branch;
    struct particles arrivals;
    uint32_t *offsets = NULL;
    TRY(DEVICE_NEW_ARRAY(branch, offsets, cells + (size_t)1));
    TRY(sort_into(&migrate->sorted, arrived, &order, offsets));
    TRY(particles_create(branch, slab, migrate->precision, LAYOUT_SOA, arrived->species,
                         (uint32_t)arrived->count, &arrivals));
    arrivals.count = (uint32_t)arrived->count;
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        if (arrivals.attribute[a])
            TRY(particles_write(&arrivals, a, 0, arrived->count, host_particles_at(&migrate->sorted, a, 0)));
    TRY(buffer_write(arrivals.cell_offsets, 0, (cells + (size_t)1) * sizeof *offsets, offsets));
    TRY(list_merge(migrate->device, cells, list, &arrivals));
    particles_destroy(&arrivals); /* not with the others: there are more species */
    return STATUS_OK;
}

static enum status deliver_all(struct migrate *migrate, const struct slab *slab, uint32_t species_count,
                               struct particles *lists, uint32_t *changed, uint64_t *left)
{
    enum status status = hold(migrate);
    for (uint32_t s = 0; s < species_count; s++) {
        const struct host_particles *arrived = &migrate->arrived[s];
        TRY(travel(migrate, slab, s, lists[s].species, status));
        *left += migrate->waiting[s].count;
        if (arrived->count == 0)
            continue;
        *changed |= UINT32_C(1) << s;
        status = bring_in(migrate, slab, arrived, &lists[s]);
    }
    return communicator_agree(&migrate->communicator, status);
}

bool migrate_holds(const struct migrate *migrate)
{
    size_t held = 0;
    for (uint32_t s = 0; s < CONFIG_MAX_SPECIES; s++)
        held += migrate->waiting[s].count + migrate->arrived[s].count;
    return held > 0;
}

void migrate_ask(struct migrate *migrate)
{
    migrate->any = migrate_holds(migrate);
    MPI_Iallreduce(MPI_IN_PLACE, &migrate->any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &migrate->asked);
    migrate->is_asked = true;
}

void migrate_answer(struct migrate *migrate, bool any)
{
    migrate->any = any;
    migrate->is_asked = true;
}

enum status migrate_deliver(struct migrate *migrate, const struct slab *slab, uint32_t species_count,
                            struct particles *lists, uint32_t *changed, uint64_t *left)
{
    *changed = 0;
    if (!migrate->is_asked)
        migrate_ask(migrate);
    migrate->is_asked = false;
    MPI_Wait(&migrate->asked, MPI_STATUS_IGNORE);
    const enum status status =
        migrate->any ? deliver_all(migrate, slab, species_count, lists, changed, left) : STATUS_OK;
    release(migrate);
    return status;
}
