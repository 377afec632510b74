/* Motion: how particles move, as plain functions that every push kernel and the host tests share.
 *
 * Velocities live at half steps, positions and fields at whole steps (leapfrog). All quantities are in
 * normalised units but for the position, which is an offset in cells. In an electromagnetic run what is
 * called a velocity is the momentum per mass u = gamma v, with gamma^2 = 1 + u^2/c^2.
 */
#ifndef SHARED_MOTION_H
#define SHARED_MOTION_H

#include "shared/dither.h"

#if !defined(VELOCITIES) || !defined(MAGNETIC) || !defined(ELECTROMAGNETIC) || !defined(FELT)
#error "VELOCITIES, MAGNETIC, ELECTROMAGNETIC and FELT must be set"
#endif
#ifndef PUSHER
#error "PUSHER must be set"
#endif
#define HAS_W (VELOCITIES == 3)

/* FELT, components of the fields at a particle: Ex and Ey; or Ex, Ey, Ez, and Bx, By, Bz beside the uniform
 * B. */
#define HAS_LOCAL_B (FELT == 6)

/* Components along x, y and z. Where a species has no w, w is 0 throughout. */
struct velocity {
    reals u, v, w;
};

/* Along the axis of a rotation. */
struct rotation {
    real x, y, z;
};

/* The numbers of a species that the pusher takes. All members are reals, since a kernel takes the struct as
 * one argument, which the host converts to the precision of the kernel. */
struct pusher {
    real half_kick;          /* q dt/2m */
    struct rotation tangent; /* q B dt/2m: as long as the tangent of half the rotation */
    struct rotation sine;    /* 2 tangent/(1 + |tangent|^2): as long as the sine of the whole rotation */
    real cosine;             /* 1/sqrt(1 + |tangent|^2): of half the rotation */
    real correction;         /* of the sine, relative: by it the rounded numbers keep |v| */
    real per_c_squared;      /* 1/c^2; electromagnetic */
};

/* Where an offset that may have left [0, 1) belongs: `cells` away from its cell, at `offset` in [0, 1) there.
 */
struct placement {
    ints cells;
    reals offset;
};

/* The difference can round up to 1, which is offset 0 of the next cell. What is not a number, or is so far
 * away that no integer holds it, becomes NaN in its old cell: the energies show it and the run stops. */
static inline struct placement offset_place(reals offset)
{
    /* floor() by way of int: CPU devices do that faster. */
    const reals none = (reals)0;
    const masks in_reach = fabs(offset) < (real)1e9;
    const reals reached = in_reach ? offset : none;
    const ints towards_zero = TO_INTS(reached);
    const ints lower = towards_zero - ONE_WHERE(reached < TO_REALS(towards_zero));
    const reals rest = reached - TO_REALS(lower);
    const masks rounded_up = rest >= (real)1;
    const reals wrapped = rounded_up ? none : rest;
    const struct placement place = {lower + ONE_WHERE(rounded_up), /* 0 out of reach */
                                    in_reach ? wrapped : (reals)((real)NAN)};
    return place;
}

/* The offset after a step, which may have left [0, 1), before which it has a last bit of 2^-24 or less. */
static inline reals offset_after(reals offset, reals velocity, real step, reals dither)
{
#if DITHERS
    const reals rounder = (reals)0.75f;
    return add_rounded(offset, PRODUCT_SUM(velocity, step, dither * rounder), rounder);
#else
    (void)dither;
    return PRODUCT_SUM(velocity, step, offset);
#endif
}

/* Velocities of a step: those after it, and that in its middle, at n, of which the history has the momentum
 * and the kinetic energy. */
struct velocity_step {
    struct velocity after;  /* at n+1/2 */
    struct velocity moving; /* at n+1/2: the particle moves by this one, without B not dithered */
    struct velocity at_n;
};

/* gamma of u = gamma v, or 1. */
static inline reals lorentz_factor(struct velocity u, const struct pusher *pusher)
{
    const reals square = PRODUCT_SUM(u.w, u.w, PRODUCT_SUM(u.v, u.v, u.u * u.u));
    return ELECTROMAGNETIC ? (reals)sqrt(PRODUCT_SUM(square, pusher->per_c_squared, (reals)1)) : (reals)1;
}

/* v = u/gamma */
static inline struct velocity velocity_of(struct velocity u, const struct pusher *pusher)
{
    const reals per_gamma = (reals)1 / lorentz_factor(u, pusher);
    const struct velocity v = {per_gamma * u.u, per_gamma * u.v, per_gamma * u.w};
    return ELECTROMAGNETIC ? v : u;
}

/* Twice the kinetic energy per mass: |v|^2, or 2 (gamma - 1) c^2 = 2 |u|^2/(gamma + 1). */
static inline reals velocity_square(struct velocity v, const struct pusher *pusher)
{
    reals square = PRODUCT_SUM(v.u, v.u, v.v * v.v);
    if (HAS_W)
        square = PRODUCT_SUM(v.w, v.w, square);
    return ELECTROMAGNETIC ? (reals)2 * square / ((reals)1 + lorentz_factor(v, pusher)) : square;
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

/* The rotation of particles about B by 2 atan(|tangent|): the numbers of struct pusher. */
struct turn {
    struct velocity tangent, sine;
    reals cosine;
};

#if HAS_LOCAL_B

/* q B dt/2m at the particle, of the wave and the uniform one. */
static inline struct velocity turn_at_rest(const reals *field, const struct pusher *pusher)
{
    const real half_kick = pusher->half_kick;
    const struct velocity at_rest = {PRODUCT_SUM(half_kick, field[3], pusher->tangent.x),
                                     PRODUCT_SUM(half_kick, field[4], pusher->tangent.y),
                                     PRODUCT_SUM(half_kick, field[5], pusher->tangent.z)};
    return at_rest;
}

/* The same over gamma. */
static inline struct velocity tangent_of(struct velocity at_rest, reals gamma)
{
    const reals per_gamma = (reals)1 / gamma;
    const struct velocity tangent = {per_gamma * at_rest.u, per_gamma * at_rest.v, per_gamma * at_rest.w};
    return tangent;
}

/* The gamma of a rotation of `turning`. With Boris it is that of `turning`; else that of the momentum u for
 * which u - u x b/gamma(u) is `turning`, b = q B dt/2m: the positive root of
 * gamma^4 - d gamma^2 - p = 0, d = gamma(turning)^2 - b^2, p = b^2 + (b . turning)^2/c^2
 * (Vay 2008, eq. 11; Higuera and Cary 2017, eq. 20), by the sum that does not cancel. */
static inline reals turning_factor(struct velocity turning, struct velocity at_rest,
                                   const struct pusher *pusher)
{
    const reals gamma = lorentz_factor(turning, pusher);
#if PUSHER
    const reals square =
        PRODUCT_SUM(at_rest.u, at_rest.u, PRODUCT_SUM(at_rest.v, at_rest.v, at_rest.w * at_rest.w));
    const reals along =
        PRODUCT_SUM(at_rest.u, turning.u, PRODUCT_SUM(at_rest.v, turning.v, at_rest.w * turning.w));
    const reals d = PRODUCT_SUM(gamma, gamma, -square);
    const reals p = PRODUCT_SUM(along * along, pusher->per_c_squared, square);
    const reals root = (reals)sqrt(PRODUCT_SUM(d, d, (real)4 * p));
    const reals of_sum = (real)0.5 * (root + d), of_difference = (real)2 * p / (root - d);
    const reals gamma_squared = d > (real)0 ? of_sum : of_difference;
    return (reals)sqrt(gamma_squared);
#else
    (void)at_rest;
    return gamma;
#endif
}

/* The rotation of `turning` by B at the particle: the tangent is q B dt/2 gamma m. */
static inline struct turn turn_of(struct velocity turning, const reals *field, const struct pusher *pusher)
{
    const struct velocity at_rest = turn_at_rest(field, pusher);
    const struct velocity tangent = tangent_of(at_rest, turning_factor(turning, at_rest, pusher));
    const reals square = PRODUCT_SUM(tangent.u, tangent.u, (reals)1) +
                         PRODUCT_SUM(tangent.v, tangent.v, tangent.w * tangent.w);
    const reals twice = (reals)2 / square;
    const struct turn turn = {
        tangent, {twice * tangent.u, twice * tangent.v, twice * tangent.w}, (reals)1 / (reals)sqrt(square)};
    return turn;
}

#else

static inline struct turn turn_of(struct velocity turning, const reals *field, const struct pusher *pusher)
{
    const struct rotation tangent = pusher->tangent, sine = pusher->sine;
    const struct turn turn = {{(reals)tangent.x, (reals)tangent.y, (reals)tangent.z},
                              {(reals)sine.x, (reals)sine.y, (reals)sine.z},
                              (reals)pusher->cosine};
    (void)turning;
    (void)field;
    return turn;
}

#endif

/* A velocity half way through its rotation, from `turned` = velocity + velocity x tangent, which has the
 * direction across B but is longer there by 1/cosine. The factor `along` is (1 - cosine)/|tangent|^2 times
 * tangent . velocity, written without a difference of like numbers. */
static inline struct velocity half_rotation(struct velocity turned, const struct turn *turn)
{
    const struct velocity tangent = turn->tangent;
    const reals cosine = turn->cosine;
    struct velocity middle = {cosine * turned.u, cosine * turned.v, turned.w};
    if (HAS_W) {
        const reals along =
            cosine * cosine / ((real)1 + cosine) *
            PRODUCT_SUM(tangent.u, turned.u, PRODUCT_SUM(tangent.v, turned.v, tangent.w * turned.w));
        middle.u = PRODUCT_SUM(along, tangent.u, middle.u);
        middle.v = PRODUCT_SUM(along, tangent.v, middle.v);
        middle.w = PRODUCT_SUM(along, tangent.w, cosine * turned.w);
    }
    return middle;
}

/* Adds an electric kick of so much times E. */
static inline struct velocity add_kick(struct velocity to, const reals *field, const real kick)
{
    struct velocity sum = {PRODUCT_SUM(kick, field[0], to.u), PRODUCT_SUM(kick, field[1], to.v), to.w};
    if (HAS_LOCAL_B)
        sum.w = PRODUCT_SUM(kick, field[2], to.w);
    return sum;
}

/* E.(a + b)/(gamma_a + gamma_b), with the E of `field`. A half kick by E from the momentum a to b changes
 * the energy per mass by q dt/2m times that, c^2 (gamma_b - gamma_a) = (b - a).(a + b)/(gamma_a + gamma_b),
 * and each part of E by its part of it. */
static inline reals kick_power(const reals *field, struct velocity a, struct velocity b,
                               const struct pusher *pusher)
{
    reals product = PRODUCT_SUM(field[0], a.u + b.u, field[1] * (a.v + b.v));
    if (HAS_LOCAL_B)
        product = PRODUCT_SUM(field[2], a.w + b.w, product);
    return product / (lorentz_factor(a, pusher) + lorentz_factor(b, pusher));
}

static inline struct velocity sum_of(struct velocity a, struct velocity b)
{
    const struct velocity sum = {a.u + b.u, a.v + b.v, a.w + b.w};
    return sum;
}

#if DITHERS

/* The electric kick on top of the dithers, which come before what they are to round. */
static inline struct velocity dithered_kick(reals dither, struct velocity rounder, const reals *field,
                                            const real kick)
{
    const struct velocity dithers = {dither * rounder.u, dither * rounder.v, dither * rounder.w};
    return add_kick(dithers, field, kick);
}

#endif

/* A kick without a rotation. */
static inline struct velocity kicked(struct velocity old, const reals *field, const real kick, reals dither)
{
    struct velocity sum = add_kick(old, field, kick);
#if DITHERS
    const struct velocity rounder = {rounder_of(old.u), rounder_of(old.v), HAS_W ? rounder_of(old.w) : sum.w};
    const struct velocity change = dithered_kick(dither, rounder, field, kick);
    sum.u = add_rounded(old.u, change.u, rounder.u);
    sum.v = add_rounded(old.v, change.v, rounder.v);
    sum.w = HAS_LOCAL_B ? add_rounded(old.w, change.w, rounder.w) : old.w;
#endif
    (void)dither;
    return sum;
}

#if MAGNETIC
#if DITHERS

/* The sum is rounded to its own last bit, not to that of v, where the turn is a large one. */
static inline reals reach_of(reals v, reals first)
{
    return HAS_LOCAL_B ? v : (reals)fabs(v) + (reals)fabs(first);
}

static inline reals add_turn(reals v, reals first, reals second, reals rounder)
{
    const reals change = first + second, rounded = add_rounded(v, change, rounder);
    return HAS_LOCAL_B || (real)1024 * (reals)fabs(first) <= (reals)fabs(v) ? rounded : v + change;
}

#endif

/* `old` after both kicks and the rotation, which is minus + first + second with first = minus x sine, second
 * = first x tangent. In single precision all that changes `old` is added up, beginning with the dither and
 * the correction, and rounded once. */
static inline struct velocity turned(struct velocity old, struct velocity first, const struct turn *turn,
                                     const reals *field, const struct pusher *pusher, reals dither)
{
    const real h = pusher->half_kick, c = pusher->correction; /* lost, were it not added to small terms */
    const struct velocity small = {c * first.u, c * first.v, c * first.w};
#if DITHERS
    const struct velocity rounder = {rounder_of(reach_of(old.u, first.u)),
                                     rounder_of(reach_of(old.v, first.v)),
                                     HAS_W ? rounder_of(reach_of(old.w, first.w)) : (reals)0};
    const struct velocity kick = dithered_kick(dither, rounder, field, (real)2 * h);
    const struct velocity second = add_cross(HAS_LOCAL_B ? kick : sum_of(kick, small), first, turn->tangent);
    const struct velocity after = {add_turn(old.u, first.u, second.u, rounder.u),
                                   add_turn(old.v, first.v, second.v, rounder.v),
                                   HAS_W ? add_turn(old.w, first.w, second.w, rounder.w) : old.w};
    return after;
#else
    const struct velocity none = {0, 0, 0};
    const struct velocity second = add_cross(HAS_LOCAL_B ? none : small, first, turn->tangent);
    (void)dither;
    return add_kick(sum_of(add_kick(old, field, h), sum_of(first, second)), field, h);
#endif
}

#endif

#if PUSHER
#include "shared/relativistic_push.h"
#else

/* The Boris scheme (Boris 1970; Birdsall & Langdon section 4-3; relativistic, section 15-4): half an electric
 * kick, rotation about B by 2 atan(q |B| dt/2 gamma m), half a kick. With B = 0 it is the plain leapfrog,
 * with one kick. `old` is at n-1/2, the FELT numbers of `field` at n; the dither is that of
 * shared/dither.h. */
static inline struct velocity_step velocity_push(struct velocity old, const reals *field,
                                                 const struct pusher *pusher, reals dither)
{
    const real half_kick = pusher->half_kick;
#if MAGNETIC
    /* Rounded to nearest: what turns has other last bits in every step, so that no side is preferred. */
    const struct velocity none = {0, 0, 0}, minus = add_kick(old, field, half_kick);
    const struct turn turn = turn_of(minus, field, pusher);
    const struct velocity after =
        turned(old, add_cross(none, minus, turn.sine), &turn, field, pusher, dither);
    const struct velocity_step step = {after, after,
                                       half_rotation(add_cross(minus, minus, turn.tangent), &turn)};
#else
    const struct velocity_step step = {kicked(old, field, (real)2 * half_kick, dither),
                                       add_kick(old, field, (real)2 * half_kick),
                                       add_kick(old, field, half_kick)};
#endif
    return step;
}

/* ---- the start ---- */

/* The loaded velocity at 0 -> -1/2, so that velocity_push() passes through it: back by half the rotation,
 * then by half a kick. */
static inline struct velocity velocity_start(struct velocity loaded, const reals *field,
                                             const struct pusher *pusher)
{
    struct turn back = turn_of(loaded, field, pusher);
    const struct velocity forward = back.tangent, tangent = {-forward.u, -forward.v, -forward.w};
    back.tangent = tangent;
    const struct velocity start = half_rotation(add_cross(loaded, loaded, tangent), &back);
    return add_kick(start, field, -pusher->half_kick);
}

#endif

/* ---- on the host ---- */

#ifndef __OPENCL_VERSION__
/* Of a species with q dt/2m = half_kick, in the uniform magnetic field B, without 1/c^2, for kernels in
 * single precision where `single` is not 0. Of the map v -> v + (1 + c) w + w x tangent, w = v x sine, one
 * eigenvalue is 1, and the product of all, sine . tangent = p, is (1 - p)^2 + (1 + c)^2 |sine|^2. The
 * correction c makes it 1: else |v| would drift, in single precision by up to 1e-3 in 1e5 steps. */
static inline struct pusher pusher_make(double half_kick, const double magnetic[3], int single)
{
    double tangent[3], sine[3], square = 1, product = 0, sine_square = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double exact = half_kick * magnetic[axis];
        tangent[axis] = single ? (double)(float)exact : exact;
        square += tangent[axis] * tangent[axis];
    }
    for (int axis = 0; axis < 3; axis++) {
        const double exact = 2 / square * tangent[axis];
        sine[axis] = single ? (double)(float)exact : exact;
        product += sine[axis] * tangent[axis];
        sine_square += sine[axis] * sine[axis];
    }
    return (struct pusher){.half_kick = (real)half_kick,
                           .tangent = {(real)tangent[0], (real)tangent[1], (real)tangent[2]},
                           .sine = {(real)sine[0], (real)sine[1], (real)sine[2]},
                           .cosine = (real)(1 / sqrt(square)),
                           .correction =
                               (real)(product > 0 ? sqrt(product * (2 - product) / sine_square) - 1 : 0),
                           .per_c_squared = 0};
}
#endif

#endif
