/* Room: places for arrivals from other ranks, in a permutation and cell offsets that a sort made without. */
#ifndef RADIXPIC_STEP_ROOM_H
#define RADIXPIC_STEP_ROOM_H

#include "domain/particles.h"

struct room;

/* For lists of up to `capacity` particles on a grid. Dies with the device handle. */
STATUS_CHECKED enum status room_create(struct device *device, const struct grid *grid, uint32_t capacity,
                                       struct room **room);

/* Opens the places of `arrivals` behind the particles of their cells: `offsets`, uint[cells + 1], and the
 * permutation of `count` particles become those of count + arrivals->count, where the places of arrivals take
 * any particle. (Non-blocking.) */
STATUS_CHECKED enum status room_open(struct room *room, const struct arrival_room *arrivals, uint32_t count,
                                     struct buffer *offsets, struct buffer *permutation);

#endif
