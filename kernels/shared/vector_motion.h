/* Vector motion: the functions of motion.h, shape.h and interpolate.h for sixteen particles of one cell at
 * once, operation by operation the same, for CPU devices. Device only.
 */
#ifndef SHARED_VECTOR_MOTION_H
#define SHARED_VECTOR_MOTION_H

#include "shared/interpolate.h"
#include "shared/motion.h"
#include "shared/real.h"
#include "shared/shape.h"

#define LANES 16u /* particles of a vector */

/* What comparing two real16 gives: 0 or -1 a lane. */
#if REAL_IS_DOUBLE
typedef long16 mask16;
#define convert_real16 convert_double16
#else
typedef int16 mask16;
#define convert_real16 convert_float16
#endif

/* ---- quads: (dx, dy, u, v) of a particle side by side ---- */

struct state16 {
    real16 x, y, u, v;
};

static inline struct state16 state_of_quads(real16 q0, real16 q1, real16 q2, real16 q3)
{
    const real16 x_u_lower = (real16)(q0.even, q1.even), x_u_upper = (real16)(q2.even, q3.even);
    const real16 y_v_lower = (real16)(q0.odd, q1.odd), y_v_upper = (real16)(q2.odd, q3.odd);
    struct state16 state;
    state.x = (real16)(x_u_lower.even, x_u_upper.even);
    state.u = (real16)(x_u_lower.odd, x_u_upper.odd);
    state.y = (real16)(y_v_lower.even, y_v_upper.even);
    state.v = (real16)(y_v_lower.odd, y_v_upper.odd);
    return state;
}

static inline void quads_of_state(const struct state16 *state, real16 quads[4])
{
    real16 x_u, y_v;
    x_u.even = state->x.lo;
    x_u.odd = state->u.lo;
    y_v.even = state->y.lo;
    y_v.odd = state->v.lo;
    quads[0].even = x_u.lo;
    quads[0].odd = y_v.lo;
    quads[1].even = x_u.hi;
    quads[1].odd = y_v.hi;
    x_u.even = state->x.hi;
    x_u.odd = state->u.hi;
    y_v.even = state->y.hi;
    y_v.odd = state->v.hi;
    quads[2].even = x_u.lo;
    quads[2].odd = y_v.lo;
    quads[3].even = x_u.hi;
    quads[3].odd = y_v.hi;
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

static inline struct velocity_step16 velocity_push16(real16 u, real16 v, real16 ex, real16 ey, real half_kick,
                                                     real tangent, real sine)
{
    struct velocity_step16 step;
    const real16 u_minus = u + half_kick * ex;
    const real16 v_minus = v + half_kick * ey;
    const real16 u_prime = u_minus + tangent * v_minus;
    const real16 v_prime = v_minus - tangent * u_minus;
    const real16 u_plus = u_minus + sine * v_prime;
    const real16 v_plus = v_minus - sine * u_prime;
    step.u = u_plus + half_kick * ex;
    step.v = v_plus + half_kick * ey;
    step.mean_u = (real)0.5 * (u_minus + u_plus);
    step.mean_v = (real)0.5 * (v_minus + v_plus);
    step.square = u_minus * u_minus + v_minus * v_minus;
    return step;
}

/* ---- shape_weights() and interpolate() ---- */

static inline void shape_weights16(real16 d, real16 weights[SHAPE_NODES])
{
#if SHAPE_ORDER == 0
    const real16 upper = select((real16)((real)1), (real16)((real)0), d < (real16)((real)0.5)) + (real)0 * d;
    weights[0] = (real)1 - upper;
    weights[1] = upper;
#elif SHAPE_ORDER == 1
    weights[0] = (real)1 - d;
    weights[1] = d;
#else
    const mask16 shift = d >= (real16)((real)0.5);
    const real16 nought = (real16)((real)0);
    const real16 s = d - select(nought, (real16)((real)1), shift);
    const real16 before = (real)0.5 * ((real)0.5 - s) * ((real)0.5 - s);
    const real16 middle = (real)0.75 - s * s;
    const real16 after = (real)0.5 * ((real)0.5 + s) * ((real)0.5 + s);
    weights[0] = select(before, nought, shift);
    weights[1] = select(middle, before, shift);
    weights[2] = select(after, middle, shift);
    weights[3] = select(nought, after, shift);
#endif
}

/* E in one cell as a polynomial of the offset where the shape has one, which takes fewer operations than
 * weights: for cic (f0 + f1 x) + (f2 + f3 x) y. For the other shapes the field at the nodes. */
#define FIELD_NUMBERS (SHAPE_NODES * SHAPE_NODES)

struct cell_polynomial {
    real x[FIELD_NUMBERS], y[FIELD_NUMBERS]; /* of ex, of ey */
};

static inline struct cell_polynomial cell_polynomial_make(const struct cell_field *field)
{
    struct cell_polynomial made;
#if SHAPE_ORDER == 1
    const real2 lower = field->node[0], upper = field->node[1]; /* along y */
    const real2 slope = field->node[2] - lower, slope_above = field->node[3] - upper;
    const real2 numbers[FIELD_NUMBERS] = {lower, slope, upper - lower, slope_above - slope};
#else
    const real2 *numbers = field->node;
#endif
    for (int n = 0; n < FIELD_NUMBERS; n++) {
        made.x[n] = numbers[n].x;
        made.y[n] = numbers[n].y;
    }
    return made;
}

static inline void interpolate16(const struct cell_polynomial *field, real16 x, real16 y, real16 *ex,
                                 real16 *ey)
{
#if SHAPE_ORDER == 1
    *ex = (field->x[0] + field->x[1] * x) + (field->x[2] + field->x[3] * x) * y;
    *ey = (field->y[0] + field->y[1] * x) + (field->y[2] + field->y[3] * x) * y;
#else
    real16 along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights16(x, along_x);
    shape_weights16(y, along_y);
    *ex = *ey = (real16)((real)0);
    for (int a = 0; a < SHAPE_NODES; a++)
        for (int b = 0; b < SHAPE_NODES; b++) {
            const real16 weight = along_x[a] * along_y[b];
            *ex += weight * field->x[a * SHAPE_NODES + b];
            *ey += weight * field->y[a * SHAPE_NODES + b];
        }
#endif
}

#endif
