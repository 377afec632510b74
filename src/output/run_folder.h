/* Run folder: the place where a run leaves its files, and the numbered files of its outputs. */
#ifndef RADIXPIC_OUTPUT_RUN_FOLDER_H
#define RADIXPIC_OUTPUT_RUN_FOLDER_H

#include "output/manifest.h"
#include "output/numbered_files.h"

#include <stddef.h>
#include <stdio.h>

/* What a run does with the files that an earlier one left in its folder. */
enum run_folder_use {
    RUN_FOLDER_NEW,     /* there must be none */
    RUN_FOLDER_REPLACE, /* they are removed */
    RUN_FOLDER_CONTINUE /* it goes on with them */
};

struct output_row;

struct run_folder {
    const char *path;             /* not owned */
    enum run_folder_use use;      /* the same on all ranks; the rest is rank 0's */
    int lock;                     /* descriptor of the lock file; 0: the folder is not locked */
    bool has_no_locks;            /* the file system knows none: two runs at once would not be noticed */
    bool held_run;                /* an earlier run was there */
    uint64_t from_run, from_step; /* the checkpoint that the run goes on from; run 0: none */
    uint64_t repeated;            /* steps after it that a complete run has made, and that are made again */
    struct growing_mark kept[MANIFEST_GROWING]; /* of files that grow, where it goes on in this folder */
    struct manifest manifest; /* from run_folder_look() the earlier one's, from run_folder_begin() the own */
};

/* Locks a folder with a manifest and reads that; touches nothing else. STATUS_USAGE, with a sentence that
 * names the process, while another one has the lock; STATUS_FAILED for what cannot be read. A folder without
 * a manifest, or one that is locked already, stays as it is. */
STATUS_CHECKED enum status run_folder_look(struct run_folder *folder);

/* After run_folder_look(), STATUS_USAGE where the folder holds an earlier run but is to be new, or files of a
 * run's names but no manifest, which are of another origin and stay in any case. Sets held_run. */
STATUS_CHECKED enum status run_folder_check(struct run_folder *folder);

/* Chooses that the run goes on in this folder, where the checkpoint lies that it goes on from. STATUS_USAGE
 * where the manifest does not name that. */
STATUS_CHECKED enum status run_folder_continue(struct run_folder *folder);

/* STATUS_USAGE where a checkpoint that the manifest names, or a row of a file that grows up to it, is not
 * there. */
STATUS_CHECKED enum status run_folder_require(const struct run_folder *folder);

/* Creates the folder and its parents, locks it, looks and checks again unless it was locked already, and
 * replaces its manifest by that of this run: from now on the files of later steps, or of a run that is
 * replaced, do not count. STATUS_FAILED names path and errno
 * text. */
STATUS_CHECKED enum status run_folder_begin(struct run_folder *folder);

/* Cuts files that grow to what is kept of them; removes timers.csv, the files of all outputs that the
 * manifest does not name, and folders in which nothing is left. STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status run_folder_clear(const struct run_folder *folder);

/* Names a file of an output that has just been written, with the files that grow up to it; but of
 * checkpoints, writes PREFIX.pmd beside it, the pattern of the files' names, where that is not there. Of
 * checkpoints the `keep` newest whole ones are named, and the others removed: one that is no whole checkpoint
 * at a glance is not counted, and stays as long as fewer than `keep` newer ones are there. */
STATUS_CHECKED enum status run_folder_add(struct run_folder *folder, const struct output_row *row,
                                          const struct manifest_checkpoint *file, uint32_t keep);

/* Says in the manifest that the run has begun, or that it is complete with this step. */
STATUS_CHECKED enum status run_folder_set(struct run_folder *folder, enum manifest_state state,
                                          uint64_t step);

/* Gives the lock back; the end of the process does too. */
void run_folder_unlock(struct run_folder *folder);

/* Creates one folder, whose parent is there, unless it exists. */
STATUS_CHECKED enum status run_folder_make(const char *path);

/* Whether the file lies among the checkpoints, by whatever path. */
bool run_folder_keeps(const struct run_folder *folder, const char *file);

/* Opens FOLDER/name in a mode of fopen(). STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status run_folder_open(const struct run_folder *folder, const char *name,
                                           const char *mode, FILE **file);

/* Closes it. STATUS_FAILED, with the same, where something of it was not written. */
STATUS_CHECKED enum status run_folder_close(const struct run_folder *folder, const char *name, FILE *file);

/* Removes a folder and all that it holds, if it is there: one that the program made for itself. */
STATUS_CHECKED enum status run_folder_remove(const char *path);

#endif
