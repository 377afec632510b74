/* Loading: the profiles of a species become its particles, in the order of their cells.
 *
 * Particle j is a function of its global index j alone (van der Corput index j + 1, lattice site j, or
 * random numbers of j), so every device and every number of ranks gives the same particles.
 */
#ifndef RADIXPIC_PARTICLES_LOADING_H
#define RADIXPIC_PARTICLES_LOADING_H

#include "domain/particles.h"
#include "sort/sorter.h"

/* Fills the attributes of particles->count particles, those of global index `first` and up, and their keys
 * (uint[count]). Positions and velocities are those at t = 0, unsorted. Runs on the device where it has fp64,
 * else on the host with the same functions of kernels/shared/. */
STATUS_CHECKED enum status loading_fill(const struct grid *grid, uint64_t first, struct particles *particles,
                                        struct buffer *keys);

/* Makes them on the host, whatever the device, and sends them to their buffers piece by piece. */
STATUS_CHECKED enum status loading_fill_by_host(const struct grid *grid, uint64_t first,
                                                struct particles *particles, struct buffer *keys);

/* Fills a list of list->count particles, those of global index `first` and up, or where `keys` of the host is
 * not NULL takes those that it holds, with offsets that were written anew, in cells with these keys; and
 * sorts them on the slab's local grid by `plan`, which is for keys of that grid. Blocking. */
STATUS_CHECKED enum status load_sorted(const struct slab *slab, const struct sorter_plan *plan,
                                       const uint32_t *keys, uint64_t first, struct particles *list);

#endif
