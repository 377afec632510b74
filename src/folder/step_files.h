/* Step files: those that a run writes of its steps, FOLDER/PREFIX_STEP.h5 below the run folder, and the
 * folder of the probes. */
#ifndef RADIXPIC_FOLDER_STEP_FILES_H
#define RADIXPIC_FOLDER_STEP_FILES_H

#include <stdint.h>

struct step_files {
    const char *folder;
    const char *prefix; /* with its _; NULL: the folder has no files of steps */
};

extern const struct step_files probes_files, tracks_files, checkpoint_files, snapshot_files,
    phase_space_files, moments_files, lines_files;

/* All of them. */
enum { STEP_FILES = 7 };
extern const struct step_files *const step_files_table[STEP_FILES];

/* The name of the file of a step, below the run folder. */
enum { STEP_FILES_NAME = 128 };
const char *step_files_name(const struct step_files *files, uint64_t step, char name[STEP_FILES_NAME]);

/* Those among which the file of a step has this name, with the step; NULL for any other name. */
const struct step_files *step_files_find(const char *name, uint64_t *step);

#endif
