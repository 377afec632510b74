/* Push: velocities n-1/2 -> n+1/2 and positions n -> n+1, with the field interpolated by the shape of the
 * deposit. */
#ifndef RADIXPIC_PUSH_PUSH_H
#define RADIXPIC_PUSH_PUSH_H

#include "domain/fields.h"
#include "domain/particles.h"
#include "push/species_motion.h"

struct push;

/* `species_count` sets of sums are kept. The caller destroys it. */
STATUS_CHECKED enum status push_create(struct device *device, const struct grid *grid,
                                       enum precision precision, enum shape_kind shape, double time_step,
                                       double magnetic, uint32_t species_count, struct push **push);
void push_destroy(struct push **push);

/* Velocities at 0 -> -1/2, so that the first step leads exactly through the loaded ones at 0. Sorted
 * particles, fields at 0. (Non-blocking.) */
STATUS_CHECKED enum status push_start(struct push *push, const struct fields *fields,
                                      struct particles *particles);

/* One step. Sorted particles with keys; afterwards an offset may lie outside [0, 1) of its cell: the cell key
 * stage brings it back. Keeps the sums at n of species number `species`. (Non-blocking.) */
STATUS_CHECKED enum status push_step(struct push *push, const struct fields *fields, uint32_t species,
                                     struct particles *particles);

/* Only the sums at n; nothing moves. (Non-blocking.) */
STATUS_CHECKED enum status push_measure(struct push *push, const struct fields *fields, uint32_t species,
                                        const struct particles *particles);

/* The sums at n of the last push_step() or push_measure() of that species. Blocking; a few KiB leave the
 * device. */
STATUS_CHECKED enum status push_read_sums(struct push *push, uint32_t species,
                                          const struct particles *particles, struct push_sums *sums);

#endif
