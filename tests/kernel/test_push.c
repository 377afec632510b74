/* Push: the device against the host's compilation of the same motion, with the field summed from a textbook
 * shape; the sums against sums over particles in doubles. */
#include "push/push.h"
#include "support/sorted_particles.h"

#include "shared/motion.h" /* in double precision */

static struct device *device;

enum { SPECIES = 2, SPECIES_USED = 1 }; /* the second set of sums, to see that the sets do not mix */

static int open_device(void **state)
{
    (void)state;
    return device_open(test_device_spec(), &device) == STATUS_OK ? 0 : -1;
}

static int close_device(void **state)
{
    (void)state;
    device_close(&device);
    return 0;
}

/* A species in a random field, and the push under test. */
struct scene {
    struct grid grid;
    enum precision precision;
    enum shape_kind shape;
    double time_step, magnetic;
    struct sorted_particles sorted;
    struct fields fields;
    double *ex, *ey; /* as the device holds them */
    struct push *push;
};

static void upload_random(struct buffer *buffer, enum precision precision, uint32_t count, uint64_t seed,
                          double *numbers)
{
    for (uint32_t n = 0; n < count; n++)
        numbers[n] = test_rounded(precision, 2 * test_random(&seed) - 1);
    assert_ok(buffer_write_reals(buffer, precision, 0, count, numbers));
}

static void scene_create(uint32_t nx, uint32_t ny, uint32_t count, enum precision precision,
                         enum shape_kind shape, double magnetic, struct scene *scene)
{
    *scene = (struct scene){
        .grid = grid_make(&(struct grid_config){.cells = {nx, ny}, .length = {0.4 * nx, 0.7 * ny}}),
        .precision = precision,
        .shape = shape,
        .time_step = 0.3,
        .magnetic = magnetic,
    };
    const uint32_t cells = grid_cells(&scene->grid);
    sorted_particles_create(device, &scene->grid, precision, count, 0.1, 11 + count, &scene->sorted);
    assert_ok(fields_create(device, &scene->grid, precision, &scene->fields));
    scene->ex = calloc(cells, sizeof *scene->ex);
    scene->ey = calloc(cells, sizeof *scene->ey);
    assert_true(scene->ex && scene->ey);
    upload_random(scene->fields.ex, precision, cells, 21, scene->ex);
    upload_random(scene->fields.ey, precision, cells, 22, scene->ey);
    assert_ok(push_create(device, &scene->grid, precision, shape, scene->time_step, magnetic, SPECIES,
                          &scene->push));
}

static void scene_destroy(struct scene *scene)
{
    push_destroy(&scene->push);
    free(scene->ex);
    free(scene->ey);
    sorted_particles_destroy(&scene->sorted);
}

/* q dt/2m and q B dt/2m */
static double half_kick_of(const struct scene *scene)
{
    return 0.5 * scene->time_step * scene->sorted.species.charge / scene->sorted.species.mass;
}

static double tangent_of(const struct scene *scene)
{
    return half_kick_of(scene) * scene->magnetic;
}

struct interpolation {
    const struct scene *scene;
    double field[2];
};

static void add_field(void *into, uint32_t node, double weight)
{
    struct interpolation *interpolation = into;
    interpolation->field[0] += weight * interpolation->scene->ex[node];
    interpolation->field[1] += weight * interpolation->scene->ey[node];
}

/* What velocity_push() makes of particle p on the host. */
static struct velocity_step host_step(const struct scene *scene, uint32_t p)
{
    const struct sorted_particles *sorted = &scene->sorted;
    struct interpolation at = {.scene = scene};
    test_for_nodes(&scene->grid, scene->shape, sorted->cell[p], sorted->offset[p], add_field, &at);
    const double tangent = tangent_of(scene);
    return velocity_push(sorted->velocity[p][0], sorted->velocity[p][1], at.field[0], at.field[1],
                         half_kick_of(scene), tangent, 2 * tangent / (1 + tangent * tangent));
}

static double *read_pairs(const struct buffer *buffer, const struct scene *scene)
{
    const size_t count = 2 * (size_t)scene->sorted.particles.count;
    double *pairs = calloc(count, sizeof *pairs);
    assert_non_null(pairs);
    assert_ok(buffer_read_reals(buffer, scene->precision, 0, count, pairs));
    return pairs;
}

/* The weight and mass of a macro-particle times the sums of |v|^2/2, u and v at n. The mean of the velocities
 * before and after the rotation is a chord, shorter than the velocity half way through by cos(atan(tangent)).
 */
static struct push_sums host_sums(const struct scene *scene)
{
    long double square = 0, u = 0, v = 0;
    for (uint32_t p = 0; p < scene->sorted.particles.count; p++) {
        const struct velocity_step step = host_step(scene, p);
        square += (long double)step.square;
        u += (long double)step.mean_u;
        v += (long double)step.mean_v;
    }
    const double mass = scene->sorted.particles.weight * scene->sorted.species.mass;
    const double full = mass * sqrt(1 + tangent_of(scene) * tangent_of(scene));
    return (struct push_sums){(double)square * mass / 2, {(double)u * full, (double)v * full}};
}

/* Velocities stay below 4 and fields below 1, so each particle's terms are good to some 10 epsilon of 16; a
 * block of 32 plain additions adds up to 16 epsilon of its sum. All of one sign: the worst case. */
static void check_sums(const struct scene *scene, const struct push_sums *sums, const struct push_sums *host)
{
    const struct sorted_particles *sorted = &scene->sorted;
    const double mass = sorted->particles.weight * sorted->species.mass * sorted->particles.count;
    const double epsilon = test_epsilon(scene->precision);
    assert_near(sums->kinetic_energy, host->kinetic_energy,
                16 * epsilon * host->kinetic_energy + 80 * epsilon * mass / 2);
    for (int axis = 0; axis < 2; axis++)
        assert_near(sums->momentum[axis], host->momentum[axis], 26 * epsilon * 4 * mass);
}

/* One push_measure(), which must move nothing, and one push_step(). */
static void check_step(uint32_t nx, uint32_t ny, uint32_t count, enum precision precision,
                       enum shape_kind shape, double magnetic)
{
    struct scene scene;
    scene_create(nx, ny, count, precision, shape, magnetic, &scene);
    struct particles *particles = &scene.sorted.particles;
    const struct push_sums expected = host_sums(&scene);
    struct push_sums measured, stepped;
    assert_ok(push_measure(scene.push, &scene.fields, SPECIES_USED, particles));
    assert_ok(push_read_sums(scene.push, SPECIES_USED, particles, &measured));
    double *velocity = read_pairs(particles->velocity, &scene);
    assert_memory_equal(velocity, scene.sorted.velocity, 2 * count * sizeof *velocity);
    free(velocity);
    assert_ok(push_step(scene.push, &scene.fields, SPECIES_USED, particles));
    assert_ok(push_read_sums(scene.push, SPECIES_USED, particles, &stepped));
    check_sums(&scene, &measured, &expected);
    check_sums(&scene, &stepped, &expected);

    velocity = read_pairs(particles->velocity, &scene);
    double *offset = read_pairs(particles->offset, &scene);
    const double step_x = scene.time_step / scene.grid.dx, step_y = scene.time_step / scene.grid.dy;
    const double epsilon = test_epsilon(precision);
    for (uint32_t p = 0; p < count; p++) {
        const struct velocity_step step = host_step(&scene, p);
        /* some ten roundings of numbers below 4 */
        assert_near(velocity[2 * p], step.u, 40 * epsilon);
        assert_near(velocity[2 * p + 1], step.v, 40 * epsilon);
        assert_near(offset[2 * p], scene.sorted.offset[p][0] + step.u * step_x, 40 * epsilon);
        assert_near(offset[2 * p + 1], scene.sorted.offset[p][1] + step.v * step_y, 40 * epsilon);
    }
    free(velocity);
    free(offset);
    scene_destroy(&scene);
}

static void check_steps(enum precision precision)
{
    if (precision == PRECISION_DOUBLE && !device_info(device)->has_fp64)
        skip();
    for (enum shape_kind shape = SHAPE_NGP; shape <= SHAPE_TSC; shape++) {
        check_step(2, 2, 1, precision, shape, 0);
        check_step(2, 3, test_count(1000), precision, shape, 0.8);
        check_step(3, 5, 255, precision, shape, 0);
        check_step(32, 32, test_count(5003), precision, shape, -2);
    }
}

static void steps_as_the_host_single(void **state)
{
    (void)state;
    check_steps(PRECISION_SINGLE);
}

static void steps_as_the_host_double(void **state)
{
    (void)state;
    check_steps(PRECISION_DOUBLE);
}

/* After push_start() the sums at 0 are those of the loaded velocities, to round-off, with and without B. */
static void starts_through_the_loaded_velocities(void **state)
{
    (void)state;
    const double magnetic[] = {0, 1.7};
    for (int n = 0; n < 2; n++) {
        struct scene scene;
        scene_create(8, 8, test_count(5000), PRECISION_SINGLE, SHAPE_CIC, magnetic[n], &scene);
        const struct sorted_particles *sorted = &scene.sorted;
        double square = 0, momentum[2] = {0, 0};
        for (uint32_t p = 0; p < sorted->particles.count; p++)
            for (int axis = 0; axis < 2; axis++) {
                square += sorted->velocity[p][axis] * sorted->velocity[p][axis];
                momentum[axis] += sorted->velocity[p][axis];
            }
        const double mass = sorted->particles.weight * sorted->species.mass;
        const struct push_sums loaded = {mass * square / 2, {mass * momentum[0], mass * momentum[1]}};
        struct push_sums sums;
        assert_ok(push_start(scene.push, &scene.fields, &scene.sorted.particles));
        assert_ok(push_measure(scene.push, &scene.fields, SPECIES_USED, &sorted->particles));
        assert_ok(push_read_sums(scene.push, SPECIES_USED, &sorted->particles, &sums));
        check_sums(&scene, &sums, &loaded);
        scene_destroy(&scene);
    }
}

/* The same particles give the same bits: the sums too. */
static void the_same_bits_every_time(void **state)
{
    (void)state;
    const uint32_t count = test_count(9001);
    struct push_sums sums[2];
    double *velocity[2];
    for (int run = 0; run < 2; run++) {
        struct scene scene;
        scene_create(16, 16, count, PRECISION_SINGLE, SHAPE_TSC, 0.5, &scene);
        assert_ok(push_step(scene.push, &scene.fields, 0, &scene.sorted.particles));
        assert_ok(push_read_sums(scene.push, 0, &scene.sorted.particles, &sums[run]));
        velocity[run] = read_pairs(scene.sorted.particles.velocity, &scene);
        scene_destroy(&scene);
    }
    assert_memory_equal(&sums[0], &sums[1], sizeof sums[0]);
    assert_memory_equal(velocity[0], velocity[1], 2 * count * sizeof *velocity[0]);
    free(velocity[0]);
    free(velocity[1]);
}

/* One broken velocity must show in the energy: nothing hides it. */
static void not_a_number_shows(void **state)
{
    (void)state;
    struct scene scene;
    scene_create(4, 4, test_count(1000), PRECISION_SINGLE, SHAPE_NGP, 0, &scene);
    struct push_sums sums;
    scene.sorted.velocity[123][0] = (double)NAN;
    sorted_particles_upload(&scene.sorted);
    assert_ok(push_step(scene.push, &scene.fields, 0, &scene.sorted.particles));
    assert_ok(push_read_sums(scene.push, 0, &scene.sorted.particles, &sums));
    assert_true(isnan(sums.kinetic_energy) && isnan(sums.momentum[0]));
    scene_destroy(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_as_the_host_single),
        cmocka_unit_test(steps_as_the_host_double),
        cmocka_unit_test(starts_through_the_loaded_velocities),
        cmocka_unit_test(the_same_bits_every_time),
        cmocka_unit_test(not_a_number_shows),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
