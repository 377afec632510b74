/* Stepper, inside: what the steppers share. For this room and its tests only. */
#ifndef RADIXPIC_STEP_INTERNAL_H
#define RADIXPIC_STEP_INTERNAL_H

#include "particles/permute.h"
#include "shared/motion.h"
#include "shared/random.h"
#include "step/stepper.h"

enum { FLAT_ITEMS = 64, MOST_PUSH_SUMS = 6 };

/* The number of sums of a group over a species of so many velocities (SUM_COUNT of the kernels). */
static inline uint32_t push_sum_count(const struct stepper_setup *setup, uint32_t dimensions)
{
    return 1 + dimensions + (setup->sums_work ? 2 : 0);
}

static inline struct pusher species_pusher(const struct species_config *species,
                                           const struct stepper_setup *setup)
{
    struct pusher pusher = pusher_make(0.5 * setup->time_step * species->charge / species->mass,
                                       setup->magnetic, setup->precision == PRECISION_SINGLE);
    pusher.per_c_squared = setup->per_c_squared;
    return pusher;
}

/* An argument of a launch; the pusher must live until then. */
static inline struct kernel_argument arg_pusher(const struct pusher *pusher)
{
    _Static_assert(sizeof(real) == sizeof(double) && sizeof *pusher <= MOST_REALS * sizeof(double),
                   "a launch takes the pusher's numbers as doubles");
    return arg_reals((const double *)pusher, sizeof *pusher / sizeof(double));
}

static inline bool is_electromagnetic(const struct stepper_setup *setup)
{
    return setup->per_c_squared > 0;
}

static inline bool is_magnetic(const struct stepper_setup *setup)
{
    return setup->felt > 2 || setup->magnetic[0] != 0 || setup->magnetic[1] != 0 || setup->magnetic[2] != 0;
}

static inline bool dithers(const struct stepper_setup *setup)
{
    return setup->precision == PRECISION_SINGLE && setup->rounding == ROUNDING_DITHERED;
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

/* The ints of struct row_range in kernels/shared/push.h. */
static inline uint32_t first_row(const struct stepper_setup *setup)
{
    return setup->ghost_rows > 0 ? 0 - setup->ghost_rows : (uint32_t)INT32_MIN;
}
static inline uint32_t end_row(const struct stepper_setup *setup)
{
    return setup->ghost_rows > 0 ? setup->grid.nx - 1 - setup->ghost_rows : INT32_MAX;
}

/* MOTION_ARGUMENTS of the kernels, kernels/shared/push.h; two numbers of the step for dithers among them. */
#define MOTION_ARGUMENTS(stepper, fields, pusher)                                                            \
    (fields)->felt,                                                                                          \
        arg_uints((const uint32_t[]){(fields)->stride, (stepper)->setup.grid.nx, (stepper)->setup.grid.ny,   \
                                     first_row(&(stepper)->setup), end_row(&(stepper)->setup),               \
                                     (uint32_t)(random_mix((stepper)->step) >> 32),                          \
                                     (uint32_t)random_mix((stepper)->step)},                                 \
                  7),                                                                                        \
        arg_reals((const double[]){(stepper)->setup.time_step / (stepper)->setup.grid.dx,                    \
                                   (stepper)->setup.time_step / (stepper)->setup.grid.dy},                   \
                  2),                                                                                        \
        arg_pusher(pusher)

/* SUM_ARGUMENTS of the kernels, the last ones: the weights, and the external fields, where there are any. A
 * NULL argument is left out, so the first is the one that there is. */
#define SUM_ARGUMENTS(fields, list)                                                                          \
    arg_if_any(list_weights(list) ? list_weights(list) : (fields)->external),                                \
        arg_if_any(list_weights(list) ? (fields)->external : NULL)

static inline struct buffer *list_weights(const struct particles *list)
{
    return list->attribute[ATTRIBUTE_WEIGHT];
}

/* Room for the sums of up to `most_groups` groups of each species in each slot. */
STATUS_CHECKED enum status stepper_create_sums(struct stepper *stepper, uint32_t most_groups);

/* Where the sums of a species begin in those of all slots, in reals. */
uint32_t stepper_first_sum(const struct stepper *stepper, uint32_t slot, uint32_t species);

/* For a stepper that moves offsets and velocities itself: attributes after w follow by stepper->origin where
 * the setup has any. Else `any` stands in for it. */
STATUS_CHECKED enum status stepper_create_origin(struct stepper *stepper, struct buffer *any);

/* Moves the attributes after w to the spare arrays. (Non-blocking.) */
STATUS_CHECKED enum status stepper_move_carried(struct stepper *stepper, uint32_t count,
                                                struct particles *list);

#endif
