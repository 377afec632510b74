/* Numbered files: those of one output, which have the step in their names. */
#ifndef RADIXPIC_OUTPUT_NUMBERED_FILES_H
#define RADIXPIC_OUTPUT_NUMBERED_FILES_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that an output leaves in a folder of its own: PREFIX_STEP.h5, or .PREFIX_STEP.h5.tmp while it is
 * being written (hdf5_file.h). What has another name, to the letter, or is no file, is none. */
struct numbered_file {
    uint64_t step;
    bool unfinished; /* what a killed run left, or the lock of MPI beside it */
    char name[64];
};

/* *count files of the folder, that of the largest step first; none where there is no such folder. The caller
 * frees them. STATUS_FAILED names path and errno text, as below. */
STATUS_CHECKED enum status numbered_files_list(const char *folder, const char *prefix,
                                               struct numbered_file **files, size_t *count);

/* Removes FOLDER/name, if it is there; `what` it is, for the sentence of a failure: "which ...". */
STATUS_CHECKED enum status file_remove(const char *folder, const char *name, const char *what);

#endif
