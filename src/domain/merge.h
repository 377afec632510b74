/* Merge: one sorted list of particles into another, cell by cell.
 *
 * Particles that arrive from other ranks by the general path (parallel/migrate.h) are a short sorted list; a
 * merge brings them into a long one.
 */
#ifndef RADIXPIC_DOMAIN_MERGE_H
#define RADIXPIC_DOMAIN_MERGE_H

#include "domain/particles.h"

/* Brings all particles of `from` (SoA) into `into` (either layout), both sorted on the same grid of `cells`
 * cells: within a cell those of `into` stand first. By way of the spare arrays; `into` grows where it is too
 * short, by an eighth more than it needs. Waits for the device where `from` has any. STATUS_FAILED when
 * memory runs out or the sum is more than CONFIG_MAX_PARTICLES: then `into` is as it was, but maybe longer.
 */
STATUS_CHECKED enum status list_merge(struct device *device, uint32_t cells, struct particles *into,
                                      const struct particles *from);

#endif
