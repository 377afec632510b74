/* Below: files below an open folder. Names are "NAME" or "FOLDER/NAME", and none of their parts may be a
 * symbolic link, so that nothing outside is ever written to; the folder's own path may have one. */
#ifndef RADIXPIC_BASE_BELOW_H
#define RADIXPIC_BASE_BELOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <xxhash.h>

/* Opens a folder for the calls below; `flags` beside O_DIRECTORY. Below 0 with errno, as all of them. */
int in_folder_begin(const char *path, int flags);

/* Opens the folder in which `name` lies; *last <- the last part of the name. errno is EINVAL for a name of
 * another form. */
int in_folder_enter(int folder, const char *name, const char **last);

/* Opens a regular file by the `flags` of open(); errno is EMEDIUMTYPE, at once, for a pipe or a device. */
int in_folder_open(int folder, const char *name, int flags);

/* As lstat() and unlinkat(). */
bool in_folder_look(int folder, const char *name, struct stat *found);
bool in_folder_remove(int folder, const char *name, int flags);

/* Brings the names in the folder in which `name` lies to the disk. */
bool in_folder_sync(int folder, const char *name);

/* Brings a file to the disk. */
bool sync_file(int descriptor);

/* Closes a descriptor, where it is one, and keeps errno. */
void in_folder_end(int descriptor);

/* Writes a line behind the `before` bytes of a file; a part of it, where the disk is full, is taken back. */
bool in_folder_append(int descriptor, const char *text, size_t length, uint64_t before);

/* The text of an errno of these calls. */
const char *in_folder_text(int error);

/* Adds the first *bytes bytes of a file to a digest, or all of fewer; *bytes <- how many. False with errno.
 */
bool in_folder_digest(int descriptor, uint64_t *bytes, XXH3_state_t *state);

#endif
