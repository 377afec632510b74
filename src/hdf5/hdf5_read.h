/* HDF5 read: numbers, texts and arrays of a file that may be damaged or made to harm. Every HDF5 file is
 * opened here. All functions fail, with path, name and reason, where the file holds something else than is
 * asked for; none is collective. What is not in the file itself is refused before it is followed: links but
 * hard ones, arrays that are stored in other files or made of them, and arrays of more numbers than the file
 * can hold. */
#ifndef RADIXPIC_HDF5_HDF5_READ_H
#define RADIXPIC_HDF5_HDF5_READ_H

#include "base/status.h"

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file, open to read. */
struct hdf5_source {
    const char *path;
    enum status failure; /* of all functions but where memory or the disk fails */
    hid_t file;          /* H5I_INVALID_HID: closed */
    uint64_t bytes;      /* of the file */
};

/* Rows of an array of one dimension (shape[1] is 0) or two, of a native type. */
struct hdf5_rows {
    hid_t type;
    uint64_t shape[2], first_row, rows;
};

enum { HDF5_WORD = 64 /* bytes of a text: what is longer is cut off */, HDF5_WORDS = 2 /* at most */ };

/* The bytes that a processor reads at a time, or the numbers that it looks through. */
enum { HDF5_PIECE = 1 << 21 };

static inline size_t hdf5_pieces(uint64_t whole)
{
    return (size_t)((whole + HDF5_PIECE - 1) / HDF5_PIECE);
}

/* Opens a regular file. The source can be closed also after a failure, and twice. */
STATUS_CHECKED enum status hdf5_source_open(const char *path, enum status failure,
                                            struct hdf5_source *source);
void hdf5_source_close(struct hdf5_source *source);

/* *is_there <- whether something has that path, and all steps to it are hard links. */
STATUS_CHECKED enum status hdf5_find(const struct hdf5_source *source, const char *path, bool *is_there);

/* Whether a path that hdf5_find() has found is a group. */
bool hdf5_is_group(const struct hdf5_source *source, const char *path);

/* values[count] <- an attribute of an object, finite numbers of any type; or texts, at most HDF5_WORDS. Left
 * as they are where there is no such attribute. */
STATUS_CHECKED enum status hdf5_read_reals(const struct hdf5_source *source, const char *object,
                                           const char *name, size_t count, double *values);
STATUS_CHECKED enum status hdf5_read_texts(const struct hdf5_source *source, const char *object,
                                           const char *name, size_t count, char texts[][HDF5_WORD]);

/* *value <- an attribute of the file, one number, which must be there. */
STATUS_CHECKED enum status hdf5_read_number(const struct hdf5_source *source, const char *name, hid_t type,
                                            void *value);

/* shape <- that of an array of numbers of one dimension (shape[1] is 0) or two. */
STATUS_CHECKED enum status hdf5_read_shape(const struct hdf5_source *source, const char *name,
                                           uint64_t shape[2]);

/* values[rows * shape[1]] <- rows of an array of that shape, converted to the type. All processors read what
 * lies in the file as it is. */
STATUS_CHECKED enum status hdf5_read_rows(const struct hdf5_source *source, const char *name,
                                          const struct hdf5_rows *rows, void *values);

/* bytes[count] <- those from byte `begin` of a file on, whatever it holds. */
STATUS_CHECKED enum status hdf5_read_bytes(const char *path, int descriptor, uint64_t begin, size_t count,
                                           void *bytes);

#endif
