/* HDF5 array: a dataset that all ranks write together, each its own rows. */
#ifndef RADIXPIC_OUTPUT_HDF5_ARRAY_H
#define RADIXPIC_OUTPUT_HDF5_ARRAY_H

#include "output/hdf5_file.h"

/* An array to be written: `type` is a native HDF5 type, `dimensions` 1 or 2, C order. */
struct hdf5_array {
    hid_t type;
    int dimensions;
    uint64_t shape[2];        /* of the whole array, over all ranks: the same on each */
    uint64_t first_row, rows; /* the rank's own part: these rows, perhaps none; no two ranks share one */
    /* Fills values[count], of `type`, with elements first, first+1, ... of the flattened own part. Its
     * failure is that of the file, on all ranks. */
    enum status (*fill)(const void *source, uint64_t first, size_t count, void *values);
    const void *source;
};

/* Writes an array piece by piece (a few MB of host memory), chunked, shuffled, deflated (unless the level is
 * 0) and with checksums. Ranks whose part is small take part in the writing of the others; what is in no
 * rank's part is not defined. Returns the dataset, for its attributes; the caller closes it with
 * hdf5_close(). */
hid_t hdf5_dataset(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_array *array);

/* The most elements one call of `fill` is asked for in an array of one dimension. */
enum { HDF5_PIECE = 1 << 20 };

/* Elements that an array takes on the disk before compression: whole chunks. */
uint64_t hdf5_stored_elements(int dimensions, const uint64_t shape[2]);

/* ---- what all arrays of a file share ---- */

/* A dataset of `shape`, stored in chunks with these sides, or without (NULL), when it is empty. All ranks
 * call it; a failure is the file's. The caller closes it. */
hid_t hdf5_create_dataset(struct hdf5_file *file, hid_t parent, const char *name, hid_t type, int dimensions,
                          const hsize_t *shape, const hsize_t *chunk);

/* How all ranks write together, for H5Dwrite(). One operation for all chunks, and each rank its own bytes in
 * it, so that a rank whose disk fails leaves no other one waiting before they can agree. The caller closes
 * it. */
hid_t hdf5_transfer_properties(const struct hdf5_file *file);

/* What MPI-IO writes where a dataset of chunks of `bytes` in all is created: each chunk full of zeros, which
 * deflate to a thousandth. */
uint64_t hdf5_bytes_at_creation(const struct hdf5_file *file, uint64_t bytes);

#endif
