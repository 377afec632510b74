/* Arrivals: how many particles come from other ranks to a cell of a slab (src/domain/particles.h). They stand
 * behind the cell's others. */
#ifndef SHARED_ARRIVALS_H
#define SHARED_ARRIVALS_H

#include "shared/real.h"

/* arrivals: how many come in all; where none do, any buffers stand in. arrival_rows: uint[nx], which row of
 * `arrival_counts` a row of the grid has, or NO_ARRIVALS; arrival_counts: uint[][ny]. */
#define NO_ARRIVALS 0xffffffffu
#define ARRIVAL_ARGUMENTS                                                                                    \
    uint arrivals, global const uint *restrict arrival_rows, global const uint *restrict arrival_counts
#define ARRIVALS arrivals, arrival_rows, arrival_counts /* passed on */

static inline uint arrivals_of(ARRIVAL_ARGUMENTS, uint cell, uint ny)
{
    if (arrivals == 0)
        return 0;
    const uint i = cell / ny, row = arrival_rows[i];
    return row == NO_ARRIVALS ? 0 : arrival_counts[row * ny + (cell - i * ny)];
}

#endif
