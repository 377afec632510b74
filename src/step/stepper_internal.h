/* Stepper, inside: what the steppers share. For this room and its tests only. */
#ifndef RADIXPIC_STEP_INTERNAL_H
#define RADIXPIC_STEP_INTERNAL_H

#include "particles/permute.h"
#include "shared/motion.h"
#include "step/stepper.h"

#include <math.h>

enum { FLAT_ITEMS = 64, MOST_PUSH_SUMS = 4 };

/* Sums of a group over a species: |v|^2, u, v, w (SUM_COUNT of the kernels). */
static inline uint32_t push_sum_count(const struct species_config *species)
{
    return 1 + species_dimensions(species);
}

/* Of one species, in doubles. */
static inline struct pusher species_motion_make(const struct species_config *species,
                                                const struct stepper_setup *setup)
{
    const double half_kick = 0.5 * setup->time_step * species->charge / species->mass;
    const double *magnetic = setup->magnetic;
    const double x = half_kick * magnetic[0], y = half_kick * magnetic[1], z = half_kick * magnetic[2];
    const double square = 1 + (x * x + y * y + z * z);
    return (struct pusher){.half_kick = half_kick,
                           .tangent_x = x,
                           .tangent_y = y,
                           .tangent_z = z,
                           .sine_x = 2 * x / square,
                           .sine_y = 2 * y / square,
                           .sine_z = 2 * z / square,
                           .half_secant = 0.5 * sqrt(square)};
}

static inline bool is_magnetic(const struct stepper_setup *setup)
{
    return setup->magnetic[0] != 0 || setup->magnetic[1] != 0 || setup->magnetic[2] != 0;
}

/* Bytes of offset and velocity of a particle. */
static inline uint64_t state_bytes(const struct particles *list)
{
    return (2 + species_dimensions(list->species)) * precision_bytes(list->precision);
}

/* The spare array of w, or one that stands in for it: particles_w(). */
static inline struct buffer *spare_w(const struct particles *list)
{
    struct buffer *w = list->spare[ATTRIBUTE_W];
    return w ? w : list->spare[ATTRIBUTE_VELOCITY];
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

/* For a stepper that moves offsets and velocities itself: attributes after w follow by stepper->origin where
 * the setup has any. Else `any` stands in for it. */
STATUS_CHECKED enum status stepper_create_origin(struct stepper *stepper, struct buffer *any);

/* Their move, to the spare arrays. (Non-blocking.) */
STATUS_CHECKED enum status stepper_move_carried(struct stepper *stepper, uint32_t count,
                                                struct particles *list);

#endif
