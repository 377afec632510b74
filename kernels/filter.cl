/* Filter: binomial smoothing on the periodic grid (Birdsall & Langdon, Plasma Physics via Computer
 * Simulation, 1985, appendix C). */
#include "shared/cell.h"
#include "shared/real.h"

/* (1, 2, 1) along y around node (i, j) */
static inline real smoothed_along_y(global const real *rho, uint i, int j, uint ny)
{
    return rho[cell_index(i, wrap_near(j - 1, ny), ny)] + (real)2 * rho[cell_index(i, (uint)j, ny)] +
           rho[cell_index(i, wrap_near(j + 1, ny), ny)];
}

/* One item per node: (1, 2, 1) x (1, 2, 1) / 16 around it. */
kernel void filter_pass(global const real *restrict rho, uint nx, uint ny, global real *restrict smoothed)
{
    const uint node = (uint)get_global_id(0);
    if (node >= nx * ny)
        return;
    const int i = (int)(node / ny), j = (int)(node % ny);
    const real left = smoothed_along_y(rho, wrap_near(i - 1, nx), j, ny);
    const real middle = smoothed_along_y(rho, (uint)i, j, ny);
    const real right = smoothed_along_y(rho, wrap_near(i + 1, nx), j, ny);
    smoothed[node] = (left + (real)2 * middle + right) * (real)0.0625;
}
