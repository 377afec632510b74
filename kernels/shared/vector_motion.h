/* Vector motion: the functions of motion.h and interpolate.h for sixteen particles of one cell at
 * once, for CPU devices. They agree with those to round-off. Device only.
 */
#ifndef SHARED_VECTOR_MOTION_H
#define SHARED_VECTOR_MOTION_H

#include "shared/interpolate.h"
#include "shared/motion.h"
#include "shared/real.h"
#include "shared/shape.h"

#define LANES 16u /* particles of a vector */

/* What comparing vectors of reals gives: 0 or -1 a lane. */
#if REAL_IS_DOUBLE
typedef long2 mask2;
typedef long4 mask4;
typedef long8 mask8;
typedef long16 mask16;
#define convert_real16 convert_double16
#define convert_mask16 convert_long16
#else
typedef int2 mask2;
typedef int4 mask4;
typedef int8 mask8;
typedef int16 mask16;
#define convert_real16 convert_float16
#define convert_mask16 convert_int16
#endif

/* a b + c, rounded once where the device is fast at that, and in any case the same in every kernel, which a
 * compiler that fuses of its own accord does not promise. */
#if defined(__FMA__) || (REAL_IS_DOUBLE && defined(FP_FAST_FMA)) || (!REAL_IS_DOUBLE && defined(FP_FAST_FMAF))
#define MULTIPLY_ADD(a, b, c) fma((real16)(a), (real16)(b), (real16)(c))
#else
#define MULTIPLY_ADD(a, b, c) ((real16)(a) * (real16)(b) + (real16)(c))
#endif

/* Whether a mask is set in all lanes. */
static inline int all_lanes(mask16 mask)
{
    const mask16 unset = ~mask;
    const mask8 a = unset.lo | unset.hi;
    const mask4 b = a.lo | a.hi;
    const mask2 c = b.lo | b.hi;
    return (c.x | c.y) == 0;
}

/* ---- quads: (dx, dy, u, v) of a particle side by side ---- */

struct state16 {
    real16 x, y, u, v;
};

/* In a state particle p of sixteen has lane p % 4 * 4 + p / 4: quads become a state by moves within blocks of
 * four lanes, which are fast. This brings one number of each into the order of the particles, or back. */
#define IN_ORDER(lanes) ((lanes).s048c159d26ae37bf)

/* Four particles in each of a, b, c and d to their state: the 4 x 4 matrices whose rows are the same four
 * lanes of a, b, c and d are transposed, so the same brings a state back to quads. Written with two sources a
 * move; compilers make a mess of more. */
static inline struct state16 state_of_quads(real16 a, real16 b, real16 c, real16 d)
{
    real16 x_y_ab, u_v_ab, x_y_cd,
        u_v_cd; /* of each block: x of a and b, then y; u of a and b, then v; ... */
    x_y_ab.even = a.s014589cd;
    x_y_ab.odd = b.s014589cd;
    u_v_ab.even = a.s2367abef;
    u_v_ab.odd = b.s2367abef;
    x_y_cd.even = c.s014589cd;
    x_y_cd.odd = d.s014589cd;
    u_v_cd.even = c.s2367abef;
    u_v_cd.odd = d.s2367abef;
    struct state16 state;
    state.x.s014589cd = x_y_ab.s014589cd;
    state.x.s2367abef = x_y_cd.s014589cd;
    state.y.s014589cd = x_y_ab.s2367abef;
    state.y.s2367abef = x_y_cd.s2367abef;
    state.u.s014589cd = u_v_ab.s014589cd;
    state.u.s2367abef = u_v_cd.s014589cd;
    state.v.s014589cd = u_v_ab.s2367abef;
    state.v.s2367abef = u_v_cd.s2367abef;
    return state;
}

/* ---- offset_place() ---- */

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

/* ---- velocity_push() ---- */

struct velocity_step16 {
    real16 u, v, mean_u, mean_v, square;
};

/* `magnetic`: whether tangent and sine can be other than 0; a constant of the program. */
static inline struct velocity_step16 velocity_push16(real16 u, real16 v, real16 ex, real16 ey, real half_kick,
                                                     real tangent, real sine, const bool magnetic)
{
    struct velocity_step16 step;
    const real16 u_minus = MULTIPLY_ADD(half_kick, ex, u);
    const real16 v_minus = MULTIPLY_ADD(half_kick, ey, v);
    real16 u_plus = u_minus, v_plus = v_minus;
    if (magnetic) {
        const real16 u_prime = MULTIPLY_ADD(tangent, v_minus, u_minus);
        const real16 v_prime = MULTIPLY_ADD(-tangent, u_minus, v_minus);
        u_plus = MULTIPLY_ADD(sine, v_prime, u_minus);
        v_plus = MULTIPLY_ADD(-sine, u_prime, v_minus);
    }
    step.u = MULTIPLY_ADD(half_kick, ex, u_plus);
    step.v = MULTIPLY_ADD(half_kick, ey, v_plus);
    step.mean_u = (real)0.5 * (u_minus + u_plus);
    step.mean_v = (real)0.5 * (v_minus + v_plus);
    step.square = MULTIPLY_ADD(u_minus, u_minus, v_minus * v_minus);
    return step;
}

/* ---- interpolate() ---- */

/* E in one cell: for cic the numbers f of (f0 + f1 x) + (f2 + f3 x) y, which takes fewer operations than
 * weights; for the other shapes the field at the nodes. */
#define FIELD_NUMBERS (SHAPE_NODES * SHAPE_NODES)

struct field16 {
    real ex[FIELD_NUMBERS], ey[FIELD_NUMBERS];
};

static inline struct field16 field16_make(const struct cell_field *field)
{
    struct field16 made;
#if SHAPE_ORDER == 1
    const real2 lower = field->node[0], upper = field->node[1]; /* along y */
    const real2 slope = field->node[2] - lower, slope_above = field->node[3] - upper;
    const real2 numbers[FIELD_NUMBERS] = {lower, slope, upper - lower, slope_above - slope};
#else
    const real2 *numbers = field->node;
#endif
    for (int n = 0; n < FIELD_NUMBERS; n++) {
        made.ex[n] = numbers[n].x;
        made.ey[n] = numbers[n].y;
    }
    return made;
}

static inline void interpolate16(const struct field16 *field, real16 x, real16 y, real16 *ex, real16 *ey)
{
#if SHAPE_ORDER == 1
    *ex = MULTIPLY_ADD(MULTIPLY_ADD(field->ex[3], x, field->ex[2]), y,
                       MULTIPLY_ADD(field->ex[1], x, field->ex[0]));
    *ey = MULTIPLY_ADD(MULTIPLY_ADD(field->ey[3], x, field->ey[2]), y,
                       MULTIPLY_ADD(field->ey[1], x, field->ey[0]));
#else
    real16 along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights16(x, along_x);
    shape_weights16(y, along_y);
    *ex = *ey = (real16)((real)0);
    for (int a = 0; a < SHAPE_NODES; a++)
        for (int b = 0; b < SHAPE_NODES; b++) {
            const real16 weight = along_x[a] * along_y[b];
            *ex = MULTIPLY_ADD(weight, field->ex[a * SHAPE_NODES + b], *ex);
            *ey = MULTIPLY_ADD(weight, field->ey[a * SHAPE_NODES + b], *ey);
        }
#endif
}

#endif
