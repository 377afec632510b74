/* Motion: the pusher of kernels/shared/motion.h against formulae, compiled for the host.
 * test_motion_single.c runs the same in single precision. */
#include "support/test_support.h"

#include <float.h>

#include "shared/motion.h"

static const double epsilon = REAL_IS_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;

/* Omega dt = 2 tangent. */
static struct pusher make_pusher(double half_kick, double omega_dt)
{
    const double tangent = omega_dt / 2, square = 1 + tangent * tangent;
    return (struct pusher){(real)half_kick, (real)tangent, (real)(2 * tangent / square),
                           (real)(0.5 * sqrt(square))};
}

static struct velocity_step push(double u, double v, double ex, double ey, double half_kick, double omega_dt)
{
    const struct pusher pusher = make_pusher(half_kick, omega_dt);
    return velocity_push((real)u, (real)v, (real)ex, (real)ey, &pusher);
}

/* Without a field the velocity turns by 2 atan(Omega dt/2) a step, clockwise for q B > 0 (B along +z):
 * du/dt = +Omega v. The figures are those of the formula to 8 digits. */
TEST(cyclotron_phase)
{
    const double cases[][2] = {{0.1, 0.09991679}, {0.2, 0.19933730}, {0.5, 0.48995733}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const struct velocity_step step = push(1, 0, 0, 0, 0.7, cases[n][0]);
        const double phase = -atan2((double)step.v, (double)step.u);
        assert_near(phase, 2 * atan(cases[n][0] / 2), 4 * epsilon); /* a few roundings of numbers below 1 */
        assert_near(phase, cases[n][1], 4 * epsilon + 1e-8);
        const struct velocity_step back = push(1, 0, 0, 0, 0.7, -cases[n][0]);
        assert_near((double)back.v, -(double)step.v, 0);
    }
}

/* The rotation keeps |v|: after 1e5 steps the roundings of each, epsilon or so, have at worst all added up;
 * they mostly cancel (1.1e-12 was seen in double precision). In single precision the rounding of tangent and
 * sine themselves stretches by up to epsilon a step. */
TEST(rotation_keeps_speed)
{
    const double omega_dt = 0.1;
    double u = 0.6, v = 0.8;
    for (int n = 0; n < 100000; n++) {
        const struct velocity_step step = push(u, v, 0, 0, 0.5, omega_dt);
        u = (double)step.u;
        v = (double)step.v;
    }
    assert_near(hypot(u, v), 1, REAL_IS_DOUBLE ? 5e-12 : 1e5 * 0.25 * epsilon);
}

/* E x B drift: u = Ey/B, v = -Ex/B is a fixed point of the map; only rounding moves it, and the rotation
 * keeps that from growing: after 1e4 steps it is within 1e4 roundings, and mostly within a few. */
TEST(drift_is_a_fixed_point)
{
    const double magnetic = 2, dt = 0.37, ex = 0.3, ey = -0.5; /* q = m = 1: Omega dt = 0.74 */
    double u = (double)(real)(ey / magnetic), v = (double)(real)(-ex / magnetic);
    const double u_drift = u, v_drift = v;
    for (int n = 0; n < 10000; n++) {
        const struct velocity_step step = push(u, v, ex, ey, dt / 2, magnetic * dt);
        u = (double)step.u;
        v = (double)step.v;
    }
    assert_near(u, u_drift, 100 * epsilon);
    assert_near(v, v_drift, 100 * epsilon);
}

/* Without a magnetic field it is the leapfrog: v += 2 half_kick E, and the sums see the value half-way. The
 * numbers are small powers of 2, so everything is exact. */
TEST(leapfrog_is_exact)
{
    const struct velocity_step step = push(1.5, -2, 0.25, 8, -0.5, 0);
    assert_true((double)step.u == 1.25 && (double)step.v == -10);
    assert_true((double)step.u_n == 1.375 && (double)step.v_n == -6);
}

/* velocity_start() then velocity_push() passes through the loaded velocity. */
TEST(start_leads_through_the_loaded_velocity)
{
    const double omega_dts[] = {0, 0.1, -0.74, 3};
    for (size_t n = 0; n < sizeof omega_dts / sizeof omega_dts[0]; n++) {
        const double u = 0.75, v = -1.25, ex = 0.3, ey = 0.9, half_kick = -0.05;
        const struct pusher pusher = make_pusher(half_kick, omega_dts[n]);
        const struct velocity_pair start = velocity_start((real)u, (real)v, (real)ex, (real)ey, &pusher);
        const struct velocity_step step =
            push((double)start.u, (double)start.v, ex, ey, half_kick, omega_dts[n]);
        /* some ten roundings of numbers up to 2 */
        assert_near((double)step.u_n, u, 20 * epsilon);
        assert_near((double)step.v_n, v, 20 * epsilon);
    }
}

TEST(velocity_that_is_no_number_shows)
{
    const struct velocity_step step = push(NAN, 1, 0, 0, 0.5, 0);
    assert_true(isnan((double)step.u) && isnan((double)step.u_n));
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
