/* Species speed: how fast the particles of a species are loaded. */
#ifndef RADIXPIC_CONFIG_SPECIES_SPEED_H
#define RADIXPIC_CONFIG_SPECIES_SPEED_H

#include "config/config.h"

/* Standard deviation of the loaded velocities along an axis (0: u, 1: v). */
double species_thermal_speed(const struct species_config *species, int axis);

/* What few are loaded faster than along an axis: drift and three thermal speeds, or the end of a uniform
 * range. */
double species_fastest_speed(const struct species_config *species, int axis);

#endif
