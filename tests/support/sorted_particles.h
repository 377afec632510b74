/* Sorted particles for the tests of deposit and push: a species on the device beside a copy in doubles, whose
 * numbers are those the device holds, rounded to its precision. */
#ifndef RADIXPIC_TEST_SORTED_PARTICLES_H
#define RADIXPIC_TEST_SORTED_PARTICLES_H

#include "support/list_support.h"

#include "domain/fields.h"
#include "shared/shape.h"

#include <string.h>

struct sorted_particles {
    struct species_config species;
    struct particles particles;
    enum precision precision;
    uint32_t cells;
    uint32_t *cell;        /* [count], ascending */
    double (*offset)[2];   /* [count], in [0, 1) */
    double (*velocity)[2]; /* [count] */
    double *w;             /* [count], where the species has it */
    uint64_t *id;          /* [count], ascending from 0 */
};

/* `count`, or less where RADIXPIC_TEST_SMALL is set: for tools under which kernels run a thousand times
 * slower.
 */
static inline uint32_t test_count(uint32_t count)
{
    const uint32_t few = 300;
    return test_is_small() && count > few ? few : count;
}

/* A generator whose numbers are the same everywhere: splitmix64 (Steele, Lea & Flood 2014), to [0, 1). */
static inline double test_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* `value` as the device stores it. Volatile: gcc 12 at -O3 drops the two conversions in some loops. */
static inline double test_rounded(enum precision precision, double value)
{
    const volatile float single = (float)value;
    return precision == PRECISION_SINGLE ? (double)single : value;
}

/* Just below 1. */
static inline double test_below_one(enum precision precision)
{
    return precision == PRECISION_SINGLE ? (double)nextafterf(1, 0) : nextafter(1, 0);
}

/* Of particles that carry ids or w, or neither. */
static inline struct species_config sorted_species(uint64_t particles, bool ids, bool has_w)
{
    return (struct species_config){.name = "test",
                                   .charge = 1,
                                   .mass = 1,
                                   .density = 1,
                                   .particles = particles,
                                   .ids = ids,
                                   .velocities.dimensions = has_w ? 3 : 2};
}

/* The host's particles to a list of as many. */
static inline void sorted_particles_write(const struct sorted_particles *sorted, struct particles *list)
{
    uint32_t *starts = test_array(sorted->cells + (size_t)1, sizeof *starts);
    for (uint32_t p = 0; p < list->count; p++)
        starts[sorted->cell[p] + 1]++;
    for (uint32_t c = 0; c < sorted->cells; c++)
        starts[c + 1] += starts[c];
    list_write_all(list, sorted->cells, starts, sorted->offset[0], sorted->velocity[0], sorted->w,
                   sorted->id);
}

static inline void sorted_particles_upload(struct sorted_particles *sorted)
{
    sorted_particles_write(sorted, &sorted->particles);
}

static inline int sorted_particles_compare(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Room for `count` particles, until the test ends. */
static inline void sorted_particles_allocate(uint32_t count, struct sorted_particles *sorted)
{
    sorted->cell = test_array(count, sizeof *sorted->cell);
    sorted->offset = test_array(count, sizeof *sorted->offset);
    sorted->velocity = test_array(count, sizeof *sorted->velocity);
    sorted->w = test_array(count, sizeof *sorted->w);
    sorted->id = test_array(count, sizeof *sorted->id);
}

/* No particles yet, on the host. */
static inline struct sorted_particles sorted_particles_empty(uint32_t cells, uint32_t room)
{
    struct sorted_particles sorted = {.cells = cells};
    sorted_particles_allocate(room, &sorted);
    return sorted;
}

/* Of a particle of that id, from -2 to below 2 and exact in both precisions. */
static inline double sorted_particles_w(uint64_t id)
{
    return (double)(37 * id % 251) / 64 - 2;
}

/* One particle behind the others on the host, where there is room. */
static inline void sorted_particles_add(struct sorted_particles *sorted, uint32_t cell, const double state[4],
                                        uint64_t id)
{
    const uint32_t p = sorted->particles.count++;
    sorted->cell[p] = cell;
    memcpy(sorted->offset[p], state, sizeof sorted->offset[p]);
    memcpy(sorted->velocity[p], state + 2, sizeof sorted->velocity[p]);
    sorted->w[p] = sorted_particles_w(id);
    sorted->id[p] = id;
}

/* The list as the device has it; ids are 0 where it has none. */
static inline struct sorted_particles sorted_particles_read(const struct particles *list, uint32_t cells)
{
    struct sorted_particles state = {.particles = *list, .precision = list->precision, .cells = cells};
    const uint32_t count = list->count;
    uint32_t *offsets = test_array(cells + (size_t)1, sizeof *offsets);
    sorted_particles_allocate(count, &state);
    assert_ok(buffer_read(list->cell_offsets, 0, (cells + (size_t)1) * sizeof *offsets, offsets));
    assert_ok(particles_read(list, ATTRIBUTE_OFFSET, 0, count, state.offset[0]));
    assert_ok(particles_read(list, ATTRIBUTE_VELOCITY, 0, count, state.velocity[0]));
    if (list->attribute[ATTRIBUTE_W])
        assert_ok(particles_read(list, ATTRIBUTE_W, 0, count, state.w));
    if (list->attribute[ATTRIBUTE_ID])
        assert_ok(buffer_read(list->attribute[ATTRIBUTE_ID], 0, count * sizeof *state.id, state.id));
    assert_int_equal(offsets[0], 0);
    assert_int_equal(offsets[cells], count);
    for (uint32_t c = 0; c < cells; c++) {
        assert_true(offsets[c] <= offsets[c + 1]);
        for (uint32_t p = offsets[c]; p < offsets[c + 1]; p++)
            state.cell[p] = c;
    }
    return state;
}

/* The list has the host's sorted->particles.count particles, bit for bit, and their cell offsets. */
static inline void sorted_particles_check(const struct sorted_particles *sorted, const struct particles *list)
{
    const uint32_t count = sorted->particles.count;
    assert_int_equal(list->count, count);
    assert_true(count <= list->capacity);
    struct sorted_particles found = sorted_particles_read(list, sorted->cells);
    assert_memory_equal(found.cell, sorted->cell, count * sizeof *found.cell);
    assert_memory_equal(found.offset, sorted->offset, count * sizeof *found.offset);
    assert_memory_equal(found.velocity, sorted->velocity, count * sizeof *found.velocity);
    if (attribute_present(list->species, ATTRIBUTE_W))
        assert_memory_equal(found.w, sorted->w, count * sizeof *found.w);
    if (attribute_present(list->species, ATTRIBUTE_ID))
        assert_memory_equal(found.id, sorted->id, count * sizeof *found.id);
}

/* On the host alone, `count` random particles of charge -1.5, mass 2 and density 0.75: a `cluster` (0 to 1)
 * of them in the last of `cells` but one, the others anywhere but in cell 0, unless that is all there is. The
 * first offsets are the special ones: 0, -0.0 and just below 1. */
static inline void sorted_particles_make(enum precision precision, uint32_t cells, uint32_t count,
                                         double cluster, uint64_t seed, struct sorted_particles *sorted)
{
    *sorted = (struct sorted_particles){
        .species = {.name = "test", .charge = -1.5, .mass = 2, .density = 0.75, .particles = count},
        .precision = precision,
        .cells = cells,
    };
    sorted_particles_allocate(count, sorted);
    const double special[] = {0.0, -0.0, test_below_one(precision)};
    const uint32_t specials = sizeof special / sizeof special[0];
    for (uint32_t p = 0; p < count; p++) {
        const bool dense = test_random(&seed) < cluster;
        sorted->cell[p] = dense ? cells - 2 : 1 + (uint32_t)(test_random(&seed) * (cells - 1));
        sorted->id[p] = p;
        sorted->w[p] = sorted_particles_w(p);
        for (int axis = 0; axis < 2; axis++) {
            const double random = test_rounded(precision, test_random(&seed));
            sorted->offset[p][axis] = random < 1 ? random : test_below_one(precision);
            sorted->velocity[p][axis] = test_rounded(precision, 4 * test_random(&seed) - 1.5);
        }
        if (p < specials * specials) {
            sorted->offset[p][0] = special[p / specials];
            sorted->offset[p][1] = special[p % specials];
        }
    }
    qsort(sorted->cell, count, sizeof *sorted->cell, sorted_particles_compare);
}

/* A list of the host's `count` particles. */
static inline void sorted_particles_list(struct device *owner, const struct grid *grid,
                                         enum particle_layout layout, uint32_t count,
                                         const struct sorted_particles *sorted, struct particles *list)
{
    const struct slab slab = slab_whole_box(grid);
    assert_ok(particles_create(owner, &slab, sorted->precision, layout, &sorted->species, count, list));
    list->count = count;
    sorted_particles_write(sorted, list);
}

/* The same on host and device. */
static inline void sorted_particles_create(struct device *owner, const struct grid *grid,
                                           enum precision precision, uint32_t count, double cluster,
                                           uint64_t seed, struct sorted_particles *sorted)
{
    sorted_particles_make(precision, grid_cells(grid), count, cluster, seed, sorted);
    sorted_particles_list(owner, grid, LAYOUT_SOA, count, sorted, &sorted->particles);
}

/* Calls `visit` for every node that may share in the particle, with the weight: nodes two below to three
 * above, wrapped one by one. */
static inline void test_for_nodes(const struct grid *grid, enum shape_kind shape, uint32_t cell,
                                  const double offset[2], void (*visit)(void *, uint32_t, double), void *with)
{
    const int i = (int)(cell / grid->ny), j = (int)(cell % grid->ny);
    const int nx = (int)grid->nx, ny = (int)grid->ny;
    for (int a = -2; a <= 3; a++)
        for (int b = -2; b <= 3; b++) {
            const int row = ((i + a) % nx + nx) % nx, column = ((j + b) % ny + ny) % ny;
            visit(with, (uint32_t)(ny * row + column),
                  shape_spline((int)shape, offset[0] - a) * shape_spline((int)shape, offset[1] - b));
        }
}

#endif
