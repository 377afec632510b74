/* Loading, inside: the two ways of filling particles, one of which loading_fill() takes. For this room and
 * its tests only. */
#ifndef RADIXPIC_PARTICLES_INTERNAL_H
#define RADIXPIC_PARTICLES_INTERNAL_H

#include "particles/loading.h"

/* As loading_fill(), by a kernel. STATUS_FAILED where the device has no fp64. */
STATUS_CHECKED enum status loading_fill_by_kernel(const struct grid *grid, uint64_t first,
                                                  struct particles *particles, struct buffer *keys);

/* As loading_fill(), by the host, which sends the particles to their buffers piece by piece. */
STATUS_CHECKED enum status loading_fill_by_host(const struct grid *grid, uint64_t first,
                                                struct particles *particles, struct buffer *keys);

#endif
