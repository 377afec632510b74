/* Run folder: the place where a run leaves its files. The folder may be given by a path with symbolic links;
 * below it none is followed (base/below.h). All is rank 0's. Failures name path and errno text. */
#ifndef RADIXPIC_FOLDER_RUN_FOLDER_H
#define RADIXPIC_FOLDER_RUN_FOLDER_H

#include "folder/manifest.h"
#include "folder/step_files.h"

#include <stdio.h>

/* The use that a run makes of the files that an earlier one left in its folder. */
enum run_folder_use {
    RUN_FOLDER_NEW,     /* there must be none */
    RUN_FOLDER_REPLACE, /* they are removed */
    RUN_FOLDER_CONTINUE /* it goes on with them */
};

struct run_folder {
    const char *path;             /* not owned */
    enum run_folder_use use;      /* alike on all ranks; the other members are rank 0's */
    int descriptor;               /* of the folder; 0: it is not open */
    int lock;                     /* descriptor of the lock file; 0: the folder is not locked */
    bool has_no_locks;            /* of the file system: two runs at once would not be noticed */
    bool held_run;                /* an earlier run was there */
    uint64_t from_run, from_step; /* the checkpoint that the run goes on from; run 0: none */
    uint64_t repeated;            /* steps after it that a complete run has made, and that are made again */
    struct append_mark kept[MANIFEST_APPENDED]; /* of files that grow, where it goes on in this folder */
    struct manifest manifest; /* from run_folder_look() the earlier one's, from run_folder_begin() the own */
};

/* Opens and locks a folder with a manifest, and reads that; touches nothing else. STATUS_USAGE while another
 * process has the lock; STATUS_FAILED for what cannot be read. A folder without a manifest, or one that is
 * locked already, stays as it is. */
STATUS_CHECKED enum status run_folder_look(struct run_folder *folder);

/* After run_folder_look(), STATUS_USAGE where the folder holds an earlier run but is to be new, or files of a
 * run's names but no manifest, which are of another origin and stay in any case, or something else than a
 * file or a folder by such a name. Sets held_run. */
STATUS_CHECKED enum status run_folder_check(struct run_folder *folder);

/* Chooses that the run goes on in this folder, where the checkpoint lies that it goes on from. STATUS_USAGE
 * where the manifest does not name that. */
STATUS_CHECKED enum status run_folder_continue(struct run_folder *folder);

/* STATUS_USAGE where a checkpoint of the manifest, or a row of a growing file up to it, is missing. */
STATUS_CHECKED enum status run_folder_require(const struct run_folder *folder);

/* Creates the folder and its parents, locks it, looks and checks again unless it was locked already, and
 * replaces its manifest by that of this run: from now on the files of later steps, or of a run that is
 * replaced, do not count. */
STATUS_CHECKED enum status run_folder_begin(struct run_folder *folder);

/* clear.c: removes timers.csv, what the file list names and the run does not go on with, what a killed run
 * left half written, and folders in which nothing is left; then cuts files that grow to what is kept of them.
 * *again, which the caller frees in any case: the lines of the list that were cut but whose files stay. */
STATUS_CHECKED enum status run_folder_clear(struct run_folder *folder, char **again);

/* Names a checkpoint that has just been written, with the files that grow up to it; the `keep` newest whole
 * ones are named, and the others removed: one that is no whole checkpoint at a glance is not counted, and
 * stays as long as fewer than `keep` newer ones are there. */
STATUS_CHECKED enum status run_folder_add(struct run_folder *folder, const struct manifest_checkpoint *file,
                                          uint32_t keep);

/* Says in the manifest that the run has begun, or that it is complete with this step. */
STATUS_CHECKED enum status run_folder_set(struct run_folder *folder, enum manifest_state state,
                                          uint64_t step);

/* Gives the lock back, closes the folder and frees its manifest; the end of the process does too. */
void run_folder_unlock(struct run_folder *folder);

/* Creates a folder below, by its name, which must be no link, unless it exists. */
STATUS_CHECKED enum status run_folder_make_inner(const struct run_folder *folder, const char *name);

/* Whether the file lies among the checkpoints, by whatever path. */
bool run_folder_keeps(const struct run_folder *folder, const char *file);
/* Whether a file lies anywhere in the folder, by whatever path. */
bool run_folder_holds(const struct run_folder *folder, const char *file);

/* The mark at the checkpoint of a file that the run goes on with; NULL for any other file. */
const struct append_mark *run_folder_kept(struct run_folder *folder, const char *name);

/* The failure, with this status, where a file would replace one that is not the run's. */
STATUS_CHECKED enum status run_folder_refuse(const struct run_folder *folder, enum status status,
                                             const char *name);

/* Creates a text file of the folder, or with `appends` opens one to go on; and closes it, STATUS_FAILED where
 * something of it was not written. */
STATUS_CHECKED enum status run_folder_open(const struct run_folder *folder, const char *name, bool appends,
                                           FILE **file);
STATUS_CHECKED enum status run_folder_close(const struct run_folder *folder, const char *name, FILE *file);

/* STATUS_FAILED with errno: it cannot do that to the file. */
STATUS_CHECKED enum status run_folder_fail(const struct run_folder *folder, const char *doing,
                                           const char *name);

/* Removes a file of the folder, if it is there. */
STATUS_CHECKED enum status run_folder_remove_file(const struct run_folder *folder, const char *name);

/* Removes a folder and all that it holds, if it is there: one that the program made for itself. */
STATUS_CHECKED enum status run_folder_remove(const char *path);

#endif
