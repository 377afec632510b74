/* Chunk pack: an HDF5 chunk as the filters shuffle, deflate and fletcher32 would store it, made faster than
 * they do it: in several threads, and without a search for repeats in bytes that have none. */
#ifndef RADIXPIC_HDF5_CHUNK_PACK_H
#define RADIXPIC_HDF5_CHUNK_PACK_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* The most bytes that `count` elements of `size` bytes are packed into. */
size_t chunk_pack_room(size_t count, size_t size);

/* Packs values[count], elements of `size` bytes, into `packed` and sets *bytes. `compression` is deflate's
 * level; 0 leaves out shuffle and deflate, and the checksum alone is added. `scratch` is as large as the
 * values. Any thread may call it. */
STATUS_CHECKED enum status chunk_pack(const void *values, size_t count, size_t size, uint32_t compression,
                                      void *scratch, void *packed, size_t *bytes);

#endif
