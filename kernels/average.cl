/* Average: means over the states of steps, each state added when it is there. */
#define GROUP_ITEMS 1
#define SUM_COUNT   1

#define LANES 1
#include "shared/sum.h"

/* Item n adds values[n] to the mean over `states` states, this one counted, that is at means[place + n]; what
 * that holds too much is `cells` further on. */
kernel void average_add(global const real *restrict values, uint cells, ulong states, ulong place,
                        global real *restrict means)
{
    const uint n = (uint)get_global_id(0);
    if (n >= cells)
        return;
    global real *const mean = means + place + n, *const excess = mean + cells;
    real total = states > 1 ? *mean : (real)0, too_much = states > 1 ? *excess : (real)0;
    sum_add(&total, &too_much, (values[n] - total + too_much) / (real)states);
    *mean = total;
    *excess = too_much;
}
