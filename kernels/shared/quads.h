/* Quads: (dx, dy, u, v) of a particle side by side, as lists of CPU devices have them, and LANES of them as
 * vectors of each number: a state. Device only. */
#ifndef SHARED_QUADS_H
#define SHARED_QUADS_H

#include "shared/motion.h"

/* In a state particle p of sixteen has lane p % 4 * 4 + p / 4: quads become a state by moves within blocks of
 * four lanes, which are fast. This brings one number of each into the order of the particles, and back. */
#define IN_ORDER(type, v)                                                                                    \
    (type)(v.s0, v.s4, v.s8, v.sc, v.s1, v.s5, v.s9, v.sd, v.s2, v.s6, v.sa, v.se, v.s3, v.s7, v.sb, v.sf)

/* Four particles in each of a, b, c and d to their state: the same four lanes of a, b, c and d are the rows
 * of a 4 x 4 matrix, which is transposed, so the same brings a state back to quads. Written with two sources
 * a move; with more of them compilers generate slower code. Of each four lanes:
 *
 *   first_pairs, last_pairs      a0 b0 a1 b1, and a2 b2 a3 b3
 *   first_halves, last_halves    a0 a1 b0 b1, and a2 a3 b2 b3 */
DEFINE_MOVE(first_pairs,
            (a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5, a.s8, b.s8, a.s9, b.s9, a.sc, b.sc, a.sd, b.sd))
DEFINE_MOVE(last_pairs,
            (a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7, a.sa, b.sa, a.sb, b.sb, a.se, b.se, a.sf, b.sf))
DEFINE_MOVE(first_halves,
            (a.s0, a.s1, b.s0, b.s1, a.s4, a.s5, b.s4, b.s5, a.s8, a.s9, b.s8, b.s9, a.sc, a.sd, b.sc, b.sd))
DEFINE_MOVE(last_halves,
            (a.s2, a.s3, b.s2, b.s3, a.s6, a.s7, b.s6, b.s7, a.sa, a.sb, b.sa, b.sb, a.se, a.sf, b.se, b.sf))
struct quads {
    reals a, b, c, d; /* or x, y, u, v */
};

static inline struct quads transpose_quads(reals a, reals b, reals c, reals d)
{
    const reals x_y_ab = first_pairs(a, b), u_v_ab = last_pairs(a, b);
    const reals x_y_cd = first_pairs(c, d), u_v_cd = last_pairs(c, d);
    const struct quads transposed = {first_halves(x_y_ab, x_y_cd), last_halves(x_y_ab, x_y_cd),
                                     first_halves(u_v_ab, u_v_cd), last_halves(u_v_ab, u_v_cd)};
    return transposed;
}

/* The particle of each lane. */
#define PARTICLE_OF_LANE (int16)(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)

/* x, y, u, v, and w, of `number` particles from `begin`, a multiple of sixteen; the other lanes are 0. */
static inline struct quads load_quads(global const real4 *states, global const real *w, uint begin,
                                      uint number, reals *third)
{
    *third = (reals)0;
    if (number == LANES) {
        global const reals *four = (global const reals *)(states + begin);
#pragma unroll
        for (uint n = 0; n < LANES; n += 64 / sizeof(real4)) /* every line of the caches */
            WILL_READ(states + begin + PREFETCH_AHEAD + n);
        if (HAS_W) {
            const reals in_order = LOAD(w + begin);
            *third = IN_ORDER(reals, in_order);
        }
        return transpose_quads(four[0], four[1], four[2], four[3]);
    }
    reals copy[4], in_order = (reals)0;
    real4 *one = (real4 *)copy;
    for (uint n = 0; n < LANES; n++) {
        one[n] = n < number ? states[begin + n] : (real4)((real)0);
        if (HAS_W && n < number)
            ((real *)&in_order)[n] = w[begin + n];
    }
    *third = IN_ORDER(reals, in_order);
    return transpose_quads(copy[0], copy[1], copy[2], copy[3]);
}

#endif
