/* Checkpoint seal: the block before HDF5's first byte (its user block), by which a damaged file is known.
 *
 * It holds a magic text, the version of the format, the size of the file, a digest (XXH3, 128 bits) of all
 * bytes after the block, and one of the block itself. So no bit of the file can change unnoticed. The place
 * of magic, version and the block's own digest is the same in every version.
 */
#ifndef RADIXPIC_OUTPUT_CHECKPOINT_SEAL_H
#define RADIXPIC_OUTPUT_CHECKPOINT_SEAL_H

#include "base/status.h"

#include <stdbool.h>

enum { CHECKPOINT_VERSION = 2, CHECKPOINT_BLOCK = 512 /* bytes; HDF5 allows powers of two from 512 on */ };

/* Writes the block of the complete file at `path`. STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status checkpoint_seal(const char *path);

/* STATUS_FAILED, with a sentence, unless the file is a whole checkpoint of this version: reads all of it, or
 * only its block, and its size, at a glance. */
STATUS_CHECKED enum status checkpoint_seal_check(const char *path, bool all);

#endif
