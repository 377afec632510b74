/* Gaps: places for arrivals from other ranks, in a permutation and cell offsets that a sort made without. */
#ifndef RADIXPIC_STEP_GAPS_H
#define RADIXPIC_STEP_GAPS_H

#include "domain/particles.h"

struct gaps;

/* For lists of up to `capacity` particles on a grid. Dies with the device handle. */
STATUS_CHECKED enum status gaps_create(struct device *device, const struct grid *grid, uint32_t capacity,
                                       struct gaps **gaps);

/* Opens the places of `arrivals` behind the particles of their cells: `offsets`, uint[cells + 1], and the
 * permutation of `count` particles become those of count + arrivals->count, where the places of arrivals take
 * any particle. (Non-blocking.) */
STATUS_CHECKED enum status gaps_open(struct gaps *gaps, const struct arrival_gaps *arrivals, uint32_t count,
                                     struct buffer *offsets, struct buffer *permutation);

#endif
