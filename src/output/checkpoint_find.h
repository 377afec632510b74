/* Checkpoint find: from the path of a checkpoint, or of a folder of them, to an open one. */
#ifndef RADIXPIC_OUTPUT_CHECKPOINT_FIND_H
#define RADIXPIC_OUTPUT_CHECKPOINT_FIND_H

#include "output/checkpoint.h"

/* Collective. checkpoint_open() of a file, or of the newest one of a folder that is not damaged: of those
 * that the manifest of the run folder names, or, in a folder that belongs to no run, of the largest step.
 * STATUS_USAGE on all ranks when there is none, a named one is missing or the file is of another kind. */
STATUS_CHECKED enum status checkpoint_find(const struct communicator *communicator, const char *path,
                                           struct checkpoint **checkpoint);

#endif
