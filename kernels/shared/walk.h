/* Walk: an item goes along the sorted list, and keeps the cell in which it is, and the field around. */
#ifndef SHARED_WALK_H
#define SHARED_WALK_H

#include "shared/interpolate.h"
#include "shared/search.h"

#define NO_CELL 0xfffffffeu /* no next one either */

/* The cell whose particles an item meets, and the field around it. */
struct walk {
    uint begin, end; /* the cell's particles are [begin, end); none at first */
    uint cell, i, j; /* the cell */
    struct cell_field around;
};

static inline struct walk walk_start(void)
{
    struct walk walk;
    walk.begin = walk.end = 0;
    walk.cell = NO_CELL;
    return walk;
}

static inline void walk_to(struct walk *walk, uint p, uint low, uint high,
                           __global const uint *restrict cell_offsets, __global const real *restrict ex,
                           __global const real *restrict ey, uint nx, uint ny)
{
    if (p >= walk->begin && p < walk->end)
        return;
    uint cell = walk->cell + 1; /* often the next one */
    if (p < walk->end || cell > high || cell_offsets[cell + 1] <= p)
        cell = find_segment(cell_offsets, low, high, p);
    walk->cell = cell;
    walk->begin = cell_offsets[cell];
    walk->end = cell_offsets[cell + 1];
    walk->i = cell / ny;
    walk->j = cell - walk->i * ny;
    walk->around = cell_field_read(ex, ey, nx, ny, cell);
}

#endif
