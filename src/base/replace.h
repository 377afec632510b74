/* Replace: a file that has its old content or its new one, at any moment and after a loss of power. */
#ifndef RADIXPIC_BASE_REPLACE_H
#define RADIXPIC_BASE_REPLACE_H

#include "base/status.h"

#include <limits.h>
#include <stdio.h>

struct replacement {
    FILE *file;                   /* the new content is written to it */
    int folder;                   /* in which the file lies */
    char path[PATH_MAX];          /* for messages */
    char name[NAME_MAX + 1];      /* in that folder */
    char temporary[NAME_MAX + 6]; /* .name.tmp, what it is until it is whole */
};

/* Begins a new content of a file below an open folder, whose path is for messages (base/below.h). The caller
 * ends with replace_end(). STATUS_FAILED names path and errno text, as below. */
STATUS_CHECKED enum status replace_begin(int folder, const char *path, const char *name,
                                         struct replacement *replacement);

/* Brings the content to the disk and gives it its name. After a failure, or where `status` is one already,
 * which it returns, the old content stays and nothing else is left; but where only the name cannot be brought
 * to the disk, the new content is there already. */
STATUS_CHECKED enum status replace_end(struct replacement *replacement, enum status status);

#endif
