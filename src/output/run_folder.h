/* Run folder: the place where a run leaves its files; the manifest and the file list, which say what belongs
 * to the run; its lock; and the CSV files that grow with it. The folder may be given by a path with symbolic
 * links; below it none is followed (base/below.h). All is rank 0's. Failures name path and errno text. */
#ifndef RADIXPIC_OUTPUT_RUN_FOLDER_H
#define RADIXPIC_OUTPUT_RUN_FOLDER_H

#include "base/log.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

/* ---- the manifest: manifest.yaml says what the run is, and from which checkpoints it can be gone on with.
 *
 * It is replaced as a whole, so the folder goes from one state to the next in one moment: a checkpoint counts
 * from the moment the manifest names it, and no longer once the manifest does not. Each start of the program
 * is a run with an id of its own, which goes on from a checkpoint of an earlier one, or from nothing. ---- */

#define MANIFEST_NAME "manifest.yaml"

enum {
    MANIFEST_CHECKPOINTS = 1001, /* output.checkpoints.keep at most, and one */
    MANIFEST_GROWING = 25,       /* files that grow, at most: history.csv, the file list, and probes */
    MANIFEST_NAME_LENGTH = 80    /* bytes of the name of one, with its end */
};

/* How much of a file that grows there was at some step; 0 bytes: it was not there. */
struct growing_mark {
    uint64_t bytes;
    uint64_t digest; /* XXH3, 64 bits, of these bytes */
};

struct manifest_checkpoint {
    uint64_t step;
    uint64_t run;                                  /* which wrote it */
    struct growing_mark growing[MANIFEST_GROWING]; /* of the files of these numbers */
};

enum manifest_state {
    MANIFEST_NONE,       /* no manifest */
    MANIFEST_STARTING,   /* the run has nothing yet; what an earlier one left is being removed */
    MANIFEST_RESTARTING, /* it has files of steps up to from_step; later ones are being removed */
    MANIFEST_RUNNING,
    MANIFEST_COMPLETE
};

struct manifest {
    enum manifest_state state;
    uint64_t run;
    uint64_t from_run, from_step; /* the checkpoint that it went on from; run 0: none */
    uint64_t complete_step;       /* where it is complete */
    char growing[MANIFEST_GROWING][MANIFEST_NAME_LENGTH]; /* below the folder; "": no file; 0: history.csv */
    uint32_t checkpoint_count;
    struct manifest_checkpoint checkpoints[MANIFEST_CHECKPOINTS]; /* of growing steps */
};

/* Reads that of a folder; without one the state is MANIFEST_NONE. STATUS_FAILED where it is damaged, of
 * another version or cannot be read. */
STATUS_CHECKED enum status manifest_read(const char *folder, struct manifest *manifest);

/* Replaces that of an open folder, whose path is for messages: see replace_end(). */
STATUS_CHECKED enum status manifest_write(int folder, const char *path, const struct manifest *manifest);

/* The checkpoint of this step; NULL where none is named. */
const struct manifest_checkpoint *manifest_find(const struct manifest *manifest, uint64_t step);

/* The number of a file that grows, which gets one that is free where there is none and `add`; else, and where
 * all have names, MANIFEST_GROWING. */
uint32_t manifest_growing(struct manifest *manifest, const char *name, bool add);

/* Names the `count` oldest checkpoints no longer. */
void manifest_drop(struct manifest *manifest, uint32_t count);

/* Names a checkpoint, and none of its step or a later one beside it. Without room the oldest one goes. */
void manifest_add(struct manifest *manifest, const struct manifest_checkpoint *checkpoint);

/* What belongs to a run that goes on from this step: nothing later, and no file that grew only later. */
void manifest_cut(struct manifest *manifest, uint64_t step);

/* ---- the file list: files.txt has a line for each file that the run made: its name, and once the file is
 * whole its digest. A line is on the disk before its file is there, so no file of a run is ever without one.
 * A name may have several lines: the file is whole where it matches one of them. The last line is of the list
 * itself, with the digest of the lines before. ---- */

#define FILE_LIST_NAME "files.txt"
#define FILE_LIST_HEAD "# the digests of the run's files; do not edit"

enum { FILE_LIST_LINE = MANIFEST_NAME_LENGTH + 32 };

struct listed_file {
    char name[MANIFEST_NAME_LENGTH]; /* below the run folder: NAME or FOLDER/NAME, no part begins with . */
    bool has_digest;                 /* else the file is not whole yet, or has a digest of its own */
    uint64_t digest;                 /* of digest_file() */
    uint64_t begin;                  /* bytes of the list before this line */
};

/* The line of a file; without a digest where that is NULL. */
void file_list_line(char line[FILE_LIST_LINE], const char *name, const uint64_t *digest);

/* Reads that of an open folder, whose path is for messages: none where there is no list. A part of a line at
 * the end, which a killed run may leave, is none. The caller frees *files. */
STATUS_CHECKED enum status file_list_read(int folder, const char *path, struct listed_file **files,
                                          size_t *count);

/* ---- the lock: one process at a time writes to a run folder. It is on FOLDER/.lock, whose text names the
 * process, and ends with the process. ---- */

/* Of an errno about a folder: STATUS_USAGE for a path that no folder or file can have, else STATUS_FAILED. */
enum status folder_status_of(int error);

/* Of an open folder, whose path is for messages: leaves the descriptor that holds the lock, for close(), in
 * *descriptor; *has_no_locks is true where the file system knows none. STATUS_USAGE, with a sentence that
 * names the process, while another one has the lock. */
STATUS_CHECKED enum status folder_lock_take(int folder, const char *path, int *descriptor,
                                            bool *has_no_locks);

/* STATUS_USAGE, with the same sentence, while a process has the lock. */
STATUS_CHECKED enum status folder_lock_look(int folder, const char *path);

/* Whether the folder at the path is still the one that was locked, and not another of the same name. */
bool folder_lock_is_on(const char *path, int descriptor);

/* ---- the folder ---- */

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
    int descriptor;               /* of the folder; 0: it is not open */
    int lock;                     /* descriptor of the lock file; 0: the folder is not locked */
    bool has_no_locks;            /* the file system knows none: two runs at once would not be noticed */
    bool held_run;                /* an earlier run was there */
    uint64_t from_run, from_step; /* the checkpoint that the run goes on from; run 0: none */
    uint64_t repeated;            /* steps after it that a complete run has made, and that are made again */
    struct growing_mark kept[MANIFEST_GROWING]; /* of files that grow, where it goes on in this folder */
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

/* Removes timers.csv, what the file list names and the run does not go on with, what a killed run left half
 * written, and folders in which nothing is left; then cuts files that grow to what is kept of them. *again,
 * which the caller frees in any case: the lines of the list that were cut but whose files stay. */
STATUS_CHECKED enum status run_folder_clear(struct run_folder *folder, char **again);

/* Names a checkpoint that has just been written, with the files that grow up to it; the `keep` newest whole
 * ones are named, and the others removed: one that is no whole checkpoint at a glance is not counted, and
 * stays as long as fewer than `keep` newer ones are there. */
STATUS_CHECKED enum status run_folder_add(struct run_folder *folder, const struct manifest_checkpoint *file,
                                          uint32_t keep);

/* Says in the manifest that the run has begun, or that it is complete with this step. */
STATUS_CHECKED enum status run_folder_set(struct run_folder *folder, enum manifest_state state,
                                          uint64_t step);

/* Gives the lock back and closes the folder; the end of the process does too. */
void run_folder_unlock(struct run_folder *folder);

/* Creates a folder below, by its name, which must be no link, unless it exists. */
STATUS_CHECKED enum status run_folder_make_inner(const struct run_folder *folder, const char *name);

/* Whether the file lies among the checkpoints, by whatever path. */
bool run_folder_keeps(const struct run_folder *folder, const char *file);
/* Whether it lies anywhere in the folder, by whatever path. */
bool run_folder_holds(const struct run_folder *folder, const char *file);

/* What there was at the checkpoint of a file that the run goes on with, or NULL. */
const struct growing_mark *run_folder_kept(struct run_folder *folder, const char *name);

/* The failure, with this status, where a file would take the place of one that is not the run's. */
STATUS_CHECKED enum status run_folder_refuse(const struct run_folder *folder, enum status status,
                                             const char *name);

/* The name of an output's file of a step, below the run folder. */
enum { OUTPUT_NAME = 128 };
const char *run_folder_name(const struct output_row *row, uint64_t step, char name[OUTPUT_NAME]);

/* The row of an output whose file of a step has this name, with the step; NULL for any other name. */
const struct output_row *run_folder_row(const char *name, uint64_t *step);

/* Creates a text file of the folder, or with `appends` opens one to go on; and closes it, STATUS_FAILED where
 * something of it was not written. */
STATUS_CHECKED enum status run_folder_open(const struct run_folder *folder, const char *name, bool appends,
                                           FILE **file);
STATUS_CHECKED enum status run_folder_close(const struct run_folder *folder, const char *name, FILE *file);

/* Removes a folder and all that it holds, if it is there: one that the program made for itself. */
STATUS_CHECKED enum status run_folder_remove(const char *path);

/* ---- run_check.c: whether the files of a folder are what the run wrote ---- */

/* Reads all files that the file list and the manifest name, and logs a line for each one that is damaged or
 * missing, at LOG_QUIET, and one for the whole. Changes nothing, and passes over files that the run does not
 * name. STATUS_FAILED where a file is damaged or missing, or cannot be read; STATUS_USAGE where the folder
 * holds no run, or one that is going on. */
STATUS_CHECKED enum status run_check(const char *path, struct log *log);

/* STATUS_USAGE where the file list has digests of a file of the folder and none matches it. */
STATUS_CHECKED enum status run_check_file(const char *path, const char *name);

/* ---- files that grow: CSV files to which rows are added while the run goes on, such as history.csv. The
 * manifest has, with each checkpoint, how much of each there was. Where a run goes on, that must be there to
 * the byte, below the same line of columns; what run_folder_clear() finds behind it, it cuts. ---- */

enum {
    GROWING_COLUMNS = 256, /* of one, at most: those of history.csv */
    GROWING_HEAD_LENGTH = 1 << 13
};

struct growing_file {
    const struct run_folder *folder;
    char name[MANIFEST_NAME_LENGTH]; /* below the folder */
    char head[GROWING_HEAD_LENGTH];  /* the first line */
    int descriptor;                  /* below 0: not open */
    uint64_t whole;                  /* bytes of whole lines written */
    XXH3_state_t *digest;            /* owned: of them */
};

/* Those of a run; at first all 0 but the folder. Where the file list is the first, it names the others. */
struct growing_files {
    struct run_folder *folder; /* not owned */
    struct growing_file *list; /* from growing_files_begin() on; NULL: there is none */
    uint32_t count;
    struct growing_file files[MANIFEST_GROWING];
};

/* One more, `name` below the folder, with these names of columns. Where the run goes on with it, STATUS_USAGE
 * unless it holds what it did at the checkpoint; `keys` of the config give the columns. Nothing changes:
 * growing_files_begin() makes the others. *file lives until growing_files_close(). */
STATUS_CHECKED enum status growing_files_add(struct growing_files *files, const char *name, const char *head,
                                             const char *keys, struct growing_file **file);

/* After run_folder_clear(): creates those that the run does not go on with; adds these lines to the list. */
STATUS_CHECKED enum status growing_files_begin(struct growing_files *files, const char *listed);

/* Returns when all rows are on the disk, so that a checkpoint written after it never knows of steps whose
 * rows a power loss took. */
STATUS_CHECKED enum status growing_files_sync(const struct growing_files *files);

/* Adds a file to the list, with the digest of what `descriptor` reads, or where that is below 0 without one
 * (see struct listed_file). The line is on the disk then. Where there is no list, nothing. */
STATUS_CHECKED enum status growing_files_list(const struct growing_files *files, const char *name,
                                              int descriptor);

/* The same for a text file below the folder, which is opened for it. */
STATUS_CHECKED enum status growing_files_list_text(const struct growing_files *files, const char *name);

/* How much of each but the list there is, and of those of earlier runs that this one does not continue. */
void growing_files_mark(const struct growing_files *files, struct growing_mark marks[MANIFEST_GROWING]);

/* How much of a file there is. */
struct growing_mark growing_file_mark(const struct growing_file *file);

/* In any case; a second call does nothing. */
STATUS_CHECKED enum status growing_files_close(struct growing_files *files);

/* Adds a row of numbers, with 17 significant digits, by which a step is a whole number. It is handed to the
 * system, so that a killed run keeps it. */
STATUS_CHECKED enum status growing_file_write(struct growing_file *file, uint32_t count,
                                              const double *values);

#endif
