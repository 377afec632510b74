/* HDF5 file: a file that appears whole or not at all, written by all ranks together, with the attributes and
 * arrays that this project writes into one.
 *
 * Every call is collective: all ranks make the same calls with the same values, but for what the docstrings
 * name as the rank's own. On one rank nothing of MPI-IO is used.
 *
 * Errors stick: the first call that fails records the sentence, the ones after it do nothing, and
 * hdf5_file_finish() returns the code. So a page of attributes reads as a page of attributes. On several
 * ranks one rank's failure, and its sentence, become that of all at the next array, at the latest at the
 * end; until then the failed rank leaves out what needs no other one, so a caller makes the same calls
 * whatever failed and reports its own failures by hdf5_file_fail().
 *
 * Only the file system decides when a full disk is noticed: often in a close, so every close is checked. A
 * failed close leaves HDF5 with data it can never write, and trying again when the process ends it crashes;
 * on several ranks a failed file is not closed at all, for HDF5's close would wait for ranks that do not
 * come. This room keeps HDF5 from trying at exit (H5dont_atexit); where MPI was initialised before the first
 * file, MPI_Finalize() makes it try too, so a program that failed must end without it (_exit or MPI_Abort).
 */
#ifndef RADIXPIC_OUTPUT_HDF5_FILE_H
#define RADIXPIC_OUTPUT_HDF5_FILE_H

#include "base/status.h"
#include "config/config.h"
#include "parallel/communicator.h"

#include <hdf5.h>

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hdf5_file {
    const struct communicator *communicator; /* not owned */
    hid_t id;                                /* of the open file, the root group for the calls below */
    char folder[PATH_MAX];
    char path[PATH_MAX];      /* folder/name, where the file will be */
    char temporary[PATH_MAX]; /* folder/.name.tmp, where it is until it is whole */
    enum status status;       /* of the first call that failed */
    uint32_t compression;     /* deflate level of the arrays, 0..9 */
    /* NULL, or set by the caller: writes the user block of the whole file at `path`, its temporary name. */
    enum status (*seal)(const char *path);
};

/* The access properties of a file, through MPI-IO or of this process alone, which the caller closes. The
 * first call comes before that of any other HDF5 function: it takes from HDF5 its try at exit and its
 * messages. */
hid_t hdf5_access(bool through_mpi);

/* Opens a new file that will be folder/name, a folder that all ranks see. HDF5 leaves its first `user_block`
 * bytes, 0 or a power of two from 512 on, to the caller's seal(), and they are 0 until then. The communicator
 * must outlive the file. After a failure, which is that of all ranks, nothing is left; after success the
 * caller ends with hdf5_file_finish(). */
STATUS_CHECKED enum status hdf5_file_create(const struct communicator *communicator, const char *folder,
                                            const char *name, uint32_t compression, size_t user_block,
                                            struct hdf5_file *file);

/* Closes and seals the file. If nothing failed on any rank, it is on the disk under its name and *bytes is
 * its size, on all ranks; else STATUS_FAILED on all ranks, the temporary file is gone and an older file of
 * that name is as it was. */
STATUS_CHECKED enum status hdf5_file_finish(struct hdf5_file *file, uint64_t *bytes);

/* ---- failures ---- */

/* Records a failure of the caller's own, whose sentence status_fail() has; STATUS_OK and failures after the
 * first one change nothing. */
void hdf5_file_fail(struct hdf5_file *file, enum status status);

/* Records that the HDF5 call before this one failed: "PATH: cannot DOING: " and why. */
void hdf5_file_fail_in(struct hdf5_file *file, const char *doing);

/* Makes the first failure of any rank that of all. Whether there is none. */
bool hdf5_file_agree(struct hdf5_file *file);

/* Before a call in which HDF5 writes while ranks wait for one another: on several ranks makes sure that the
 * disk has room for `bytes` more and for all metadata so far. A rank that found the disk full within the call
 * would leave the others waiting. Whether nothing failed, as hdf5_file_agree(). */
bool hdf5_file_reserve(struct hdf5_file *file, uint64_t bytes);

/* ---- groups and attributes ---- */

/* A new group; the caller closes it with hdf5_close(). */
hid_t hdf5_group(struct hdf5_file *file, hid_t parent, const char *name);

/* Closes a group or dataset: this is where a dataset may fail to reach the disk. */
void hdf5_close(struct hdf5_file *file, hid_t object);

/* Attributes of a file, group or dataset. Texts are of fixed length. `count` numbers of a native type are an
 * array, 0 is a single number, which HDF5 tells from an array of one. */
void hdf5_text(struct hdf5_file *file, hid_t object, const char *name, const char *value);
void hdf5_texts(struct hdf5_file *file, hid_t object, const char *name, size_t count,
                const char *const *values);
void hdf5_double(struct hdf5_file *file, hid_t object, const char *name, double value);
void hdf5_doubles(struct hdf5_file *file, hid_t object, const char *name, size_t count, const double *values);
void hdf5_numbers(struct hdf5_file *file, hid_t object, const char *name, hid_t type, size_t count,
                  const void *values);

/* The type of the run's reals. */
static inline hid_t hdf5_real(enum precision precision)
{
    return precision == PRECISION_DOUBLE ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
}

/* ---- arrays (hdf5_array.c) ----
 *
 * Datasets that all ranks write together, each its own rows, or in turn chunk by chunk. They are chunked,
 * shuffled, deflated (unless the file's level is 0) and have checksums. */

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
