/* Checkpoint folder: the checkpoints of a run, by the names of their files, and which of them stay.
 *
 * A checkpoint is FOLDER/checkpoint_STEP.h5; no file of another name is ever touched. The newest is the one
 * of the largest step: times of files get lost in copies. So that it is always of the run that goes on, the
 * first checkpoint of a run that was taken back to an earlier step removes those of later steps.
 */
#ifndef RADIXPIC_OUTPUT_CHECKPOINT_FOLDER_H
#define RADIXPIC_OUTPUT_CHECKPOINT_FOLDER_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { CHECKPOINT_NAME_LENGTH = 64 };

/* checkpoint_STEP.h5 */
void checkpoint_name(uint64_t step, char name[CHECKPOINT_NAME_LENGTH]);

/* The steps of the checkpoints in a folder, largest first. The caller frees them. */
STATUS_CHECKED enum status checkpoint_folder_list(const char *folder, uint64_t **steps, size_t *count);

/* To be called once the checkpoint of `step` is safe. Of the others it keeps the keep - 1 newest of earlier
 * steps; what is older, what is of later steps, and what a killed run left unfinished is removed. A file that
 * is no whole checkpoint at a glance is not counted, and stays as long as fewer than `keep` newer ones are
 * there. STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status checkpoint_folder_retain(const char *folder, uint64_t step, uint32_t keep);

#endif
