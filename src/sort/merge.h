/* Merge: one sorted list of particles into another, cell by cell.
 *
 * Particles that arrive from other ranks come as a short sorted list; a merge brings them into a long one.
 * Within a cell the long list's particles stand first, so the result depends on the two lists alone.
 */
#ifndef RADIXPIC_SORT_MERGE_H
#define RADIXPIC_SORT_MERGE_H

#include "domain/particles.h"

struct merge;

/* For lists of a grid with `cells` cells. The caller destroys it. */
STATUS_CHECKED enum status merge_create(struct device *device, uint32_t cells, enum precision precision,
                                        struct merge **merge);
void merge_destroy(struct merge **merge);

/* Brings all particles of `from` (pairs, sorted, with its cell offsets) into `into` (either layout, sorted,
 * with its cell offsets), by way of the spare arrays; the arrays of `into` grow where they are too short, its
 * keys are set from its cells where it has some (also if `from` is empty), and its cell offsets are those of
 * the sum. `from` is empty afterwards, its offsets 0. Same species, same cells. STATUS_FAILED when memory
 * runs out or the sum is more than CONFIG_MAX_PARTICLES. (Non-blocking, but where arrays grow.) */
STATUS_CHECKED enum status merge_lists(struct merge *merge, struct particles *into, struct particles *from);

#endif
