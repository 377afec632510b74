/* HDF5 read: numbers and arrays of a file of which nothing is believed. All functions return STATUS_FAILED,
 * with path, name and reason, where the file holds something else than is asked for; none is collective. */
#ifndef RADIXPIC_OUTPUT_HDF5_READ_H
#define RADIXPIC_OUTPUT_HDF5_READ_H

#include "base/status.h"

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

/* A file, open to read. */
struct hdf5_source {
    const char *path;
    hid_t file; /* H5I_INVALID_HID: closed */
};

/* Rows of an array of one dimension (shape[1] is 0) or two, of a native type. */
struct hdf5_rows {
    hid_t type;
    uint64_t shape[2], first_row, rows;
};

/* What a processor reads or looks through at a time: bytes, or numbers. */
enum { HDF5_PIECE = 1 << 21 };

static inline size_t hdf5_pieces(uint64_t whole)
{
    return (size_t)((whole + HDF5_PIECE - 1) / HDF5_PIECE);
}

/* *value <- an attribute of the file, one number of a native type. */
STATUS_CHECKED enum status hdf5_read_number(const struct hdf5_source *source, const char *name, hid_t type,
                                            void *value);

/* *length <- that of an array of one dimension. */
STATUS_CHECKED enum status hdf5_read_length(const struct hdf5_source *source, const char *name,
                                            uint64_t *length);

/* values[rows * shape[1]] <- rows of an array, which must lie in the file in one piece: chunks, other files
 * and views of other arrays are refused. All processors read it. */
STATUS_CHECKED enum status hdf5_read_rows(const struct hdf5_source *source, const char *name,
                                          const struct hdf5_rows *rows, void *values);

/* bytes[count] <- those from byte `begin` of a file on, whatever it holds. */
STATUS_CHECKED enum status hdf5_read_bytes(const char *path, int descriptor, uint64_t begin, size_t count,
                                           void *bytes);

#endif
