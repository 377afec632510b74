/* Motion: how particles move, as plain functions that every push kernel and the host tests share.
 *
 * Velocities live at half steps, positions and fields at whole steps (leapfrog). All quantities are in
 * normalised units but for the position, which is an offset in cells.
 */
#ifndef SHARED_MOTION_H
#define SHARED_MOTION_H

#include "shared/lanes.h"

#ifndef VELOCITIES
#define VELOCITIES 3
#endif
#define HAS_W (VELOCITIES == 3)

#ifndef MAGNETIC
#define MAGNETIC 1
#endif

#define PUSHER_NAME "Boris" /* in openPMD files */

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

/* Velocity after a step, and half way through it: that of whole step n, of which the history has the momentum
 * and the kinetic energy. */
struct velocity_step {
    struct velocity after; /* at n+1/2 */
    struct velocity at_n;
};

/* a + b x c. The products of c.z come first: where c is along z, u and v are in every bit what they are
 * without w. */
static inline struct velocity add_cross(struct velocity a, struct velocity b, struct rotation c)
{
    struct velocity sum = a;
    sum.u = PRODUCT_SUM(c.z, b.v, a.u);
    sum.v = PRODUCT_SUM(-c.z, b.u, a.v);
    if (HAS_W) {
        sum.u = PRODUCT_SUM(-c.y, b.w, sum.u);
        sum.v = PRODUCT_SUM(c.x, b.w, sum.v);
        sum.w = PRODUCT_SUM(c.y, b.u, PRODUCT_SUM(-c.x, b.v, a.w));
    }
    return sum;
}

/* A velocity half way through its rotation, from `turned` = velocity + velocity x tangent, which has the
 * direction across B but is longer there by 1/cosine. The factor `along` is (1 - cosine)/|tangent|^2 times
 * tangent . velocity, written without a difference of like numbers. */
static inline struct velocity half_rotation(struct velocity turned, const struct pusher *pusher)
{
    const struct rotation tangent = pusher->tangent;
    const real cosine = pusher->cosine;
    struct velocity middle = {cosine * turned.u, cosine * turned.v, turned.w};
    if (HAS_W) {
        const reals along =
            cosine * cosine / ((real)1 + cosine) *
            PRODUCT_SUM(tangent.x, turned.u, PRODUCT_SUM(tangent.y, turned.v, tangent.z * turned.w));
        middle.u = PRODUCT_SUM(along, tangent.x, middle.u);
        middle.v = PRODUCT_SUM(along, tangent.y, middle.v);
        middle.w = PRODUCT_SUM(along, tangent.z, cosine * turned.w);
    }
    return middle;
}

/* The Boris scheme (Boris 1970; Birdsall & Langdon section 4-3): half an electric kick, rotation about B by 2
 * atan(q |B| dt/2m), half a kick. With B = 0 it is the plain leapfrog. `old` is at n-1/2, (ex, ey) at n. The
 * rotation is minus + first + second with first = minus x sine, second = first x tangent. */
static inline struct velocity_step velocity_push(struct velocity old, reals ex, reals ey,
                                                 const struct pusher *pusher)
{
    const real half_kick = pusher->half_kick;
    struct velocity minus = old;
    minus.u = PRODUCT_SUM(half_kick, ex, old.u);
    minus.v = PRODUCT_SUM(half_kick, ey, old.v);
    struct velocity_step step = {minus, minus};
    if (MAGNETIC) {
        const struct velocity none = {0, 0, 0}, first = add_cross(none, minus, pusher->sine);
        const real c = pusher->correction; /* lost, were it not added to small terms */
        const struct velocity small = {c * first.u, c * first.v, c * first.w};
        const struct velocity second = add_cross(small, first, pusher->tangent);
        step.after.u = minus.u + (first.u + second.u);
        step.after.v = minus.v + (first.v + second.v);
        step.after.w = minus.w + (first.w + second.w);
        step.at_n = half_rotation(add_cross(minus, minus, pusher->tangent), pusher);
    }
    step.after.u = PRODUCT_SUM(half_kick, ex, step.after.u);
    step.after.v = PRODUCT_SUM(half_kick, ey, step.after.v);
    return step;
}

/* ---- the start ---- */

/* The loaded velocity at 0 -> -1/2, so that velocity_push() passes through it: back by half the rotation,
 * then by half a kick. */
static inline struct velocity velocity_start(struct velocity loaded, reals ex, reals ey,
                                             const struct pusher *pusher)
{
    const struct rotation tangent = pusher->tangent, back = {-tangent.x, -tangent.y, -tangent.z};
    struct velocity start = half_rotation(add_cross(loaded, loaded, back), pusher);
    start.u -= pusher->half_kick * ex;
    start.v -= pusher->half_kick * ey;
    return start;
}

/* ---- on the host ---- */

#ifndef __OPENCL_VERSION__
/* Of a species with q dt/2m = half_kick, in the magnetic field B, for kernels in single precision where
 * `single` is not 0. Of the map v -> v + (1 + c) w + w x tangent, w = v x sine, one eigenvalue is 1, and the
 * product of all, sine . tangent = p, is (1 - p)^2 + (1 + c)^2 |sine|^2. The correction c makes it 1: else
 * |v| would drift, in single precision by up to 1e-3 in 1e5 steps. */
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
                               (real)(product > 0 ? sqrt(product * (2 - product) / sine_square) - 1 : 0)};
}
#endif

#endif
