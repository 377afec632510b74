/* Even shapes: the weights of tsc and quartic (shared/shape.h) for the nodes around the nearest one, of a
 * particle at s in [-1/2, 1/2) from it. */
#ifndef SHARED_EVEN_SHAPES_H
#define SHARED_EVEN_SHAPES_H

#include "shared/lanes.h"

static inline void shape_tsc(reals s, reals *around)
{
    around[0] = (real)0.5 * ((real)0.5 - s) * ((real)0.5 - s);
    around[1] = (real)0.75 - s * s;
    around[2] = (real)0.5 * ((real)0.5 + s) * ((real)0.5 + s);
}

static inline void shape_quartic(reals s, reals *around)
{
    const reals below = ((real)0.5 - s) * ((real)0.5 - s), above = ((real)0.5 + s) * ((real)0.5 + s),
                t = s * s;
    const reals even = (real)19 / (real)96 + t * ((real)0.25 - (real)1 / (real)6 * t);
    const reals odd = s * ((real)11 / (real)24 - (real)1 / (real)6 * t);
    around[0] = (real)1 / (real)24 * below * below;
    around[1] = even - odd;
    around[2] = (real)115 / (real)192 - t * ((real)0.625 - (real)0.25 * t);
    around[3] = even + odd;
    around[4] = (real)1 / (real)24 * above * above;
}

#endif
