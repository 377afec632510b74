/* Write now: the writing of a recorded file in the thread of a test. */
#ifndef RADIXPIC_TEST_WRITE_NOW_H
#define RADIXPIC_TEST_WRITE_NOW_H

#include "hdf5/hdf5_file.h"

/* Writes and frees the file, unless recording it failed on a rank; *bytes is its size then, else 0.
 * Collective. */
static inline enum status write_now(enum status recorded, struct hdf5_file *file,
                                    const struct communicator *communicator, uint64_t *bytes)
{
    enum status status = communicator_agree(communicator, recorded);
    if (status == STATUS_OK)
        status = hdf5_file_write(file, communicator);
    *bytes = status == STATUS_OK ? file->bytes : 0;
    hdf5_file_free(&file);
    return status;
}

#endif
