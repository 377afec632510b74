/* Shared memory: one piece of memory that all ranks of a run on one machine see.
 *
 * It is a file of POSIX shared memory that has lost its name by the time a rank gets it, and not a window of
 * MPI: to free such a window all ranks must come together, which a rank that failed alone would wait for in
 * vain. Every rank lets go of this memory by itself, and with the last of them, however that one ends, it is
 * gone.
 *
 * Each rank has a signal behind the memory, a number that it raises when its part is ready for others and
 * that these wait for: so they meet without messages.
 */
#ifndef RADIXPIC_PARALLEL_SHARED_MEMORY_H
#define RADIXPIC_PARALLEL_SHARED_MEMORY_H

#include "device/device.h"
#include "parallel/communicator.h"

struct shared_signal; /* of shared_memory.c */

struct shared_memory {
    char *memory; /* from the begin of a page on; NULL: there is none */
    struct shared_signal *signals;
    int rank, ranks;
    uint32_t barriers; /* that this rank has come to */
};

/* Collective. shared->memory is where this rank finds `bytes` bytes (more than none, the same number on every
 * rank, zero at first), which its device reaches as in host_memory_adopt(), until the handle is closed. No
 * rank comes from here before all devices have it: to take it over a driver may write there what it read
 * there. STATUS_FAILED on all ranks where one of them cannot have it, with nothing left: ranks on
 * several machines or in containers with shared memory of their own, a machine with less shared memory, or a
 * device that does not reach it. */
STATUS_CHECKED enum status shared_memory_create(const struct communicator *communicator,
                                                struct device *device, size_t bytes,
                                                struct shared_memory *shared);

/* Collective. All ranks meet: what they have written and read in the memory before lies before what any of
 * them does there afterwards. Where a rank never comes the others wait until they are ended
 * (communicator_stop()). */
void shared_memory_barrier(struct shared_memory *shared);

#endif
