/* Tiled advance: the advance of GPUs. A group takes tiles of the sorted particles, whose targets it ranks in
 * local memory as the tiled sort ranks its keys, in the layout of pairs. The functions are those of
 * advance.h. */
#ifndef RADIXPIC_PUSH_TILED_ADVANCE_H
#define RADIXPIC_PUSH_TILED_ADVANCE_H

#include "push/advance.h"

struct tiled_advance;

/* Whether the device has the local memory and the group size, and the table of a chunk holds every cell. */
bool tiled_advance_supports(const struct device_info *info, const struct advance_setup *setup);

STATUS_CHECKED enum status tiled_advance_create(struct device *device, const struct advance_setup *setup,
                                                struct tiled_advance **advance);
void tiled_advance_destroy(struct tiled_advance **advance);

STATUS_CHECKED enum status tiled_advance_take_over(struct tiled_advance *advance, uint32_t species,
                                                   struct particles *particles);
STATUS_CHECKED enum status tiled_advance_count(struct tiled_advance *advance, const struct fields *fields,
                                               uint32_t species, bool measure,
                                               const struct particles *particles);
STATUS_CHECKED enum status tiled_advance_read_leavers(struct tiled_advance *advance, uint32_t species,
                                                      const struct particles *particles,
                                                      const uint32_t **leavers);
STATUS_CHECKED enum status tiled_advance_move(struct tiled_advance *advance, const struct fields *fields,
                                              uint32_t species, const struct arrival_room *arrivals,
                                              struct particles *particles);
STATUS_CHECKED enum status tiled_advance_measure(struct tiled_advance *advance, const struct fields *fields,
                                                 uint32_t species, const struct particles *particles);
STATUS_CHECKED enum status tiled_advance_read_sums(struct tiled_advance *advance, uint32_t species,
                                                   const struct particles *particles, struct push_sums *sums);
uint64_t tiled_advance_bytes(const struct device_info *info, const struct advance_setup *setup);

#endif
