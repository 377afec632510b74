/* Growing file: a CSV file of the run folder to which rows are added while the run goes on, such as
 * history.csv. The manifest has, with each checkpoint, how much of each there was. Where a run goes on, that
 * must be there to the byte, below the same line of columns; what run_folder_clear() finds behind it, it
 * cuts. They are rank 0's. */
#ifndef RADIXPIC_OUTPUT_GROWING_FILE_H
#define RADIXPIC_OUTPUT_GROWING_FILE_H

#include "output/run_folder.h"

#include <xxhash.h>

struct growing_file {
    const struct run_folder *folder;
    char name[MANIFEST_NAME_LENGTH]; /* below the folder */
    char *head;                      /* owned: the first line */
    int descriptor;                  /* below 0: not open */
    uint64_t whole;                  /* bytes of whole lines written */
    XXH3_state_t *digest;            /* owned: of them */
};

/* Those of a run; at first all 0 but the folder. The list of files, where it is the first of them, names the
 * others too. */
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

/* After run_folder_clear(): creates those that the run does not go on with, and adds these lines to the list.
 */
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

/* How much of each but the list there is, and of those that earlier runs had and this one does not continue.
 */
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
