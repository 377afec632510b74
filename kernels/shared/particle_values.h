/* Particle values: what formulas of particles call, as src/config/formulas.c has their names. The kernel has
 * `factors` and u, v and w of the particle, and says what its OFFSET in the cell is, and the ROW and the
 * COLUMN of the cell in the box; where a formula has no x and no y none of these is read. */
#ifndef SHARED_PARTICLE_VALUES_H
#define SHARED_PARTICLE_VALUES_H

#include "shared/formula.h"
#include "shared/real.h"

/* Of a species: charge and mass of a particle, c, or 0 where it is infinite. */
struct value_factors {
    real dx, dy, charge, mass, light, per_c_squared;
};

/* x and y at n; gamma and the kinetic energy m u^2/(gamma + 1) from u at n-1/2. */
#define PLACE_X (((formula_real)ROW + OFFSET.x) * factors.dx)
#define PLACE_Y (((formula_real)COLUMN + OFFSET.y) * factors.dy)
#define SQUARE  (formula_square(u) + formula_square(v) + formula_square(w))
#define GAMMA   sqrt(1 + factors.per_c_squared * SQUARE)
#define ENERGY  (factors.mass * SQUARE / (1 + GAMMA))

#endif
