/* Motion: the pusher of kernels/shared/motion.h against formulae, compiled for the host.
 * test_motion_single.c runs the same in single precision. */
#include "support/test_support.h"

#include "support/any_dither.h"
#include "support/vectors.h"

#include <float.h>

#include "shared/motion.h"

static const double epsilon = REAL_IS_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;

/* Omega dt = 2 tangent, along the unit vector `along`. */
static struct pusher pusher_along(const double along[3], double half_kick, double omega_dt)
{
    const double size = omega_dt / 2 / half_kick;
    return pusher_make(half_kick, (const double[]){size * along[0], size * along[1], size * along[2]},
                       !REAL_IS_DOUBLE);
}

static struct pusher make_pusher(double half_kick, double omega_dt)
{
    return pusher_along((const double[]){0, 0, 1}, half_kick, omega_dt);
}

static struct velocity_step push(double u, double v, double ex, double ey, double half_kick, double omega_dt)
{
    const struct pusher pusher = make_pusher(half_kick, omega_dt);
    return velocity_push((struct velocity){(real)u, (real)v, 0}, (const real[]){(real)ex, (real)ey}, &pusher,
                         any_dither());
}

/* Without a magnetic field it is the leapfrog: v += 2 half_kick E, and the sums see the value half-way. The
 * numbers are small powers of 2, so everything is exact. */
TEST(leapfrog_is_exact)
{
    const struct velocity_step step = push(1.5, -2, 0.25, 8, -0.5, 0);
    assert_true((double)step.after.u == 1.25 && (double)step.after.v == -10);
    assert_true((double)step.at_n.u == 1.375 && (double)step.at_n.v == -6);
}

/* ---- B in any direction ---- */

static void read_velocity(const struct velocity *velocity, double out[3])
{
    out[0] = (double)velocity->u;
    out[1] = (double)velocity->v;
    out[2] = (double)velocity->w;
}

/* About ten axes, the first along z, the velocity turns by 2 atan(Omega dt/2) a step, and that of n is half
 * way: clockwise for q B > 0, and back for the other sign. Some ten roundings of numbers up to 2 a step. */
TEST(gyration_about_any_axis)
{
    enum { AXES = 10, STEPS = 20 };
    for (int n = 0; n < AXES; n++) {
        double along[3], first[3], half_way[3], expected[3], found[3];
        const double omega_dt = n % 2 ? -0.2 - 0.3 * n : 0.1 + 0.3 * n, phase = 2 * atan(omega_dt / 2);
        direction_of(n, along);
        direction_of(n + 100, first);
        const struct pusher pusher = pusher_along(along, 0.7, omega_dt);
        struct velocity velocity = {(real)first[0], (real)first[1], (real)first[2]};
        for (int step = 0; step < STEPS; step++) {
            const struct velocity_step next =
                velocity_push(velocity, (const real[]){0, 0}, &pusher, any_dither());
            turn(first, along, (step + 0.5) * phase, half_way);
            turn(first, along, (step + 1) * phase, expected);
            velocity = next.after;
            for (int axis = 0; axis < 3; axis++) {
                read_velocity(&next.at_n, found);
                assert_near(found[axis], half_way[axis], 20 * (step + 1) * epsilon);
                read_velocity(&velocity, found);
                assert_near(found[axis], expected[axis], 20 * (step + 1) * epsilon);
            }
        }
    }
}

/* The relative change of the energy of MANY particles of any velocity, in so many steps without E. */
static double energy_change(const struct pusher *pusher, int steps)
{
    enum { MANY = 1024 };
    struct velocity velocities[MANY];
    double before = 0, after = 0, found[3];
    for (int n = 0; n < MANY; n++) {
        direction_of(n, found);
        const double speed = 1 + fmod(0.618033989 * n, 1);
        velocities[n] =
            (struct velocity){(real)(speed * found[0]), (real)(speed * found[1]), (real)(speed * found[2])};
        read_velocity(&velocities[n], found);
        before += dot(found, found);
    }
    for (int step = 0; step < steps; step++)
        for (int n = 0; n < MANY; n++)
            velocities[n] = velocity_push(velocities[n], (const real[]){0, 0}, pusher, any_dither()).after;
    for (int n = 0; n < MANY; n++) {
        read_velocity(&velocities[n], found);
        after += dot(found, found);
    }
    return after / before - 1;
}

/* A hundred fields in any direction, with Omega dt from 0.0008 to 0.8: in 1e4 steps the energy may change by
 * 2e-6, so by a tenth in 1,000. The roundings of the steps add up at random, over steps and particles, to
 * some 6e-8. The pusher's numbers must not add to that: tangent and sine, just rounded, do so by up to 1e-5,
 * and with a correction that large turns lose by 4e-6. */
TEST(rotation_keeps_the_energy)
{
    for (int n = 1; n <= 100; n++) {
        double along[3];
        direction_of(n, along);
        const struct pusher pusher = pusher_along(along, -0.05, 0.8 * pow(1e-3, fmod(0.618033989 * n, 1)));
        assert_near(energy_change(&pusher, 1000), 0, REAL_IS_DOUBLE ? 1e-12 : 2e-7);
    }
}

/* ---- small increments ---- */

/* Whatever the dither. */
TEST(nothing_changes_without_increments)
{
    const struct pusher pusher = make_pusher(0.3, 0);
    for (int n = 0; n < 4096; n++) {
        const uint start = (uint)n << 20 | (n % 2 ? 0xfffff : 0);
        const reals dither = dither_of(0, start, 0, 0);
        const real v = (real)((n % 3 - 1) * pow(2, n % 40 - 20) * (n % 5 ? 1 + n / 4096.0 : 1));
        const real offset = (real)(n / 4096.0);
        assert_true(
            velocity_push((struct velocity){v, -v, v}, (const real[]){0, 0}, &pusher, dither).after.u == v);
        assert_true(kicked((struct velocity){v, -v, v}, (const real[]){0, 0}, (real)0.3, dither).v == -v);
        assert_true(offset_after(offset, 0, (real)0.7, dither) == offset);
    }
}

#if DITHERS

static double last_bit(double of)
{
    return epsilon * pow(2, floor(log2(fabs(of))));
}

/* Kicks of less than the last bit of a velocity, and of more, up and down, from a power of 2 too, where the
 * last bits on both sides differ; with the numbers of a rotation, which is by 0, and without them. Each
 * rounding is off by some half a last bit at random: 6 times what that adds up to. */
TEST(small_kicks_keep_their_mean)
{
    static const double velocities[] = {1, -1, 0.7, 1.9, -300, 0x1p-12}, kicks[] = {0.003, 0.1, 0.5, 2.3};
    enum { MANY = 100, STEPS = 1000 };
    for (int n = 0; n < 6 * 4 * 4; n++) {
        const double from = (real)velocities[n / 16], share = kicks[n / 4 % 4];
        const double kick = (n % 2 ? share : -share) * last_bit(from);
        const struct pusher pusher = make_pusher(kick / 2, 0);
        double sum = 0;
        for (int p = 0; p < MANY; p++) {
            struct velocity v = {0, (real)from, 0};
            for (int step = 0; step < STEPS; step++)
                v = n % 4 / 2 ? velocity_push(v, (const real[]){0, 1}, &pusher, any_dither()).after
                              : kicked(v, (const real[]){0, 1}, (real)kick, any_dither());
            assert_true(v.u == 0 && v.w == 0);
            sum += (double)v.v - from;
        }
        const double walk = sqrt(fmin(share, 0.25) * MANY * STEPS) * last_bit(from);
        assert_near(sum / (MANY * STEPS * kick), 1, 6 * walk / (MANY * STEPS * fabs(kick)));
    }
}

/* The same of offsets in a cell, whose last bit is that of numbers from 1/2 on. */
TEST(small_ways_keep_their_mean)
{
    static const double ways[] = {1e-10, 1e-8, 2e-8, 1e-7, 1e-6, 3.7e-4};
    enum { MANY = 100, STEPS = 1000 };
    const double bit = epsilon / 2;
    for (int n = 0; n < 12; n++) {
        const double way = n % 2 ? ways[n / 2] : -ways[n / 2];
        double sum = 0;
        for (int p = 0; p < MANY; p++) {
            const real from = (real)(0.4 + 0.002 * p);
            real offset = from;
            for (int step = 0; step < STEPS; step++)
                offset = offset_after(offset, (real)(4 * way), (real)0.25, any_dither());
            sum += (double)offset - (double)from;
        }
        const double walk = sqrt(fmin(fabs(way) / bit, 0.25) * MANY * STEPS) * bit;
        assert_near(sum / (MANY * STEPS * way), 1, 6 * walk / (MANY * STEPS * fabs(way)) + 1e-6);
    }
}

#endif

/* ---- fixed points ---- */

/* E across B: v = E x B/B^2 is a fixed point, out of the plane where B is in it; for B along z only rounding
 * moves it, and the rotation keeps that from growing. E has no component along z, so B may have any direction
 * across E. Tangent and sine are rounded separately, so that they are not quite along B; the error of a step,
 * up to 0.25 epsilon, is the same in every step, and errors add up. */
TEST(drift_is_a_fixed_point)
{
    enum { STEPS = 10000 };
    const double dt = 0.37, ex = 0.3, ey = -0.5, magnetic = 2;
    for (int n = 0; n < 4; n++) {
        const double tilt = n * M_PI / 8, size = hypot(ex, ey); /* from z towards the plane */
        const double along[3] = {-ey / size * sin(tilt), ex / size * sin(tilt), cos(tilt)};
        const struct pusher pusher = pusher_along(along, dt / 2, magnetic * dt);
        const double drift[3] = {ey * along[2] / magnetic, -ex * along[2] / magnetic,
                                 (ex * along[1] - ey * along[0]) / magnetic};
        struct velocity velocity = {(real)drift[0], (real)drift[1], (real)drift[2]};
        double found[3];
        for (int step = 0; step < STEPS; step++)
            velocity =
                velocity_push(velocity, (const real[]){(real)ex, (real)ey}, &pusher, any_dither()).after;
        read_velocity(&velocity, found);
        for (int axis = 0; axis < 3; axis++)
            assert_near(found[axis], drift[axis], (n == 0 ? 100 : STEPS * 0.25) * epsilon);
    }
}

/* velocity_start() then velocity_push() passes through the loaded velocity. */
TEST(start_leads_through_the_loaded_velocity)
{
    for (int n = 0; n < 10; n++) {
        double along[3], loaded[3], found[3];
        direction_of(n, along);
        direction_of(n + 100, loaded);
        const struct pusher pusher = pusher_along(along, -0.05, 0.4 * n - 2);
        const struct velocity velocity = {(real)loaded[0], (real)loaded[1], (real)loaded[2]};
        const struct velocity start = velocity_start(velocity, (const real[]){(real)0.3, (real)0.9}, &pusher);
        const struct velocity_step step =
            velocity_push(start, (const real[]){(real)0.3, (real)0.9}, &pusher, any_dither());
        read_velocity(&step.at_n, found);
        for (int axis = 0; axis < 3; axis++)
            assert_near(found[axis], loaded[axis], 20 * epsilon);
    }
}

/* B along z does not touch w. */
TEST(w_is_kept_in_a_field_along_z)
{
    const struct pusher pusher = make_pusher(0.3, 0.9);
    const struct velocity old = {(real)0.1, (real)-0.7, (real)0.3};
    const struct velocity_step step = velocity_push(old, (const real[]){(real)0.4, (real)0.2}, &pusher, 0);
    const struct velocity_step flat =
        velocity_push((struct velocity){old.u, old.v, 0}, (const real[]){(real)0.4, (real)0.2}, &pusher, 0);
    assert_true(step.after.w == old.w);
    assert_near((double)step.at_n.w, (double)old.w, 4 * epsilon);
    assert_true(step.after.u == flat.after.u && step.after.v == flat.after.v);
    assert_true(step.at_n.u == flat.at_n.u && step.at_n.v == flat.at_n.v);
}

TEST(velocity_that_is_no_number_shows)
{
    const struct velocity_step step = push(NAN, 1, 0, 0, 0.5, 0);
    assert_true(isnan((double)step.after.u) && isnan((double)step.at_n.u));
}

static void check_place(real offset, int cells, real expected)
{
    const struct placement place = offset_place(offset);
    assert_int_equal(place.cells, cells);
    assert_true(place.offset == expected);
    assert_true(place.offset >= (real)0 && place.offset < (real)1);
}

TEST(offsets_find_their_cell)
{
    check_place((real)0.25, 0, (real)0.25);
    check_place((real)0.0, 0, (real)0);
    check_place((real)-0.0, 0, (real)0);
    check_place((real)1.0, 1, (real)0);
    check_place((real)7.25, 7, (real)0.25);
    check_place((real)-3.5, -4, (real)0.5);
    check_place((real)-1.0, -1, (real)0);
    check_place((real)(1 - epsilon / 2), 0, (real)(1 - epsilon / 2));
    check_place((real)-1e6, -1000000, (real)0);
}

/* Just below a node, offset - floor(offset) rounds up to 1: that is offset 0 of the cell above, here the
 * particle's own. */
TEST(a_sum_that_rounds_to_one_is_the_next_cell)
{
    check_place((real)(REAL_IS_DOUBLE ? -1e-18 : -1e-9), 0, (real)0);
    check_place((real)-1e-30, 0, (real)0);
}

TEST(offsets_out_of_reach_become_not_a_number)
{
    const real lost[] = {(real)NAN, (real)INFINITY, (real)-INFINITY, (real)1e12, (real)-1e12};
    for (size_t n = 0; n < sizeof lost / sizeof lost[0]; n++) {
        const struct placement place = offset_place(lost[n]);
        assert_int_equal(place.cells, 0);
        assert_true(isnan((double)place.offset));
    }
}

TEST_MAIN(NULL, NULL)
