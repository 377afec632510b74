/* Interpolate: the FELT fields at a particle, with the weights of the deposit.
 *
 * The nodes around a cell are read once for all of its particles that an item meets one after the other.
 */
#ifndef SHARED_INTERPOLATE_H
#define SHARED_INTERPOLATE_H

#include "shared/cell.h"
#include "shared/motion.h"
#include "shared/shape.h"

#define FIELD_NUMBERS (SHAPE_NODES * SHAPE_NODES)

#if LANES == 1

/* The fields, two by two, at the nodes that the particles of one cell touch, a SHAPE_NODES + b. */
struct cell_field {
    real2 node[FELT / 2][FIELD_NUMBERS];
};
#define FIELD_NUMBER(field, c, n) ((c) % 2 == 0 ? (field)->node[(c) / 2][n].x : (field)->node[(c) / 2][n].y)

/* Reads the nodes around cell (i, j): e is the first component, and each further one is `stride` reals
 * behind. nx and ny are so many that each node is still within wrap_near(). */
static inline void cell_field_enter(struct cell_field *field, global const real *restrict e, uint stride,
                                    uint nx, uint ny, uint i, uint j)
{
    for (int a = 0; a < SHAPE_NODES; a++) {
        const uint row = wrap_near((int)i + SHAPE_FIRST + a, nx);
        for (int b = 0; b < SHAPE_NODES; b++) {
            const uint node = cell_index(row, wrap_near((int)j + SHAPE_FIRST + b, ny), ny);
            for (uint c = 0; c < FELT; c += 2)
                field->node[c / 2][a * SHAPE_NODES + b] =
                    (real2)(e[c * stride + node], e[(c + 1) * stride + node]);
        }
    }
}

#else

/* The nodes around LANES cells of row i, from column j on, of which the walk is in number `at`; cells beside
 * the grid hold anything. For cic the numbers f of (f0 + f2 x) + (f1 + f3 x) y stand in place of the nodes:
 * they take fewer operations than weights. */
struct cell_field {
    uint i, j, at;
    real numbers[FELT][FIELD_NUMBERS][LANES];
};
#define FIELD_NUMBER(field, c, n) ((field)->numbers[c][n][(field)->at])

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

/* The numbers of all components; apart, so that cell_field_enter() is inlined, which seldom comes here. */
static __attribute__((noinline)) void strips_read(struct cell_field *field, global const real *restrict e,
                                                  uint stride, uint nx, uint ny)
{
    for (uint c = 0; c < FELT; c++)
        strip_read(e + c * stride, nx, ny, field->i, field->j, field->numbers[c]);
}

static inline void cell_field_enter(struct cell_field *field, global const real *restrict e, uint stride,
                                    uint nx, uint ny, uint i, uint j)
{
    field->at = j % LANES;
    if (field->i == i && field->j == j - field->at)
        return;
    field->i = i;
    field->j = j - field->at;
    strips_read(field, e, stride, nx, ny);
}

#endif

/* The fields at the offsets (x, y) of the cell. */
static inline void interpolate(const struct cell_field *field, reals x, reals y, reals felt[FELT])
{
#if SHAPE_ORDER == 1 && LANES > 1
#pragma unroll
    for (int c = 0; c < FELT; c++) {
        const real f0 = FIELD_NUMBER(field, c, 0), f1 = FIELD_NUMBER(field, c, 1);
        const real f2 = FIELD_NUMBER(field, c, 2), f3 = FIELD_NUMBER(field, c, 3);
        felt[c] = PRODUCT_SUM(PRODUCT_SUM(f3, x, f1), y, PRODUCT_SUM(f2, x, f0));
    }
#else
    reals along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights(x, along_x);
    shape_weights(y, along_y);
#pragma unroll
    for (int c = 0; c < FELT; c++)
        felt[c] = (reals)0;
    for (int a = 0; a < SHAPE_NODES; a++)
        for (int b = 0; b < SHAPE_NODES; b++) {
            const reals weight = along_x[a] * along_y[b];
            const int n = a * SHAPE_NODES + b;
#pragma unroll
            for (int c = 0; c < FELT; c++)
                felt[c] = PRODUCT_SUM(weight, FIELD_NUMBER(field, c, n), felt[c]);
        }
#endif
}

#endif
