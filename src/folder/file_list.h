/* File list: files.txt has a line for each file that the run made: its name, and once the file is whole its
 * digest. A line is on the disk before its file is there, so no file of a run is ever without one. A name may
 * have several lines: the file is whole where it matches one of them. The last line is of the list itself,
 * with the digest of the lines before. */
#ifndef RADIXPIC_FOLDER_FILE_LIST_H
#define RADIXPIC_FOLDER_FILE_LIST_H

#include "folder/manifest.h"

#include <stddef.h>

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

#endif
