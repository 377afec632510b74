/* Motion of relativistic particles: the pusher of kernels/shared/motion.h as an electromagnetic run has it,
 * against formulae, compiled for the host. test_motion_relativistic_single.c runs the same in single
 * precision. */
#define ELECTROMAGNETIC 1
#include "support/test_support.h"

#include <float.h>

#include "shared/motion.h"

static const double epsilon = REAL_IS_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;

static const double light = 10;

/* With the uniform magnetic field B; q dt/2m = half_kick. */
static struct pusher pusher_in(double half_kick, const double magnetic[3])
{
    struct pusher pusher = pusher_make(half_kick, magnetic, !REAL_IS_DOUBLE);
    pusher.per_c_squared = (real)(1 / (light * light));
    return pusher;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double product[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const int next = (axis + 1) % 3, last = (axis + 2) % 3;
        product[axis] = a[next] * b[last] - a[last] * b[next];
    }
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

static double gamma_of(const double u[3])
{
    return sqrt(1 + dot(u, u) / (light * light));
}

/* A vector of a length, in no order but the number's. */
static void vector_of(int n, double size, double vector[3])
{
    const double z = 1 - 2 * fmod(0.754877666 * n, 1), angle = 2 * M_PI * fmod(0.569840291 * n, 1);
    vector[0] = size * sqrt(1 - z * z) * cos(angle);
    vector[1] = size * sqrt(1 - z * z) * sin(angle);
    vector[2] = size * z;
}

/* Rodrigues' formula: `old` turned about the unit vector `along` by `angle`, clockwise. */
static void turn(const double old[3], const double along[3], double angle, double turned[3])
{
    double product[3];
    cross(old, along, product);
    for (int axis = 0; axis < 3; axis++)
        turned[axis] = old[axis] * cos(angle) + product[axis] * sin(angle) +
                       along[axis] * dot(along, old) * (1 - cos(angle));
}

/* Without E the momentum turns by 2 atan(q B dt/2 gamma m) a step and keeps its length: nothing is radiated.
 * B is the uniform one and the wave's together, here in parts that change from axis to axis; u is from small
 * against c to gamma = 60. Some ten roundings of numbers up to 2 |u| a step. */
TEST(gyration_slows_down_by_gamma)
{
    enum { AXES = 12, STEPS = 400 };
    for (int n = 0; n < AXES; n++) {
        double first[3], along[3], uniform[3], expected[3];
        real field[ACTING] = {0};
        const double size = 0.1 * pow(6000, n / (AXES - 1.0)), half_kick = n % 2 ? -0.05 : 0.2;
        const double magnetic = 4, part = (double)n / AXES;
        vector_of(n, 1, along);
        vector_of(n + 100, size, first);
        for (int axis = 0; axis < 3; axis++) {
            uniform[axis] = part * magnetic * along[axis];
            field[3 + axis] = (real)((1 - part) * magnetic * along[axis]);
        }
        const struct pusher pusher = pusher_in(half_kick, uniform);
        const double gamma = gamma_of(first), angle = 2 * atan(half_kick * magnetic / gamma);
        struct velocity u = to_velocity(first);
        for (int step = 0; step < STEPS; step++) {
            const struct velocity_step next = velocity_push(u, field, &pusher);
            const double tolerance = 20 * (step + 1) * epsilon * size;
            turn(first, along, (step + 0.5) * angle, expected);
            assert_velocity(next.at_n, expected, tolerance);
            turn(first, along, (step + 1) * angle, expected);
            assert_velocity(next.after, expected, tolerance);
            assert_near((double)velocity_square(next.at_n, &pusher), 2 * dot(first, first) / (gamma + 1),
                        tolerance * size);
            u = next.after;
        }
    }
}

/* E across B with w = E x B/B^2 below c. The scheme has the fixed point u = gamma' w with gamma' of u + h E,
 * h = q dt/2m: gamma'^2 = (1 + h^2 E^2/c^2)/(1 - w^2/c^2). So it drifts by v = u/gamma = w gamma'/gamma,
 * which is w to second order in h. Rounding moves the fixed point alone, which the rotation keeps from
 * growing. */
TEST(drift_across_the_fields_is_a_fixed_point)
{
    enum { STEPS = 1000 };
    static const double drifts[] = {0.01, 0.5, 0.9, 0.99};
    for (int n = 0; n < 8; n++) {
        double magnetic[3], direction[3], electric[3], drift[3], expected[3];
        const double h = n % 2 ? 0.1 : -0.02, size = drifts[n / 2] * light, none[3] = {0, 0, 0};
        vector_of(n, 2, magnetic);
        vector_of(n + 100, 1, direction);
        cross(direction, magnetic, electric); /* across B */
        for (int axis = 0; axis < 3; axis++)
            direction[axis] = electric[axis] / sqrt(dot(electric, electric));
        for (int axis = 0; axis < 3; axis++)
            electric[axis] = direction[axis] * size * sqrt(dot(magnetic, magnetic));
        cross(electric, magnetic, drift);
        const double scaled = h * h * dot(electric, electric) / (light * light);
        const double gamma = sqrt((1 + scaled) / (1 - size * size / (light * light)));
        real field[ACTING];
        for (int axis = 0; axis < 3; axis++) {
            drift[axis] /= dot(magnetic, magnetic);
            expected[axis] = gamma * drift[axis];
            field[axis] = (real)electric[axis];
            field[3 + axis] = (real)magnetic[axis];
        }
        const struct pusher pusher = pusher_in(h, none);
        struct velocity u = to_velocity(expected);
        for (int step = 0; step < STEPS; step++)
            u = velocity_push(u, field, &pusher).after;
        const double tolerance = 20 * STEPS * epsilon * gamma * size;
        assert_velocity(u, expected, tolerance);
        const double speed = size * gamma / gamma_of(expected);
        assert_true(speed < light && speed / size - 1 <= scaled / 2);
    }
}

/* In a uniform E the momentum is u(t) = u(0) + q E t/m exactly, up to gamma = 50, and what is across E is
 * kept; with u from rest at 0 along E x = c^2/a (sqrt(1 + (a t/c)^2) - 1), a = q E/m, which the move by
 * u/gamma reaches in second order: the error (dt^2/24) (v' at 0 - v' at the end) is below a dt^2/24, to 1e-3
 * of it. */
TEST(uniform_field_accelerates_to_fifty_gamma)
{
    enum { STEPS = 2000 };
    const double across = 3, most = light * sqrt(50 * 50 - 1), dt = 0.05, none[3] = {0, 0, 0};
    const double a = most / STEPS / dt;
    for (int axis = 0; axis < 3; axis++)
        for (int n = 0; n < 2; n++) {
            const double kept = n * across;
            const struct pusher pusher = pusher_in(-dt / 2, none);
            real field[ACTING] = {0};
            double expected[3] = {kept, kept, kept}, place = 0;
            field[axis] = (real)-a;
            expected[axis] = 0;
            struct velocity u = velocity_start(to_velocity(expected), field, &pusher);
            for (int step = 0; step <= STEPS; step++) {
                const struct velocity_step next = velocity_push(u, field, &pusher);
                u = next.after;
                expected[axis] = a * dt * step;
                const double tolerance = 2 * (step + 1) * epsilon * (a * dt * step + 1);
                assert_velocity(next.at_n, expected, tolerance);
                const double gamma = gamma_of(expected);
                assert_near((double)velocity_square(next.at_n, &pusher),
                            2 * dot(expected, expected) / (gamma + 1), 4 * light * tolerance);
                if (n == 0)
                    assert_near(place, light * light / a * (gamma - 1),
                                1.001 * a * dt * dt / 24 + 20 * epsilon * light * (step + 1));
                const double along = axis == 0 ? (double)u.u : axis == 1 ? (double)u.v : (double)u.w;
                place += dt * along / (double)lorentz_factor(u, &pusher);
            }
            if (n == 0)
                assert_near(gamma_of(expected), 50, 1e-10);
        }
}

/* velocity_start() then velocity_push() passes through the loaded momentum, in any fields. */
TEST(start_leads_through_the_loaded_momentum)
{
    for (int n = 0; n < 20; n++) {
        double loaded[3], uniform[3], wave[3], electric[3];
        const double size = pow(1.5, n);
        real field[ACTING];
        vector_of(n, size, loaded);
        vector_of(n + 100, 0.5 * n, uniform);
        vector_of(n + 200, 0.7 * n, wave);
        vector_of(n + 300, 3 * n, electric);
        for (int axis = 0; axis < 3; axis++) {
            field[axis] = (real)electric[axis];
            field[3 + axis] = (real)wave[axis];
        }
        const struct pusher pusher = pusher_in(n % 2 ? 0.3 : -0.05, uniform);
        const struct velocity start = velocity_start(to_velocity(loaded), field, &pusher);
        assert_velocity(velocity_push(start, field, &pusher).at_n, loaded, 40 * epsilon * (size + 3 * n));
    }
}

TEST_MAIN(NULL, NULL)
