/* Rows: moving the rows of the box between two ways of dividing them among the ranks.
 *
 * In both ways every rank has a contiguous range of rows, in the order of the ranks; a range may be empty. A
 * row is `columns` doubles; the next begins `stride` doubles after it.
 */
#ifndef RADIXPIC_PARALLEL_ROWS_H
#define RADIXPIC_PARALLEL_ROWS_H

#include "device/device.h"
#include "parallel/communicator.h"

struct row_exchange;

/* One way: rank r has rows [first[r], first[r + 1]). */
struct row_division {
    const uint32_t *first; /* [ranks + 1], not owned, needed by rows_create() alone; the same on every rank */
    uint32_t stride;       /* at least the columns */
};

/* Collective. The handle that owns it is closed before MPI ends. */
STATUS_CHECKED enum status rows_create(const struct communicator *communicator, struct device *device,
                                       uint32_t columns, const struct row_division *here,
                                       const struct row_division *there, struct row_exchange **exchange);

/* Collective. From the first division to the second, or back. What lies between the rows of the target stays
 * as it is. */
void rows_move(const struct row_exchange *exchange, bool back, const double *source, double *target);

#endif
