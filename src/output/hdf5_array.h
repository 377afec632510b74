/* HDF5 array: datasets that all ranks write together, each its own rows, or in turn chunk by chunk. They are
 * chunked, shuffled, deflated (unless the file's level is 0) and have checksums. */
#ifndef RADIXPIC_OUTPUT_HDF5_ARRAY_H
#define RADIXPIC_OUTPUT_HDF5_ARRAY_H

#include "output/hdf5_file.h"

enum {
    HDF5_DIMENSIONS = 4,   /* at most */
    HDF5_PIECE = 1 << 20,  /* elements that one fill() of an array of one dimension is asked for, at most */
    HDF5_CHUNKS_PIECE = 64 /* chunks that one fill() is asked for, at most */
};

/* Fills values[count] with elements first, first+1, ... of the flattened own part of an array. Its failure is
 * that of the file, on all ranks. */
typedef enum status hdf5_fill(const void *source, uint64_t first, size_t count, void *values);

/* An array of which each rank has rows: `type` is a native HDF5 type, of one dimension or two, C order. */
struct hdf5_array {
    hid_t type;
    uint64_t shape[2];        /* of the whole array, the same on each rank; [1] is 0 for one dimension */
    uint64_t first_row, rows; /* the rank's own part: these rows, perhaps none; no two ranks share one */
    hdf5_fill *fill;          /* NULL: the own part lies at `source` */
    const void *source;
};

/* Writes an array piece by piece (a few MB of host memory). Ranks whose part is small take part in the
 * writing of the others; what is in no rank's part is not defined. Returns the dataset, for its attributes;
 * the caller closes it with hdf5_close(). */
hid_t hdf5_dataset(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_array *array);

/* Elements that an array takes on the disk before compression: whole chunks. */
uint64_t hdf5_stored_elements(const uint64_t shape[2]);

/* An array of which every rank can have any chunk. */
struct hdf5_chunks {
    hid_t type;
    int dimensions;
    hsize_t shape[HDF5_DIMENSIONS];
    hsize_t chunk[HDF5_DIMENSIONS]; /* sides, none longer than the array's */
    /* Fills values[count][elements of a chunk], of `type`, with chunks first, first+1, ... (numbered in C
     * order), each in C order; those at the end of the array whole too. Collective: all ranks ask for the
     * same at the same time. */
    void (*fill)(const void *source, uint64_t first, size_t count, void *values);
    const void *source;
};

/* The same in pieces of HDF5_CHUNKS_PIECE chunks, of which rank r writes every size-th one from the r-th on.
 */
hid_t hdf5_chunked(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_chunks *chunks);

#endif
