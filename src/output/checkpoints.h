/* Checkpoints of a run: when one is due, and what it is written from. The file itself is checkpoint.h. */
#ifndef RADIXPIC_OUTPUT_CHECKPOINTS_H
#define RADIXPIC_OUTPUT_CHECKPOINTS_H

#include "output/view.h"

/* Created once for a run; dies with the device handle. */
STATUS_CHECKED enum status checkpoints_create(struct device *device, const struct config *config,
                                              void **checkpoints);

/* By steps, but not in the first one of a run; by the clock; or for a signal to any rank, unless the run ends
 * of itself. Collective. */
bool checkpoints_are_due(void *checkpoints, const struct view *view);

/* checkpoint_write(); then STATUS_STOPPED, with a sentence, where a signal asked for it. */
STATUS_CHECKED enum status checkpoints_write(void *checkpoints, const char *folder, const struct view *view,
                                             uint64_t *bytes);

void checkpoints_print_size(const struct config *config);

#endif
