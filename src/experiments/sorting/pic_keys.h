/* PIC keys: particles as they come to a sort in section 4.2 of P. Helluy, "A portable implementation of the
 * radix sort algorithm in OpenCL", 2011: sorted by cell, then moved by less than a cell along both axes. */
#ifndef RADIXPIC_EXPERIMENTS_PIC_KEYS_H
#define RADIXPIC_EXPERIMENTS_PIC_KEYS_H

#include "domain/particles.h"
#include "sort/sorter.h"

struct pic_keys {
    struct species_config species;
    struct particles particles; /* in single precision; particles.key: uint[count], the keys in PIC order.
                                   Points at `species`, so the struct stays where it is. */
};

/* `count` particles from four van der Corput sequences in the unit square, sorted by cell as `plan` says,
 * which is for keys of this grid, and moved by u and v cells, with u and v in [0, 1). Blocking. */
STATUS_CHECKED enum status pic_keys_create(struct device *device, const struct grid *grid, uint32_t count,
                                           const struct sorter_plan *plan, struct pic_keys *list);

#endif
