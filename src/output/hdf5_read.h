/* HDF5 read: arrays and attributes of a file that this project wrote. Nothing that stands in the file is
 * believed: what is read must have the type and shape that the caller expects, else STATUS_FAILED with a
 * sentence. Not collective: each rank reads by itself.
 */
#ifndef RADIXPIC_OUTPUT_HDF5_READ_H
#define RADIXPIC_OUTPUT_HDF5_READ_H

#include "base/status.h"

#include <hdf5.h>

#include <stddef.h>
#include <stdint.h>

struct hdf5_source {
    hid_t id;         /* of the open file; H5I_INVALID_HID: closed */
    const char *path; /* not owned: for messages */
};

/* Opens the file at `path`, which must outlive the source. The caller closes it. */
STATUS_CHECKED enum status hdf5_source_open(const char *path, struct hdf5_source *source);
void hdf5_source_close(struct hdf5_source *source);

/* *value <- an attribute of the file, one number: `type` is a native HDF5 type. */
STATUS_CHECKED enum status hdf5_read_attribute(const struct hdf5_source *source, const char *name, hid_t type,
                                               void *value);

/* Rows of an array; those of one of one dimension are its elements. */
struct hdf5_rows {
    hid_t type;            /* native */
    uint64_t shape[2];     /* of the array; [1] is 0 where it has one dimension */
    uint64_t first, count; /* of the rows that are read, perhaps none */
};

/* values[count * shape[1]] <- rows of the array at `name`. */
STATUS_CHECKED enum status hdf5_read_rows(const struct hdf5_source *source, const char *name,
                                          const struct hdf5_rows *rows, void *values);

/* The length of the array of one dimension at `name`. */
STATUS_CHECKED enum status hdf5_read_length(const struct hdf5_source *source, const char *name,
                                            uint64_t *length);

#endif
