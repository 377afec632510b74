/* Density: the formulas of velocities, which may be of u and v together, at nodes; and what follows from
 * them. */
#ifndef RADIXPIC_CONFIG_DENSITY_H
#define RADIXPIC_CONFIG_DENSITY_H

#include "config/config.h"
#include "config/formula.h"

/* The factor of the density that begins with one of the velocities: of it alone, or of u and v. */
struct density_part {
    uint32_t axis, axes; /* the first of them, and how many */
    struct nodes nodes;
};

struct density_part density_part(const struct velocities_config *velocities, uint32_t axis);

/* values[nodes_count()] <- it. False without memory. */
bool density_tabulate(const struct velocities_config *velocities, const struct density_part *part,
                      double *values);

/* Sets drift and thermal, the means and standard deviations, and lost, by a density that can be loaded. False
 * without memory. */
bool density_measure(struct velocities_config *velocities);

#endif
