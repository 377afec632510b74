/* Particle factors: what kernels that evaluate formulas of particles are given of a species, in the order of
 * struct value_factors of kernels/shared/particle_values.h. */
#ifndef RADIXPIC_OUTPUT_PARTICLE_FACTORS_H
#define RADIXPIC_OUTPUT_PARTICLE_FACTORS_H

#include "config/config.h"
#include "domain/grid.h"

#include <math.h>

enum { PARTICLE_FACTORS = 6 };

struct particle_factors {
    double values[PARTICLE_FACTORS];
};

static inline struct particle_factors particle_factors(const struct grid *box,
                                                       const struct species_config *species)
{
    const double light = species->per_c_squared > 0 ? 1 / sqrt(species->per_c_squared) : 0;
    return (struct particle_factors){
        {box->dx, box->dy, species->charge, species->mass, light, species->per_c_squared}};
}

#endif
