/* Particles: the list of one species, on the device.
 *
 * A particle is (cell, offset in the cell, velocity, and what else the table of attributes names). Between
 * steps a list is sorted by cell and holds this rank's own particles alone; the cell offsets say where each
 * cell's particles are, and no array of keys is kept. Positions are at n and velocities at n-1/2, except
 * inside a step, where simulation_step() gives the time levels.
 *
 * Each attribute has two arrays, the second one spare: what sorts or merges a list writes there, and then
 * particles_swap() exchanges them.
 */
#ifndef RADIXPIC_DOMAIN_PARTICLES_H
#define RADIXPIC_DOMAIN_PARTICLES_H

#include "device/device.h"
#include "domain/slab.h"

#include <math.h>

/* What a particle carries. A new attribute is a value here and a row of attribute_table. */
enum attribute {
    ATTRIBUTE_OFFSET,   /* (dx, dy), in units of a cell, each in [0, 1) */
    ATTRIBUTE_VELOCITY, /* (u, v) */
    ATTRIBUTE_W,        /* the third component of velocities; of species that have it */
    ATTRIBUTE_WEIGHT,   /* over the species' mean weight; of all species in a run where one has weights */
    ATTRIBUTE_ID,       /* the particle's global index; of species with ids */
    ATTRIBUTES
};

struct attribute_info {
    const char *name;
    uint32_t components;
    bool is_real; /* components are reals of the run's precision; else 64-bit unsigned integers */
};

extern const struct attribute_info attribute_table[ATTRIBUTES];

bool attribute_present(const struct species_config *species, enum attribute attribute);

/* Bytes of the attribute of one particle. */
size_t attribute_bytes(enum precision precision, enum attribute attribute);

/* Number n of reals of this precision. */
static inline void store_real(enum precision precision, void *values, size_t n, double value)
{
    if (precision == PRECISION_SINGLE)
        ((float *)values)[n] = (float)value;
    else
        ((double *)values)[n] = value;
}

static inline double load_real(enum precision precision, const void *values, size_t n)
{
    return precision == PRECISION_SINGLE ? (double)((const float *)values)[n] : ((const double *)values)[n];
}

/* How offsets and velocities lie in memory. */
enum particle_layout {
    LAYOUT_SOA, /* structure of arrays: an array for each attribute */
    LAYOUT_AOS  /* array of structures: one array of (dx, dy, u, v); other attributes as above */
};

struct particles {
    struct device *device;                /* not owned: the handle that the arrays belong to */
    const struct species_config *species; /* not owned */
    enum precision precision;
    enum particle_layout layout;
    uint32_t count;    /* of macro-particles here */
    uint32_t capacity; /* that the arrays have room for */
    double weight;     /* real particles a macro-particle stands for: n0 Lx Ly / N; with weights their mean */

    /* NULL where the species lacks the attribute; of LAYOUT_AOS offset and velocity are the same buffer. */
    struct buffer *attribute[ATTRIBUTES], *spare[ATTRIBUTES];
    struct buffer *cell_offsets; /* uint[cells + 1]: where each cell's particles start */
};

#define ARRIVALS_NONE UINT32_MAX /* the same in kernels/shared/arrivals.h */

/* The room that a list leaves for particles of one species that come from other ranks in a step, before they
 * are there. They come to own rows that lie within other ranks' ghost rows: a few at either end of a slab, or
 * all rows where slabs are whole. So their numbers are kept by row. The buffers are not owned. */
struct arrival_gaps {
    uint32_t count;              /* of particles that come, in all */
    const struct buffer *rows;   /* uint[local nx]: which row of `counts` a row has, or ARRIVALS_NONE */
    const struct buffer *counts; /* uint[rows that particles can come to][ny] */
};

/* particles_least_ranks() is the fewest ranks that hold a species where each has as many of its particles.
 * The other function refuses a species for which that is more than one, by STATUS_USAGE with the number. */
uint64_t particles_least_ranks(const struct species_config *species);
STATUS_CHECKED enum status particles_require_one_rank(const struct species_config *species);

/* An empty list with room for `capacity` particles; its cell offsets are those of the slab's local grid, all
 * 0. The list dies with the device handle. STATUS_FAILED when memory runs out. */
STATUS_CHECKED enum status particles_create(struct device *device, const struct slab *slab,
                                            enum precision precision, enum particle_layout layout,
                                            const struct species_config *species, uint32_t capacity,
                                            struct particles *particles);

/* Destroys the arrays before their device handle is closed. */
void particles_destroy(struct particles *particles);

/* Exchanges the arrays of every attribute with the spare ones. No data moves. */
void particles_swap(struct particles *particles);

/* An array of a list, of `bytes` for each particle, and the first attribute in it. */
struct particle_array {
    enum attribute attribute;
    struct buffer **now, **spare;
    size_t bytes;
};

/* The arrays of a list, each once; returns how many. */
uint32_t particles_arrays(struct particles *particles, struct particle_array arrays[ATTRIBUTES]);

/* Where an attribute of particle p stands in its array: element stride * p + first, of attribute_bytes(). */
uint32_t particles_stride(const struct particles *particles, enum attribute attribute);
uint32_t particles_first(const struct particles *particles, enum attribute attribute);

/* The array of w; where the species lacks it any array, which stands in for it in a launch. */
struct buffer *particles_w(const struct particles *particles);

/* The kernel NAME_BYTES for elements of an attribute's size: see kernels/shared/element.h. */
STATUS_CHECKED enum status attribute_kernel(struct program *program, const char *name,
                                            enum precision precision, enum attribute attribute,
                                            struct kernel **kernel);

/* Room for `capacity` particles at least; those there are kept, what the spare arrays hold is not. Waits for
 * the device where arrays must grow. */
STATUS_CHECKED enum status particles_reserve(struct particles *particles, uint32_t capacity);

/* values[components * count] <- a real attribute of `count` particles from number `first` on. Blocking. */
STATUS_CHECKED enum status particles_read(const struct particles *particles, enum attribute attribute,
                                          size_t first, size_t count, double *values);

/* Copies of any attribute as the device has it, attribute_bytes() for each particle: from the list to
 * `values`, and from `values` to the list. Blocking. */
STATUS_CHECKED enum status particles_copy(const struct particles *particles, enum attribute attribute,
                                          size_t first, size_t count, void *values);
STATUS_CHECKED enum status particles_write(struct particles *particles, enum attribute attribute,
                                           size_t first, size_t count, const void *values);

/* merge.c. Brings all particles of `from` (SoA), which arrive from other ranks by the general path
 * (parallel/migrate.h), into `into` (either layout), both sorted on the same grid of `cells`
 * cells: within a cell those of `into` stand first. By way of the spare arrays; `into` grows where it is too
 * short, by an eighth more than it needs. Waits for the device where `from` has any. STATUS_FAILED when
 * memory runs out or the sum is more than CONFIG_MAX_PARTICLES: then `into` is as it was, but maybe longer.
 */
STATUS_CHECKED enum status list_merge(struct device *device, uint32_t cells, struct particles *into,
                                      const struct particles *from);

/* Whether a particle may have this value. */
static inline bool attribute_accepts(enum attribute attribute, double value)
{
    return attribute == ATTRIBUTE_OFFSET   ? value >= 0 && value < 1
           : attribute == ATTRIBUTE_WEIGHT ? value >= 0 && isfinite(value)
                                           : isfinite(value) != 0;
}

#endif
