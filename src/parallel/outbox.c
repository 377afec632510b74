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
    struct shared_memory shared;
    struct outbox *of; /* [ranks] */
    uint32_t turn;
};

enum {
    MOST_BYTES = 3 << 23 /* of the particles of all ranks, for each turn: containers often share 64 MiB */
};

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

static enum status share(struct outboxes *outboxes, const struct rank_place *place, size_t bytes)
{
    const size_t ranks = (size_t)place->communicator->size,
                 numbers = buffer_view_stride((2 + most_beside(place)) * sizeof(uint32_t)),
                 part = buffer_view_stride(at_most(bytes, MOST_BYTES / ranks)), each = numbers + 2 * part;
    TRY(shared_memory_create(place->communicator, place->device, ranks * each, &outboxes->shared));
    char *memory = outboxes->shared.memory;
    for (struct outbox *outbox = outboxes->of; outbox < outboxes->of + ranks; outbox++, memory += each) {
        outbox->leaving = (uint32_t *)memory;
        outbox->answer = outbox->leaving + 1;
        outbox->counts = outbox->leaving + 2;
        for (int n = 0; n < 2; n++)
            outbox->particles[n] = (struct host_particles){.precision = place->precision,
                                                           .capacity = at_most(bytes, part) /
                                                                       host_particles_bytes(place->precision),
                                                           .elements = memory + numbers + (size_t)n * part};
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
    if (share(created, place, bytes) == STATUS_OK)
        *outboxes = created;
    return STATUS_OK;
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
