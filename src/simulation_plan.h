/* Simulation plan: what follows from a config before anything is built. */
#ifndef RADIXPIC_SIMULATION_PLAN_H
#define RADIXPIC_SIMULATION_PLAN_H

#include "simulation.h"

/* Rows beside a slab: as the config says, or as few as the loaded speeds let most particles stay within. */
uint32_t plan_ghost_rows(const struct config *config);

/* Room for a list of `count` particles now on one of several ranks, where more may come. */
uint32_t plan_capacity(uint64_t count);

/* What the stepper of a rank is made for: lists of up to `capacity` particles on a slab. STATUS_USAGE when
 * the sort's parameters do not fit the device. */
STATUS_CHECKED enum status plan_step(const struct config *config, const struct device_info *info,
                                     const struct slab *slab, int ranks, uint32_t capacity,
                                     struct stepper_setup *setup);

#endif
