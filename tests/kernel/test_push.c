/* Push: offsets anywhere come back to [0, 1), and cells follow them around the box or into ghost rows, as the
 * host's twin has them; the start; and the velocities and sums of a step, of which test_steppers.c has more.
 */
#include "support/step_scene.h"

/* ---- places ---- */

/* Boxes; then slabs: a single own row, more ghost rows than own ones. */
static const uint32_t places[][3] = {/* rows, columns, ghost rows */
                                     {32, 32, 0},  {2, 2, 0}, {3, 5, 0},   {2, 1024, 0}, {7, 4, 0},
                                     {32, 32, 12}, {6, 2, 2}, {40, 3, 12}, {7, 8, 2},    {100, 4, 2}};
enum { PLACES = sizeof places / sizeof places[0] };

typedef void displacement(enum precision precision, uint32_t n, double way[2]);

/* An exact scene whose particles go where the function says, from offset 0 of their cell; with `at_ends` half
 * of them are in the first cell and half in the last own one. */
static void check_places(const uint32_t place[3], enum precision precision, uint32_t count, bool at_ends,
                         displacement *displacement_of)
{
    const struct scene_kind kind = exact_scene(place[0], place[1], count, precision, 0, place[2], 0);
    struct scene scene;
    scene_create(&kind, radix.kind, true, 0, &scene);
    struct sorted_particles *sorted = &scene.sorted;
    const double per_cell[2] = {scene.slab.local.dx / scene.time_step, scene.slab.local.dy / scene.time_step};
    for (uint32_t n = 0; n < count; n++) {
        double way[2];
        displacement_of(precision, at_ends ? n % (count / 2) : n, way);
        if (at_ends)
            sorted->cell[n] = n < count / 2 ? 0 : slab_own_cells(&scene.slab) - 1;
        for (int axis = 0; axis < 2; axis++) {
            sorted->offset[n][axis] = 0;
            sorted->velocity[n][axis] = test_rounded(precision, way[axis]) * per_cell[axis];
        }
    }
    sorted_particles_upload(sorted);
    struct stepper stepper = stepper_for(&radix, USED, &scene);
    step_once(&stepper, &scene, USED, false);
    struct sorted_particles after = state_read(&scene);
    check_moved(&radix, &scene, sorted, &after, NULL);
    device_close(&scene.device);
}

enum { MAGNITUDES = 31, SPECIALS = 2 * MAGNITUDES };

/* Every pair of what stays, wraps around, rounds to 1, reaches ghost rows, is far, and is out of reach. */
static void special_displacement(enum precision precision, uint32_t n, double way[2])
{
    const bool single = precision == PRECISION_SINGLE;
    const double below_one = test_below_one(precision), tiny = single ? 0x1p-140 : 0x1p-1060;
    const double below_limit = single ? (double)nextafterf(1e9F, 0) : nextafter(1e9, 0), inf = 1e300 * 1e300;
    const double magnitudes[MAGNITUDES] = {
        0,       below_one,  1,    1.5, tiny,        1e-20, 0x1p-24, 0x1p-25, 0x1p-54,  31,       32,
        33.25,   2.5,        3.75, 6,   3,           13.5,  12.125,  1000.75, 16777215, 16777216, 12345678,
        7654321, 1000000.25, 1e6,  1e9, below_limit, 1e10,  3e37,    inf,     inf - inf};
    const uint32_t special[2] = {n / SPECIALS % SPECIALS, n % SPECIALS};
    for (int axis = 0; axis < 2; axis++)
        way[axis] = (special[axis] % 2 ? -1 : 1) * magnitudes[special[axis] / 2];
}

/* From a part of a cell to many boxes away. */
static void random_displacement(enum precision precision, uint32_t n, double way[2])
{
    static const double reaches[] = {1, 3, 100, 1e6};
    uint64_t seed = 17 * n + (uint64_t)precision;
    for (int axis = 0; axis < 2; axis++)
        way[axis] = reaches[n % 4] * (2 * test_random(&seed) - 1);
}

TEST(places_any_displacement)
{
    static const uint32_t counts[] = {1, 63, 64, 65, 2000}; /* around a group */
    const bool small = test_count(UINT32_MAX) < UINT32_MAX;
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++)
        for (size_t n = small ? 5 * precision : 0; n < PLACES && has_precision(precision);
             n += small ? 10 : 1) {
            check_places(places[n], precision, 2 * SPECIALS * SPECIALS, true, special_displacement);
            check_places(places[n], precision, test_count(counts[n % 5]), false, random_displacement);
        }
}

/* ---- velocities ---- */

/* cic has field numbers of its own in the vector form; nine particles a cell, so that a vector has several.
 */
TEST(a_step_in_a_field)
{
    for (enum shape_kind shape = SHAPE_CIC; shape <= SHAPE_TSC; shape++)
        for (int dimensions = 2; dimensions <= 3; dimensions++) {
            struct scene_kind kind =
                field_scene(8, 20, test_count(1440), PRECISION_SINGLE, shape, 0.9, 0.1, 1);
            if (dimensions == 3)
                kind = with_w(kind);
            struct scene scene;
            scene_create(&kind, radix.kind, true, 0, &scene);
            struct stepper stepper = stepper_for(&radix, USED, &scene);
            check_step(&radix, &stepper, USED, true, &scene);
            device_close(&scene.device);
        }
}

/* After the start the sums at 0 are those of the loaded velocities, to round-off, in either layout: in two
 * dimensions without B, in three with any. */
TEST(starts_through_the_loaded_velocities)
{
    for (int n = 0; n < 4; n++) {
        const bool has_w = n % 2;
        struct scene_kind kind =
            field_scene(8, 8, test_count(5000), PRECISION_SINGLE, SHAPE_CIC, has_w ? 1.7 : 0, 0.1, 1);
        kind.has_w = kind.tilted = has_w;
        const struct tested *tested = n / 2 ? &chunked : &radix;
        struct scene scene;
        scene_create(&kind, tested->kind, true, 0, &scene);
        struct sorted_particles *sorted = &scene.sorted;
        struct stepper stepper = stepper_for(tested, USED, &scene);
        assert_ok(stepper_start(&stepper, &scene.fields, &sorted->particles));
        struct sorted_particles started = state_read(&scene);
        for (uint32_t p = 0; p < kind.count; p++) {
            const struct velocity_step step = twin_velocity(&scene, &started, p);
            const double mean[2] = {step.at_n.u, step.at_n.v};
            if (kind.has_w)
                assert_near(step.at_n.w, sorted->w[p], scene_tolerance(&scene, 2));
            for (int axis = 0; axis < 2; axis++) {
                assert_near(mean[axis], sorted->velocity[p][axis], scene_tolerance(&scene, 1));
                assert_true(started.offset[p][axis] == sorted->offset[p][axis]);
            }
        }
        device_close(&scene.device);
    }
}

/* A million equal velocities, of which the sum of 32 is a float and the sums of hundreds of these are not:
 * they would all be rounded down. */
TEST(long_sums_do_not_drift)
{
    static const struct tested *const vectors[] = {&radix, &chunked};
    const struct scene_kind kind = exact_scene(4, 4, test_count(1 << 20), PRECISION_SINGLE, 0, 0, 0);
    for (int n = 0; n < 2; n++) {
        struct scene scene;
        struct push_sums sums;
        scene_create(&kind, vectors[n]->kind, true, 0, &scene);
        struct particles *list = &scene.sorted.particles;
        for (uint32_t p = 0; p < kind.count; p++)
            scene.sorted.velocity[p][0] = scene.sorted.velocity[p][1] = 1 + 0x1p-18;
        sorted_particles_upload(&scene.sorted);
        struct stepper stepper = stepper_for(vectors[n], USED, &scene);
        assert_ok(stepper.kind->measure(&stepper, &scene.fields, USED, list));
        sums = read_sums(&stepper, USED, list);
        const double momentum = list->weight * list->species->mass * kind.count * (1 + 0x1p-18);
        for (int axis = 0; axis < 2; axis++)
            assert_near(sums.momentum[axis], momentum, 4 * 0x1p-23 * momentum);
        device_close(&scene.device);
    }
}

TEST_MAIN(open_device, close_device)
