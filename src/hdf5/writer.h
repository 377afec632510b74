/* Writer: a thread of each rank that writes recorded files, one after the other, while the run goes on. */
#ifndef RADIXPIC_HDF5_WRITER_H
#define RADIXPIC_HDF5_WRITER_H

#include "hdf5/hdf5_file.h"

#include <pthread.h>

struct writer;

/* HDF5 is for one thread at a time, and each simulation of a process has a writer. */
extern pthread_mutex_t writer_hdf5;

enum { WRITER_FILES = 2 /* in flight at most: one that is written and one that waits */ };

/* Files that were written, and the time that took beside the steps. */
struct written {
    uint64_t files, bytes;
    double seconds;
};

/* Starts the thread. Collective. Where MPI allows no threads, files are written at once, in writer_put(). The
 * caller ends with writer_destroy(). */
STATUS_CHECKED enum status writer_create(const struct communicator *communicator, struct writer **writer);

/* Waits for what is in flight, and ends the thread. NULL is fine. */
void writer_destroy(struct writer **writer);

/* Waits while WRITER_FILES are in flight: before a further one is recorded, which takes memory. */
void writer_make_room(struct writer *writer);

/* Takes a file, which must be recorded on all ranks, to write and free it; there must be room. After a
 * failure files are freed and not written. */
void writer_put(struct writer *writer, struct hdf5_file *file);

/* Waits for what is in flight. The first failure, that of all ranks, with its sentence. */
STATUS_CHECKED enum status writer_wait(struct writer *writer);

/* Whether a file could not be written, as far as this rank knows yet. */
bool writer_failed(struct writer *writer);

/* All that was written so far. */
struct written writer_totals(struct writer *writer);

#endif
