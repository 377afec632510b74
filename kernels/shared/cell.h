/* Cell: the numbering of cells and nodes on the periodic grid of nx x ny cells.
 *
 * Cell (i, j) is the square between nodes i, i+1 along x and j, j+1 along y; its key is ny*i + j, the paper's
 * 32i + j. Nodes are numbered the same way: periodicity makes node nx the node 0.
 */
#ifndef SHARED_CELL_H
#define SHARED_CELL_H

#include "shared/real.h"

/* The number of a cell, or of each cell of a vector. */
#define cell_index(i, j, ny) ((ny) * (i) + (j))

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

#endif
