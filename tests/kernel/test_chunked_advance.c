/* Chunked advance: the same particles through the plain step (push, cell key, sort, permute), whose parts
 * have tests of their own, and through the fused one. */
#include "support/sorted_particles.h"

#include "push/chunked_advance.h"
#include "push/push.h"
#include "sort/cell_key.h"
#include "sort/chunked_sort.h"
#include "sort/permute.h"
#include "support/device_fixture.h"

enum { SPECIES = 2, SPECIES_USED = 1 }; /* the second set of sums, to see that the sets do not mix */

/* What a scene is made of; two scenes of the same sort hold the same particles. */
struct kind {
    uint32_t nx, ny, count;
    enum precision precision;
    enum shape_kind shape;
    double magnetic;
    double crowd; /* share of the particles in one cell */
    double speed; /* what velocities are multiplied by */
};

/* A species and the field it moves in. */
struct scene {
    struct kind kind;
    struct grid grid;
    struct sorted_particles sorted;
    struct fields fields;
};

static const double time_step = 0.3;

/* A smooth field, so that sums over nodes in another order stay close. */
static void set_field(const struct scene *scene, struct buffer *buffer, double phase)
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

static void give_ids(struct particles *particles)
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

static void scene_create(const struct kind *kind, struct scene *scene)
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
    give_ids(&scene->sorted.particles);
    assert_ok(fields_create(device, &scene->grid, kind->precision, &scene->fields));
    set_field(scene, scene->fields.ex, 0.3);
    set_field(scene, scene->fields.ey, 1.1);
}

static void scene_destroy(struct scene *scene)
{
    fields_destroy(&scene->fields);
    sorted_particles_destroy(&scene->sorted);
}

/* ---- the plain step ---- */

struct plain {
    struct cell_key *cell_key;
    struct chunked_sort *sort;
    struct permute *permute;
    struct push *push;
    struct buffer *permutation;
};

static void plain_create(const struct scene *scene, struct plain *plain)
{
    const struct kind *kind = &scene->kind;
    assert_ok(chunked_sort_create(device, grid_key_bits(&scene->grid), kind->count, NULL, &plain->sort));
    assert_ok(cell_key_create(device, &scene->grid, kind->precision, &plain->cell_key));
    assert_ok(permute_create(device, kind->precision, &plain->permute));
    assert_ok(push_create(device, &scene->grid, kind->precision, kind->shape, time_step, kind->magnetic,
                          SPECIES, &plain->push));
    assert_ok(buffer_create(device, kind->count * sizeof(uint32_t), "permutation", &plain->permutation));
}

static void plain_destroy(struct plain *plain)
{
    buffer_destroy(&plain->permutation);
    push_destroy(&plain->push);
    permute_destroy(&plain->permute);
    cell_key_destroy(&plain->cell_key);
    chunked_sort_destroy(&plain->sort);
}

static void plain_step(struct plain *plain, struct scene *scene)
{
    struct particles *particles = &scene->sorted.particles;
    assert_ok(push_step(plain->push, &scene->fields, SPECIES_USED, particles));
    assert_ok(cell_key_update(plain->cell_key, particles));
    const struct radix_lists lists = {.keys = particles->key,
                                      .sorted_keys = particles->key_spare,
                                      .permutation = plain->permutation,
                                      .cell_offsets = particles->cell_offsets,
                                      .cells = grid_cells(&scene->grid)};
    assert_ok(chunked_sort_run(plain->sort, particles->count, &lists));
    buffer_swap(&particles->key, &particles->key_spare);
    assert_ok(permute_apply(plain->permute, plain->permutation, particles));
}

/* ---- the fused step ---- */

static struct advance_setup setup_of(const struct scene *scene)
{
    const struct kind *kind = &scene->kind;
    return (struct advance_setup){.grid = scene->grid,
                                  .precision = kind->precision,
                                  .shape = kind->shape,
                                  .time_step = time_step,
                                  .magnetic = kind->magnetic,
                                  .species_count = SPECIES,
                                  .fewest = kind->count,
                                  .capacity = kind->count};
}

static struct chunked_advance *fused_create(struct scene *scene)
{
    const struct advance_setup setup = setup_of(scene);
    struct chunked_advance *advance = NULL;
    assert_ok(chunked_advance_create(device, &setup, &advance));
    assert_ok(chunked_advance_take_over(advance, &scene->sorted.particles));
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

static struct state read_state(const struct scene *scene)
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

static void free_state(struct state *state)
{
    free(state->cell_offsets);
    free(state->cell);
    free(state->offset);
    free(state->velocity);
    free(state->id);
}

/* Distance along an axis of the periodic box, in cells, of offsets that are this many cells apart. */
static double periodic_distance(int64_t apart, double offset, double other_offset, uint32_t cells)
{
    const double distance = fabs((double)apart + (offset - other_offset));
    return fmin(distance, cells - distance);
}

/* Particle p of one against particle q of the other, of the same id. Not-a-number matches itself alone. */
static void check_particle(const struct scene *scene, const struct state *fused, uint32_t p,
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
static double tolerance_of(const struct kind *kind, int steps)
{
    return 40 * test_epsilon(kind->precision) * steps * (kind->speed > 1 ? 2 * kind->speed : 2);
}

/* In double precision nobody is so close to an edge that rounding decides the cell: the order is the same. */
static void check_same_order(const struct scene *scene, const struct state *fused, const struct state *plain,
                             double tolerance)
{
    const uint32_t count = scene->kind.count;
    assert_memory_equal(fused->cell_offsets, plain->cell_offsets,
                        (grid_cells(&scene->grid) + 1) * sizeof *plain->cell_offsets);
    assert_memory_equal(fused->id, plain->id, count * sizeof *plain->id);
    for (uint32_t p = 0; p < count; p++)
        check_particle(scene, fused, p, plain, p, tolerance);
}

/* In single precision somebody may be: particles are found by their ids. */
static void check_same_particles(const struct scene *scene, const struct state *fused,
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
    /* as many as chance lets come so close to one of four edges, and some */
    assert_true(elsewhere <= 3 + 16 * tolerance * count);
}

/* Sums of the same terms in another order; each is a few roundings off, blocks of 32 add a few more. */
static void check_sums(const struct scene *scene, const struct push_sums *fused,
                       const struct push_sums *plain, int steps)
{
    const struct kind *kind = &scene->kind;
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

/* The scenes, already made of one kind, side by side for some steps. */
static void compare_steps(struct scene *plain_scene, struct scene *fused_scene, int steps)
{
    const struct kind *kind = &plain_scene->kind;
    struct plain plain;
    plain_create(plain_scene, &plain);
    struct chunked_advance *advance = fused_create(fused_scene);
    for (int step = 1; step <= steps; step++) {
        struct push_sums measured;
        assert_ok(chunked_advance_measure(advance, &fused_scene->fields, SPECIES_USED,
                                          &fused_scene->sorted.particles));
        assert_ok(
            chunked_advance_read_sums(advance, SPECIES_USED, &fused_scene->sorted.particles, &measured));
        plain_step(&plain, plain_scene);
        assert_ok(chunked_advance_step(advance, &fused_scene->fields, SPECIES_USED, step % 2 == 1,
                                       &fused_scene->sorted.particles));
        struct state expected = read_state(plain_scene), state = read_state(fused_scene);
        assert_ok(push_read_sums(plain.push, SPECIES_USED, &plain_scene->sorted.particles, &expected.sums));
        assert_ok(
            chunked_advance_read_sums(advance, SPECIES_USED, &fused_scene->sorted.particles, &state.sums));
        check_sums(plain_scene, &measured, &expected.sums, step);
        assert_memory_equal(&state.sums, &measured, sizeof measured); /* a step measures the same */
        const double tolerance = tolerance_of(kind, step);
        if (kind->precision == PRECISION_DOUBLE)
            check_same_order(plain_scene, &state, &expected, tolerance);
        else
            check_same_particles(plain_scene, &state, &expected, tolerance);
        free_state(&expected);
        free_state(&state);
    }
    chunked_advance_destroy(&advance);
    plain_destroy(&plain);
}

static void compare(const struct kind *kind, int steps)
{
    struct scene plain, fused;
    scene_create(kind, &plain);
    scene_create(kind, &fused);
    compare_steps(&plain, &fused, steps);
    scene_destroy(&plain);
    scene_destroy(&fused);
}

static bool has_precision(enum precision precision)
{
    return precision == PRECISION_SINGLE || device_info(device)->has_fp64;
}

/* ---- the tests ---- */

static void all_shapes_with_and_without_b(void **state)
{
    (void)state;
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++)
        for (enum shape_kind shape = SHAPE_NGP; shape <= SHAPE_TSC && has_precision(precision); shape++) {
            compare(&(struct kind){16, 12, test_count(5003), precision, shape, 0, 0.1, 1}, 4);
            compare(&(struct kind){3, 5, test_count(1000), precision, shape, -0.9, 0, 1}, 4);
            compare(&(struct kind){2, 2, test_count(1000), precision, shape, 0.9, 0, 1}, 4);
        }
}

/* Around one vector, and chunks shorter than one. */
static void any_count(void **state)
{
    (void)state;
    const uint32_t counts[] = {1, 2, 15, 16, 17, 31, 33, 127, 128, 129, 1000};
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++)
        for (size_t n = 0; n < sizeof counts / sizeof counts[0] && has_precision(precision); n++)
            compare(&(struct kind){4, 3, counts[n], precision, SHAPE_CIC, 0.5, 0.7, 1}, 3);
}

/* Half of all particles in one cell: several chunks share it. All others are nearly empty. */
static void a_hot_cell_and_empty_ones(void **state)
{
    (void)state;
    compare(&(struct kind){32, 32, test_count(20011), PRECISION_SINGLE, SHAPE_CIC, 0, 0.5, 0.1}, 3);
    if (has_precision(PRECISION_DOUBLE))
        compare(&(struct kind){64, 32, test_count(20011), PRECISION_DOUBLE, SHAPE_CIC, 0, 0.9, 0.1}, 5);
}

/* Up to 19 and 1,900 cells a step: around the box once or very often. */
static void far_and_around_the_box(void **state)
{
    (void)state;
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++)
        for (double speed = 10; speed <= 1000 && has_precision(precision); speed *= 100) {
            compare(&(struct kind){16, 8, test_count(3000), precision, SHAPE_CIC, 0, 0.1, speed}, 3);
            compare(&(struct kind){2, 40, test_count(3000), precision, SHAPE_CIC, 0.2, 0.1, speed}, 3);
        }
}

/* Cells that several items turn into places, and a table too large for many chunks. */
static void large_grids(void **state)
{
    (void)state;
    if (!has_precision(PRECISION_DOUBLE) || getenv("RADIXPIC_TEST_SMALL"))
        skip();
    compare(&(struct kind){257, 131, 50021, PRECISION_DOUBLE, SHAPE_CIC, 0, 0.1, 1}, 3);
    compare(&(struct kind){2048, 2048, 20011, PRECISION_DOUBLE, SHAPE_CIC, 0, 0.1, 100}, 2);
}

/* Numbers that are none stay in their cell, spoil the sums, and nobody else. */
static void not_a_number(void **state)
{
    (void)state;
    const enum precision precision = has_precision(PRECISION_DOUBLE) ? PRECISION_DOUBLE : PRECISION_SINGLE;
    struct scene scenes[2];
    for (int n = 0; n < 2; n++) {
        scene_create(&(struct kind){8, 8, test_count(1000), precision, SHAPE_CIC, 0.5, 0, 1}, &scenes[n]);
        scenes[n].sorted.velocity[123][0] = (double)NAN;
        scenes[n].sorted.velocity[200][1] = (double)INFINITY;
        scenes[n].sorted.velocity[201][0] = 1e30;
        sorted_particles_upload(&scenes[n].sorted);
    }
    compare_steps(&scenes[0], &scenes[1], 3);
    for (int n = 0; n < 2; n++)
        scene_destroy(&scenes[n]);
}

/* A hair before a cell's edge along some axes: 1 minus the hair rounds to 1, which is offset 0 of the old
 * cell. */
static void check_hair(enum precision precision, const bool along[2])
{
    enum { COUNT = 400 };
    struct scene scene;
    scene_create(&(struct kind){4, 4, COUNT, precision, SHAPE_CIC, 0, 0, 1}, &scene);
    for (uint32_t p = 0; p < COUNT; p++)
        for (int axis = 0; axis < 2; axis++) {
            scene.sorted.offset[p][axis] = 0;
            scene.sorted.velocity[p][axis] = along[axis] && p % 2 == 0 ? -1e-20 : 0;
        }
    sorted_particles_upload(&scene.sorted);
    assert_ok(buffer_fill(scene.fields.ex, 0));
    assert_ok(buffer_fill(scene.fields.ey, 0));
    struct chunked_advance *advance = fused_create(&scene);
    assert_ok(chunked_advance_step(advance, &scene.fields, 0, false, &scene.sorted.particles));
    struct state moved = read_state(&scene);
    for (uint32_t p = 0; p < COUNT; p++) {
        assert_int_equal(moved.id[p], p);
        assert_int_equal(moved.cell[p], scene.sorted.cell[p]);
        assert_true(moved.offset[p][0] == 0 && moved.offset[p][1] == 0);
    }
    free_state(&moved);
    chunked_advance_destroy(&advance);
    scene_destroy(&scene);
}

static void an_offset_that_rounds_up(void **state)
{
    (void)state;
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++)
        for (int axes = 1; axes <= 3 && has_precision(precision); axes++)
            check_hair(precision, (const bool[]){axes & 1, axes & 2});
}

/* The same particles give the same bits, with ids or without, measured or not. */
static void the_same_bits_every_time(void **state)
{
    (void)state;
    const struct kind kind = {16, 16, test_count(9001), PRECISION_SINGLE, SHAPE_CIC, 0.5, 0.3, 1};
    struct state after[2];
    for (int run = 0; run < 2; run++) {
        struct scene scene;
        scene_create(&kind, &scene);
        struct particles *particles = &scene.sorted.particles;
        struct buffer *id = particles->id, *id_spare = particles->id_spare;
        if (run == 1)
            particles->id = particles->id_spare = NULL;
        struct chunked_advance *advance = fused_create(&scene);
        for (int step = 0; step < 3; step++)
            assert_ok(chunked_advance_step(advance, &scene.fields, 0, run == 0 || step == 2, particles));
        if (run == 1) {
            particles->id = id;
            particles->id_spare = id_spare;
        }
        after[run] = read_state(&scene);
        assert_ok(chunked_advance_read_sums(advance, 0, particles, &after[run].sums));
        chunked_advance_destroy(&advance);
        scene_destroy(&scene);
    }
    assert_memory_equal(&after[0].sums, &after[1].sums, sizeof after[0].sums);
    assert_memory_equal(after[0].cell, after[1].cell, kind.count * sizeof *after[0].cell);
    assert_memory_equal(after[0].offset, after[1].offset, kind.count * sizeof *after[0].offset);
    assert_memory_equal(after[0].velocity, after[1].velocity, kind.count * sizeof *after[0].velocity);
    free_state(&after[0]);
    free_state(&after[1]);
}

/* The advance holds what it foretells from the first species on; quads take as much as pairs did. */
static void takes_the_bytes_it_foretells(void **state)
{
    (void)state;
    const uint32_t sides[] = {2, 64, 300, 2048};
    for (size_t n = 0; n < sizeof sides / sizeof sides[0]; n++) {
        struct scene scene;
        scene_create(&(struct kind){sides[n], sides[n], 1000, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1}, &scene);
        const struct advance_setup setup = setup_of(&scene);
        struct chunked_advance *advance = NULL;
        const size_t before = device_bytes_held(device);
        assert_ok(chunked_advance_create(device, &setup, &advance));
        assert_int_equal(device_bytes_held(device), before);
        assert_ok(chunked_advance_take_over(advance, &scene.sorted.particles));
        assert_int_equal(device_bytes_held(device) - before,
                         chunked_advance_bytes(device_info(device), &setup));
        assert_null(scene.sorted.particles.offset);
        assert_null(scene.sorted.particles.velocity_spare);
        chunked_advance_destroy(&advance);
        assert_int_equal(device_bytes_held(device), before);
        scene_destroy(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes_with_and_without_b),
        cmocka_unit_test(any_count),
        cmocka_unit_test(a_hot_cell_and_empty_ones),
        cmocka_unit_test(far_and_around_the_box),
        cmocka_unit_test(large_grids),
        cmocka_unit_test(not_a_number),
        cmocka_unit_test(an_offset_that_rounds_up),
        cmocka_unit_test(the_same_bits_every_time),
        cmocka_unit_test(takes_the_bytes_it_foretells),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
