/* Poisson: from the modes of the charge density to those of the potential and the field, and the field by
 * centred differences.
 *
 * Modes are complex numbers (real2); element e = (ny/2 + 1) m + n is mode m along x and n along y, m beyond
 * nx/2 standing for m - nx. wave_x[m] and wave_y[n] hold (k^2, k of the gradient) of their axis; the latter
 * is 0 at the Nyquist mode, which has no real derivative on the nodes.
 */
#include "shared/cell.h"
#include "shared/real.h"

/* phi_k = scale rho_k / k^2, and 0 for k = 0: the neutral background takes the mean away. */
static inline real2 potential_mode(real2 rho, real k_squared, real scale)
{
    return k_squared > (real)0 ? rho * (scale / k_squared) : (real2)(0, 0);
}

/* -i k phi: one component of E_k. */
static inline real2 field_mode(real2 phi, real k)
{
    return (real2)(k * phi.y, -k * phi.x);
}

/* One item per mode. scale: 1/(nx ny), which the transforms leave out. */
kernel void poisson_potential(global const real2 *restrict rho, global const real2 *restrict wave_x,
                              global const real2 *restrict wave_y, uint modes, uint modes_y, real scale,
                              global real2 *restrict phi)
{
    const uint e = (uint)get_global_id(0);
    if (e >= modes)
        return;
    phi[e] = potential_mode(rho[e], wave_x[e / modes_y].x + wave_y[e % modes_y].x, scale);
}

/* The same, with the field beside it. */
kernel void poisson_spectral_field(global const real2 *restrict rho, global const real2 *restrict wave_x,
                                   global const real2 *restrict wave_y, uint modes, uint modes_y, real scale,
                                   global real2 *restrict phi, global real2 *restrict ex,
                                   global real2 *restrict ey)
{
    const uint e = (uint)get_global_id(0);
    if (e >= modes)
        return;
    const real2 x = wave_x[e / modes_y], y = wave_y[e % modes_y];
    const real2 mode = potential_mode(rho[e], x.x + y.x, scale);
    phi[e] = mode;
    ex[e] = field_mode(mode, x.y);
    ey[e] = field_mode(mode, y.y);
}

/* One item per node: E = -(phi(i+1) - phi(i-1)) / (2 dx), and along y alike. half_per_dx: 1/(2 dx). */
kernel void poisson_centred_field(global const real *restrict phi, uint nx, uint ny, real half_per_dx,
                                  real half_per_dy, global real *restrict ex, global real *restrict ey)
{
    const uint node = (uint)get_global_id(0);
    if (node >= nx * ny)
        return;
    const int i = (int)(node / ny), j = (int)(node % ny);
    const real left = phi[cell_index(wrap_near(i - 1, nx), (uint)j, ny)];
    const real right = phi[cell_index(wrap_near(i + 1, nx), (uint)j, ny)];
    const real below = phi[cell_index((uint)i, wrap_near(j - 1, ny), ny)];
    const real above = phi[cell_index((uint)i, wrap_near(j + 1, ny), ny)];
    ex[node] = (left - right) * half_per_dx;
    ey[node] = (below - above) * half_per_dy;
}
