/* Pool: work of the host that is divided among the processors of this process. */
#ifndef RADIXPIC_BASE_POOL_H
#define RADIXPIC_BASE_POOL_H

#include "base/status.h"

#include <stddef.h>

/* A list of pieces. Threads make several pieces at the same time, each in scratch memory of its own; the
 * caller's thread takes them, one at a time, in the order of their numbers. */
struct pool_work {
    enum status (*make)(void *context, size_t n, void *scratch);
    enum status (*take)(void *context, size_t n, void *scratch); /* NULL: nothing is taken */
    void *context;
    size_t scratch_bytes; /* of a piece, not initialised */
};

/* The processors that this process may run on. */
size_t pool_processors(void);

/* Pieces that have scratch memory at a time, at most. */
size_t pool_slots(void);

/* Makes and takes pieces 0 to count-1. Blocking. The first failure, in the order of the pieces, is returned
 * with its sentence; the pieces behind it are not taken. Threads that cannot be started are done without. */
STATUS_CHECKED enum status pool_run(const struct pool_work *work, size_t count);

/* For pieces of microseconds, which cannot fail: calls piece(context, n) for n = 0 to count-1, by the
 * caller's thread and by others, up to `threads` in all and a processor each. These threads sleep in between
 * and live as long as the process. One list at a time is shared: the thread that comes meanwhile with another
 * does all of it itself. */
typedef void pool_piece(const void *context, size_t n);
void pool_share(size_t threads, size_t count, pool_piece *piece, const void *context);

#endif
