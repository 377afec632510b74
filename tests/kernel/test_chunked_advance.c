/* Chunked advance against the plain step. */
#include "support/slab_scene.h"

#include "push/chunked_advance.h"

static const struct tested chunked = {ADVANCE_CHUNKED, true, {2, 2}};

static void compare(const struct scene_kind *kind, int steps)
{
    compare_kinds(&chunked, kind, steps);
}

static void all_shapes_with_and_without_b(void **state)
{
    (void)state;
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++)
        for (enum shape_kind shape = SHAPE_NGP; shape <= SHAPE_TSC && has_precision(precision); shape++) {
            compare(&(struct scene_kind){16, 12, test_count(5003), precision, shape, 0, 0.1, 1}, 4);
            compare(&(struct scene_kind){3, 5, test_count(1000), precision, shape, -0.9, 0, 1}, 4);
            compare(&(struct scene_kind){2, 2, test_count(1000), precision, shape, 0.9, 0, 1}, 4);
        }
}

/* Around one vector, and chunks shorter than one. */
static void any_count(void **state)
{
    (void)state;
    const uint32_t counts[] = {1, 2, 15, 16, 17, 31, 33, 127, 128, 129, 1000};
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++)
        for (size_t n = 0; n < sizeof counts / sizeof counts[0] && has_precision(precision); n++)
            compare(&(struct scene_kind){4, 3, counts[n], precision, SHAPE_CIC, 0.5, 0.7, 1}, 3);
}

/* Half of all particles in one cell: several chunks share it. All others are nearly empty. */
static void a_hot_cell_and_empty_ones(void **state)
{
    (void)state;
    compare(&(struct scene_kind){32, 32, test_count(20011), PRECISION_SINGLE, SHAPE_CIC, 0, 0.5, 0.1}, 3);
    if (has_precision(PRECISION_DOUBLE))
        compare(&(struct scene_kind){64, 32, test_count(20011), PRECISION_DOUBLE, SHAPE_CIC, 0, 0.9, 0.1}, 5);
}

/* Up to 19 and 1,900 cells a step: around the box once or very often. */
static void far_and_around_the_box(void **state)
{
    (void)state;
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++)
        for (double speed = 10; speed <= 1000 && has_precision(precision); speed *= 100) {
            compare(&(struct scene_kind){16, 8, test_count(3000), precision, SHAPE_CIC, 0, 0.1, speed}, 3);
            compare(&(struct scene_kind){2, 40, test_count(3000), precision, SHAPE_CIC, 0.2, 0.1, speed}, 3);
        }
}

/* Cells that several items turn into places, and a table too large for many chunks. */
static void large_grids(void **state)
{
    (void)state;
    if (!has_precision(PRECISION_DOUBLE) || getenv("RADIXPIC_TEST_SMALL"))
        skip();
    compare(&(struct scene_kind){257, 131, 50021, PRECISION_DOUBLE, SHAPE_CIC, 0, 0.1, 1}, 3);
    compare(&(struct scene_kind){2048, 2048, 20011, PRECISION_DOUBLE, SHAPE_CIC, 0, 0.1, 100}, 2);
}

static void two_species(void **state)
{
    (void)state;
    struct scene_pair pairs[SPECIES];
    pair_create(&(struct scene_kind){16, 12, test_count(150), PRECISION_SINGLE, SHAPE_CIC, 0.5, 0, 1},
                &pairs[0]);
    pair_create(&(struct scene_kind){16, 12, test_count(9001), PRECISION_SINGLE, SHAPE_CIC, 0.5, 0.2, 1},
                &pairs[1]);
    compare_steps(&chunked, pairs, SPECIES, 3);
    for (int n = 0; n < SPECIES; n++)
        pair_destroy(&pairs[n]);
}

static void not_a_number(void **state)
{
    (void)state;
    const enum precision precision = has_precision(PRECISION_DOUBLE) ? PRECISION_DOUBLE : PRECISION_SINGLE;
    check_not_a_number(&chunked,
                       &(struct scene_kind){8, 8, test_count(1000), precision, SHAPE_CIC, 0.5, 0, 1});
}

static void an_offset_that_rounds_up(void **state)
{
    (void)state;
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++)
        for (int axes = 1; axes <= 3 && has_precision(precision); axes++)
            check_hair(&chunked, &(struct scene_kind){4, 4, test_count(400), precision, SHAPE_CIC, 0, 0, 1},
                       (const bool[]){axes & 1, axes & 2});
}

static void the_same_bits_every_time(void **state)
{
    (void)state;
    check_same_bits(&chunked,
                    &(struct scene_kind){16, 16, test_count(9001), PRECISION_SINGLE, SHAPE_CIC, 0.5, 0.3, 1},
                    4);
}

/* Long slabs, the shortest with the fewest ghost rows, a single own row; few, some and most leave. */
static void ghost_rows(void **state)
{
    (void)state;
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++) {
        if (!has_precision(precision))
            continue;
        check_with_ghosts(&chunked,
                          &(struct scene_kind){40, 24, test_count(20011), precision, SHAPE_TSC, 0, 0, 1}, 4);
        check_with_ghosts(&chunked,
                          &(struct scene_kind){7, 8, test_count(3000), precision, SHAPE_CIC, 0, 0.5, 1}, 2);
        check_with_ghosts(&chunked,
                          &(struct scene_kind){8, 3, test_count(3000), precision, SHAPE_CIC, 0, 0, 1}, 3);
        check_with_ghosts(&chunked, &(struct scene_kind){300, 7, 17, precision, SHAPE_CIC, 0, 0, 1}, 100);
    }
}

static void counts_up_to_the_capacity(void **state)
{
    (void)state;
    check_capacity(&chunked,
                   &(struct scene_kind){16, 12, test_count(3000), PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1});
}

/* A list in quads that has grown gets spare quads as long; one in pairs gets quads for its capacity. */
static void takes_over_for_the_capacity(void **state)
{
    (void)state;
    enum { COUNT = 100, MORE = 150, SIZE = 4 * sizeof(float) };
    struct scene scene;
    scene_create(&(struct scene_kind){4, 4, COUNT, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1}, &scene);
    struct particles *particles = &scene.sorted.particles;
    particles->count = COUNT - 10;
    struct advance *advance = scene_advance(&chunked, 0, &scene);
    assert_int_equal(buffer_bytes(particles->quad), COUNT * SIZE);
    assert_int_equal(buffer_bytes(particles->quad_spare), COUNT * SIZE);
    const struct buffer *const quad = particles->quad, *const spare = particles->quad_spare;
    assert_ok(advance_take_over(advance, 0, particles));
    assert_true(particles->quad == quad && particles->quad_spare == spare);
    struct buffer *longer = NULL;
    assert_ok(buffer_create(device, MORE * SIZE, "longer quads", &longer));
    buffer_swap(particles->quad, longer);
    buffer_destroy(&longer);
    particles->capacity = MORE;
    assert_ok(advance_take_over(advance, 0, particles));
    assert_int_equal(buffer_bytes(particles->quad), MORE * SIZE);
    assert_int_equal(buffer_bytes(particles->quad_spare), MORE * SIZE);
    advance_destroy(&advance);
    scene_destroy(&scene);
}

/* Quads take the place of pairs. */
static void takes_the_bytes_it_foretells(void **state)
{
    (void)state;
    const uint32_t sides[] = {2, 64, 300, 2048};
    for (size_t n = 0; n < sizeof sides / sizeof sides[0]; n++)
        check_bytes(&chunked,
                    &(struct scene_kind){sides[n], sides[n], 1000, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1});
    struct scene scene;
    scene_create(&(struct scene_kind){4, 4, 100, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1}, &scene);
    struct advance *advance = scene_advance(&chunked, 0, &scene);
    assert_non_null(scene.sorted.particles.quad);
    assert_null(scene.sorted.particles.offset);
    assert_null(scene.sorted.particles.velocity_spare);
    advance_destroy(&advance);
    scene_destroy(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes_with_and_without_b),
        cmocka_unit_test(any_count),
        cmocka_unit_test(a_hot_cell_and_empty_ones),
        cmocka_unit_test(far_and_around_the_box),
        cmocka_unit_test(large_grids),
        cmocka_unit_test(two_species),
        cmocka_unit_test(not_a_number),
        cmocka_unit_test(an_offset_that_rounds_up),
        cmocka_unit_test(the_same_bits_every_time),
        cmocka_unit_test(ghost_rows),
        cmocka_unit_test(counts_up_to_the_capacity),
        cmocka_unit_test(takes_over_for_the_capacity),
        cmocka_unit_test(takes_the_bytes_it_foretells),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
