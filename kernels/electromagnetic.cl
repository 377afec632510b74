/* Electromagnetic: Maxwell's equations over one step, exactly for each wave, after Haber, Lee, Klein & Boris
 * (Proc. Sixth Conf. Num. Sim. Plasmas, 1973, p. 46): dE/dt = c^2 curl B - J, dB/dt = -curl E.
 *
 * A field has three components, `stride` modes apart: x, y, z. The state is the transverse part of E, and
 * behind it B, both at a whole step; a group takes the row of its number (shared/modes.h), and its items
 * share the row's elements.
 *
 * Compile-time parameter: REAL_IS_DOUBLE (shared/real.h).
 */
#include "shared/modes.h"

struct vector {
    real2 x, y, z;
};

static inline struct vector load(global const real2 *from, uint stride)
{
    const struct vector v = {from[0], from[stride], from[2 * (size_t)stride]};
    return v;
}

static inline void store(struct vector v, global real2 *to, uint stride)
{
    to[0] = v.x;
    to[stride] = v.y;
    to[2 * (size_t)stride] = v.z;
}

/* a + s b */
static inline struct vector add(struct vector a, real s, struct vector b)
{
    const struct vector sum = {a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
    return sum;
}

/* i k x v, with k = (k.x, k.y, 0): the curl. */
static inline struct vector curl(real2 k, struct vector v)
{
    const struct vector product = {times_i(k.y * v.z), times_i(-k.x * v.z), times_i(k.x * v.y - k.y * v.x)};
    return product;
}

/* v - k (k . v)/k^2; all of v where k is 0. */
static inline struct vector transverse(real2 k, struct vector v)
{
    const real square = k.x * k.x + k.y * k.y;
    if (!(square > (real)0))
        return v;
    const real2 along = (k.x * v.x + k.y * v.y) / square;
    const struct vector across = {v.x - k.x * along, v.y - k.y * along, v.z};
    return across;
}

/* The state from the unnormalised modes of E and B, which stand in `fields`: all of the mean, and nothing of
 * a mode at Nyquist along both axes, or along one and without a wave along the other. scale: 1/(nx ny). */
kernel void electromagnetic_begin(global const real2 *restrict fields, global const real2 *restrict wave_x,
                                  global const real2 *restrict wave_y, uint modes_y, uint stride, real scale,
                                  global real2 *restrict state)
{
    const uint m = (uint)get_group_id(0);
    for (uint n = (uint)get_local_id(0); n < modes_y; n += (uint)get_local_size(0)) {
        const uint e = modes_y * m + n;
        const real2 k = (real2)(wave_x[m].y, wave_y[n].y);
        const struct vector none = {(real2)((real)0), (real2)((real)0), (real2)((real)0)};
        const bool is_mean = !(wave_x[m].x + wave_y[n].x > (real)0);
        const real kept = is_mean || k.x != (real)0 || k.y != (real)0 ? scale : (real)0;
        for (uint field = 0; field < 6; field += 3)
            store(add(none, kept, transverse(k, load(fields + field * (size_t)stride + e, stride))),
                  state + field * (size_t)stride + e, stride);
    }
}

/* With th = c |k| dt, turn = (1 - cos th, sin th/(c |k|)) and c_squared = c^2:
 *
 *   E_T' = cos th E_T + sin th/(c |k|) (c^2 curl B - J_T)
 *   B'   = cos th B   - sin th/(c |k|) curl E_T + (1 - cos th)/(c k)^2 curl J_T
 *
 * from n-1 to n with the current at n-1/2, where `steps` is not 0; and the modes of E = E_T + E_L and B,
 * where E_L = -i k rho/k^2. At k = 0 turn is the limit (0, dt), E = E - dt J in all three components, and B
 * stays; it is (0, 0) for a mean of E that stays too, and for modes without a wave that are at Nyquist. The
 * sources, rho and the components of J, are unnormalised, scale: 1/(nx ny).
 * What is added to E_T and B is small where th is, so that they keep their length in single precision. */
kernel void electromagnetic_step(global const real2 *restrict sources, global const real2 *restrict wave_x,
                                 global const real2 *restrict wave_y, global const real2 *restrict turn,
                                 uint modes_y, uint stride, real c_squared, real scale, uint steps,
                                 global real2 *restrict state, global real2 *restrict fields)
{
    const uint m = (uint)get_group_id(0);
    for (uint n = (uint)get_local_id(0); n < modes_y; n += (uint)get_local_size(0)) {
        const uint element = modes_y * m + n;
        const real2 k = (real2)(wave_x[m].y, wave_y[n].y);
        global real2 *const own_b = state + 3 * (size_t)stride + element;
        struct vector e = load(state + element, stride), b = load(own_b, stride);
        const real square = c_squared * (k.x * k.x + k.y * k.y);
        if (steps) {
            const real lost = turn[element].x, sine = turn[element].y;
            const struct vector none = {(real2)((real)0), (real2)((real)0), (real2)((real)0)};
            const struct vector j = add(none, scale, transverse(k, load(sources + stride + element, stride)));
            const struct vector driven = add(add(none, c_squared, curl(k, b)), (real)-1, j);
            const struct vector e_more = add(add(none, -lost, e), sine, driven);
            const struct vector b_more = add(add(add(none, -lost, b), -sine, curl(k, e)),
                                             square > (real)0 ? lost / square : (real)0, curl(k, j));
            e = add(e, (real)1, e_more);
            b = add(b, (real)1, b_more);
            store(e, state + element, stride);
            store(b, own_b, stride);
        }
        const real2 phi = potential_mode(sources[element], wave_x[m].x + wave_y[n].x, scale);
        e.x += field_mode(phi, k.x);
        e.y += field_mode(phi, k.y);
        store(e, fields + element, stride);
        store(b, fields + 3 * (size_t)stride + element, stride);
    }
}
