/* Advance scene: the same particles through the plain step (push, cell key, sort, permute), whose parts have
 * tests of their own, and through an advance. For the tests of both kinds of advance. */
#ifndef RADIXPIC_TEST_ADVANCE_SCENE_H
#define RADIXPIC_TEST_ADVANCE_SCENE_H

#include "support/sorted_particles.h"

#include "push/advance.h"
#include "push/push.h"
#include "sort/cell_key.h"
#include "sort/permute.h"
#include "support/device_fixture.h"

/* Sets of sums; a single species takes the last, to see that the sets do not mix. */
enum { SPECIES = 2 };

/* The advance under test. */
struct tested {
    enum advance_kind kind;
    bool keeps_order;  /* particles of a cell stand as a stable sort has them */
    uint32_t reach[2]; /* what the advance is told of how far particles go */
};

/* What a scene is made of; two scenes of the same sort hold the same particles. */
struct scene_kind {
    uint32_t nx, ny, count;
    enum precision precision;
    enum shape_kind shape;
    double magnetic;
    double crowd; /* share of the particles in one cell */
    double speed; /* what velocities are multiplied by */
};

/* A species and the field it moves in. */
struct scene {
    struct scene_kind kind;
    struct grid grid;
    struct sorted_particles sorted;
    struct fields fields;
};

static const double time_step = 0.3;

/* A smooth field, so that sums over nodes in another order stay close. */
static inline void scene_set_field(const struct scene *scene, struct buffer *buffer, double phase)
{
    const struct grid *grid = &scene->grid;
    double *numbers = calloc(grid_cells(grid), sizeof *numbers);
    assert_non_null(numbers);
    for (uint32_t i = 0; i < grid->nx; i++)
        for (uint32_t j = 0; j < grid->ny; j++)
            numbers[i * grid->ny + j] =
                0.4 * cos(2 * M_PI * i / grid->nx + phase) + 0.3 * sin(4 * M_PI * j / grid->ny - phase);
    assert_ok(buffer_write_reals(buffer, scene->kind.precision, 0, grid_cells(grid), numbers));
    free(numbers);
}

static inline void scene_give_ids(struct particles *particles)
{
    const size_t bytes = particles->count * sizeof(uint64_t);
    uint64_t *ids = malloc(bytes);
    assert_non_null(ids);
    for (uint32_t p = 0; p < particles->count; p++)
        ids[p] = p;
    assert_ok(buffer_create(device, bytes, "ids", &particles->id));
    assert_ok(buffer_create(device, bytes, "spare ids", &particles->id_spare));
    assert_ok(buffer_write(particles->id, 0, bytes, ids));
    free(ids);
}

static inline void scene_create(const struct scene_kind *kind, struct scene *scene)
{
    *scene = (struct scene){.kind = *kind,
                            .grid = grid_make(&(struct grid_config){
                                .cells = {kind->nx, kind->ny}, .length = {0.4 * kind->nx, 0.7 * kind->ny}})};
    sorted_particles_create(device, &scene->grid, kind->precision, kind->count, kind->crowd, 11 + kind->count,
                            &scene->sorted);
    for (uint32_t p = 0; p < kind->count; p++)
        for (int axis = 0; axis < 2; axis++)
            scene->sorted.velocity[p][axis] *= kind->speed;
    sorted_particles_upload(&scene->sorted);
    scene_give_ids(&scene->sorted.particles);
    assert_ok(fields_create(device, &scene->grid, kind->precision, &scene->fields));
    scene_set_field(scene, scene->fields.ex, 0.3);
    scene_set_field(scene, scene->fields.ey, 1.1);
}

static inline void scene_destroy(struct scene *scene)
{
    sorted_particles_destroy(&scene->sorted);
}

/* ---- the plain step ---- */

/* Its sort is one of the host, which takes no time to build and is as fast on every machine. */
struct plain {
    struct cell_key *cell_key;
    struct permute *permute;
    struct push *push;
    struct buffer *permutation;
    uint32_t *words; /* owned: [2 count + cells + 1], for the sort */
};

static inline void plain_create(const struct scene *scene, struct plain *plain)
{
    const struct scene_kind *kind = &scene->kind;
    plain->words = calloc(2 * (size_t)kind->count + grid_cells(&scene->grid) + 1, sizeof *plain->words);
    assert_non_null(plain->words);
    assert_ok(cell_key_create(device, &scene->grid, 0, kind->precision, &plain->cell_key));
    assert_ok(permute_create(device, kind->precision, &plain->permute));
    assert_ok(push_create(device, &scene->grid, kind->precision, kind->shape, time_step, kind->magnetic,
                          SPECIES, &plain->push));
    assert_ok(buffer_create(device, kind->count * sizeof(uint32_t), "permutation", &plain->permutation));
}

static inline void plain_destroy(struct plain *plain)
{
    buffer_destroy(&plain->permutation);
    push_destroy(&plain->push);
    permute_destroy(&plain->permute);
    cell_key_destroy(&plain->cell_key);
    free(plain->words);
}

/* A stable counting sort of the keys: the permutation, and keys and cell offsets of the sorted list. */
static inline void plain_sort(const struct plain *plain, uint32_t cells, const struct particles *particles)
{
    const size_t count = particles->count, word = sizeof(uint32_t);
    uint32_t *keys = plain->words, *permutation = keys + count, *offsets = permutation + count;
    assert_ok(buffer_read(particles->key, 0, count * word, keys));
    memset(offsets, 0, (cells + (size_t)1) * word);
    for (size_t p = 0; p < count; p++)
        offsets[keys[p] + 1]++;
    for (uint32_t c = 0; c < cells; c++)
        offsets[c + 1] += offsets[c];
    assert_ok(buffer_write(particles->cell_offsets, 0, (cells + (size_t)1) * word, offsets));
    for (size_t p = 0; p < count; p++)
        permutation[offsets[keys[p]]++] = (uint32_t)p;
    assert_ok(buffer_write(plain->permutation, 0, count * word, permutation));
    for (uint32_t c = 0, p = 0; c < cells; c++) /* offsets are now where cells end */
        while (p < offsets[c])
            keys[p++] = c;
    assert_ok(buffer_write(particles->key, 0, count * word, keys));
}

static inline void plain_step(struct plain *plain, uint32_t species, struct scene *scene)
{
    struct particles *particles = &scene->sorted.particles;
    assert_ok(push_step(plain->push, &scene->fields, species, particles));
    assert_ok(cell_key_update(plain->cell_key, particles));
    plain_sort(plain, grid_cells(&scene->grid), particles);
    assert_ok(permute_apply(plain->permute, plain->permutation, particles));
}

/* ---- the fused step ---- */

/* For species of the scene's grid, the scene's the only one. */
static inline struct advance_setup scene_setup(const struct tested *tested, const struct scene *scene)
{
    const struct scene_kind *kind = &scene->kind;
    return (struct advance_setup){.grid = scene->grid,
                                  .own_rows = scene->grid.nx,
                                  .precision = kind->precision,
                                  .shape = kind->shape,
                                  .time_step = time_step,
                                  .magnetic = kind->magnetic,
                                  .species_count = SPECIES,
                                  .capacity = kind->count,
                                  .fewest = kind->count,
                                  .reach = {tested->reach[0], tested->reach[1]}};
}

/* As a run does it: the keys go first. */
static inline void scene_take_over(struct advance *advance, uint32_t species, struct scene *scene)
{
    buffer_destroy(&scene->sorted.particles.key);
    buffer_destroy(&scene->sorted.particles.key_spare);
    assert_ok(advance_take_over(advance, species, &scene->sorted.particles));
}

static inline struct advance *scene_advance(const struct tested *tested, uint32_t species,
                                            struct scene *scene)
{
    const struct advance_setup setup = scene_setup(tested, scene);
    struct advance *advance = NULL;
    assert_ok(advance_create(device, tested->kind, &setup, &advance));
    scene_take_over(advance, species, scene);
    return advance;
}

/* ---- what comes of it ---- */

/* Particles in the order in which they lie on the device. */
struct state {
    uint32_t *cell_offsets; /* [cells + 1] */
    uint32_t *cell;         /* [count] */
    double (*offset)[2];    /* [count] */
    double (*velocity)[2];  /* [count] */
    uint64_t *id;           /* [count] */
    struct push_sums sums;
};

static inline struct state state_read(const struct scene *scene)
{
    const struct particles *particles = &scene->sorted.particles;
    const size_t count = particles->count, cells = grid_cells(&scene->grid);
    struct state state = {.cell_offsets = calloc(cells + 1, sizeof *state.cell_offsets),
                          .cell = calloc(count, sizeof *state.cell),
                          .offset = calloc(count, sizeof *state.offset),
                          .velocity = calloc(count, sizeof *state.velocity),
                          .id = calloc(count, sizeof *state.id)};
    assert_true(state.cell_offsets && state.cell && state.offset && state.velocity && state.id);
    const enum precision precision = scene->kind.precision;
    assert_ok(buffer_read(particles->cell_offsets, 0, (cells + 1) * sizeof *state.cell_offsets,
                          state.cell_offsets));
    assert_ok(particles_read_offsets(particles, precision, 0, count, state.offset[0]));
    assert_ok(particles_read_velocities(particles, precision, 0, count, state.velocity[0]));
    assert_ok(buffer_read(particles->id, 0, count * sizeof *state.id, state.id));
    assert_int_equal(state.cell_offsets[0], 0);
    assert_int_equal(state.cell_offsets[cells], count);
    for (uint32_t c = 0; c < cells; c++) {
        assert_true(state.cell_offsets[c] <= state.cell_offsets[c + 1]);
        for (uint32_t p = state.cell_offsets[c]; p < state.cell_offsets[c + 1]; p++)
            state.cell[p] = c;
    }
    return state;
}

static inline void state_free(struct state *state)
{
    free(state->cell_offsets);
    free(state->cell);
    free(state->offset);
    free(state->velocity);
    free(state->id);
}

/* Distance along an axis of the periodic box, in cells, of offsets that are this many cells apart. */
static inline double periodic_distance(int64_t apart, double offset, double other_offset, uint32_t cells)
{
    const double distance = fabs((double)apart + (offset - other_offset));
    return fmin(distance, cells - distance);
}

/* Particle p of one against particle q of the other, of the same id. Not-a-number matches itself alone. */
static inline void check_particle(const struct scene *scene, const struct state *fused, uint32_t p,
                                  const struct state *plain, uint32_t q, double tolerance)
{
    const uint32_t cells[2] = {scene->grid.nx, scene->grid.ny}, ny = scene->grid.ny;
    const uint32_t at[2] = {fused->cell[p] / ny, fused->cell[p] % ny};
    const uint32_t expected[2] = {plain->cell[q] / ny, plain->cell[q] % ny};
    for (int axis = 0; axis < 2; axis++) {
        if (isnan(plain->velocity[q][axis])) {
            assert_true(isnan(fused->velocity[p][axis]));
        } else if (fused->velocity[p][axis] != plain->velocity[q][axis]) { /* infinite ones are the same */
            assert_near(fused->velocity[p][axis], plain->velocity[q][axis], tolerance);
        }
        if (isnan(plain->offset[q][axis])) {
            assert_true(isnan(fused->offset[p][axis]));
            assert_int_equal(at[axis], expected[axis]);
            continue;
        }
        assert_true(fused->offset[p][axis] >= 0 && fused->offset[p][axis] < 1);
        assert_near(periodic_distance((int64_t)at[axis] - expected[axis], fused->offset[p][axis],
                                      plain->offset[q][axis], cells[axis]),
                    0, tolerance);
    }
}

/* Every step rounds numbers of the size of the displacement in cells (below 2 speed, as offsets and
 * velocities) some twenty times, and what a step has rounded the field hands on to the next. */
static inline double scene_tolerance(const struct scene_kind *kind, int steps)
{
    return 40 * test_epsilon(kind->precision) * steps * (kind->speed > 1 ? 2 * kind->speed : 2);
}

static inline void check_same_order(const struct scene *scene, const struct state *fused,
                                    const struct state *plain, double tolerance)
{
    const uint32_t count = scene->kind.count;
    assert_memory_equal(fused->id, plain->id, count * sizeof *plain->id);
    for (uint32_t p = 0; p < count; p++)
        check_particle(scene, fused, p, plain, p, tolerance);
}

/* Particles found by their ids. Returns how many stand in another cell. */
static inline uint32_t check_same_particles(const struct scene *scene, const struct state *fused,
                                            const struct state *plain, double tolerance)
{
    const uint32_t count = scene->kind.count;
    uint32_t *place = calloc(count, sizeof *place); /* 1 + that of each id in `plain` */
    assert_non_null(place);
    for (uint32_t q = 0; q < count; q++)
        place[plain->id[q]] = q + 1;
    uint32_t elsewhere = 0;
    for (uint32_t p = 0; p < count; p++) {
        assert_true(fused->id[p] < count && place[fused->id[p]] > 0); /* there, and not met before */
        const uint32_t q = place[fused->id[p]] - 1;
        place[fused->id[p]] = 0;
        check_particle(scene, fused, p, plain, q, tolerance);
        elsewhere += fused->cell[p] != plain->cell[q];
    }
    free(place);
    return elsewhere;
}

/* In double precision nobody is so close to an edge that rounding decides the cell; in single precision
 * somebody may be. */
static inline void check_state(const struct tested *tested, const struct scene *scene,
                               const struct state *fused, const struct state *plain, int steps)
{
    const double tolerance = scene_tolerance(&scene->kind, steps);
    const bool exact = scene->kind.precision == PRECISION_DOUBLE;
    if (exact)
        assert_memory_equal(fused->cell_offsets, plain->cell_offsets,
                            (grid_cells(&scene->grid) + 1) * sizeof *plain->cell_offsets);
    if (exact && tested->keeps_order) {
        check_same_order(scene, fused, plain, tolerance);
        return;
    }
    const uint32_t elsewhere = check_same_particles(scene, fused, plain, tolerance);
    /* as many as chance lets come so close to one of four edges, and some */
    assert_true(elsewhere <= (exact ? 0 : 3 + 16 * tolerance * scene->kind.count));
}

/* Sums of the same terms in another order; each is a few roundings off, blocks of 32 add a few more. */
static inline void check_sums(const struct scene *scene, const struct push_sums *fused,
                              const struct push_sums *plain, int steps)
{
    const struct scene_kind *kind = &scene->kind;
    if (isnan(plain->kinetic_energy)) {
        assert_true(isnan(fused->kinetic_energy) && isnan(fused->momentum[0] + fused->momentum[1]));
        return;
    }
    const struct particles *particles = &scene->sorted.particles;
    const double mass = particles->weight * particles->species->mass * particles->count;
    const double relative = 40 * test_epsilon(kind->precision) * steps;
    assert_near(fused->kinetic_energy, plain->kinetic_energy, relative * (plain->kinetic_energy + mass));
    for (int axis = 0; axis < 2; axis++)
        assert_near(fused->momentum[axis], plain->momentum[axis], relative * 4 * kind->speed * mass);
}

/* ---- side by side ---- */

/* A species twice. */
struct scene_pair {
    struct scene plain, fused;
};

static inline void pair_create(const struct scene_kind *kind, struct scene_pair *pair)
{
    scene_create(kind, &pair->plain);
    scene_create(kind, &pair->fused);
}

static inline void pair_destroy(struct scene_pair *pair)
{
    scene_destroy(&pair->plain);
    scene_destroy(&pair->fused);
}

/* One step of a species both ways; what comes of it is the same. */
static inline void compare_step(const struct tested *tested, struct advance *advance, struct plain *plain,
                                uint32_t species, struct scene_pair *pair, int step)
{
    struct particles *particles = &pair->fused.sorted.particles;
    const struct fields *fields = &pair->fused.fields;
    struct push_sums measured;
    assert_ok(advance_measure(advance, fields, species, particles));
    assert_ok(advance_read_sums(advance, species, particles, &measured));
    plain_step(plain, species, &pair->plain);
    assert_ok(advance_step(advance, fields, species, step % 2 == 1, particles));
    struct state expected = state_read(&pair->plain), state = state_read(&pair->fused);
    assert_ok(push_read_sums(plain->push, species, &pair->plain.sorted.particles, &expected.sums));
    assert_ok(advance_read_sums(advance, species, particles, &state.sums));
    check_sums(&pair->plain, &measured, &expected.sums, step);
    assert_memory_equal(&state.sums, &measured, sizeof measured); /* a step measures the same */
    check_state(tested, &pair->plain, &state, &expected, step);
    state_free(&expected);
    state_free(&state);
}

/* Up to SPECIES species on one grid through one advance, side by side with the plain step. */
static inline void compare_steps(const struct tested *tested, struct scene_pair *pairs, uint32_t number,
                                 int steps)
{
    struct plain plain[SPECIES];
    struct advance_setup setup = scene_setup(tested, &pairs[0].fused);
    for (uint32_t n = 0; n < number; n++) {
        const uint32_t count = pairs[n].fused.kind.count;
        setup.capacity = count > setup.capacity ? count : setup.capacity;
        setup.fewest = count < setup.fewest ? count : setup.fewest;
        plain_create(&pairs[n].plain, &plain[n]);
    }
    const uint32_t first = SPECIES - number;
    struct advance *advance = NULL;
    assert_ok(advance_create(device, tested->kind, &setup, &advance));
    for (uint32_t n = 0; n < number; n++)
        scene_take_over(advance, first + n, &pairs[n].fused);
    for (int step = 1; step <= steps; step++)
        for (uint32_t n = 0; n < number; n++)
            compare_step(tested, advance, &plain[n], first + n, &pairs[n], step);
    advance_destroy(&advance);
    for (uint32_t n = 0; n < number; n++)
        plain_destroy(&plain[n]);
}

static inline void compare_kinds(const struct tested *tested, const struct scene_kind *kind, int steps)
{
    struct scene_pair pair;
    pair_create(kind, &pair);
    compare_steps(tested, &pair, 1, steps);
    pair_destroy(&pair);
}

static inline bool has_precision(enum precision precision)
{
    return precision == PRECISION_SINGLE || device_info(device)->has_fp64;
}

/* ---- checks that every kind of advance passes ---- */

/* Numbers that are none stay in their cell, spoil the sums, and nobody else. */
static inline void check_not_a_number(const struct tested *tested, const struct scene_kind *kind)
{
    struct scene_pair pair;
    pair_create(kind, &pair);
    struct scene *const scenes[] = {&pair.plain, &pair.fused};
    for (int n = 0; n < 2; n++) {
        scenes[n]->sorted.velocity[123][0] = (double)NAN;
        scenes[n]->sorted.velocity[200][1] = (double)INFINITY;
        scenes[n]->sorted.velocity[201][0] = 1e30;
        sorted_particles_upload(&scenes[n]->sorted);
    }
    compare_steps(tested, &pair, 1, 3);
    pair_destroy(&pair);
}

/* A hair before a cell's edge along some axes: 1 minus the hair rounds to 1, which is offset 0 of the old
 * cell. */
static inline void check_hair(const struct tested *tested, const struct scene_kind *kind, const bool along[2])
{
    struct scene scene;
    scene_create(kind, &scene);
    for (uint32_t p = 0; p < kind->count; p++)
        for (int axis = 0; axis < 2; axis++) {
            scene.sorted.offset[p][axis] = 0;
            scene.sorted.velocity[p][axis] = along[axis] && p % 2 == 0 ? -1e-20 : 0;
        }
    sorted_particles_upload(&scene.sorted);
    assert_ok(buffer_fill(scene.fields.ex, 0));
    assert_ok(buffer_fill(scene.fields.ey, 0));
    struct advance *advance = scene_advance(tested, 0, &scene);
    assert_ok(advance_step(advance, &scene.fields, 0, false, &scene.sorted.particles));
    struct state moved = state_read(&scene);
    for (uint32_t p = 0; p < kind->count; p++) {
        assert_int_equal(moved.id[p], p);
        assert_int_equal(moved.cell[p], scene.sorted.cell[p]);
        assert_true(moved.offset[p][0] == 0 && moved.offset[p][1] == 0);
    }
    state_free(&moved);
    advance_destroy(&advance);
    scene_destroy(&scene);
}

/* A few steps from the beginning, with ids or without, measured or not; the sums are those of the last. */
static inline struct state run_anew(const struct tested *tested, const struct scene_kind *kind, bool ids,
                                    bool measure)
{
    enum { STEPS = 3 };
    struct scene scene;
    scene_create(kind, &scene);
    struct particles *particles = &scene.sorted.particles;
    struct buffer *id = particles->id, *id_spare = particles->id_spare;
    if (!ids)
        particles->id = particles->id_spare = NULL;
    struct advance *advance = scene_advance(tested, 0, &scene);
    for (int step = 1; step <= STEPS; step++)
        assert_ok(advance_step(advance, &scene.fields, 0, measure || step == STEPS, particles));
    if (!ids) {
        particles->id = id;
        particles->id_spare = id_spare;
    }
    struct state after = state_read(&scene);
    assert_ok(advance_read_sums(advance, 0, particles, &after.sums));
    advance_destroy(&advance);
    scene_destroy(&scene);
    return after;
}

/* The same particles give the same bits, with ids or without, measured or not. */
static inline void check_same_bits(const struct tested *tested, const struct scene_kind *kind, int runs)
{
    struct state first = run_anew(tested, kind, true, true);
    for (int run = 1; run < runs; run++) {
        const bool ids = run % 2 == 0;
        struct state again = run_anew(tested, kind, ids, run % 3 == 0);
        assert_memory_equal(&again.sums, &first.sums, sizeof first.sums);
        assert_memory_equal(again.cell, first.cell, kind->count * sizeof *first.cell);
        assert_memory_equal(again.offset, first.offset, kind->count * sizeof *first.offset);
        assert_memory_equal(again.velocity, first.velocity, kind->count * sizeof *first.velocity);
        if (ids)
            assert_memory_equal(again.id, first.id, kind->count * sizeof *first.id);
        state_free(&again);
    }
    state_free(&first);
}

/* The advance holds what it foretells from the first species on, and what it takes from a species' state it
 * gives back in its own layout. */
static inline void check_bytes(const struct tested *tested, const struct scene_kind *kind)
{
    struct scene scene;
    scene_create(kind, &scene);
    buffer_destroy(&scene.sorted.particles.key);
    buffer_destroy(&scene.sorted.particles.key_spare);
    const struct advance_setup setup = scene_setup(tested, &scene);
    struct advance *advance = NULL;
    const size_t before = device_bytes_held(device);
    assert_ok(advance_create(device, tested->kind, &setup, &advance));
    assert_int_equal(device_bytes_held(device), before);
    assert_ok(advance_take_over(advance, 0, &scene.sorted.particles));
    assert_int_equal(device_bytes_held(device) - before,
                     advance_bytes(device_info(device), tested->kind, &setup));
    for (int step = 0; step < 2; step++)
        assert_ok(advance_step(advance, &scene.fields, 0, true, &scene.sorted.particles));
    assert_int_equal(device_bytes_held(device) - before,
                     advance_bytes(device_info(device), tested->kind, &setup));
    advance_destroy(&advance);
    assert_int_equal(device_bytes_held(device), before);
    scene_destroy(&scene);
}

#endif
