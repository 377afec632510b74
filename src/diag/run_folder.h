/* Run folder: the place where a run leaves its files. */
#ifndef RADIXPIC_DIAG_RUN_FOLDER_H
#define RADIXPIC_DIAG_RUN_FOLDER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

struct run_folder {
    char *path;
    char *snapshots; /* path/snapshots */
    bool replaced;   /* an earlier run's history.csv was there */
};

/* Creates the folder and its parents. STATUS_USAGE where it holds files of a run's names but no history.csv,
 * which are somebody's own; STATUS_FAILED names path and errno text. The caller destroys it. */
STATUS_CHECKED enum status run_folder_create(const char *path, struct run_folder *folder);

/* Creates `snapshots` and removes timers.csv and the snapshots of an earlier run: beside the files of a new
 * one they would tell a false story. To be called once history.csv is there. STATUS_FAILED names path and
 * errno text. */
STATUS_CHECKED enum status run_folder_clear(const struct run_folder *folder);
void run_folder_destroy(struct run_folder *folder);

/* Opens FOLDER/name for writing. STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status run_folder_open(const struct run_folder *folder, const char *name, FILE **file);

#endif
