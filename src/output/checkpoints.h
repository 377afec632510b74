/* Checkpoints: when one is due. By steps, but not in the first step of a run; by the clock, and then at the
 * end; or for a signal to any rank, unless the run ends of itself. A run ends after a signal's checkpoint. */
#ifndef RADIXPIC_OUTPUT_CHECKPOINTS_H
#define RADIXPIC_OUTPUT_CHECKPOINTS_H

#include "output/view.h"

struct checkpoints {
    double last; /* timer_now() of the last one, or of the start of the run */
    int signal;  /* after which the run ends with this step's checkpoint; 0: none */
};

/* The signal that came to this rank, 0 without one; and whether a checkpoint is due by its clock. */
int checkpoints_signal(const struct view *view);
bool checkpoints_are_late(const struct checkpoints *checkpoints, const struct view *view);

/* Decides whether one is due, alike on all ranks, by the largest of the two numbers above on any rank. */
bool checkpoints_are_due(struct checkpoints *checkpoints, const struct view *view, int signal, bool is_late);

/* The failure, with STATUS_STOPPED, by which a run ends after the checkpoint for a signal. */
STATUS_CHECKED enum status checkpoints_stop(const struct checkpoints *checkpoints, const struct view *view,
                                            const char *folder);

#endif
