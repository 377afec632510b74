/* Lanes: moves and sums within vectors of sixteen, for CPU devices. Device only. */
#ifndef SHARED_LANES_H
#define SHARED_LANES_H

#include "shared/real.h"

/* Every second lane of a, then of b: from the first, or from the second. Spelled out, since oclgrind loses
 * track of the lanes where vectors of different widths meet. */
static inline real16 even_lanes(real16 a, real16 b)
{
    return (real16)(a.s0, a.s2, a.s4, a.s6, a.s8, a.sa, a.sc, a.se, b.s0, b.s2, b.s4, b.s6, b.s8, b.sa, b.sc,
                    b.se);
}
static inline real16 odd_lanes(real16 a, real16 b)
{
    return (real16)(a.s1, a.s3, a.s5, a.s7, a.s9, a.sb, a.sd, a.sf, b.s1, b.s3, b.s5, b.s7, b.s9, b.sb, b.sd,
                    b.sf);
}

/* Adds neighbouring lanes of a, then of b. */
static inline real16 add_neighbours(real16 a, real16 b)
{
    return even_lanes(a, b) + odd_lanes(a, b);
}

/* Four of the sums, each over its lanes, in the first lanes of what it returns. */
static inline real16 sum_lanes(const real16 *of)
{
    const real16 four = add_neighbours(add_neighbours(of[0], of[1]), add_neighbours(of[2], of[3]));
    const real16 two = add_neighbours(four, four);
    return add_neighbours(two, two);
}

#endif
