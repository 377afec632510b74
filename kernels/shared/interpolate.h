/* Interpolate: the electric field at a particle, with the weights of the deposit.
 *
 * The nodes around a cell are read once for all of its particles that an item meets one after the other.
 */
#ifndef SHARED_INTERPOLATE_H
#define SHARED_INTERPOLATE_H

#include "shared/cell.h"
#include "shared/shape.h"

/* E at the nodes that the particles of one cell touch, a SHAPE_NODES + b. */
struct cell_field {
    real2 node[SHAPE_NODES * SHAPE_NODES];
};

/* nx and ny are at least 2, so a node two to the right is still within wrap_near(). */
static inline struct cell_field cell_field_read(global const real *restrict ex,
                                                global const real *restrict ey, uint nx, uint ny, uint cell)
{
    struct cell_field field;
    const uint i = cell / ny, j = cell - i * ny;
    for (int a = 0; a < SHAPE_NODES; a++) {
        const uint row = wrap_near((int)i + SHAPE_FIRST + a, nx);
        for (int b = 0; b < SHAPE_NODES; b++) {
            const uint node = cell_index(row, wrap_near((int)j + SHAPE_FIRST + b, ny), ny);
            field.node[a * SHAPE_NODES + b] = (real2)(ex[node], ey[node]);
        }
    }
    return field;
}

/* (ex, ey) at `offset` of the cell. */
static inline real2 interpolate(const struct cell_field *field, real2 offset)
{
    real along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights(offset.x, along_x);
    shape_weights(offset.y, along_y);
    real2 sum = (real2)((real)0, (real)0);
    for (int a = 0; a < SHAPE_NODES; a++)
        for (int b = 0; b < SHAPE_NODES; b++)
            sum = PRODUCT_SUM((real2)(along_x[a] * along_y[b]), field->node[a * SHAPE_NODES + b], sum);
    return sum;
}

#endif
