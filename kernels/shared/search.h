/* Search: in which segment of a list a place lies. With the cell offsets of a sorted list as begins[] the
 * segments are cells, and that of place p is the cell of particle p. */
#ifndef SHARED_SEARCH_H
#define SHARED_SEARCH_H

#include "shared/real.h"

/* The segment of place p, between `low` and `high`: the last that begins at or before p, never empty. */
static inline uint find_segment(global const uint *restrict begins, uint low, uint high, uint p)
{
    while (low < high) {
        const uint middle = low + (high - low + 1) / 2;
        if (begins[middle] <= p)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

#endif
