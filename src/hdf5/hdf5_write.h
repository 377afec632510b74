/* HDF5 writing: what the files that call HDF5 share. Not for others. */
#ifndef RADIXPIC_HDF5_HDF5_WRITE_H
#define RADIXPIC_HDF5_HDF5_WRITE_H

#include "hdf5/hdf5_file.h"

#include <hdf5.h>

/* The access properties of a file, which the caller closes. The first call comes before that of any other
 * HDF5 function: it takes from HDF5 its messages and its try at exit to write the rest, which would crash. */
hid_t hdf5_access(void);

/* A type of HDF5's, not to be closed. */
hid_t hdf5_native(enum hdf5_type type);

/* A file while it is written. */
struct writing {
    struct hdf5_file *file;
    const struct communicator *communicator;
    hid_t id;           /* on rank 0 */
    int folder;         /* open, or -1 */
    int descriptor;     /* of the same file, by which writing to the disk begins before the end; -1: none */
    uint64_t handed;    /* bytes that the system has, but was not told to write */
    enum status status; /* of the first failure of this rank */
    bool is_lost;       /* another rank failed; only rank 0 knows, before all agree */
};

static inline bool writing_is_first(const struct writing *writing)
{
    return writing->communicator->rank == 0;
}

/* Whether it is of use to write on. */
static inline bool writing_is_well(const struct writing *writing)
{
    return writing->status == STATUS_OK && !writing->is_lost;
}

/* Makes a failure of any rank that of all. Whether there is none. Collective. */
bool writing_agree(struct writing *writing);

/* Records, unless there was a failure before, that this cannot be done: "PATH: cannot DOING: " and why the
 * HDF5 call before this one failed. */
enum status writing_fail_in(struct writing *writing, const char *doing);

/* The same with the text of an errno. */
enum status writing_fail_errno(struct writing *writing, const char *doing, int error_number);

/* values[count] <- elements from number `first` on, which are the rank's own. */
STATUS_CHECKED enum status writing_fill(const struct hdf5_array *array, uint64_t first, size_t count,
                                        void *values);

/* Writes the chunks of an array (hdf5_stream.c). Collective; `dataset` is rank 0's. */
void writing_chunks(struct writing *writing, const struct hdf5_object *object, hid_t dataset);

#endif
