/* Host particles: memory that grows, and the way from a list to it. */
#include "parallel/host_particles.h"

#include <string.h>

static size_t bytes_of(enum precision precision, unsigned part)
{
    return part == PART_KEY ? sizeof(uint32_t) : attribute_bytes(precision, (enum attribute)part);
}

size_t host_particles_bytes(enum precision precision)
{
    size_t bytes = 0;
    for (unsigned part = 0; part < PARTS; part++)
        bytes += bytes_of(precision, part);
    return bytes;
}

bool host_particles_have(const struct host_particles *particles, unsigned part)
{
    return part == PART_KEY || attribute_present(particles->species, (enum attribute)part);
}

MPI_Datatype host_particles_type(const struct host_particles *particles, unsigned part)
{
    MPI_Datatype type;
    MPI_Type_contiguous((int)bytes_of(particles->precision, part), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

void *host_particles_at(const struct host_particles *particles, unsigned part, size_t n)
{
    size_t before = 0; /* bytes of a particle in the arrays before that one */
    if (!particles->elements)
        return NULL;
    for (unsigned p = 0; p < part; p++)
        before += bytes_of(particles->precision, p);
    return particles->elements + before * particles->capacity + n * bytes_of(particles->precision, part);
}

enum status host_particles_reserve(struct host_particles *particles, size_t capacity)
{
    struct host_particles longer = *particles;
    void *elements = NULL;
    if (capacity <= particles->capacity)
        return STATUS_OK;
    longer.capacity = capacity + capacity / 4;
    TRY(device_branch(particles->device, &longer.memory));
    TRY(host_memory_create(longer.memory, longer.capacity * host_particles_bytes(longer.precision),
                           &elements));
    longer.elements = elements;
    if (particles->count > 0)
        host_particles_copy(particles, 0, &longer, 0, particles->count);
    device_close(&particles->memory);
    *particles = longer;
    return STATUS_OK;
}

void host_particles_copy(const struct host_particles *from, size_t first, struct host_particles *to,
                         size_t place, size_t count)
{
    to->species = from->species;
    for (unsigned part = 0; part < PARTS && count > 0; part++)
        if (host_particles_have(from, part))
            memcpy(host_particles_at(to, part, place), host_particles_at(from, part, first),
                   count * bytes_of(from->precision, part));
}

enum status host_particles_read(const struct particles *list, size_t first, size_t count,
                                struct host_particles *particles)
{
    particles->species = list->species;
    TRY(host_particles_reserve(particles, particles->count + count));
    for (enum attribute a = 0; a < ATTRIBUTES && count > 0; a++) {
        const size_t bytes = attribute_bytes(list->precision, a);
        void *values = host_particles_at(particles, a, particles->count);
        if (list->attribute[a]) /* arrays of one attribute need no wait for the other queue */
            TRY(particles_stride(list, a) > 1
                    ? particles_copy(list, a, first, count, values)
                    : host_memory_read(list->attribute[a], first * bytes, count * bytes, values,
                                       STAGE_OTHER)); /* the host's time counts the bytes */
    }
    particles->count += count;
    return STATUS_OK;
}
