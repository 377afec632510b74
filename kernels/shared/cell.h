/* Cell: the numbering of cells and nodes on the periodic grid of nx x ny cells.
 *
 * Cell (i, j) is the square between nodes i, i+1 along x and j, j+1 along y; its key is ny*i + j, the paper's
 * 32i + j. Nodes are numbered the same way: periodicity makes node nx the node 0.
 *
 * Compile-time parameter:
 *   GHOST_ROWS  g, of a slab's local grid (src/domain/slab.h); 0, the default: the grid is the box, whole.
 */
#ifndef SHARED_CELL_H
#define SHARED_CELL_H

#include "shared/real.h"

static inline uint cell_index(uint i, uint j, uint ny)
{
    return ny * i + j;
}

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

/* Whether row i, counted from row 0 without joining the grid's ends, is one that the grid has. */
static inline int has_row(int i, uint nx)
{
    return GHOST_ROWS == 0 || (i >= -GHOST_ROWS && i < rows_upwards(nx));
}

/* The row i where a particle of an own row has come to, brought to [0, nx): those beyond the ghost rows to
 * the lost one. */
static inline uint wrap_row(int i, uint nx)
{
    if (GHOST_ROWS == 0)
        return wrap_any(i, nx);
    return has_row(i, nx) ? wrap_near(i, nx) : (uint)rows_upwards(nx);
}

/* The offset to keep of a particle that has come to row i: in the lost row all of x, counted from row 0, so
 * that it can be found again. */
static inline real row_offset(real offset, int i, uint nx)
{
    return has_row(i, nx) ? offset : (real)i + offset;
}

#ifdef __OPENCL_VERSION__

/* ---- the same for sixteen particles ---- */

#include "shared/lanes.h"

/* As wrap_any(). */
static inline int16 wrap_any16(int16 i, uint n)
{
    const int size = (int)n;
    int16 wrapped = i + select((int16)0, (int16)size, i < 0);
    wrapped -= select((int16)0, (int16)size, wrapped >= size);
    int lane[LANES];
    vstore16(wrapped, 0, lane);
    int far = 0; /* further than the box is long */
    for (uint l = 0; l < LANES; l++)
        far |= lane[l] < 0 || lane[l] >= size;
    if (far) {
        vstore16(i, 0, lane);
        for (uint l = 0; l < LANES; l++)
            lane[l] = (int)wrap_any(lane[l], n);
        wrapped = vload16(0, lane);
    }
    return wrapped;
}

/* As wrap_row(). */
static inline int16 wrap_row16(int16 i, uint nx)
{
#if GHOST_ROWS == 0
    return wrap_any16(i, nx);
#else
    const int16 wrapped = i + select((int16)0, (int16)(int)nx, i < 0);
    return select((int16)rows_upwards(nx), wrapped, i >= -GHOST_ROWS & i < rows_upwards(nx));
#endif
}

/* As row_offset(). */
static inline real16 row_offset16(real16 offset, int16 i, uint nx)
{
#if GHOST_ROWS == 0
    return offset;
#else
    const real16 row = convert_real16(i);
    const mask16 has_row = row >= -(real)GHOST_ROWS & row < (real)rows_upwards(nx);
    return select(row + offset, offset, has_row);
#endif
}

#endif
#endif
