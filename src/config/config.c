/* Config: how fast each kind of loading makes the particles. */
#include "config/config.h"

#include <math.h>

double species_thermal_speed(const struct species_config *species, int axis)
{
    switch (species->velocities.kind) {
    case VELOCITIES_MAXWELLIAN:
        return species->velocities.thermal[axis];
    case VELOCITIES_UNIFORM: /* standard deviation of a uniform distribution */
        return (species->velocities.range[axis][1] - species->velocities.range[axis][0]) / sqrt(12.0);
    case VELOCITIES_COLD:
        break;
    }
    return 0;
}

double species_fastest_speed(const struct species_config *species, int axis)
{
    const struct velocities_config *velocities = &species->velocities;
    if (velocities->kind == VELOCITIES_UNIFORM)
        return fmax(fabs(velocities->range[axis][0]), fabs(velocities->range[axis][1]));
    return fabs(velocities->drift[axis]) + 3 * species_thermal_speed(species, axis);
}
