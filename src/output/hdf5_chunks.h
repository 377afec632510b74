/* HDF5 chunks: a dataset of several dimensions that all ranks write together, chunk by chunk. For arrays of
 * which every rank can have any chunk; where each has rows of its own, see hdf5_array.h.
 */
#ifndef RADIXPIC_OUTPUT_HDF5_CHUNKS_H
#define RADIXPIC_OUTPUT_HDF5_CHUNKS_H

#include "output/hdf5_file.h"

enum {
    HDF5_CHUNKS_DIMENSIONS = 4, /* at most */
    HDF5_CHUNKS_PIECE = 64      /* the most chunks one call of `fill` is asked for */
};

/* An array to be written: `type` is a native HDF5 type; the same on all ranks. */
struct hdf5_chunks {
    hid_t type;
    int dimensions;
    hsize_t shape[HDF5_CHUNKS_DIMENSIONS];
    hsize_t chunk[HDF5_CHUNKS_DIMENSIONS]; /* sides, none longer than the array's */
    /* Fills values[count][elements of a chunk], of `type`, with chunks first, first+1, ... (numbered in C
     * order), each in C order; those at the end of the array whole too. Collective: all ranks ask for the
     * same at the same time. */
    void (*fill)(const void *source, uint64_t first, size_t count, void *values);
    const void *source;
};

/* Writes it shuffled, deflated (unless the level is 0) and with checksums, in pieces of HDF5_CHUNKS_PIECE
 * chunks; of each piece rank r writes every size-th chunk, beginning with the piece's chunk r. Returns the
 * dataset, for its attributes; the caller closes it with hdf5_close(). */
hid_t hdf5_chunked(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_chunks *chunks);

#endif
