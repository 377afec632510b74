/* Push: velocities n-1/2 -> n+1/2 and positions n -> n+1, with the field interpolated by the shape of the
 * deposit, and the short key of the cell that each particle comes to. */
#ifndef RADIXPIC_STEP_PUSH_H
#define RADIXPIC_STEP_PUSH_H

#include "step/stepper.h"

struct push {
    size_t group_items;
    struct kernel *step, *step_and_measure, *measure;
};

/* Of a stepper, whose setup it takes and where it keeps the sums. Dies with its device handle. */
STATUS_CHECKED enum status push_create(struct stepper *stepper, struct push *push);

/* One step of a sorted list in LAYOUT_SOA, in place: afterwards its order is still that of n. `keys`:
 * uint[count], the cell of each particle at n+1. With `measure` keeps the sums at n of species number
 * `species`. (Non-blocking.) */
STATUS_CHECKED enum status push_step(struct push *push, struct stepper *stepper, const struct fields *fields,
                                     uint32_t species, bool measure, struct particles *list,
                                     struct buffer *keys);

/* Only the sums at n; nothing moves. (Non-blocking.) */
STATUS_CHECKED enum status push_measure(struct push *push, struct stepper *stepper,
                                        const struct fields *fields, uint32_t species,
                                        const struct particles *list);

#endif
