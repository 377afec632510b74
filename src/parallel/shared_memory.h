/* Shared memory: one piece of memory that all ranks of a run on one machine see.
 *
 * It is a file of POSIX shared memory that has lost its name by the time a rank gets it, and not a window of
 * MPI: to free such a window all ranks must come together, which a rank that failed alone would wait for in
 * vain. Every rank lets go of this memory by itself, and with the last of them, however that one ends, it is
 * gone.
 */
#ifndef RADIXPIC_PARALLEL_SHARED_MEMORY_H
#define RADIXPIC_PARALLEL_SHARED_MEMORY_H

#include "device/device.h"
#include "parallel/communicator.h"

/* Collective. *memory is where this rank finds `bytes` bytes (more than none, the same number on every rank,
 * from the begin of a page on, zero at first), until the handle is closed. STATUS_FAILED on all ranks where
 * one of them cannot have it: ranks on several machines, or a machine with less shared memory. */
STATUS_CHECKED enum status shared_memory_create(const struct communicator *communicator,
                                                struct device *device, size_t bytes, void **memory);

#endif
