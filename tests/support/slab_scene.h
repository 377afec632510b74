/* Slab scene: an advance on the local grid of a slab, against positions computed here. For the tests of both
 * kinds of advance.
 *
 * No field and no rotation, and offsets that are odd multiples of 1/32 while displacements are multiples of
 * 1/16: rounding never decides on a cell.
 */
#ifndef RADIXPIC_TEST_SLAB_SCENE_H
#define RADIXPIC_TEST_SLAB_SCENE_H

#include "support/advance_scene.h"

/* Numbers of particles of a scene that go nowhere, or as far as an integer counts. */
enum { BAD_PARTICLE = 100, FAR_PARTICLE = 110, SPECIAL_PARTICLES = 6 };

/* The slab whose local grid the scene has. */
static inline struct slab scene_slab(const struct scene *scene, uint32_t ghost)
{
    const struct grid_config box = {.cells = {10 * scene->kind.nx, scene->kind.ny},
                                    .length = {4.0 * scene->kind.nx, 0.7 * scene->kind.ny}};
    const struct grid grid = grid_make(&box);
    return slab_make(&grid, 0, scene->kind.nx - 2 * ghost - 1, ghost);
}

/* How far a particle goes along an axis, in cells: mostly to a neighbour, else anywhere about the grid, and
 * at times very far. */
static inline double random_way(uint32_t cells, uint64_t *seed)
{
    const double kind = test_random(seed), way = test_random(seed);
    if (kind < 0.8)
        return floor(16 * (3 * way - 1.5)) / 16;
    const double longest = kind < 0.99 ? 1.5 * cells : 50.0 * cells;
    return floor(16 * longest * (2 * way - 1)) / 16;
}

/* A scene whose particles all stand in own rows. */
static inline void slab_scene_create(const struct scene_kind *kind, uint32_t ghost, struct scene *scene)
{
    scene_create(kind, scene);
    struct sorted_particles *sorted = &scene->sorted;
    const struct slab slab = scene_slab(scene, ghost);
    const uint32_t own = slab_own_cells(&slab);
    const uint32_t cells[2] = {kind->nx, kind->ny};
    const double length[2] = {scene->grid.dx, scene->grid.dy};
    uint64_t seed = 5 + kind->count;
    for (uint32_t p = 0; p < kind->count; p++) {
        sorted->cell[p] = (uint32_t)((uint64_t)sorted->cell[p] * own / grid_cells(&scene->grid));
        for (int axis = 0; axis < 2; axis++) {
            sorted->offset[p][axis] = (2 * floor(16 * test_random(&seed)) + 1) / 32;
            const double velocity = random_way(cells[axis], &seed) * length[axis] / time_step;
            sorted->velocity[p][axis] = test_rounded(kind->precision, velocity);
        }
    }
    if (kind->count >= FAR_PARTICLE + SPECIAL_PARTICLES) {
        const double bad[SPECIAL_PARTICLES] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e30, -1e30,
                                               1e12};
        const double far[SPECIAL_PARTICLES] = {9e8, -9e8, 1e8, -1e8, 2e9 / 3, -2e9 / 3};
        for (int n = 0; n < SPECIAL_PARTICLES; n++) {
            sorted->velocity[BAD_PARTICLE + n][0] = bad[n];
            sorted->velocity[FAR_PARTICLE + n][0] =
                test_rounded(kind->precision, far[n] * length[0] / time_step);
        }
    }
    sorted_particles_upload(sorted);
    assert_ok(buffer_fill(scene->fields.ex, 0));
    assert_ok(buffer_fill(scene->fields.ey, 0));
}

static inline struct advance *slab_advance(const struct tested *tested, uint32_t ghost,
                                           const struct scene *scene)
{
    struct advance_setup setup = scene_setup(tested, scene);
    setup.ghost_rows = ghost;
    setup.own_rows -= 2 * ghost + 1;
    struct advance *advance = NULL;
    assert_ok(advance_create(device, tested->kind, &setup, &advance));
    return advance;
}

/* The row of the local grid where row i, counted from the own ones on without an end, is. */
static inline uint32_t expected_row(const struct slab *slab, double i)
{
    const double ghost = slab->ghost, rows = slab->rows;
    if (i < -ghost || i >= rows + ghost)
        return slab_lost_row(slab);
    return (uint32_t)(i < 0 ? i + slab->local.nx : i);
}

/* In the lost row the offset is all of x, in cells from own row 0, as exact as the state's precision has it.
 */
static inline void check_lost(enum precision precision, double place, double way, double offset)
{
    assert_near(offset, place, 4 * test_epsilon(precision) * (fabs(place) + fabs(way) + 1));
    if (fabs(way) < 1e4)
        assert_true(floor(offset) == floor(place));
}

/* Particle q was particle p a step before. */
static inline void check_moved(const struct scene *scene, const struct slab *slab, const struct state *before,
                               uint32_t p, const struct state *after, uint32_t q)
{
    const uint32_t ny = scene->grid.ny;
    const uint32_t from[2] = {before->cell[p] / ny, before->cell[p] % ny};
    const uint32_t to[2] = {after->cell[q] / ny, after->cell[q] % ny};
    const double length[2] = {scene->grid.dx, scene->grid.dy};
    for (int axis = 0; axis < 2; axis++) {
        const double way = before->velocity[p][axis] * time_step / length[axis];
        if (isnan(before->offset[p][0] + before->offset[p][1]) || !(fabs(way) < 0.99e9)) {
            assert_int_equal(to[axis], from[axis]);
            assert_true(isnan(after->offset[q][axis]));
            continue;
        }
        if (!isfinite(before->velocity[p][1 - axis]))
            continue; /* a rotation by nothing may spoil this axis too */
        const double place = from[axis] + before->offset[p][axis] + way, cell = floor(place);
        if (axis == 0)
            assert_int_equal(to[0], expected_row(slab, cell));
        else
            assert_int_equal(to[1], cell - ny * floor(cell / ny));
        assert_true(after->velocity[q][axis] == before->velocity[p][axis]);
        if (axis == 0 && to[0] == slab_lost_row(slab)) {
            check_lost(scene->kind.precision, place, way, after->offset[q][0]);
            continue;
        }
        assert_true(after->offset[q][axis] >= 0 && after->offset[q][axis] < 1);
        if (fabs(way) < 1e5)
            assert_near(after->offset[q][axis], place - cell, 0.02);
    }
}

/* All particles of before, and where order is kept those of a cell in that of before. */
static inline void check_slab_step(const struct tested *tested, const struct scene *scene,
                                   const struct slab *slab, const struct state *before,
                                   const struct state *after)
{
    const uint32_t count = scene->sorted.particles.count;
    uint32_t *place = calloc(scene->kind.count + (size_t)1, sizeof *place); /* 1 + that of an id in before */
    assert_non_null(place);
    for (uint32_t p = 0; p < count; p++)
        place[before->id[p]] = p + 1;
    uint32_t last = 0;
    for (uint32_t q = 0; q < count; q++) {
        assert_true(after->id[q] < scene->kind.count && place[after->id[q]] > 0); /* there, and once */
        const uint32_t p = place[after->id[q]] - 1;
        place[after->id[q]] = 0;
        check_moved(scene, slab, before, p, after, q);
        if (tested->keeps_order && q > 0 && after->cell[q] == after->cell[q - 1])
            assert_true(p > last);
        last = p;
    }
    free(place);
}

/* Particles are gone to other ranks: all that stand behind the own rows. */
static inline void let_leave(struct scene *scene, const struct slab *slab, const struct state *state)
{
    struct particles *particles = &scene->sorted.particles;
    const uint32_t own = slab_own_cells(slab), others = scene->sorted.cells - own;
    uint32_t *ends = calloc(others + (size_t)1, sizeof *ends);
    assert_non_null(ends);
    particles->count = state->cell_offsets[own];
    for (uint32_t c = 0; c <= others; c++)
        ends[c] = particles->count;
    assert_ok(buffer_write(particles->cell_offsets, own * sizeof *ends, (others + 1) * sizeof *ends, ends));
    free(ends);
}

/* The x of a lost particle is the row where it went and the offset that it has there without ghost rows,
 * rounded once. */
static inline void check_kept_x(const struct scene *scene, uint32_t row, double offset, double x)
{
    if (!(fabs(x) < 0x1p20))
        return; /* or the row itself is rounded */
    const double nx = scene->kind.nx, way = floor(x - offset + 0.5);
    assert_true(row == way - nx * floor(way / nx));
    assert_true(x == test_rounded(scene->kind.precision, way + offset));
}

/* The first step without ghost rows leaves the same bits, but for rows and x of lost particles. */
static inline void check_without_guard(const struct tested *tested, const struct scene_kind *kind,
                                       uint32_t ghost, const struct state *with_ghosts)
{
    struct scene scene;
    slab_scene_create(kind, ghost, &scene);
    const struct slab slab = scene_slab(&scene, ghost);
    struct advance *advance = slab_advance(tested, 0, &scene);
    scene_take_over(advance, 1, &scene);
    assert_ok(advance_step(advance, &scene.fields, 1, false, &scene.sorted.particles));
    struct state plain = state_read(&scene);
    uint32_t *place = calloc(kind->count, sizeof *place);
    assert_non_null(place);
    for (uint32_t p = 0; p < kind->count; p++)
        place[plain.id[p]] = p;
    uint32_t lost = 0;
    for (uint32_t q = 0; q < kind->count; q++) {
        const uint32_t p = place[with_ghosts->id[q]];
        assert_memory_equal(plain.velocity[p], with_ghosts->velocity[q], sizeof plain.velocity[p]);
        assert_memory_equal(&plain.offset[p][1], &with_ghosts->offset[q][1], sizeof plain.offset[p][1]);
        assert_int_equal(with_ghosts->cell[q] % kind->ny, plain.cell[p] % kind->ny);
        if (with_ghosts->cell[q] / kind->ny == slab_lost_row(&slab)) {
            lost++;
            check_kept_x(&scene, plain.cell[p] / kind->ny, plain.offset[p][0], with_ghosts->offset[q][0]);
            continue;
        }
        assert_memory_equal(&plain.offset[p][0], &with_ghosts->offset[q][0], sizeof plain.offset[p][0]);
        assert_int_equal(with_ghosts->cell[q], plain.cell[p]);
    }
    assert_true(kind->count < FAR_PARTICLE + SPECIAL_PARTICLES || lost >= SPECIAL_PARTICLES);
    free(place);
    state_free(&plain);
    advance_destroy(&advance);
    scene_destroy(&scene);
}

/* Steps, after each of which those who left the own rows go, until nobody is left. */
static inline void check_with_ghosts(const struct tested *tested, const struct scene_kind *kind,
                                     uint32_t ghost)
{
    enum { STEPS = 3 };
    struct scene scene;
    slab_scene_create(kind, ghost, &scene);
    const struct slab slab = scene_slab(&scene, ghost);
    struct particles *particles = &scene.sorted.particles;
    struct advance *advance = slab_advance(tested, ghost, &scene);
    scene_take_over(advance, 1, &scene);
    for (int step = 1; step <= STEPS; step++) {
        if (step == STEPS) { /* the last go too */
            particles->count = 0;
            assert_ok(buffer_fill(particles->cell_offsets, 0));
        }
        if (step > 1)
            assert_ok(advance_take_over(advance, 1, particles));
        struct state before = state_read(&scene);
        assert_ok(advance_step(advance, &scene.fields, 1, step == STEPS, particles));
        struct state after = state_read(&scene);
        check_slab_step(tested, &scene, &slab, &before, &after);
        if (step == 1)
            check_without_guard(tested, kind, ghost, &after);
        let_leave(&scene, &slab, &after);
        state_free(&before);
        state_free(&after);
    }
    struct push_sums sums;
    assert_ok(advance_read_sums(advance, 1, particles, &sums));
    assert_true(sums.kinetic_energy == 0 && sums.momentum[0] == 0 && sums.momentum[1] == 0);
    advance_destroy(&advance);
    scene_destroy(&scene);
}

/* Nobody, anybody up to the capacity, and not one more. */
static inline void check_capacity(const struct tested *tested, const struct scene_kind *kind)
{
    struct scene scene;
    scene_create(kind, &scene);
    struct particles *particles = &scene.sorted.particles;
    struct advance_setup setup = scene_setup(tested, &scene);
    setup.capacity--;
    struct advance *advance = NULL;
    assert_ok(advance_create(device, tested->kind, &setup, &advance));
    assert_int_equal(advance_take_over(advance, 0, particles), STATUS_FAILED);
    assert_int_equal(advance_step(advance, &scene.fields, 0, false, particles), STATUS_FAILED);
    assert_int_equal(advance_measure(advance, &scene.fields, 0, particles), STATUS_FAILED);
    assert_non_null(strstr(status_message(), "test"));
    advance_destroy(&advance);
    setup.capacity++;
    particles->count = 0;
    assert_ok(buffer_fill(particles->cell_offsets, 0));
    assert_ok(advance_create(device, tested->kind, &setup, &advance));
    scene_take_over(advance, 0, &scene);
    const size_t held = device_bytes_held(device);
    for (int time = 0; time < 2; time++) {
        assert_ok(advance_step(advance, &scene.fields, 0, true, particles));
        assert_ok(advance_take_over(advance, 0, particles));
    }
    struct state state = state_read(&scene);
    state_free(&state);
    assert_int_equal(device_bytes_held(device), held);
    advance_destroy(&advance);
    scene_destroy(&scene);
}

#endif
