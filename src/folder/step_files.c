/* Step files: their table, and names with a step. */
#include "folder/step_files.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct step_files probes_files = {"probes", NULL}, tracks_files = {"tracks", "data_"},
                        checkpoint_files = {"checkpoints", "checkpoint_"},
                        snapshot_files = {"snapshots", "data_"}, phase_space_files = {"phase_space", "data_"},
                        moments_files = {"moments", "moments_"}, lines_files = {"lines", "data_"};

const struct step_files *const step_files_table[STEP_FILES] = {
    &probes_files,      &tracks_files,  &checkpoint_files, &snapshot_files,
    &phase_space_files, &moments_files, &lines_files};

const char *step_files_name(const struct step_files *files, uint64_t step, char name[STEP_FILES_NAME])
{
    snprintf(name, STEP_FILES_NAME, "%s/%s%" PRIu64 ".h5", files->folder, files->prefix, step);
    return name;
}

const struct step_files *step_files_find(const char *name, uint64_t *step)
{
    char same[STEP_FILES_NAME];
    *step = strtoull(name + strcspn(name, "0123456789"), NULL, 10);
    for (size_t n = 0; n < STEP_FILES; n++)
        if (step_files_table[n]->prefix &&
            strcmp(name, step_files_name(step_files_table[n], *step, same)) == 0)
            return step_files_table[n];
    return NULL;
}
