/* Motion: how one particle moves, as plain functions that every push kernel and the host tests share.
 *
 * Velocities live at half steps, positions and fields at whole steps (leapfrog). All quantities are in
 * normalised units but for the position, which is an offset in cells.
 *
 * Each function has its vector form below it, for sixteen particles of a CPU device, which agrees to
 * round-off.
 *
 * A new pusher: its name, its numbers in PUSHER_NUMBERS, its formula in velocity_push(), velocity_push16()
 * and velocity_start(), and a test in tests/unit/test_motion.c. A number of a species gets its value in
 * species_motion_make() (src/step/stepper_internal.h).
 *
 * Compile-time parameter:
 *   MAGNETIC  whether there is a magnetic field; 1, the default, also where there is none. 0 leaves the
 *             rotation out of the vector form, where each operation counts.
 */
#ifndef SHARED_MOTION_H
#define SHARED_MOTION_H

#include "shared/real.h"
#ifdef __OPENCL_VERSION__
#include "shared/lanes.h"
#endif

#ifndef MAGNETIC
#define MAGNETIC 1
#endif

#define PUSHER_NAME "Boris" /* in openPMD files */

/* The numbers of a species that the pusher takes. A row here is a member of struct pusher on the host and in
 * kernels, and an argument of every kernel that pushes. */
#define PUSHER_NUMBERS(EACH)                                                                                 \
    EACH(half_kick)   /* q dt/2m */                                                                          \
    EACH(tangent)     /* q B dt/2m, of half the rotation */                                                  \
    EACH(sine)        /* 2 tangent/(1 + tangent^2), of the whole rotation */                                 \
    EACH(half_secant) /* sqrt(1 + tangent^2)/2: 1/2 over the cosine of half the rotation */

#define PUSHER_MEMBER(name) real name;
struct pusher {
    PUSHER_NUMBERS(PUSHER_MEMBER)
};

#ifdef __OPENCL_VERSION__
/* The arguments of a kernel behind another one, and in an initialiser of struct pusher. */
#define PUSHER_ARGUMENT(name) , real name
#define PUSHER_VALUE(name)    name,
#endif

/* Where an offset that may have left [0, 1) belongs: `cells` away from its cell, at `offset` in [0, 1) there.
 */
struct placement {
    int cells;
    real offset;
};

/* The difference can round up to 1, which is offset 0 of the next cell. What is not a number, or is so far
 * away that no integer holds it, becomes NaN in its old cell: the energies show it and the run stops. */
static inline struct placement offset_place(real offset)
{
    /* floor() by way of int: CPU devices do that faster. */
    const int in_reach = fabs(offset) < (real)1e9;
    const int towards_zero = in_reach ? (int)offset : 0;
    const int lower = towards_zero - (offset < (real)towards_zero);
    const real rest = offset - (real)lower;
    const int rounded_up = rest >= (real)1;

    struct placement place;
    place.cells = in_reach ? lower + rounded_up : 0;
    place.offset = !in_reach ? (real)NAN : rounded_up ? (real)0 : rest;
    return place;
}

#ifdef __OPENCL_VERSION__
struct placement16 {
    int16 cells;
    real16 offset;
};

static inline struct placement16 offset_place16(real16 offset)
{
    const mask16 in_reach = fabs(offset) < (real16)((real)1e9);
    const real16 reached = select((real16)((real)0), offset, in_reach);
    const int16 towards_zero = convert_int16(reached);
    const int16 lower = towards_zero + convert_int16(reached < convert_real16(towards_zero));
    const real16 rest = reached - convert_real16(lower);
    const mask16 rounded_up = rest >= (real16)((real)1);

    struct placement16 place;
    place.cells = lower - convert_int16(rounded_up); /* 0 out of reach */
    place.offset = select(select(rest, (real16)((real)0), rounded_up), (real16)((real)NAN), ~in_reach);
    return place;
}
#endif

/* Velocity after a step, and half way through it: that of whole step n, of which the history has the momentum
 * and the kinetic energy. */
struct velocity_step {
    real u, v;     /* at n+1/2 */
    real u_n, v_n; /* at n */
};

/* The Boris scheme (Boris 1970; Birdsall & Langdon section 4-3): half an electric kick, rotation by 2 atan(q
 * B dt/2m) about z, half a kick. With B = 0 it is the plain leapfrog. (u, v) is at n-1/2 and (ex, ey) at n.
 * The mean of the velocities before and after the rotation is the chord of an arc, shorter than the velocity
 * half way through by the cosine of half the rotation. */
static inline struct velocity_step velocity_push(real u, real v, real ex, real ey,
                                                 const struct pusher *pusher)
{
    const real half_kick = pusher->half_kick, tangent = pusher->tangent, sine = pusher->sine;
    struct velocity_step step;
    const real u_minus = PRODUCT_SUM(half_kick, ex, u);
    const real v_minus = PRODUCT_SUM(half_kick, ey, v);
    const real u_prime = PRODUCT_SUM(tangent, v_minus, u_minus);
    const real v_prime = PRODUCT_SUM(-tangent, u_minus, v_minus);
    const real u_plus = PRODUCT_SUM(sine, v_prime, u_minus);
    const real v_plus = PRODUCT_SUM(-sine, u_prime, v_minus);
    step.u = PRODUCT_SUM(half_kick, ex, u_plus);
    step.v = PRODUCT_SUM(half_kick, ey, v_plus);
    step.u_n = pusher->half_secant * (u_minus + u_plus);
    step.v_n = pusher->half_secant * (v_minus + v_plus);
    return step;
}

#ifdef __OPENCL_VERSION__
struct velocity_step16 {
    real16 u, v, u_n, v_n;
};

static inline struct velocity_step16 velocity_push16(real16 u, real16 v, real16 ex, real16 ey,
                                                     const struct pusher *pusher)
{
    const real half_kick = pusher->half_kick, tangent = pusher->tangent, sine = pusher->sine;
    struct velocity_step16 step;
    const real16 u_minus = MULTIPLY_ADD(half_kick, ex, u);
    const real16 v_minus = MULTIPLY_ADD(half_kick, ey, v);
    real16 u_plus = u_minus, v_plus = v_minus;
    if (MAGNETIC) {
        const real16 u_prime = MULTIPLY_ADD(tangent, v_minus, u_minus);
        const real16 v_prime = MULTIPLY_ADD(-tangent, u_minus, v_minus);
        u_plus = MULTIPLY_ADD(sine, v_prime, u_minus);
        v_plus = MULTIPLY_ADD(-sine, u_prime, v_minus);
    }
    step.u = MULTIPLY_ADD(half_kick, ex, u_plus);
    step.v = MULTIPLY_ADD(half_kick, ey, v_plus);
    step.u_n = MAGNETIC ? pusher->half_secant * (u_minus + u_plus) : u_minus;
    step.v_n = MAGNETIC ? pusher->half_secant * (v_minus + v_plus) : v_minus;
    return step;
}
#endif

struct velocity_pair {
    real u, v;
};

/* The loaded velocity (u, v) at 0 -> -1/2, so that velocity_push() passes through it: back by half the
 * rotation, atan(tangent), then back by half a kick. The first velocity_push() finds it again half-way
 * through its rotation. */
static inline struct velocity_pair velocity_start(real u, real v, real ex, real ey,
                                                  const struct pusher *pusher)
{
    const real cosine = (real)0.5 / pusher->half_secant;
    struct velocity_pair start;
    start.u = cosine * (u - pusher->tangent * v) - pusher->half_kick * ex;
    start.v = cosine * (v + pusher->tangent * u) - pusher->half_kick * ey;
    return start;
}

#endif
