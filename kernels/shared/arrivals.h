/* Arrivals: how many particles come from other ranks to a cell of a slab (src/domain/arrivals.h). They stand
 * behind the cell's others. */
#ifndef SHARED_ARRIVALS_H
#define SHARED_ARRIVALS_H

#include "shared/real.h"

#define NO_ARRIVALS 0xffffffffu

/* rows: uint[nx], which row of `counts` a row of the grid has, or NO_ARRIVALS; counts: uint[][ny]. */
static inline uint arrivals_of(__global const uint *restrict rows, __global const uint *restrict counts,
                               uint cell, uint ny)
{
    const uint i = cell / ny, row = rows[i];
    return row == NO_ARRIVALS ? 0 : counts[row * ny + (cell - i * ny)];
}

#endif
