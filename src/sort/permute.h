/* Permute: apply the sort's permutation to the arrays of a species. */
#ifndef RADIXPIC_SORT_PERMUTE_H
#define RADIXPIC_SORT_PERMUTE_H

#include "domain/particles.h"

struct permute;

/* The caller destroys it. */
STATUS_CHECKED enum status permute_create(struct device *device, enum precision precision,
                                          struct permute **permute);
void permute_destroy(struct permute **permute);

/* Brings offset, velocity and, where present, id into the order of `permutation` (uint[count], sorted[j] =
 * original[permutation[j]]), by way of the spare arrays, whose handles are swapped in. Keys are not touched:
 * the sort returns them sorted. (Non-blocking.) */
STATUS_CHECKED enum status permute_apply(struct permute *permute, const struct buffer *permutation,
                                         struct particles *particles);

#endif
