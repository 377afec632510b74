/* Arrivals: how many particles come from other ranks to a cell of a slab (src/domain/particles.h). They stand
 * behind the cell's others. */
#ifndef SHARED_ARRIVALS_H
#define SHARED_ARRIVALS_H

#include "shared/real.h"

#ifndef LEAVES_ROOM
#define LEAVES_ROOM 1
#endif
#define NO_ARRIVALS       0xffffffffu
#define ARRIVAL_ARGUMENTS global const uint *restrict arrival_rows, global const uint *restrict arrival_counts

/* rows: uint[nx], which row of `counts` a row of the grid has, or NO_ARRIVALS; counts: uint[][ny]. */
static inline uint arrivals_of(global const uint *restrict rows, global const uint *restrict counts,
                               uint cell, uint ny)
{
    if (!LEAVES_ROOM)
        return 0;
    const uint i = cell / ny, row = rows[i];
    return row == NO_ARRIVALS ? 0 : counts[row * ny + (cell - i * ny)];
}

#endif
