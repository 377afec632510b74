/* Points: the values of the fields at chosen nodes. */
#include "shared/real.h"

/* Item n leaves the values of `components` components, `stride` apart, at nodes[n] in values[first + n],
 * values[first + count + n] and so on. */
kernel void points_copy(global const real *restrict fields, uint stride, uint components,
                        global const uint *restrict nodes, uint count, uint first,
                        global real *restrict values)
{
    const uint n = (uint)get_global_id(0);
    if (n >= count)
        return;
    for (uint c = 0; c < components; c++)
        values[first + c * count + n] = fields[c * stride + nodes[n]];
}
