/* Append file: a CSV file to which rows are added while the run goes on, such as history.csv. The manifest
 * has, with each checkpoint, how much of each there was. Where a run goes on, that must be there to the byte,
 * below the same line of columns; what run_folder_clear() finds behind it, it cuts. */
#ifndef RADIXPIC_FOLDER_APPEND_FILE_H
#define RADIXPIC_FOLDER_APPEND_FILE_H

#include "folder/run_folder.h"

#include <xxhash.h>

enum {
    APPEND_COLUMNS = 640, /* of one, at most: those of history.csv */
    APPEND_HEAD_LENGTH = 1 << 15
};

struct append_file {
    const struct run_folder *folder;
    char name[MANIFEST_NAME_LENGTH]; /* below the folder */
    char head[APPEND_HEAD_LENGTH];   /* the first line */
    int descriptor;                  /* below 0: not open */
    uint64_t whole;                  /* bytes of whole lines written */
    XXH3_state_t *digest;            /* owned: of these bytes */
};

/* The append files of a run; at first all 0 but the folder. The file list, where it is the first, names the
 * others. */
struct append_files {
    struct run_folder *folder; /* not owned */
    struct append_file *list;  /* from append_files_begin() on; NULL: there is none */
    uint32_t count;
    struct append_file files[MANIFEST_APPENDED];
};

/* Adds a file, `name` below the folder, with these names of columns. Where the run goes on with it,
 * STATUS_USAGE unless it holds what it did at the checkpoint; `keys` of the config give the columns. Nothing
 * changes: append_files_begin() makes the others. *file lives until append_files_close(). */
STATUS_CHECKED enum status append_files_add(struct append_files *files, const char *name, const char *head,
                                            const char *keys, struct append_file **file);

/* After run_folder_clear(): creates those that the run does not go on with; adds these lines to the list. */
STATUS_CHECKED enum status append_files_begin(struct append_files *files, const char *listed);

/* Returns when all rows are on the disk, so that a checkpoint written after it is never of a step whose
 * rows a power loss removed. */
STATUS_CHECKED enum status append_files_sync(const struct append_files *files);

/* Adds a file to the list, with the digest of what `descriptor` reads, or where that is below 0 without one
 * (see struct listed_file). The line is on the disk then. Where there is no list, nothing. */
STATUS_CHECKED enum status append_files_list(const struct append_files *files, const char *name,
                                             int descriptor);

/* Adds a text file below the folder to the list, with its digest. */
STATUS_CHECKED enum status append_files_list_text(const struct append_files *files, const char *name);

/* How much of each but the list there is, and of those of earlier runs that this one does not continue. */
void append_files_mark(const struct append_files *files, struct append_mark marks[MANIFEST_APPENDED]);

/* How much of a file there is. */
struct append_mark append_file_mark(const struct append_file *file);

/* Closes all, in any case; a second call does nothing. */
STATUS_CHECKED enum status append_files_close(struct append_files *files);

/* Adds a row of numbers, with 17 significant digits, by which a step is a whole number. It is handed to the
 * system, so that a killed run keeps it. */
STATUS_CHECKED enum status append_file_write(struct append_file *file, uint32_t count, const double *values);

#endif
