/* Arrivals: the room that a list leaves for particles that come from other ranks, before they are there.
 *
 * Particles come to own rows that lie within other ranks' ghost rows (domain/slab.h): a few at either end of
 * a slab, or all rows where slabs are whole. So their numbers are kept by row.
 */
#ifndef RADIXPIC_DOMAIN_ARRIVALS_H
#define RADIXPIC_DOMAIN_ARRIVALS_H

#include "device/device.h"

#define ARRIVALS_NONE UINT32_MAX /* the same in kernels/shared/arrivals.h */

/* Of one species in one step. The buffers are not owned. */
struct arrival_room {
    uint32_t count;              /* of particles that come, in all */
    const struct buffer *rows;   /* uint[local nx]: which row of `counts` a row has, or ARRIVALS_NONE */
    const struct buffer *counts; /* uint[rows that particles can come to][ny] */
};

#endif
