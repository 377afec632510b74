/* Folder lock: one process at a time writes to a run folder. The lock is on FOLDER/.lock, whose text names
 * the process, and ends with the process. */
#ifndef RADIXPIC_FOLDER_FOLDER_LOCK_H
#define RADIXPIC_FOLDER_FOLDER_LOCK_H

#include "base/status.h"

#include <stdbool.h>

/* Of an errno about a folder: STATUS_USAGE for a path that no folder or file can have, else STATUS_FAILED. */
enum status folder_status_of(int error);

/* Of an open folder, whose path is for messages: leaves the descriptor that holds the lock, for close(), in
 * *descriptor; *has_no_locks is true where the file system knows none. STATUS_USAGE, with a sentence that
 * names the process, while another one has the lock. */
STATUS_CHECKED enum status folder_lock_take(int folder, const char *path, int *descriptor,
                                            bool *has_no_locks);

/* STATUS_USAGE, with the same sentence, while a process has the lock. */
STATUS_CHECKED enum status folder_lock_look(int folder, const char *path);

/* Whether the folder at the path is still the one that was locked, and not another of the same name. */
bool folder_lock_is_on(const char *path, int descriptor);

#endif
