/* Cell key: offsets that the push left outside [0, 1) -> the cell and the offset in it; the cell is the
 * sort's short key. */
#ifndef RADIXPIC_SORT_CELL_KEY_H
#define RADIXPIC_SORT_CELL_KEY_H

#include "domain/particles.h"

struct cell_key;

/* The caller destroys it. */
STATUS_CHECKED enum status cell_key_create(struct device *device, const struct grid *grid,
                                           enum precision precision, struct cell_key **cell_key);
void cell_key_destroy(struct cell_key **cell_key);

/* Rewrites offset and key of every particle, periodic in both directions. (Non-blocking.) */
STATUS_CHECKED enum status cell_key_update(struct cell_key *cell_key, struct particles *particles);

#endif
