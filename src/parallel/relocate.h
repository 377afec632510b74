/* Relocate: a sorted list of one slab becomes a sorted list of another, when rows change hands. */
#ifndef RADIXPIC_PARALLEL_RELOCATE_H
#define RADIXPIC_PARALLEL_RELOCATE_H

#include "domain/particles.h"

/* `list` (either layout), sorted on the local grid of `from` with particles in own cells only, is brought
 * into the order of the cells of `to`, with new cell offsets. `to` is whole, or has the same rows as `from`.
 * Particles in rows that `to` does not own are then at the end, for migrate_collect(). Waits for the device.
 */
STATUS_CHECKED enum status relocate_list(const struct slab *from, const struct slab *to,
                                         struct particles *list);

/* Adds the particles of each own row of a sorted list to loads[box.nx]. Blocking. */
STATUS_CHECKED enum status relocate_count_rows(const struct slab *slab, const struct particles *list,
                                               uint64_t *loads);

#endif
