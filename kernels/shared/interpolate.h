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

/* From Ex, and Ey `stride` reals behind it. nx and ny are at least 2, so a node two to the right is still
 * within wrap_near(). */
static inline struct cell_field cell_field_read(global const real *restrict e, uint stride, uint nx, uint ny,
                                                uint cell)
{
    struct cell_field field;
    const uint i = cell / ny, j = cell - i * ny;
    for (int a = 0; a < SHAPE_NODES; a++) {
        const uint row = wrap_near((int)i + SHAPE_FIRST + a, nx);
        for (int b = 0; b < SHAPE_NODES; b++) {
            const uint node = cell_index(row, wrap_near((int)j + SHAPE_FIRST + b, ny), ny);
            field.node[a * SHAPE_NODES + b] = (real2)(e[node], e[stride + node]);
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

/* ---- the vector form ---- */

/* E in sixteen cells of a row, from column j on: for cic the numbers f of (f0 + f1 x) + (f2 + f3 x) y, which
 * takes fewer operations than weights; for the other shapes the field at the nodes. Cells behind the end of
 * the row hold anything. */
#define FIELD_NUMBERS (SHAPE_NODES * SHAPE_NODES)

struct field_strip {
    uint i, j;
    real ex[FIELD_NUMBERS][LANES], ey[FIELD_NUMBERS][LANES];
};
#define NO_ROW 0xffffffffu

/* numbers[n] of one component in the cells (i, j + l); a row is ny long. */
static inline void strip_read(global const real *restrict field, uint nx, uint ny, uint i, uint j,
                              real numbers[FIELD_NUMBERS][LANES])
{
    for (int a = 0; a < SHAPE_NODES; a++) {
        global const real *row = field + cell_index(wrap_near((int)i + SHAPE_FIRST + a, nx), 0, ny);
        for (int b = 0; b < SHAPE_NODES; b++) {
            const int column = (int)j + SHAPE_FIRST + b;
            real *node = numbers[a * SHAPE_NODES + b];
            if (column >= 0 && column + (int)LANES <= (int)ny)
                vstore16(vload16(0, row + column), 0, node);
            else
                for (uint l = 0; l < LANES; l++)
                    node[l] = row[wrap_any(column + (int)l, ny)];
        }
    }
#if SHAPE_ORDER == 1
    const real16 lower = vload16(0, numbers[0]), upper = vload16(0, numbers[1]); /* along y */
    const real16 slope = vload16(0, numbers[2]) - lower;
    vstore16(vload16(0, numbers[3]) - upper - slope, 0, numbers[3]);
    vstore16(upper - lower, 0, numbers[2]);
    vstore16(slope, 0, numbers[1]);
#endif
}

/* E at particles of the strip's cell number c. */
static inline void interpolate16(const struct field_strip *strip, uint c, real16 x, real16 y, real16 *ex,
                                 real16 *ey)
{
#if SHAPE_ORDER == 1
    *ex = MULTIPLY_ADD(MULTIPLY_ADD(strip->ex[3][c], x, strip->ex[2][c]), y,
                       MULTIPLY_ADD(strip->ex[1][c], x, strip->ex[0][c]));
    *ey = MULTIPLY_ADD(MULTIPLY_ADD(strip->ey[3][c], x, strip->ey[2][c]), y,
                       MULTIPLY_ADD(strip->ey[1][c], x, strip->ey[0][c]));
#else
    real16 along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights16(x, along_x);
    shape_weights16(y, along_y);
    *ex = *ey = (real16)((real)0);
    for (int a = 0; a < SHAPE_NODES; a++)
        for (int b = 0; b < SHAPE_NODES; b++) {
            const real16 weight = along_x[a] * along_y[b];
            *ex = MULTIPLY_ADD(weight, strip->ex[a * SHAPE_NODES + b][c], *ex);
            *ey = MULTIPLY_ADD(weight, strip->ey[a * SHAPE_NODES + b][c], *ey);
        }
#endif
}

#endif
