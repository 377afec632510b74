/* Particles: the device arrays of one species.
 *
 * A particle is (cell, offset in the cell, velocity). Positions are at n and velocities at n-1/2 except
 * inside a step, where simulation_step() says what stands when. Two arrays of a kind are a double buffer: the
 * spare one is where the permute writes, then the handles are swapped. What a step method does not need it
 * releases after the first step, and the handle is then NULL.
 */
#ifndef RADIXPIC_DOMAIN_PARTICLES_H
#define RADIXPIC_DOMAIN_PARTICLES_H

#include "device/device.h"
#include "domain/slab.h"

struct particles {
    const struct species_config *species; /* not owned */
    uint32_t count;                       /* of macro-particles here */
    uint32_t capacity;                    /* that the arrays have room for */
    double weight;                        /* real particles a macro-particle stands for: n0 Lx Ly / N */

    /* The state lies in one of two layouts. Pairs, which every part of the plain step knows: */
    struct buffer *offset, *offset_spare;     /* real2[count]: (dx, dy) in units of a cell */
    struct buffer *velocity, *velocity_spare; /* real2[count]: (u, v) */
    /* Quads, one store a particle, which the fused step of CPU devices prefers; NULL in the layout of pairs:
     */
    struct buffer *quad, *quad_spare; /* real4[count]: (dx, dy, u, v) */

    struct buffer *id, *id_spare;   /* ulong[count]: the global index; NULL without ids */
    struct buffer *key, *key_spare; /* uint[count]: the cell of each particle; plain steps only */
    struct buffer *cell_offsets;    /* uint[cells + 1]: where each cell's particles start, once sorted */
};

/* The fewest ranks whose lists hold a species in equal shares. */
uint64_t particles_least_ranks(const struct species_config *species);

/* STATUS_USAGE, with how many ranks it takes, where one has no room for the whole species. */
STATUS_CHECKED enum status particles_require_one_rank(const struct species_config *species);

/* Allocates every array (contents undefined). STATUS_FAILED when memory runs out; STATUS_USAGE for more
 * particles than a 32-bit local index counts. The caller destroys it, also after a failure. */
STATUS_CHECKED enum status particles_create(struct device *device, const struct grid *grid,
                                            enum precision precision, const struct species_config *species,
                                            struct particles *particles);

/* The same for a list of a slab with room for `capacity` particles, and none in it yet: cell offsets are
 * those of the slab's local grid, all 0. A particle's weight is that of the whole species. */
STATUS_CHECKED enum status particles_create_list(struct device *device, const struct slab *slab,
                                                 enum precision precision,
                                                 const struct species_config *species, uint32_t capacity,
                                                 struct particles *particles);
void particles_destroy(struct particles *particles);

/* Room for `capacity` particles at least; those there are kept, in whatever arrays there are. Waits for the
 * device where arrays must grow. */
STATUS_CHECKED enum status particles_reserve(struct device *device, enum precision precision,
                                             uint32_t capacity, struct particles *particles);

/* Read `count` particles from number `first` as doubles, whatever layout and precision: (dx, dy) or (u, v)
 * into real pairs[2 * count]. Blocking. */
STATUS_CHECKED enum status particles_read_offsets(const struct particles *particles, enum precision precision,
                                                  size_t first, size_t count, double *pairs);
STATUS_CHECKED enum status particles_read_velocities(const struct particles *particles,
                                                     enum precision precision, size_t first, size_t count,
                                                     double *pairs);

/* Device bytes that particles_create() takes. */
uint64_t particles_bytes(const struct grid *grid, enum precision precision,
                         const struct species_config *species);

#endif
