/* Shape: the weights by which a particle at offset d in [0, 1) of its cell is divided among the nodes around,
 * along one axis.
 *
 * The weights of a two-dimensional shape are products of these. Deposit and interpolation use the same shape,
 * otherwise a particle would push itself (Birdsall & Langdon, Plasma Physics via Computer Simulation, 1985,
 * section 8-6).
 *
 * Orders are 0 nearest grid point (ngp), 1 cloud in cell (cic), 2 triangular shaped cloud (tsc), 3 cubic
 * spline (cubic), 4 quartic spline (quartic): the B-splines. A cell's particles touch SHAPE_NODES nodes per
 * axis, beginning SHAPE_FIRST nodes from the cell's lower node. The host has all orders, and needs no
 * SHAPE_ORDER. */
#ifndef SHARED_SHAPE_H
#define SHARED_SHAPE_H

#include "shared/even_shapes.h"

#define SHAPE_NODES_OF(order) (2 * ((order) / 2 + 1))
#define SHAPE_FIRST_OF(order) (-((order) / 2))

#ifdef SHAPE_ORDER
#define SHAPE_NODES               SHAPE_NODES_OF(SHAPE_ORDER)
#define SHAPE_FIRST               SHAPE_FIRST_OF(SHAPE_ORDER)
#define shape_weights(d, weights) shape_weights_of(SHAPE_ORDER, d, weights)
#endif

/* The SHAPE_NODES_OF(order) weights at offset d; they sum to 1. */
static inline void shape_weights_of(const int order, reals d, reals *weights)
{
    const reals none = (reals)0, one = (reals)1, rest = one - d;
    if (order == 0) {
        /* 0 d is 0 but for a non-finite d, which must show in the sums. */
        weights[1] = (d < (real)0.5 ? none : one) + (real)0 * d;
        weights[0] = one - weights[1];
    } else if (order == 1) {
        weights[0] = rest;
        weights[1] = d;
    } else if (order == 3) {
        weights[0] = (real)1 / (real)6 * rest * rest * rest;
        weights[1] = (real)2 / (real)3 - d * d * (one - (real)0.5 * d);
        weights[2] = (real)2 / (real)3 - rest * rest * (one - (real)0.5 * rest);
        weights[3] = (real)1 / (real)6 * d * d * d;
    } else {
        /* Even orders measure distances from the nearest node, which is the lower one or the upper one. */
        const masks lower = d < (real)0.5;
        const reals s = d - (lower ? none : one);
        reals around[5];
        if (order == 2)
            shape_tsc(s, around);
        else
            shape_quartic(s, around);
        weights[0] = lower ? around[0] : none;
        for (int n = 1; n <= order; n++)
            weights[n] = lower ? around[n] : around[n - 1];
        weights[order + 1] = lower ? none : around[order];
    }
}

#ifndef __OPENCL_VERSION__

/* The B-spline of an order at a distance, which weights are held against (de Boor, A Practical Guide to
 * Splines, 1978, chapter IX): order 0 is 1 in [-1/2, 1/2), and each further one a mean of two before it. That
 * begins with order 1, where rounding makes no step. */
static inline double shape_spline(int order, double distance)
{
    const double end = 0.5 * (order + 1);
    if (order == 0)
        return distance >= -0.5 && distance < 0.5 ? 1 : 0;
    if (order == 1)
        return fmax(1 - fabs(distance), 0);
    return ((end + distance) * shape_spline(order - 1, distance + 0.5) +
            (end - distance) * shape_spline(order - 1, distance - 0.5)) /
           order;
}
#endif

#endif
