/* Run folder: the place where a run leaves its files, and the numbered files of its outputs. */
#ifndef RADIXPIC_OUTPUT_RUN_FOLDER_H
#define RADIXPIC_OUTPUT_RUN_FOLDER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What a run does with the files that an earlier one left in its folder. */
enum run_folder_use {
    RUN_FOLDER_NEW,     /* there must be none */
    RUN_FOLDER_REPLACE, /* they are removed */
    RUN_FOLDER_CONTINUE /* it goes on with them */
};

struct run_folder {
    const char *path; /* not owned */
    enum run_folder_use use;
    bool held_run; /* an earlier run's history.csv was there */
};

/* STATUS_USAGE where the folder holds an earlier run but is to be new, or files of a run's names but no
 * history.csv, which are of another origin and stay in any case. Sets held_run; touches nothing. */
STATUS_CHECKED enum status run_folder_check(struct run_folder *folder);

/* Checks again, for another run may have been faster, and creates the folder and its parents. STATUS_FAILED
 * names path and errno text. */
STATUS_CHECKED enum status run_folder_create(struct run_folder *folder);

/* Creates one folder, whose parent is there, unless it exists. */
STATUS_CHECKED enum status run_folder_make(const char *path);

/* Removes what of an earlier run would tell a false story beside the files of this one: timers.csv, and
 * unless the run is continued the numbered files of all outputs, and their folders where nothing else is in
 * them. To be called once history.csv is there. STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status run_folder_clear(const struct run_folder *folder);

/* Whether the file lies among the checkpoints, by whatever path. */
bool run_folder_keeps(const struct run_folder *folder, const char *file);

/* Opens FOLDER/name in a mode of fopen(). STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status run_folder_open(const struct run_folder *folder, const char *name,
                                           const char *mode, FILE **file);

/* Closes it. STATUS_FAILED, with the same, where something of it was not written. */
STATUS_CHECKED enum status run_folder_close(const struct run_folder *folder, const char *name, FILE *file);

/* ---- numbered files ---- */

/* A file that an output leaves in a folder of its own: PREFIX_STEP.h5, or .PREFIX_STEP.h5.tmp while it is
 * being written (hdf5_file.h). What has another name, to the letter, or is no file, is none. */
struct numbered_file {
    uint64_t step;
    bool unfinished; /* what a killed run left */
    char name[64];
};

/* *count files of the folder, that of the largest step first; none where there is no such folder. The caller
 * frees them. STATUS_FAILED names path and errno text, as below. */
STATUS_CHECKED enum status numbered_files_list(const char *folder, const char *prefix,
                                               struct numbered_file **files, size_t *count);

/* Removes a folder and all that it holds, if it is there: one that the program made for itself. */
STATUS_CHECKED enum status run_folder_remove(const char *path);

/* Removes FOLDER/name, if it is there; `what` it is, for the sentence of a failure: "which ...". */
STATUS_CHECKED enum status file_remove(const char *folder, const char *name, const char *what);

#endif
