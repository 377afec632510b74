/* Motion of relativistic particles: the pushers of kernels/shared/motion.h as an electromagnetic run has
 * them, against formulae, compiled for the host. test_motion_vay.c and test_motion_higuera_cary.c run the
 * same with these pushers, and test_motion_*_single.c in single precision. */
#undef ELECTROMAGNETIC
#define ELECTROMAGNETIC 1
#include "support/test_support.h"

#include "support/any_dither.h"
#include "support/vectors.h"

#include <float.h>

#include "shared/motion.h"

#define IS_VAY          (PUSHER == 1)
#define IS_HIGUERA_CARY (PUSHER == 2)

static const double epsilon = REAL_IS_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;
static const double light = 10;

/* A pusher in a uniform magnetic field, and the fields of waves at the particle. */
struct scene {
    struct pusher pusher;
    real field[FELT];
};

/* E = electric e, and B = magnetic b, of which the uniform field is a part. */
static struct scene make_scene(double half_kick, double electric, const double e[3], double magnetic,
                               const double b[3], double part)
{
    struct scene scene;
    double uniform[3];
    for (int axis = 0; axis < 3; axis++) {
        uniform[axis] = part * magnetic * b[axis];
        scene.field[axis] = (real)(electric * e[axis]);
        scene.field[3 + axis] = (real)((1 - part) * magnetic * b[axis]);
    }
    scene.pusher = pusher_make(half_kick, uniform, !REAL_IS_DOUBLE);
    scene.pusher.per_c_squared = (real)(1 / (light * light));
    return scene;
}

static double gamma_of(const double u[3])
{
    return sqrt(1 + dot(u, u) / (light * light));
}

static struct velocity to_velocity(const double u[3])
{
    return (struct velocity){(real)u[0], (real)u[1], (real)u[2]};
}

static void assert_velocity(struct velocity found, const double expected[3], double tolerance)
{
    assert_near((double)found.u, expected[0], tolerance);
    assert_near((double)found.v, expected[1], tolerance);
    assert_near((double)found.w, expected[2], tolerance);
}

/* The momentum at n, and with it 2 (gamma - 1) c^2, twice the kinetic energy per mass. */
static void assert_at_n(struct velocity found, const struct scene *scene, const double u[3], double tolerance)
{
    assert_velocity(found, u, tolerance);
    assert_near((double)velocity_square(found, &scene->pusher), 2 * dot(u, u) / (gamma_of(u) + 1),
                4 * light * tolerance);
}

/* The gamma of the mean of u before and after a rotation about the unit vector `along` by 2 atan(b/gamma):
 * that mean has what is across divided by sqrt(1 + (b/gamma)^2). Found by bisection. */
static double gamma_of_mean(const double u[3], const double along[3], double b)
{
    const double parallel = dot(u, along), square = dot(u, u) - parallel * parallel;
    double low = 1, high = gamma_of(u);
    for (int n = 0; n < 100; n++) {
        const double middle = (low + high) / 2, mean = square / (1 + b * b / middle / middle);
        const bool is_low = middle * middle < 1 + (parallel * parallel + mean) / (light * light);
        *(is_low ? &low : &high) = middle;
    }
    return low;
}

/* Without E the momentum turns by 2 atan(q B dt/2 gamma m) a step and keeps its length: nothing is radiated.
 * With Higuera and Cary the gamma is that of the mean of the step. The momentum at n is half way: with Boris
 * as long, with Vay longer across B by 1/cos of half the angle, and with Higuera and Cary shorter by cos. B
 * is the uniform one and the wave's in parts; |u| is from 0.1 to gamma = 60. Some ten roundings of numbers up
 * to 2 |u| a step. */
TEST(gyration_slows_down_by_gamma)
{
    enum { AXES = 12, STEPS = 400 };
    for (int n = 0; n < AXES; n++) {
        double first[3], along[3], expected[3];
        const double size = 0.1 * pow(6000, n / (AXES - 1.0)), half_kick = n % 2 ? -0.05 : 0.2, magnetic = 4;
        direction_of(n, along);
        direction_of(n + 100, first);
        for (int axis = 0; axis < 3; axis++)
            first[axis] *= size;
        const struct scene scene = make_scene(half_kick, 0, along, magnetic, along, (double)n / AXES);
        const double b = half_kick * magnetic;
        const double angle =
            2 * atan(b / (IS_HIGUERA_CARY ? gamma_of_mean(first, along, b) : gamma_of(first)));
        const double longer = IS_VAY ? 1 / cos(angle / 2) : IS_HIGUERA_CARY ? cos(angle / 2) : 1;
        struct velocity u = to_velocity(first);
        for (int step = 0; step < STEPS; step++) {
            const struct velocity_step next = velocity_push(u, scene.field, &scene.pusher, any_dither());
            turn(first, along, (step + 0.5) * angle, expected);
            for (int axis = 0; axis < 3; axis++)
                expected[axis] = longer * expected[axis] + (1 - longer) * dot(first, along) * along[axis];
            assert_at_n(next.at_n, &scene, expected, 20 * (step + 1) * epsilon * size);
            turn(first, along, (step + 1) * angle, expected);
            assert_velocity(next.after, expected, 20 * (step + 1) * epsilon * size);
            u = next.after;
        }
    }
}

/* E across B with w = E x B/B^2 below c, on which E and v x B cancel. Boris has the fixed point u = g w with
 * g the gamma of u + h E, h = q dt/2m: g^2 = (1 + h^2 E^2/c^2)/(1 - w^2/c^2). So it drifts by w g/gamma,
 * which is w to second order in h, and up to a quarter more here. The others drift by w itself for
 * any step, and are there from the start. Rounding moves the fixed point alone, which the rotation keeps from
 * growing. */
TEST(drift_across_the_fields_is_a_fixed_point)
{
    enum { STEPS = 1000 };
    static const double drifts[] = {0.01, 0.5, 0.9, 0.99};
    for (int n = 0; n < 8; n++) {
        double b[3], e[3], expected[3], other[3];
        const double h = n % 2 ? 1 : -0.02, w = drifts[n / 2] * light, magnetic = 2, electric = w * magnetic;
        const double kick = PUSHER == 0 ? h * electric / light : 0;
        const double g = sqrt((1 + kick * kick) / (1 - w * w / (light * light)));
        direction_of(n, b);
        direction_of(n + 100, other);
        cross(other, b, e);
        const double across = sqrt(dot(e, e));
        for (int axis = 0; axis < 3; axis++)
            e[axis] /= across;
        cross(e, b, expected);
        for (int axis = 0; axis < 3; axis++)
            expected[axis] *= g * w;
        const struct scene scene = make_scene(h, electric, e, magnetic, b, 0.3);
        struct velocity u = to_velocity(expected);
        if (PUSHER != 0)
            u = velocity_start(u, scene.field, &scene.pusher);
        for (int step = 0; step < STEPS; step++)
            u = velocity_push(u, scene.field, &scene.pusher, any_dither()).after;
        assert_velocity(u, expected, 20 * STEPS * epsilon * g * w);
        const double speed = w * g / gamma_of(expected);
        assert_true(speed < light && speed / w - 1 <= kick * kick / 2 + 4 * DBL_EPSILON);
    }
}

/* In a uniform E the momentum is u(t) = a t, a = q E/m, exactly, up to gamma = 50, from rest at 0. The place
 * is x = c^2/a (gamma - 1), which moves by u/gamma reach in second order: the error (dt^2/24) (v' at 0 - v'
 * at the end) is below a dt^2/24, to 1e-3 of it. */
TEST(uniform_field_accelerates_to_fifty_gamma)
{
    enum { STEPS = 2000 };
    const double dt = 0.05, a = light * sqrt(50 * 50 - 1) / STEPS / dt;
    for (int axis = 0; axis < 3; axis++) {
        double expected[3] = {0, 0, 0}, place = 0;
        const double along[3] = {axis == 0, axis == 1, axis == 2};
        const struct scene scene = make_scene(-dt / 2, -a, along, 0, along, 0);
        struct velocity u = velocity_start(to_velocity(expected), scene.field, &scene.pusher);
        for (int step = 0; step <= STEPS; step++) {
            const struct velocity_step next = velocity_push(u, scene.field, &scene.pusher, any_dither());
            u = next.after;
            expected[axis] = a * dt * step;
            assert_at_n(next.at_n, &scene, expected, 2 * (step + 1) * epsilon * (a * dt * step + 1));
            assert_near(place, light * light / a * (gamma_of(expected) - 1),
                        1.001 * a * dt * dt / 24 + 20 * epsilon * light * (step + 1));
            place += dt * (double)(u.u + u.v + u.w) / (double)lorentz_factor(u, &scene.pusher);
        }
        assert_near(gamma_of(expected), 50, 1e-10);
    }
}

/* velocity_start() then velocity_push() passes through the loaded momentum, in any fields. */
TEST(start_leads_through_the_loaded_momentum)
{
    for (int n = 0; n < 20; n++) {
        double loaded[3], e[3], b[3];
        const double size = pow(1.5, n);
        direction_of(n, loaded);
        direction_of(n + 100, e);
        direction_of(n + 200, b);
        for (int axis = 0; axis < 3; axis++)
            loaded[axis] *= size;
        const struct scene scene = make_scene(n % 2 ? 0.3 : -0.05, 3 * n, e, 0.5 * n, b, 0.05 * n);
        const struct velocity start = velocity_start(to_velocity(loaded), scene.field, &scene.pusher);
        assert_velocity(velocity_push(start, scene.field, &scene.pusher, any_dither()).at_n, loaded,
                        40 * epsilon * (size + 3 * n));
    }
}

#if REAL_IS_DOUBLE

/* The determinant of the derivatives of u after a step by u before it. */
static double volume_of_step(const double u[3], const struct scene *scene)
{
    double column[3][3], product[3];
    for (int axis = 0; axis < 3; axis++) {
        double low[3] = {u[0], u[1], u[2]}, high[3] = {u[0], u[1], u[2]};
        low[axis] -= 1e-4;
        high[axis] += 1e-4;
        const struct velocity a = velocity_push(to_velocity(low), scene->field, &scene->pusher, 0).after;
        const struct velocity b = velocity_push(to_velocity(high), scene->field, &scene->pusher, 0).after;
        column[axis][0] = (b.u - a.u) / 2e-4;
        column[axis][1] = (b.v - a.v) / 2e-4;
        column[axis][2] = (b.w - a.w) / 2e-4;
    }
    cross(column[0], column[1], product);
    return dot(product, column[2]);
}

/* Boris and Higuera and Cary keep the volume in the space of u (Higuera and Cary 2017, section IV), Vay does
 * not, by which it may heat or cool. The error of the differences is some (1e-4)^2 and 1e-14/1e-4. */
TEST(volume_is_kept_but_by_vay)
{
    double most = 0;
    for (int n = 0; n < 20; n++) {
        double u[3], e[3], b[3];
        direction_of(n, u);
        direction_of(n + 100, e);
        direction_of(n + 200, b);
        for (int axis = 0; axis < 3; axis++)
            u[axis] *= 5 + n;
        const struct scene scene = make_scene(n % 2 ? 0.3 : -0.2, 20, e, 5, b, 0.05 * n);
        most = fmax(most, fabs(volume_of_step(u, &scene) - 1));
    }
    assert_true(IS_VAY ? most > 0.01 : most < 1e-8);
}

#endif

TEST_MAIN(NULL, NULL)
