/* Checkpoint scene: a state whose particles are pure functions of species, list, cell and number in the cell,
 * so that any rank can make its own rows of it, and any rank can tell whether the rows that it reads are
 * right. Includes the device fixture. */
#ifndef RADIXPIC_TEST_CHECKPOINT_SCENE_H
#define RADIXPIC_TEST_CHECKPOINT_SCENE_H

#include "support/device_fixture.h"

#include "output/checkpoint.h"

#include <string.h>

enum { SCENE_SPECIES = 2, SCENE_NX = 13, SCENE_NY = 5, SCENE_GHOST = 2 };

/* What of a scene is not fixed. */
struct scene_kind {
    enum precision precision;
    bool ids;       /* of the second species; the first is of the other sort */
    bool quads;     /* the layout of the device's arrays */
    uint32_t crowd; /* times as many particles */
};

struct scene {
    struct scene_kind kind;
    const struct communicator *communicator;
    struct config config;
    struct grid grid;
    struct partition partition;
    struct slab slab;
    struct particles lists[CHECKPOINT_LISTS][SCENE_SPECIES];
    uint32_t capacity[SCENE_SPECIES];
};

/* ---- the state ---- */

/* Some cells of each list are empty, and all of row 4. */
static inline uint32_t scene_count(uint32_t crowd, uint32_t species, unsigned which, uint32_t cell)
{
    if (cell / SCENE_NY == 4)
        return 0;
    return which == CHECKPOINT_MAIN ? crowd * ((7 * cell + 3 * species) % 6) : (cell + species) % 3 / 2;
}

static inline uint64_t scene_bits(uint32_t species, unsigned which, uint32_t cell, uint32_t n, unsigned what)
{
    uint64_t x = ((uint64_t)n << 32 | cell << 8 | species << 4 | which << 3 | what) + 1;
    for (unsigned round = 0; round < 3; round++)
        x = (x ^ x >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    return x ^ x >> 32;
}

/* In [0, 1), with all the bits that the precision has. */
static inline double scene_unit(enum precision precision, uint64_t bits)
{
    return precision == PRECISION_SINGLE ? (double)(bits >> 40) * 0x1p-24 : (double)(bits >> 11) * 0x1p-53;
}

/* dx, dy, u, v for `what` from 0 to 3. */
static inline double scene_value(enum precision precision, uint32_t species, unsigned which, uint32_t cell,
                                 uint32_t n, unsigned what)
{
    const double unit = scene_unit(precision, scene_bits(species, which, cell, n, what));
    return what < 2 ? unit : (unit - 0.5) * (what == 2 ? 0x1p10 : 0x1p-30);
}

static inline struct config scene_config(const struct scene_kind *kind)
{
    struct config config = {
        .title = "by hand: \"quoted\"",
        .grid = {{SCENE_NX, SCENE_NY}, {6.1, 4.7}},
        .time = {.step = 0.1, .steps = 100, .check_every = 10},
        .precision = kind->precision,
        .species_count = SCENE_SPECIES,
        .species = {{.name = "electrons", .charge = -1, .mass = 1, .density = 1, .ids = !kind->ids},
                    {.name = "ions", .charge = 2, .mass = 1836, .density = 0.5, .ids = kind->ids}},
        .deposit = {.shape = SHAPE_TSC, .filter_passes = 2},
        .sort = {.passes = 2},
        .device = "auto",
        .parallel = {.threshold = 1.1},
        .output = {.directory = "output/x",
                   .history = {.every = 1},
                   .snapshots = {.particles = true},
                   .checkpoints = {.every = 10, .keep = 2}},
        .units = {1.0e18, 100},
    };
    for (uint32_t s = 0; s < SCENE_SPECIES; s++) {
        config.species[s].positions.bases[0] = 2;
        config.species[s].positions.bases[1] = 3;
        for (uint32_t cell = 0; cell < SCENE_NX * SCENE_NY; cell++)
            for (unsigned which = 0; which < CHECKPOINT_LISTS; which++)
                config.species[s].particles += scene_count(kind->crowd, s, which, cell);
    }
    return config;
}

/* ---- on the device ---- */

/* From arrays of pairs to one of quads, as the fused step of CPU devices does. */
static inline void scene_make_quads(const struct scene *scene, struct particles *particles)
{
    const enum precision precision = scene->kind.precision;
    const size_t count = particles->count;
    double *pairs = calloc(2 * count + 1, sizeof *pairs), *quads = calloc(4 * count + 1, sizeof *quads);
    assert_true(pairs && quads);
    for (unsigned half = 0; half < 2; half++) {
        assert_ok(half == 0 ? particles_read_offsets(particles, precision, 0, count, pairs)
                            : particles_read_velocities(particles, precision, 0, count, pairs));
        for (size_t n = 0; n < 2 * count; n++)
            quads[n / 2 * 4 + 2 * half + n % 2] = pairs[n];
    }
    assert_ok(buffer_create(device, 4 * count * precision_bytes(precision), "quads", &particles->quad));
    assert_ok(buffer_write_reals(particles->quad, precision, 0, 4 * count, quads));
    buffer_destroy(&particles->offset);
    buffer_destroy(&particles->velocity);
    free(pairs);
    free(quads);
}

static inline void scene_fill_list(const struct scene *scene, uint32_t species, unsigned which,
                                   struct particles *particles)
{
    const enum precision precision = scene->kind.precision;
    const uint32_t cells = grid_cells(&scene->slab.local), own = slab_own_cells(&scene->slab);
    const uint32_t first = scene->slab.first_row * SCENE_NY;
    const size_t room = particles->capacity + (size_t)1;
    double *offset = calloc(2 * room, sizeof *offset), *velocity = calloc(2 * room, sizeof *velocity);
    uint64_t *ids = calloc(room, sizeof *ids);
    uint32_t *starts = calloc(cells + 1, sizeof *starts);
    assert_true(offset && velocity && ids && starts);
    uint32_t j = 0;
    for (uint32_t cell = 0; cell < cells; cell++) {
        const uint32_t count = cell < own ? scene_count(scene->kind.crowd, species, which, first + cell) : 0;
        for (uint32_t n = 0; n < count; n++, j++) {
            for (unsigned axis = 0; axis < 2; axis++) {
                offset[2 * j + axis] = scene_value(precision, species, which, first + cell, n, axis);
                velocity[2 * j + axis] = scene_value(precision, species, which, first + cell, n, 2 + axis);
            }
            ids[j] = scene_bits(species, which, first + cell, n, 4);
        }
        starts[cell + 1] = j;
    }
    particles->count = j;
    assert_ok(buffer_write_reals(particles->offset, precision, 0, 2 * (size_t)j, offset));
    assert_ok(buffer_write_reals(particles->velocity, precision, 0, 2 * (size_t)j, velocity));
    if (particles->id)
        assert_ok(buffer_write(particles->id, 0, j * sizeof *ids, ids));
    assert_ok(buffer_write(particles->cell_offsets, 0, (cells + (size_t)1) * sizeof *starts, starts));
    if (scene->kind.quads)
        scene_make_quads(scene, particles);
    free(offset);
    free(velocity);
    free(ids);
    free(starts);
}

static inline uint32_t scene_own_count(const struct scene *scene, uint32_t species, unsigned which)
{
    uint32_t count = 0;
    for (uint32_t cell = 0; cell < slab_own_cells(&scene->slab); cell++)
        count += scene_count(scene->kind.crowd, species, which, scene->slab.first_row * SCENE_NY + cell);
    return count;
}

/* The rank's rows between the given ends, or even ones for NULL. */
static inline void scene_create(const struct communicator *communicator, const struct scene_kind *kind,
                                const uint32_t *first_rows, struct scene *scene)
{
    *scene = (struct scene){.kind = *kind, .communicator = communicator, .config = scene_config(kind)};
    scene->grid = grid_make(&scene->config.grid);
    assert_ok(first_rows ? partition_given(communicator->size, first_rows, &scene->partition)
                         : partition_even(communicator->size, SCENE_NX, &scene->partition));
    const int rank = communicator->rank;
    scene->slab = slab_make(&scene->grid, scene->partition.first[rank],
                            partition_rows(&scene->partition, rank), SCENE_GHOST);
    for (uint32_t s = 0; s < SCENE_SPECIES; s++) {
        for (unsigned which = 0; which < CHECKPOINT_LISTS; which++) {
            struct particles *particles = &scene->lists[which][s];
            assert_ok(particles_create_list(device, &scene->slab, kind->precision, &scene->config.species[s],
                                            scene_own_count(scene, s, which) + 3, particles));
            scene_fill_list(scene, s, which, particles);
        }
        scene->capacity[s] = scene->lists[CHECKPOINT_MAIN][s].capacity;
    }
}

static inline void scene_destroy(struct scene *scene)
{
    for (uint32_t s = 0; s < SCENE_SPECIES; s++)
        for (unsigned which = 0; which < CHECKPOINT_LISTS; which++)
            particles_destroy(&scene->lists[which][s]);
    partition_destroy(&scene->partition);
}

static inline struct view scene_view(const struct scene *scene, uint64_t step)
{
    return (struct view){.config = &scene->config,
                         .communicator = scene->communicator,
                         .slab = &scene->slab,
                         .partition = &scene->partition,
                         .particles = scene->lists[CHECKPOINT_MAIN],
                         .guests = scene->lists[CHECKPOINT_GUESTS],
                         .step = step,
                         .first_energy = 1 / 3.0,
                         .ghost = SCENE_GHOST,
                         .capacity = scene->capacity};
}

static inline enum status scene_write(const struct scene *scene, const char *folder, uint64_t step,
                                      uint32_t keep)
{
    const struct view view = scene_view(scene, step);
    uint64_t bytes = 0;
    return checkpoint_write(folder, &view, keep, &bytes);
}

/* ---- read back ---- */

static inline double scene_real(enum precision precision, const void *reals, uint64_t n)
{
    return precision == PRECISION_SINGLE ? (double)((const float *)reals)[n] : ((const double *)reals)[n];
}

/* A list of some rows is what the scene says, bit for bit. */
static inline void scene_check_list(const struct scene_kind *kind, struct checkpoint *checkpoint,
                                    uint32_t species, unsigned which, uint32_t first_row, uint32_t rows)
{
    struct host_list list;
    assert_ok(checkpoint_read_list(checkpoint, species, (enum checkpoint_list)which, first_row, rows, &list));
    assert_true((list.id != NULL) == (species == 0 ? !kind->ids : kind->ids));
    uint64_t j = 0;
    for (uint32_t cell = 0; cell < rows * SCENE_NY; cell++) {
        const uint32_t global = first_row * SCENE_NY + cell;
        assert_int_equal(list.cell_counts[cell], scene_count(kind->crowd, species, which, global));
        for (uint32_t n = 0; n < list.cell_counts[cell]; n++, j++) {
            for (unsigned what = 0; what < 4; what++) {
                const void *reals = what < 2 ? list.offset : list.velocity;
                assert_true(scene_real(kind->precision, reals, 2 * j + what % 2) ==
                            scene_value(kind->precision, species, which, global, n, what));
            }
            if (list.id)
                assert_true(list.id[j] == scene_bits(species, which, global, n, 4));
        }
    }
    assert_true(j == list.count);
    host_list_free(&list);
}

static inline void scene_check_rows(const struct scene_kind *kind, struct checkpoint *checkpoint,
                                    uint32_t first_row, uint32_t rows)
{
    for (uint32_t s = 0; s < SCENE_SPECIES; s++)
        for (unsigned which = 0; which < CHECKPOINT_LISTS; which++)
            scene_check_list(kind, checkpoint, s, which, first_row, rows);
}

static inline void scene_check_loads(const struct scene_kind *kind, struct checkpoint *checkpoint)
{
    uint64_t loads[SCENE_NX], expected[SCENE_NX] = {0};
    assert_ok(checkpoint_read_loads(checkpoint, loads));
    for (uint32_t cell = 0; cell < SCENE_NX * SCENE_NY; cell++)
        for (uint32_t s = 0; s < SCENE_SPECIES; s++)
            for (unsigned which = 0; which < CHECKPOINT_LISTS; which++)
                expected[cell / SCENE_NY] += scene_count(kind->crowd, s, which, cell);
    assert_memory_equal(loads, expected, sizeof loads);
}

static inline void scene_check_header(const struct scene *scene, const struct checkpoint *checkpoint,
                                      uint64_t step)
{
    struct checkpoint_header header;
    assert_ok(checkpoint_header(checkpoint, scene->communicator->rank, &header));
    assert_int_equal(header.step, step);
    assert_true(header.first_energy == 1 / 3.0);
    assert_int_equal(header.ghost, SCENE_GHOST);
    for (uint32_t s = 0; s < SCENE_SPECIES; s++)
        assert_int_equal(header.capacity[s], scene->capacity[s]);
    assert_int_equal(checkpoint_header(checkpoint, scene->communicator->size, &header), STATUS_FAILED);
}

/* ---- warnings ---- */

struct scene_warnings {
    unsigned count;
    char last[512];
};

static inline void scene_warn(void *context, const char *sentence)
{
    struct scene_warnings *warnings = context;
    warnings->count++;
    snprintf(warnings->last, sizeof warnings->last, "%s", sentence);
}

#endif
