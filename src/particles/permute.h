/* Permute: apply the sort's permutation to the attributes of a list. */
#ifndef RADIXPIC_PARTICLES_PERMUTE_H
#define RADIXPIC_PARTICLES_PERMUTE_H

#include "domain/particles.h"

struct permute;

/* For lists of any layout and precision. Dies with the device handle. */
STATUS_CHECKED enum status permute_create(struct device *device, struct permute **permute);

/* Brings every attribute into the order of `permutation` (uint[count], sorted[j] = original[permutation[j]])
 * by way of the spare arrays, which are swapped in. (Non-blocking.) */
STATUS_CHECKED enum status permute_apply(struct permute *permute, const struct buffer *permutation,
                                         uint32_t count, struct particles *list);

/* Brings the attributes from `first` on into that order and leaves them in the spare arrays: a step that has
 * put the others there swaps all of them. (Non-blocking.) */
STATUS_CHECKED enum status permute_attributes(struct permute *permute, const struct buffer *permutation,
                                              uint32_t count, enum attribute first, struct particles *list);

/* One array of elements of 4, 8, 16 or 32 bytes: to[j] = from[permutation[j]]. (Non-blocking.) */
STATUS_CHECKED enum status permute_array(const struct permute *permute, const struct buffer *permutation,
                                         uint32_t count, size_t bytes, struct buffer *from,
                                         struct buffer *to);

#endif
