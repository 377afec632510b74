/* HDF5 file: a file that appears whole or not at all, and the few things this project writes into one.
 *
 * Errors stick: the first call that fails records the sentence, the ones after it do nothing, and
 * hdf5_file_finish() returns the code. So a page of attributes reads as a page of attributes.
 *
 * Only the file system decides when a full disk is noticed: often in a close, so every close is checked. A
 * failed close leaves HDF5 with data it can never write, and trying again when the process ends it crashes.
 * This room keeps it from trying at exit (H5dont_atexit); where MPI was initialised before the first file,
 * MPI_Finalize() makes it try too, so a program that failed must end without it (_exit or MPI_Abort).
 */
#ifndef RADIXPIC_DIAG_HDF5_FILE_H
#define RADIXPIC_DIAG_HDF5_FILE_H

#include "base/status.h"

#include <hdf5.h>

#include <stddef.h>
#include <stdint.h>

struct hdf5_file {
    hid_t id;             /* of the open file, the root group for the calls below */
    char *folder;         /* owned */
    char *path;           /* owned: folder/name, where the file will be */
    char *temporary;      /* owned: folder/.name.tmp, where it is until it is whole */
    enum status status;   /* of the first call that failed */
    uint32_t compression; /* deflate level of the arrays, 0..9 */
};

/* Opens a new file that will be folder/name. Serial, whatever HDF5 can do. After a failure nothing is left;
 * after success the caller ends with hdf5_file_finish(). */
STATUS_CHECKED enum status hdf5_file_create(const char *folder, const char *name, uint32_t compression,
                                            struct hdf5_file *file);

/* Closes the file and frees what it owns. If nothing failed, the file is on the disk under its name and
 * *bytes is its size; else STATUS_FAILED, the temporary file is gone and an older file of that name is as it
 * was. */
STATUS_CHECKED enum status hdf5_file_finish(struct hdf5_file *file, uint64_t *bytes);

/* A new group; the caller closes it with hdf5_close(). */
hid_t hdf5_group(struct hdf5_file *file, hid_t parent, const char *name);

/* Closes a group or dataset: this is where a dataset may fail to reach the disk. */
void hdf5_close(struct hdf5_file *file, hid_t object);

/* Attributes of a file, group or dataset. Texts are of fixed length; values are one number or count of them.
 */
void hdf5_text(struct hdf5_file *file, hid_t object, const char *name, const char *value);
void hdf5_texts(struct hdf5_file *file, hid_t object, const char *name, size_t count,
                const char *const *values);
void hdf5_double(struct hdf5_file *file, hid_t object, const char *name, double value);
void hdf5_doubles(struct hdf5_file *file, hid_t object, const char *name, size_t count, const double *values);
void hdf5_uint32(struct hdf5_file *file, hid_t object, const char *name, uint32_t value);
void hdf5_uint64s(struct hdf5_file *file, hid_t object, const char *name, size_t count,
                  const uint64_t *values);

/* An array to be written: `type` is a native HDF5 type, `rank` 1 or 2, C order. */
struct hdf5_array {
    hid_t type;
    int rank;
    uint64_t shape[2];
    /* Fills values[count], of `type`, with elements first, first+1, ... of the flattened array. */
    enum status (*fill)(const void *source, uint64_t first, size_t count, void *values);
    const void *source;
};

/* Writes an array piece by piece (a few MB of host memory), chunked, shuffled, deflated (unless the level is
 * 0) and with checksums. Returns the dataset, for its attributes; the caller closes it with hdf5_close(). */
hid_t hdf5_dataset(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_array *array);

/* The most elements one call of `fill` is asked for in an array of rank 1. */
enum { HDF5_PIECE = 1 << 20 };

/* Elements that an array takes on the disk before compression: whole chunks. */
uint64_t hdf5_stored_elements(int rank, const uint64_t shape[2]);

#endif
