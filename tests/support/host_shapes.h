/* Host shapes: the weights of all three shapes, as kernels compute them. */
#ifndef RADIXPIC_TEST_HOST_SHAPES_H
#define RADIXPIC_TEST_HOST_SHAPES_H

/* One header, three shapes: each inclusion gets a name of its own. */
#define SHAPE_ORDER   0
#define shape_weights ngp_weights
#include "shared/shape.h"
#undef SHARED_SHAPE_H
#undef SHAPE_ORDER
#undef SHAPE_NODES
#undef SHAPE_FIRST
#undef shape_weights
#define SHAPE_ORDER   1
#define shape_weights cic_weights
#include "shared/shape.h"
#undef SHARED_SHAPE_H
#undef SHAPE_ORDER
#undef SHAPE_NODES
#undef SHAPE_FIRST
#undef shape_weights
#define SHAPE_ORDER   2
#define shape_weights tsc_weights
#include "shared/shape.h"

struct shape {
    int nodes, first;
    void (*weights)(real d, real *weights);
};

static const struct shape shapes[3] = {{2, 0, ngp_weights}, {2, 0, cic_weights}, {4, -1, tsc_weights}};

#endif
