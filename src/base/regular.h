/* Regular: files of the disk, and nothing else, to read. */
#ifndef RADIXPIC_BASE_REGULAR_H
#define RADIXPIC_BASE_REGULAR_H

#include "base/status.h"

#include <stdio.h>
#include <sys/stat.h>

/* Opens a file to read. A pipe, a socket or a device, where reading may never end, is not opened: the result
 * is NULL, with "it is no regular file" in *why and errno 0. After any other failure it is NULL, with the
 * text of errno in *why. A folder fails with EISDIR. *found, unless `found` is NULL, is what was opened. */
FILE *regular_open(const char *path, struct stat *found, const char **why);

/* Opens a file like regular_open(); where that fails the status is `failure`, with a sentence. */
STATUS_CHECKED enum status regular_require(const char *path, enum status failure, FILE **file,
                                           struct stat *found);

/* Its bytes, for free(), of which *length is the number: most + 1 where the file has more than `most`. NULL
 * with *why and errno as above. */
char *regular_read(const char *path, size_t most, size_t *length, const char **why);

#endif
