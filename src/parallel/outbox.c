/* Outboxes: how they lie in the shared memory. */
#include "parallel/outbox.h"

#include "base/integers.h"
#include "parallel/shared_memory.h"

struct outbox {
    uint32_t *leaving;                  /* particles */
    uint32_t *answer;                   /* for outboxes_send() */
    uint32_t *counts;                   /* [cells beside the rank's rows] */
    struct host_particles particles[2]; /* used in turn */
};

struct outboxes {
    struct device *device, *branch; /* not owned; its branch that owns the shared memory */
    const struct communicator *communicator;
    enum precision precision;
    struct shared_memory shared;
    struct outbox *of; /* [ranks] */
    size_t numbers;    /* bytes of what stands before the particles of a rank */
    size_t capacity;   /* particles of a rank, for each turn */
    size_t most;       /* particles that left a rank in the last exchange */
    size_t refused;    /* as many particles could not be had; 0: none were asked for in vain */
    uint32_t turn;
};

/* Of the particles of all ranks, for each turn: at first, since containers often share 64 MiB, and grown. */
enum { MOST_BYTES = 3 << 23, GROWN_BYTES = 1 << 28 };

/* Cells beside the slab of any rank. */
static size_t most_beside(const struct rank_place *place)
{
    size_t most = 0;
    for (int rank = 0; rank < place->communicator->size; rank++) {
        const struct slab slab = ghost_slab(place, rank);
        const size_t beside = (size_t)(slab.local.nx - slab.rows) * slab.box.ny;
        most = beside > most ? beside : most;
    }
    return most;
}

/* Collective. New outboxes of `bytes` for the particles of each turn in place of any before, which stay where
 * the memory cannot be had. */
static enum status share(struct outboxes *outboxes, size_t bytes)
{
    struct device *branch = NULL;
    struct shared_memory shared;
    const size_t ranks = (size_t)outboxes->communicator->size, part = buffer_view_stride(bytes),
                 each = outboxes->numbers + 2 * part;
    enum status status = device_finish(outboxes->device); /* it may still read what came last */
    TRY_IF_OK(device_branch(outboxes->device, &branch));
    TRY(communicator_agree(outboxes->communicator, status));
    if (shared_memory_create(outboxes->communicator, branch, ranks * each, &shared) != STATUS_OK)
        return device_close_after(&branch, STATUS_FAILED);
    device_close(&outboxes->branch);
    outboxes->branch = branch;
    outboxes->shared = shared;
    outboxes->capacity = bytes / host_particles_bytes(outboxes->precision);
    char *memory = shared.memory;
    for (struct outbox *outbox = outboxes->of; outbox < outboxes->of + ranks; outbox++, memory += each) {
        outbox->leaving = (uint32_t *)memory;
        outbox->answer = outbox->leaving + 1;
        outbox->counts = outbox->leaving + 2;
        for (int n = 0; n < 2; n++)
            outbox->particles[n] =
                (struct host_particles){.precision = outboxes->precision,
                                        .capacity = outboxes->capacity,
                                        .elements = memory + outboxes->numbers + (size_t)n * part};
    }
    return STATUS_OK;
}

enum status outboxes_create(const struct rank_place *place, size_t bytes, struct outboxes **outboxes)
{
    const struct communicator *ranks = place->communicator;
    struct outboxes *created = NULL;
    *outboxes = NULL;
    if (bytes == 0 || ranks->local_size < ranks->size)
        return STATUS_OK;
    enum status status = DEVICE_NEW(place->device, created);
    TRY_IF_OK(DEVICE_NEW_ARRAY(place->device, created->of, (size_t)ranks->size));
    TRY(communicator_agree(ranks, status));
    created->device = place->device;
    created->communicator = ranks;
    created->precision = place->precision;
    created->numbers = buffer_view_stride((2 + most_beside(place)) * sizeof(uint32_t));
    if (share(created, at_most(bytes, MOST_BYTES / (size_t)ranks->size)) == STATUS_OK)
        *outboxes = created;
    return STATUS_OK;
}

enum status outboxes_fit(struct outboxes *outboxes)
{
    const size_t particle = host_particles_bytes(outboxes->precision),
                 room = outboxes->most + outboxes->most / 4,
                 limit = GROWN_BYTES / (size_t)outboxes->shared.ranks / particle;
    const bool is_refused = room > limit || (outboxes->refused > 0 && room >= outboxes->refused);
    if (outboxes->most <= outboxes->capacity || is_refused)
        return STATUS_OK;
    outboxes->refused = share(outboxes, room * particle) == STATUS_OK ? 0 : room;
    return STATUS_OK;
}

size_t outboxes_capacity(const struct outboxes *outboxes)
{
    return outboxes->capacity;
}

uint32_t *outboxes_counts(const struct outboxes *outboxes, int rank)
{
    return outboxes->of[rank].counts;
}

void outboxes_announce(struct outboxes *outboxes, size_t leaving)
{
    outboxes->turn = 1 - outboxes->turn;
    *outboxes->of[outboxes->shared.rank].leaving = (uint32_t)leaving;
    shared_memory_barrier(&outboxes->shared);
    outboxes->most = 0;
    for (int rank = 0; rank < outboxes->shared.ranks; rank++)
        outboxes->most = at_least(*outboxes->of[rank].leaving, outboxes->most);
}

struct host_particles *outboxes_particles(const struct outboxes *outboxes, int rank)
{
    struct outbox *outbox = &outboxes->of[rank];
    struct host_particles *particles = &outbox->particles[outboxes->turn];
    return *outbox->leaving <= particles->capacity ? particles : NULL;
}

bool outboxes_send(struct outboxes *outboxes, bool is_true)
{
    bool any = false;
    *outboxes->of[outboxes->shared.rank].answer = is_true;
    shared_memory_barrier(&outboxes->shared);
    for (int rank = 0; rank < outboxes->shared.ranks; rank++)
        any |= *outboxes->of[rank].answer != 0;
    return any;
}
