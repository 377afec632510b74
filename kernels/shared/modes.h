/* Modes: complex numbers (real2) of a field's waves, as src/field/fft.h lays them out.
 *
 * Element e = modes_y m + n is mode m along x and the n-th of the modes_y along y that are there, all ny/2 +
 * 1 or a rank's share; m beyond nx/2 stands for m - nx. wave_x[m] and wave_y[n] hold (k^2, k of the gradient)
 * of their axis; the latter is 0 at the Nyquist mode, which has no real derivative on the nodes.
 */
#ifndef SHARED_MODES_H
#define SHARED_MODES_H

#include "shared/real.h"

/* phi_k = scale rho_k / k^2, and 0 for k = 0: the neutral background takes the mean away. */
static inline real2 potential_mode(real2 rho, real k_squared, real scale)
{
    return k_squared > (real)0 ? rho * (scale / k_squared) : (real2)(0, 0);
}

/* i z */
static inline real2 times_i(real2 z)
{
    return (real2)(-z.y, z.x);
}

/* -i k phi: one component of E_k. */
static inline real2 field_mode(real2 phi, real k)
{
    return (real2)(k * phi.y, -k * phi.x);
}

#endif
