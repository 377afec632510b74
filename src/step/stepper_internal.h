/* Stepper, inside: what the steppers share. For this room and its tests only. */
#ifndef RADIXPIC_STEP_INTERNAL_H
#define RADIXPIC_STEP_INTERNAL_H

#include "particles/permute.h"
#include "shared/motion.h"
#include "step/stepper.h"

#include <math.h>

enum { FLAT_ITEMS = 64, PUSH_SUMS = 3 /* of a group: |v|^2, u, v (SUM_COUNT of the kernels) */ };

/* Of one species, in doubles. */
static inline struct pusher species_motion_make(const struct species_config *species,
                                                const struct stepper_setup *setup)
{
    const double half_kick = 0.5 * setup->time_step * species->charge / species->mass;
    const double tangent = half_kick * setup->magnetic;
    const double square = 1 + tangent * tangent;
    return (struct pusher){.half_kick = half_kick,
                           .tangent = tangent,
                           .sine = 2 * tangent / square,
                           .half_secant = 0.5 * sqrt(square)};
}

/* Behind other arguments of a launch, those of the struct pusher `motion`. */
#define PUSHER_ARGUMENT(name) , motion.name

/* MOTION_ARGUMENTS of the kernels, kernels/shared/push.h, with those of the struct pusher `motion`. */
#define MOTION_ARGUMENTS(setup, fields)                                                                      \
    (fields)->ex, (fields)->ey, (setup)->grid.nx, (setup)->grid.ny, (setup)->time_step / (setup)->grid.dx,   \
        (setup)->time_step / (setup)->grid.dy PUSHER_NUMBERS(PUSHER_ARGUMENT)

/* Room for the sums of up to `most_groups` groups of each species in each slot. */
STATUS_CHECKED enum status stepper_create_sums(struct stepper *stepper, uint32_t most_groups);

/* Where the sums of a species begin in those of all slots, in reals. */
uint32_t stepper_first_sum(const struct stepper *stepper, uint32_t slot, uint32_t species);

/* For a stepper that moves offsets and velocities itself: other attributes follow by stepper->origin where
 * the setup has any. Else `any` stands in for it. */
STATUS_CHECKED enum status stepper_create_origin(struct stepper *stepper, struct buffer *any);

/* Their move, to the spare arrays. (Non-blocking.) */
STATUS_CHECKED enum status stepper_move_carried(struct stepper *stepper, uint32_t count,
                                                struct particles *list);

#endif
