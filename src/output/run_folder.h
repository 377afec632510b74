/* Run folder: the place where a run leaves its files. */
#ifndef RADIXPIC_OUTPUT_RUN_FOLDER_H
#define RADIXPIC_OUTPUT_RUN_FOLDER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

/* What a run does with the files that an earlier one left in its folder. */
enum run_folder_use {
    RUN_FOLDER_NEW,     /* there must be none */
    RUN_FOLDER_REPLACE, /* they are removed */
    RUN_FOLDER_CONTINUE /* it goes on with them */
};

struct run_folder {
    char *path;
    char *snapshots;   /* path/snapshots */
    char *phase_space; /* path/phase_space */
    char *checkpoints; /* path/checkpoints */
    enum run_folder_use use;
    bool held_run; /* an earlier run's history.csv was there */
};

/* The names alone; looks at nothing. The caller destroys it, also after a failure. */
STATUS_CHECKED enum status run_folder_name(const char *path, enum run_folder_use use,
                                           struct run_folder *folder);
void run_folder_destroy(struct run_folder *folder);

/* STATUS_USAGE where the folder holds an earlier run but is to be new, or files of a run's names but no
 * history.csv, which are somebody's own and stay in any case. Sets held_run; touches nothing. */
STATUS_CHECKED enum status run_folder_check(struct run_folder *folder);

/* Checks again, for another run may have been faster, and creates the folder and its parents. STATUS_FAILED
 * names path and errno text. */
STATUS_CHECKED enum status run_folder_create(struct run_folder *folder);

/* Creates the folders of snapshots and of phase spaces where the run has some, and removes what of an earlier
 * run would tell a false story beside the files of this one: timers.csv, and unless the run is continued
 * snapshots, phase spaces and checkpoints. To be called once history.csv is there. STATUS_FAILED names path
 * and errno text. */
STATUS_CHECKED enum status run_folder_clear(const struct run_folder *folder, bool has_snapshots,
                                            bool has_phase_space);

/* Whether a checkpoint_N.h5 is among the checkpoints. */
bool run_folder_has_checkpoint(const struct run_folder *folder);

/* Whether the file lies among the checkpoints, by whatever path. */
bool run_folder_keeps(const struct run_folder *folder, const char *file);

/* Opens FOLDER/name in a mode of fopen(). STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status run_folder_open(const struct run_folder *folder, const char *name,
                                           const char *mode, FILE **file);

#endif
