/* Replace: a file that has its old content or its new one, at any moment and after a loss of power. */
#ifndef RADIXPIC_BASE_REPLACE_H
#define RADIXPIC_BASE_REPLACE_H

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct replacement {
    FILE *file; /* the new content is written to it */
    char folder[PATH_MAX];
    char path[PATH_MAX];      /* folder/name */
    char temporary[PATH_MAX]; /* folder/.name.tmp, where it is until it is whole */
};

/* Begins a new content of folder/name, a folder that exists. The caller ends with replace_end().
 * STATUS_FAILED names path and errno text, as below. */
STATUS_CHECKED enum status replace_begin(const char *folder, const char *name,
                                         struct replacement *replacement);

/* Brings the content to the disk and gives it its name. After a failure, or where `status` is one already,
 * which it returns, the old content stays and nothing else is left; but where only the name cannot be brought
 * to the disk, the new content is there already. */
STATUS_CHECKED enum status replace_end(struct replacement *replacement, enum status status);

/* Brings what was written to a file, or a name that was given in a folder, to the disk; `flags` of open().
 * False with errno. */
bool sync_path(const char *path, int flags);

/* The same for the names in a folder. */
bool sync_folder(const char *path);

#endif
