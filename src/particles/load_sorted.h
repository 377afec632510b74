/* Load sorted: the particles of a species, loaded and brought into the order of their cells. */
#ifndef RADIXPIC_PARTICLES_LOAD_SORTED_H
#define RADIXPIC_PARTICLES_LOAD_SORTED_H

#include "domain/particles.h"
#include "sort/sorter.h"

/* Fills a list of list->count particles, those of global index `first` and up, sorted on the slab's local
 * grid by `plan`, which is for keys of that grid. Blocking; what it needs is released. */
STATUS_CHECKED enum status load_sorted(const struct slab *slab, const struct sorter_plan *plan,
                                       uint64_t first, struct particles *list);

#endif
