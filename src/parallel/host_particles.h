/* Host particles: send and receive buffers for particles that change rank, SoA, in memory that the device
 * reaches without a detour. For this room only. */
#ifndef RADIXPIC_PARALLEL_HOST_PARTICLES_H
#define RADIXPIC_PARALLEL_HOST_PARTICLES_H

#include "domain/particles.h"

#include <mpi.h>

/* What is kept of each particle: its attributes, and on the general path its key, a cell of the box. */
enum { PART_KEY = ATTRIBUTES, PARTS };

struct host_particles {
    struct device *device; /* not owned: the handle of which `memory` is a branch */
    enum precision precision;
    const struct species_config *species; /* not owned: says which attributes the particles have */
    size_t count, capacity;
    struct device *memory; /* a branch of the device, which owns the elements */
    char *elements;        /* an array of `capacity` for each part, one behind the other */
};

/* Bytes of one particle with all that can be kept of it. */
size_t host_particles_bytes(enum precision precision);

bool host_particles_have(const struct host_particles *particles, unsigned part);

/* Where a part of the particles from number n on lies. */
void *host_particles_at(const struct host_particles *particles, unsigned part, size_t n);

/* A type for messages of a part, an element for each particle. The caller frees it. */
MPI_Datatype host_particles_type(const struct host_particles *particles, unsigned part);

/* Room for `capacity` particles; those there are kept. */
STATUS_CHECKED enum status host_particles_reserve(struct host_particles *particles, size_t capacity);

/* Copies `count` particles to places where there is room. */
void host_particles_copy(const struct host_particles *from, size_t first, struct host_particles *to,
                         size_t place, size_t count);

/* Appends `count` particles of a list in either layout, from number `first` on, without keys. They are there
 * after device_finish_queue(). */
STATUS_CHECKED enum status host_particles_read(const struct particles *list, size_t first, size_t count,
                                               struct host_particles *particles);

#endif
