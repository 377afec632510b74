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
