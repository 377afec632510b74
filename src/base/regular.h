/* Regular: files of the disk, and nothing else, to read. */
#ifndef RADIXPIC_BASE_REGULAR_H
#define RADIXPIC_BASE_REGULAR_H

#include <stdio.h>

/* Opens a file to read, without waiting: of a pipe, a socket or a device, whose reader may wait for ever, it
 * says NULL with "it is no regular file" in *why; else NULL with that of errno, which is 0 only there. A
 * folder is opened, and reading it fails. */
FILE *regular_open(const char *path, const char **why);

#endif
