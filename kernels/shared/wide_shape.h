/* Wide shape: the weights of shared/shape.h for particles that are up to half a cell beside their own, as
 * half a step before n: offsets in [-1/2, 3/2). */
#ifndef SHARED_WIDE_SHAPE_H
#define SHARED_WIDE_SHAPE_H

#include "shared/shape.h"

#define SHAPE_WIDE_NODES_OF(order) SHAPE_NODES_OF((order) + 1)
#define SHAPE_WIDE_FIRST_OF(order) SHAPE_FIRST_OF((order) + 1)

/* v where that is positive, else 0; a non-finite v shows. */
static inline reals positive_part(reals v)
{
    return v > (real)0 ? v : (real)0 * v;
}

/* The B-spline of an order at a distance, by truncated powers: for offsets that may be outside [0, 1). */
static inline reals shape_at(const int order, reals distance)
{
    const reals s = (reals)fabs(distance), far = positive_part((real)0.5 * (real)(order + 1) - s);
    const reals near = positive_part((real)0.5 * (real)(order - 1) - s);
    if (order == 0)
        return (((distance >= (real)-0.5) & (distance < (real)0.5)) ? (reals)1 : (reals)0) +
               (real)0 * distance;
    if (order == 1)
        return far;
    if (order == 2)
        return (real)0.5 * far * far - (real)1.5 * near * near;
    if (order == 4) {
        const reals middle = positive_part((real)0.5 - s);
        return (real)1 / (real)24 *
               (far * far * far * far - (real)5 * near * near * near * near +
                (real)10 * middle * middle * middle * middle);
    }
    return (real)1 / (real)6 * (far * far * far - (real)4 * near * near * near);
}

/* The SHAPE_WIDE_NODES_OF(order) weights at offset d in [-1/2, 3/2). For cic they are piecewise linear,
 * with breaks at d = 0 and d = 1; a non-finite d shows in the two of the cell. */
static inline void shape_wide_weights_of(const int order, reals d, reals *weights)
{
    if (order == 1) {
        const reals below = fmax(-d, (reals)0), above = fmax(d - (real)1, (reals)0);
        weights[0] = below;
        weights[1] = (real)1 - d - (real)2 * below + above;
        weights[2] = d + below - (real)2 * above;
        weights[3] = above;
        return;
    }
    for (int a = 0; a < SHAPE_WIDE_NODES_OF(order); a++)
        weights[a] = shape_at(order, d - (real)(SHAPE_WIDE_FIRST_OF(order) + a));
}

#endif
