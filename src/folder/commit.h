/* Commit: how a file of a step becomes the run's. The file list names it before it is there, and a checkpoint
 * counts once the manifest names it. All is rank 0's. */
#ifndef RADIXPIC_FOLDER_COMMIT_H
#define RADIXPIC_FOLDER_COMMIT_H

#include "folder/append_file.h"
#include "hdf5/hdf5_file.h"

/* Before a file of the step is recorded: creates its folder, and for a checkpoint brings to the disk what the
 * files that grow have of earlier steps. STATUS_FAILED where the file is there already, unless the run goes
 * on from this step and writes it again. */
STATUS_CHECKED enum status commit_prepare(const struct append_files *appended, const struct step_files *files,
                                          uint64_t step, bool is_again);

/* Sets what is done once the recorded file is on the disk; `keep`: see run_folder_add(). */
STATUS_CHECKED enum status commit_plan(const struct append_files *appended, const struct step_files *files,
                                       uint64_t step, uint32_t keep, struct hdf5_file *file);

#endif
