/* Push: one particle through one step, from its cell and offset at n to those at n+1. */
#ifndef SHARED_PUSH_H
#define SHARED_PUSH_H

#include "shared/interpolate.h"
#include "shared/motion.h"
#include "shared/walk.h"

/* What the push of a species takes: half_kick = q dt/2m, tangent and sine of the rotation (shared/motion.h),
 * (step_x, step_y) = (dt/dx, dt/dy). */
struct motion {
    uint nx, ny;
    real half_kick, tangent, sine, step_x, step_y;
};

/* A particle at n+1. */
struct pushed {
    real2 offset, velocity;
    int i, j; /* its cell, before the grid's ends are joined */
};

/* The velocities before and after the step, in the field around the particle. */
static inline struct velocity_step push_velocity(const struct motion *motion, const struct walk *walk,
                                                 real2 offset, real2 velocity)
{
    const real2 field = interpolate(&walk->around, offset);
    return velocity_push(velocity.x, velocity.y, field.x, field.y, motion->half_kick, motion->tangent,
                         motion->sine);
}

/* Where a particle at `offset` of the walk's cell comes with its new velocity. */
static inline struct pushed push_position(const struct motion *motion, const struct walk *walk, real2 offset,
                                          const struct velocity_step *step)
{
    const struct placement x = offset_place(PRODUCT_SUM(step->u, motion->step_x, offset.x));
    const struct placement y = offset_place(PRODUCT_SUM(step->v, motion->step_y, offset.y));
    struct pushed pushed;
    pushed.velocity = (real2)(step->u, step->v);
    pushed.offset = (real2)(x.offset, y.offset);
    pushed.i = (int)walk->i + x.cells;
    pushed.j = (int)walk->j + y.cells;
    return pushed;
}

/* The key of the cell, and in the lost row the offset that it needs (shared/cell.h). */
static inline uint pushed_cell(const struct motion *motion, const struct pushed *pushed)
{
    return cell_index(wrap_row(pushed->i, motion->nx), wrap_any(pushed->j, motion->ny), motion->ny);
}

static inline real2 pushed_offset(const struct motion *motion, const struct pushed *pushed)
{
    return (real2)(row_offset(pushed->offset.x, pushed->i, motion->nx), pushed->offset.y);
}

#endif
