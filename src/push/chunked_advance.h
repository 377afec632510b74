/* Chunked advance: the advance of CPU devices. A work-item of its own group takes a chunk of the sorted
 * particles; no barriers, no atomics, contiguous streams, vectors of 16 particles in the layout of quads. The
 * functions are those of advance.h. */
#ifndef RADIXPIC_PUSH_CHUNKED_ADVANCE_H
#define RADIXPIC_PUSH_CHUNKED_ADVANCE_H

#include "push/advance.h"

struct chunked_advance;

STATUS_CHECKED enum status chunked_advance_create(struct device *device, const struct advance_setup *setup,
                                                  struct chunked_advance **advance);
void chunked_advance_destroy(struct chunked_advance **advance);

STATUS_CHECKED enum status chunked_advance_take_over(struct chunked_advance *advance,
                                                     struct particles *particles);
STATUS_CHECKED enum status chunked_advance_step(struct chunked_advance *advance, const struct fields *fields,
                                                uint32_t species, bool measure, struct particles *particles);
STATUS_CHECKED enum status chunked_advance_measure(struct chunked_advance *advance,
                                                   const struct fields *fields, uint32_t species,
                                                   const struct particles *particles);
STATUS_CHECKED enum status chunked_advance_read_sums(struct chunked_advance *advance, uint32_t species,
                                                     const struct particles *particles,
                                                     struct push_sums *sums);
uint64_t chunked_advance_bytes(const struct device_info *info, const struct advance_setup *setup);

#endif
