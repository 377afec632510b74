/* Shared memory: one piece of memory that all ranks of a run on one machine see.
 *
 * It is a file of POSIX shared memory that has lost its name by the time a rank gets it, and not a window of
 * MPI: to free such a window all ranks must come together, which a rank that failed alone would wait for in
 * vain. Every rank lets go of this memory by itself, and with the last of them, however that one ends, it is
 * gone.
 *
 * Each rank has a signal behind the memory, a number that it raises when its part is ready for others and
 * that these wait for: no message is sent, and a rank waits for no more ranks than it takes something from.
 * All ranks raise theirs at the same places of the program.
 */
#ifndef RADIXPIC_PARALLEL_SHARED_MEMORY_H
#define RADIXPIC_PARALLEL_SHARED_MEMORY_H

#include "device/device.h"
#include "parallel/communicator.h"

struct shared_signal; /* of shared_memory.c */

struct shared_memory {
    char *memory; /* from the begin of a page on; NULL: there is none */
    struct shared_signal *signals;
    int rank;
    uint32_t raised; /* how often this rank has */
};

/* Collective. shared->memory is where this rank finds `bytes` bytes (more than none, the same number on every
 * rank, zero at first), until the handle is closed. STATUS_FAILED on all ranks where one of them cannot have
 * it: ranks on several machines, or a machine with less shared memory. */
STATUS_CHECKED enum status shared_memory_create(const struct communicator *communicator,
                                                struct device *device, size_t bytes,
                                                struct shared_memory *shared);

/* What this rank has written and read in the memory until now lies before what others do there after
 * shared_memory_wait(), which waits until rank `rank` has raised its signal as often as this one. */
void shared_memory_raise(struct shared_memory *shared);
void shared_memory_wait(const struct shared_memory *shared, int rank);

#endif
