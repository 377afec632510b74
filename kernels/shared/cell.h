/* Cell: the numbering of cells and nodes on the periodic grid of nx x ny cells.
 *
 * Cell (i, j) is the square between nodes i, i+1 along x and j, j+1 along y; its key is ny*i + j, the paper's
 * 32i + j. Nodes are numbered the same way: periodicity makes node nx the node 0.
 */
#ifndef SHARED_CELL_H
#define SHARED_CELL_H

#include "shared/lanes.h"

/* Of cells, or of vectors of them. */
#define cell_index(i, j, ny) ((ny) * (i) + (j))

#ifndef GHOST_ROWS
#define GHOST_ROWS 0
#endif

/* i in [-n, 2n) brought to [0, n). */
static inline uint wrap_near(int i, uint n)
{
    const int size = (int)n;
    return (uint)(i < 0 ? i + size : (i >= size ? i - size : i));
}

/* Any i brought to [0, n). Nearly all are near, and are spared the division. */
static inline uint wrap_any(int i, uint n)
{
    const int size = (int)n;
    if (i >= -size && i < 2 * size)
        return wrap_near(i, n);
    const int rest = i % size;
    return (uint)(rest < 0 ? rest + size : rest);
}

/* Rows from row 0 on that are reached upwards without meeting the lost row or coming in from below. */
static inline int rows_upwards(uint nx)
{
    return GHOST_ROWS == 0 ? (int)nx : (int)nx - 1 - GHOST_ROWS;
}

/* The same in every lane. */
static inline uints wrap_lanes(ints i, uint n)
{
#if LANES == 1
    return wrap_any(i, n);
#else
    const int size = (int)n;
    ints wrapped = i + (i < 0 ? (ints)size : (ints)0);
    wrapped -= wrapped >= size ? (ints)size : (ints)0;
    if (all_lanes(as_uint16(wrapped) < n))
        return as_uint16(wrapped);
    uint lane[LANES];
    for (uint l = 0; l < LANES; l++)
        lane[l] = wrap_any(((const int *)&i)[l], n);
    return LOAD(lane);
#endif
}

/* Whether row i, counted from row 0 without joining the grid's ends, is one that the grid has. */
static inline ints has_row(ints i, uint nx)
{
    return GHOST_ROWS == 0 ? (ints)-1 : (i >= -GHOST_ROWS) & (i < rows_upwards(nx));
}

/* The row i where a particle of an own row has come to, brought to [0, nx): those beyond the ghost rows to
 * the lost one. */
static inline uints wrap_row(ints i, uint nx)
{
    if (GHOST_ROWS == 0)
        return wrap_lanes(i, nx);
    const ints row = has_row(i, nx) ? i : (ints)rows_upwards(nx);
    return TO_UINTS(row < 0 ? row + (int)nx : row);
}

/* The offset to keep of a particle that has come to row i: in the lost row all of x, counted from row 0, so
 * that it can be found again. */
static inline reals row_offset(reals offset, ints i, uint nx)
{
    return GHOST_ROWS == 0 ? offset : REAL_MASK(has_row(i, nx)) ? offset : TO_REALS(i) + offset;
}

#endif
