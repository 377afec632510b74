/* Simulation plan: what follows from a config before anything is built. */
#ifndef RADIXPIC_SIMULATION_PLAN_H
#define RADIXPIC_SIMULATION_PLAN_H

#include "simulation.h"

/* Particles of the largest species, for a rank's main lists with room for capacity[species_count] each. */
uint32_t plan_largest(const struct config *config, const uint32_t *capacity);

/* Rows beside a slab: as the config says, or as few as the loaded speeds let most particles stay within. */
uint32_t plan_ghost_rows(const struct config *config);

/* What the fused step of a rank is made for. */
struct advance_setup plan_advance(const struct config *config, const struct slab *slab, int ranks,
                                  uint32_t capacity);

/* The kind of the fused step that the config asks for; ADVANCE_NONE for the plain one, and where there is no
 * such fused step. */
enum advance_kind plan_kind(const struct config *config, const struct device_info *info,
                            const struct advance_setup *setup);

/* The same, but STATUS_USAGE where a fused step is asked for that there is not. */
STATUS_CHECKED enum status plan_step(const struct config *config, const struct device_info *info,
                                     const struct advance_setup *setup, enum advance_kind *kind);

#endif
