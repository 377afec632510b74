/* Points: the values of the fields at chosen nodes.
 *
 * Compile-time parameter: REAL_IS_DOUBLE (shared/real.h).
 */
#include "shared/real.h"

/* Item n leaves the values of ex, ey, phi and rho at nodes[n] in values[first + n], values[first + count + n]
 * and so on. */
kernel void points_take(global const real *restrict ex, global const real *restrict ey,
                        global const real *phi, global const real *rho, global const uint *restrict nodes,
                        uint count, uint first, global real *restrict values)
{
    const uint n = (uint)get_global_id(0);
    if (n >= count)
        return;
    const uint node = nodes[n];
    values[first + n] = ex[node];
    values[first + count + n] = ey[node];
    values[first + 2 * count + n] = phi[node];
    values[first + 3 * count + n] = rho[node];
}
