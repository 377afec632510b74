/* Cell key: offsets that the push left outside [0, 1) -> the cell and the offset in it; the cell is the
 * sort's short key. */
#ifndef RADIXPIC_SORT_CELL_KEY_H
#define RADIXPIC_SORT_CELL_KEY_H

#include "domain/particles.h"

struct cell_key;

/* For a whole grid, ghost_rows 0, or the local grid of a slab. The caller destroys it. */
STATUS_CHECKED enum status cell_key_create(struct device *device, const struct grid *grid,
                                           uint32_t ghost_rows, enum precision precision,
                                           struct cell_key **cell_key);
void cell_key_destroy(struct cell_key **cell_key);

/* Rewrites offset and key of every particle, periodic in both directions but for what goes beyond the ghost
 * rows of a slab (domain/slab.h). (Non-blocking.) */
STATUS_CHECKED enum status cell_key_update(struct cell_key *cell_key, struct particles *particles);

#endif
