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
 * Compile-time parameters:
 *   VELOCITIES  components of a velocity: 2, which leaves w out, or 3, the default
 *   MAGNETIC    whether there is a magnetic field; 1, the default, also where there is none. 0 leaves the
 *               rotation out.
 */
#ifndef SHARED_MOTION_H
#define SHARED_MOTION_H

#include "shared/real.h"
#ifdef __OPENCL_VERSION__
#include "shared/lanes.h"
#endif

#ifndef VELOCITIES
#define VELOCITIES 3
#endif
#define HAS_W (VELOCITIES == 3)

#ifndef MAGNETIC
#define MAGNETIC 1
#endif

#define PUSHER_NAME "Boris" /* in openPMD files */

/* The numbers of a species that the pusher takes. A row here is a member of struct pusher on the host and in
 * kernels, and an argument of every kernel that pushes. */
#define PUSHER_NUMBERS(EACH)                                                                                 \
    EACH(half_kick) /* q dt/2m */                                                                            \
    EACH(tangent_x) /* q B dt/2m: along B, as long as the tangent of half the rotation */                    \
    EACH(tangent_y)                                                                                          \
    EACH(tangent_z)                                                                                          \
    EACH(sine_x) /* 2 tangent/(1 + |tangent|^2): as long as the sine of the whole rotation */                \
    EACH(sine_y)                                                                                             \
    EACH(sine_z)                                                                                             \
    EACH(half_secant) /* sqrt(1 + |tangent|^2)/2: 1/2 over the cosine of half the rotation */

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

/* Without w it is 0 in all of these. */
struct velocity {
    real u, v, w;
};

/* Velocity after a step, and half way through it: that of whole step n, of which the history has the momentum
 * and the kinetic energy. */
struct velocity_step {
    struct velocity after; /* at n+1/2 */
    struct velocity at_n;
};

#define PUSHER_TANGENT(pusher)                                                                               \
    {                                                                                                        \
        (pusher)->tangent_x, (pusher)->tangent_y, (pusher)->tangent_z                                        \
    }
#define PUSHER_SINE(pusher)                                                                                  \
    {                                                                                                        \
        (pusher)->sine_x, (pusher)->sine_y, (pusher)->sine_z                                                 \
    }

/* a + b x c. The products of c.w come first: where c is along z, u and v are in every bit what they are
 * without w. */
static inline struct velocity add_cross(struct velocity a, struct velocity b, struct velocity c)
{
    struct velocity sum = a;
    sum.u = PRODUCT_SUM(c.w, b.v, a.u);
    sum.v = PRODUCT_SUM(-c.w, b.u, a.v);
    if (HAS_W) {
        sum.u = PRODUCT_SUM(-c.v, b.w, sum.u);
        sum.v = PRODUCT_SUM(c.u, b.w, sum.v);
        sum.w = PRODUCT_SUM(c.v, b.u, PRODUCT_SUM(-c.u, b.v, a.w));
    }
    return sum;
}

/* (1 - 2 half_secant)/|tangent|^2, with no difference of like numbers: times (tangent . v) tangent this makes
 * up for 2 half_secant in the part of a velocity v along B, which no rotation shortens. */
static inline real along_field(const struct pusher *pusher)
{
    return (real)-1 / ((real)1 + (real)2 * pusher->half_secant);
}

/* The velocity half way through a rotation from `minus` to `plus`. Their mean is the chord of an arc, across
 * B shorter than it by the cosine of half the rotation. */
static inline struct velocity velocity_half_way(struct velocity minus, struct velocity plus,
                                                const struct pusher *pusher)
{
    const real half_secant = pusher->half_secant;
    const struct velocity tangent = PUSHER_TANGENT(pusher);
    struct velocity middle = minus;
    middle.u = half_secant * (minus.u + plus.u);
    middle.v = half_secant * (minus.v + plus.v);
    if (HAS_W) {
        const real along =
            along_field(pusher) *
            PRODUCT_SUM(tangent.u, minus.u, PRODUCT_SUM(tangent.v, minus.v, tangent.w * minus.w));
        middle.u = PRODUCT_SUM(along, tangent.u, middle.u);
        middle.v = PRODUCT_SUM(along, tangent.v, middle.v);
        middle.w = PRODUCT_SUM(along, tangent.w, half_secant * (minus.w + plus.w));
    }
    return middle;
}

/* The Boris scheme (Boris 1970; Birdsall & Langdon section 4-3): half an electric kick, rotation about B by 2
 * atan(q |B| dt/2m), half a kick. With B = 0 it is the plain leapfrog. `old` is at n-1/2, (ex, ey) at n. */
static inline struct velocity_step velocity_push(struct velocity old, real ex, real ey,
                                                 const struct pusher *pusher)
{
    const real half_kick = pusher->half_kick;
    struct velocity minus = old;
    minus.u = PRODUCT_SUM(half_kick, ex, old.u);
    minus.v = PRODUCT_SUM(half_kick, ey, old.v);
    struct velocity plus = minus;
    struct velocity_step step;
    if (MAGNETIC) {
        const struct velocity tangent = PUSHER_TANGENT(pusher), sine = PUSHER_SINE(pusher);
        plus = add_cross(minus, add_cross(minus, minus, tangent), sine);
    }
    step.after = plus;
    step.after.u = PRODUCT_SUM(half_kick, ex, plus.u);
    step.after.v = PRODUCT_SUM(half_kick, ey, plus.v);
    step.at_n = MAGNETIC ? velocity_half_way(minus, plus, pusher) : minus;
    return step;
}

#ifdef __OPENCL_VERSION__
struct velocity16 {
    real16 u, v, w;
};

struct velocity_step16 {
    struct velocity16 after, at_n;
};

static inline struct velocity16 add_cross16(struct velocity16 a, struct velocity16 b, struct velocity c)
{
    struct velocity16 sum = a;
    sum.u = MULTIPLY_ADD(c.w, b.v, a.u);
    sum.v = MULTIPLY_ADD(-c.w, b.u, a.v);
    if (HAS_W) {
        sum.u = MULTIPLY_ADD(-c.v, b.w, sum.u);
        sum.v = MULTIPLY_ADD(c.u, b.w, sum.v);
        sum.w = MULTIPLY_ADD(c.v, b.u, MULTIPLY_ADD(-c.u, b.v, a.w));
    }
    return sum;
}

static inline struct velocity16 velocity_half_way16(struct velocity16 minus, struct velocity16 plus,
                                                    const struct pusher *pusher)
{
    const real half_secant = pusher->half_secant;
    const struct velocity tangent = PUSHER_TANGENT(pusher);
    struct velocity16 middle = minus;
    middle.u = half_secant * (minus.u + plus.u);
    middle.v = half_secant * (minus.v + plus.v);
    if (HAS_W) {
        const real16 along =
            along_field(pusher) *
            MULTIPLY_ADD(tangent.u, minus.u, MULTIPLY_ADD(tangent.v, minus.v, tangent.w * minus.w));
        middle.u = MULTIPLY_ADD(along, tangent.u, middle.u);
        middle.v = MULTIPLY_ADD(along, tangent.v, middle.v);
        middle.w = MULTIPLY_ADD(along, tangent.w, half_secant * (minus.w + plus.w));
    }
    return middle;
}

static inline struct velocity_step16 velocity_push16(struct velocity16 old, real16 ex, real16 ey,
                                                     const struct pusher *pusher)
{
    const real half_kick = pusher->half_kick;
    struct velocity16 minus = old;
    minus.u = MULTIPLY_ADD(half_kick, ex, old.u);
    minus.v = MULTIPLY_ADD(half_kick, ey, old.v);
    struct velocity16 plus = minus;
    struct velocity_step16 step;
    if (MAGNETIC) {
        const struct velocity tangent = PUSHER_TANGENT(pusher), sine = PUSHER_SINE(pusher);
        plus = add_cross16(minus, add_cross16(minus, minus, tangent), sine);
    }
    step.after = plus;
    step.after.u = MULTIPLY_ADD(half_kick, ex, plus.u);
    step.after.v = MULTIPLY_ADD(half_kick, ey, plus.v);
    step.at_n = minus;
    if (MAGNETIC)
        step.at_n = velocity_half_way16(minus, plus, pusher);
    return step;
}
#endif

/* The loaded velocity at 0 -> -1/2, so that velocity_push() passes through it: back by half the rotation,
 * whose tangent is that of the pusher, then back by half a kick. The first velocity_push() finds it again
 * half-way through its rotation. */
static inline struct velocity velocity_start(struct velocity loaded, real ex, real ey,
                                             const struct pusher *pusher)
{
    const real cosine = (real)0.5 / pusher->half_secant;
    const struct velocity tangent = PUSHER_TANGENT(pusher);
    const struct velocity back = {-tangent.u, -tangent.v, -tangent.w};
    const struct velocity turned = add_cross(loaded, loaded, back);
    const real along =
        along_field(pusher) * (tangent.u * loaded.u + tangent.v * loaded.v + tangent.w * loaded.w);
    struct velocity start;
    start.u = cosine * (turned.u - along * tangent.u) - pusher->half_kick * ex;
    start.v = cosine * (turned.v - along * tangent.v) - pusher->half_kick * ey;
    start.w = cosine * (turned.w - along * tangent.w);
    return start;
}

#endif
