/* Digest: of a file, made by all processors. */
#ifndef RADIXPIC_FOLDER_DIGEST_H
#define RADIXPIC_FOLDER_DIGEST_H

#include "parallel/communicator.h"

#include <xxhash.h>

/* *digest <- XXH3, 128 bits, of those of pieces of 4 MiB, or the rest, of a file's bytes [begin, end). */
STATUS_CHECKED enum status digest_range(const char *path, int descriptor, uint64_t begin, uint64_t end,
                                        XXH128_canonical_t *digest);

/* *digest <- half of that of the first `bytes` bytes of a file, or of all where it has fewer. */
STATUS_CHECKED enum status digest_file(const char *path, int descriptor, uint64_t bytes, uint64_t *digest);

/* Collective. The same of a regular file at a path that all ranks have. STATUS_USAGE where a rank finds
 * another file there than rank 0. */
STATUS_CHECKED enum status digest_require_same(const struct communicator *communicator, const char *path,
                                               uint64_t bytes, uint64_t *digest);

#endif
