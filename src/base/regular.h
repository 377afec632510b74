/* Regular: files of the disk, and nothing else, to read. */
#ifndef RADIXPIC_BASE_REGULAR_H
#define RADIXPIC_BASE_REGULAR_H

#include <stdio.h>

/* Opens a file to read. A pipe, a socket or a device, where reading may never end, is not opened: the result
 * is NULL, with "it is no regular file" in *why and errno 0. After any other failure it is NULL, with the
 * text of errno in *why. A folder fails with EISDIR. */
FILE *regular_open(const char *path, const char **why);

/* Its bytes, for free(), of which *length is the number: most + 1 where the file has more than `most`. NULL
 * with *why and errno as above. */
char *regular_read(const char *path, size_t most, size_t *length, const char **why);

#endif
