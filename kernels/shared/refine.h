/* Refine: what refines a cell of the coarse grid, whoever launches it: the host or a kernel. */
#ifndef SHARED_REFINE_H
#define SHARED_REFINE_H

#include "shared/local_memory.h"

/* The density in the middle of a cell of the coarse grid of `cells` x `cells`. */
static inline uint coarse_density(uint cell, uint cells)
{
    return refinement_density(cells, REFINEMENT * (cell / cells) * 2 + REFINEMENT,
                              REFINEMENT * (cell % cells) * 2 + REFINEMENT);
}

/* The child grid of `cell`, by a group of REFINEMENT_CELLS items: each a cell of the child, summed by halves
 * in `sums`, REFINEMENT_CELLS words, into the value of the parent's cell. As many rounds, thus barriers, for
 * all items. */
static inline void refine_cell(global uint *values, uint cell, uint cells, local uint *sums)
{
    const uint item = (uint)get_local_id(0);
    const uint i = cell / cells * REFINEMENT + item / REFINEMENT;
    const uint j = cell % cells * REFINEMENT + item % REFINEMENT;
    sums[item] = refinement_density(cells, 2 * i + 1, 2 * j + 1);
    for (uint half_of = REFINEMENT_CELLS / 2; half_of > 0; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_of)
            sums[item] += sums[item + half_of];
    }
    if (item == 0)
        values[cell] = sums[0];
}

#endif
