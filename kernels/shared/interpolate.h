/* Interpolate: the electric field at a particle, with the weights of the deposit.
 *
 * The nodes around a cell are read once for all of its particles that an item meets one after the other.
 */
#ifndef SHARED_INTERPOLATE_H
#define SHARED_INTERPOLATE_H

#include "shared/cell.h"
#include "shared/shape.h"

#define FIELD_NUMBERS (SHAPE_NODES * SHAPE_NODES)

#if LANES == 1

/* E at the nodes that the particles of one cell touch, a SHAPE_NODES + b. */
struct cell_field {
    real2 node[FIELD_NUMBERS];
};
#define FIELD_NUMBER(field, n) ((field)->node[n])

/* Of cell (i, j) from Ex, and Ey `stride` reals behind it. nx and ny are at least 2, so a node two to the
 * right is still within wrap_near(). */
static inline void cell_field_enter(struct cell_field *field, global const real *restrict e, uint stride,
                                    uint nx, uint ny, uint i, uint j)
{
    for (int a = 0; a < SHAPE_NODES; a++) {
        const uint row = wrap_near((int)i + SHAPE_FIRST + a, nx);
        for (int b = 0; b < SHAPE_NODES; b++) {
            const uint node = cell_index(row, wrap_near((int)j + SHAPE_FIRST + b, ny), ny);
            field->node[a * SHAPE_NODES + b] = (real2)(e[node], e[stride + node]);
        }
    }
}

#else

/* The same of LANES cells of row i, from column j on, where the walk is in cell number `at`; beside the grid
 * they hold anything. For cic the numbers f of (f0 + f2 x) + (f1 + f3 x) y stand in place of the nodes: they
 * take fewer operations than weights. */
struct cell_field {
    uint i, j, at;
    real ex[FIELD_NUMBERS][LANES], ey[FIELD_NUMBERS][LANES];
};
#define FIELD_NUMBER(field, n) ((real2)((field)->ex[n][(field)->at], (field)->ey[n][(field)->at]))

/* The numbers of one component. */
static inline void strip_read(global const real *restrict field, uint nx, uint ny, uint i, uint j,
                              real numbers[FIELD_NUMBERS][LANES])
{
    for (int a = 0; a < SHAPE_NODES; a++) {
        global const real *row = field + cell_index(wrap_near((int)i + SHAPE_FIRST + a, nx), 0, ny);
        for (int b = 0; b < SHAPE_NODES; b++) {
            const int column = (int)j + SHAPE_FIRST + b;
            real *node = numbers[a * SHAPE_NODES + b];
            if (column >= 0 && column + LANES <= (int)ny)
                STORE(LOAD(row + column), node);
            else
                for (int l = 0; l < LANES; l++)
                    node[l] = row[wrap_any(column + l, ny)];
        }
    }
#if SHAPE_ORDER == 1
    const reals lower = LOAD(numbers[0]), upper = LOAD(numbers[1]), slope = LOAD(numbers[2]) - lower;
    STORE(LOAD(numbers[3]) - upper - slope, numbers[3]);
    STORE(slope, numbers[2]);
    STORE(upper - lower, numbers[1]);
#endif
}

static inline void cell_field_enter(struct cell_field *field, global const real *restrict e, uint stride,
                                    uint nx, uint ny, uint i, uint j)
{
    field->at = j % LANES;
    if (field->i == i && field->j == j - field->at)
        return;
    field->i = i;
    field->j = j - field->at;
    strip_read(e, nx, ny, i, field->j, field->ex);
    strip_read(e + stride, nx, ny, i, field->j, field->ey);
}

#endif

/* E at the offsets (x, y) of the cell. */
static inline void interpolate(const struct cell_field *field, reals x, reals y, reals *ex, reals *ey)
{
#if SHAPE_ORDER == 1 && LANES > 1
    const real2 f0 = FIELD_NUMBER(field, 0), f1 = FIELD_NUMBER(field, 1);
    const real2 f2 = FIELD_NUMBER(field, 2), f3 = FIELD_NUMBER(field, 3);
    *ex = PRODUCT_SUM(PRODUCT_SUM(f3.x, x, f1.x), y, PRODUCT_SUM(f2.x, x, f0.x));
    *ey = PRODUCT_SUM(PRODUCT_SUM(f3.y, x, f1.y), y, PRODUCT_SUM(f2.y, x, f0.y));
#else
    reals along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights(x, along_x);
    shape_weights(y, along_y);
    *ex = *ey = (reals)0;
    for (int a = 0; a < SHAPE_NODES; a++)
        for (int b = 0; b < SHAPE_NODES; b++) {
            const reals weight = along_x[a] * along_y[b];
            const real2 node = FIELD_NUMBER(field, a * SHAPE_NODES + b);
            *ex = PRODUCT_SUM(weight, node.x, *ex);
            *ey = PRODUCT_SUM(weight, node.y, *ey);
        }
#endif
}

#endif
