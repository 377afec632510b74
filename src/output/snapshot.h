/* Snapshot: fields and particles at one step as an openPMD 1.1.0 + ED-PIC file, fileBased.
 *
 * Written under a temporary name, checked at every close, fsynced and renamed: a file named data_N.h5 is
 * whole.
 */
#ifndef RADIXPIC_OUTPUT_SNAPSHOT_H
#define RADIXPIC_OUTPUT_SNAPSHOT_H

#include "output/view.h"

/* Writes FOLDER/data_STEP.h5, all ranks into the one file, and sets *bytes to its size. Each rank's particles
 * are a patch. STATUS_FAILED, on all ranks, names path and errno text; then no file of that name is left
 * behind, and an older one stays whole. Collective, blocking. */
STATUS_CHECKED enum status snapshot_write(void *unused, const char *folder, const struct view *view,
                                          uint64_t *bytes);

/* An upper estimate of the bytes of one snapshot, before compression. */
uint64_t snapshot_bytes(const struct config *config);

#endif
