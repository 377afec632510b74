/* Cache: the user's folder for what the program keeps from one run to the next, but can do without.
 *
 * It is $RADIXPIC_CACHE, else radixpic/ of $XDG_CACHE_HOME, else of ~/.cache.
 */
#ifndef RADIXPIC_BASE_CACHE_H
#define RADIXPIC_BASE_CACHE_H

#include <stddef.h>

/* The path of a file in the folder, or "" where the environment names no folder or the path is too long. */
void cache_path(const char *name, char *path, size_t size);

/* Creates the folders above the file at `path`, which only their owner may look into, as the XDG rules ask.
 * What is in the way, or not allowed, shows when the file is opened. */
void cache_create_folders(const char *path);

#endif
