/* Push: the walk along a sorted list, and the LANES particles that an item has at once through one step, from
 * their cells and offsets at n to those at n+1. Device only. */
#ifndef SHARED_PUSH_H
#define SHARED_PUSH_H

#ifndef WORK
#error "WORK must be set"
#endif

/* velocity_square(), u, v, w at n, of the pushed particles, and kick_power() of the external field in the
 * half steps to n and from n on. */
#define SUM_COUNT (VELOCITIES + 1 + 2 * WORK)

#include "shared/interpolate.h"
#include "shared/motion.h"
#include "shared/search.h"
#include "shared/sum.h"
#include "shared/weight.h"

/* ---- what a push takes ---- */

/* wrap_any() in every lane. */
static inline uints wrap_lanes(ints i, uint n)
{
#if LANES == 1
    return wrap_any(i, n);
#else
    const int size = (int)n;
    ints wrapped = i + (i < 0 ? (ints)size : (ints)0);
    wrapped -= wrapped >= size ? (ints)size : (ints)0;
    if (all_lanes(as_uint16(wrapped) < n))
        return as_uint16(wrapped);
    uint lane[LANES];
    for (uint l = 0; l < LANES; l++)
        lane[l] = wrap_any(((const int *)&i)[l], n);
    return LOAD(lane);
#endif
}

/* The rows of the grid, counted from row 0 without joining its ends, that a particle of an own row may come
 * to: from `first` to before `end`. Those of a slab are its own and the ghost rows (src/domain/slab.h), and
 * `end` is the lost row; where the grid is the whole box it has them all. */
struct row_range {
    int first, end;
};

static inline ints has_row(struct row_range rows, ints i)
{
    return HAS_GHOST_ROWS ? (i >= rows.first) & (i < rows.end) : (ints)-1;
}

/* Rows from row 0 on that are reached upwards without meeting the lost row or coming in from below. */
static inline int rows_upwards(struct row_range rows, uint nx)
{
    return min(rows.end, (int)nx);
}

/* The row i where a particle of an own row has come to, brought to [0, nx): those beyond the ghost rows to
 * the lost one. */
static inline uints wrap_row(struct row_range rows, ints i, uint nx)
{
    return wrap_lanes(has_row(rows, i) ? i : (ints)rows.end, nx);
}

/* The offset to keep of a particle that has come to row i: in the lost row all of x, counted from row 0, so
 * that it can be found again. */
static inline reals row_offset(struct row_range rows, reals offset, ints i)
{
    return REAL_MASK(has_row(rows, i)) ? offset : TO_REALS(i) + offset;
}

/* What the push of a species takes: the FELT fields, `stride` reals apart, two numbers of the step for
 * dithers, and (step_x, step_y) = (dt/dx, dt/dy); MOTION_ARGUMENTS of the host's src/step/stepper_internal.h.
 */
struct motion {
    global const real *e;
    uint stride;
    uint nx, ny;
    struct row_range rows;
    uint factor, start;
    real step_x, step_y;
    struct pusher pusher;
#if WEIGHTS
    global const real *weight; /* in MEASURED_MOTION */
#endif
#if WORK
    global const real *external; /* the external part of e, in MEASURED_MOTION; else 0 */
#endif
};
struct motion_grid {
    uint stride, nx, ny;
    struct row_range rows;
    uint factor, start;
};
#define MOTION_ARGUMENTS                                                                                     \
    global const real *restrict e, struct motion_grid grid, real2 steps, struct pusher pusher
#define MOTION_MEMBERS                                                                                       \
    e, grid.stride, grid.nx, grid.ny, grid.rows, grid.factor, grid.start, steps.x, steps.y, pusher
#if WORK
#define WORK_ARGUMENT , global const real *restrict external
#define WORK_MEMBER   , .external = external
#else
#define WORK_ARGUMENT
#define WORK_MEMBER
#endif
#define SUM_ARGUMENTS   WEIGHT_ARGUMENT WORK_ARGUMENT /* the last ones of kernels that measure */
#define MOTION          ((struct motion){MOTION_MEMBERS})
#define MEASURED_MOTION ((struct motion){MOTION_MEMBERS WEIGHT_MEMBER WORK_MEMBER})

/* ---- the walk of an item ---- */

#define WALK_NO_CELL 0xfffffffeu /* no next one either */
#define WALK_CELLS   5           /* that a walk tries in turn before it searches all */

/* The cell of the particles that an item is at, and the field around it. */
struct walk {
    uint begin, end; /* the cell's particles are [begin, end); none at first */
    uint cell, i, j; /* the cell */
    struct cell_field around;
#if WORK
    struct cell_field external; /* where motion has it */
#endif
};

static inline struct walk walk_start(void)
{
    struct walk start = {.cell = WALK_NO_CELL};
#if LANES > 1
    start.around.i = WALK_NO_CELL; /* nor a row */
#if WORK
    start.external.i = WALK_NO_CELL;
#endif
#endif
    return start;
}

static inline void walk_read_external(struct walk *walk, const struct motion *motion)
{
#if WORK
    if (motion->external)
        cell_field_enter(&walk->external, motion->external, motion->stride, motion->nx, motion->ny, walk->i,
                         walk->j);
#endif
}

/* The fields around the cell (i, j). */
static inline void walk_read(struct walk *walk, const struct motion *motion)
{
    cell_field_enter(&walk->around, motion->e, motion->stride, motion->nx, motion->ny, walk->i, walk->j);
    walk_read_external(walk, motion);
}

static inline void walk_enter(struct walk *walk, const struct motion *motion, uint cell)
{
    walk->cell = cell;
    walk->i = cell / motion->ny;
    walk->j = cell - walk->i * motion->ny;
    walk_read(walk, motion);
}

/* To particle p, which is in one of the cells from `low` to `high`. */
static inline void walk_to(struct walk *walk, const struct motion *motion,
                           global const uint *restrict cell_offsets, uint p, uint low, uint high)
{
    if (p >= walk->begin && p < walk->end)
        return;
    uint cell = low;
    if (p >= walk->end && walk->cell < high) /* often in the next one, or in one soon after */
        for (cell = walk->cell + 1; cell_offsets[cell + 1] <= p && cell < min(high, walk->cell + WALK_CELLS);)
            cell++;
    if (cell_offsets[cell + 1] <= p)
        cell = find_segment(cell_offsets, cell, high, p);
    walk->begin = cell_offsets[cell];
    walk->end = cell_offsets[cell + 1];
    walk_enter(walk, motion, cell);
}

/* To particle p behind the walk's cell, for an item that meets all cells on the way. */
static inline void walk_on(struct walk *walk, const struct motion *motion,
                           global const uint *restrict cell_offsets, uint p)
{
    do {
        walk->cell++;
        walk->j++;
        if (walk->j == motion->ny) {
            walk->j = 0;
            walk->i++;
        }
        walk->end = cell_offsets[walk->cell + 1];
    } while (walk->end <= p);
    walk_read(walk, motion);
}

/* ---- the particles of an item ---- */

/* The cells of particles, and the field at each. */
struct surroundings {
    uint i, j;         /* the cell of the first particle */
    ints right, above; /* how far the cell of each particle is from there */
    reals field[FELT];
#if WORK
    reals external[FELT]; /* where motion has it */
#endif
};

/* The surroundings of particles at the offsets (x, y) in the walk's cell. */
static inline struct surroundings walk_surroundings(const struct walk *walk, const struct motion *motion,
                                                    reals x, reals y)
{
    struct surroundings around; /* an initialiser would clear the field, too */
    around.i = walk->i;
    around.j = walk->j;
    around.right = around.above = (ints)0;
    interpolate(&walk->around, x, y, around.field);
#if WORK
    if (motion->external)
        interpolate(&walk->external, x, y, around.external);
#endif
    return around;
}

/* The surroundings of the particles from `begin` to before `end`, to which the walk goes; lane l has particle
 * begin + particle[l]. With vectors the walk is in the cell of an earlier particle, or of the first. Where
 * they are in several cells, what belongs to the later ones replaces what the earlier ones gave. */
static inline struct surroundings walk_along(struct walk *walk, const struct motion *motion,
                                             global const uint *restrict cell_offsets, uint begin, uint end,
                                             ints particle, reals x, reals y)
{
    if (LANES == 1)
        walk_to(walk, motion, cell_offsets, begin, 0, motion->nx * motion->ny - 1);
    else if (walk->end <= begin)
        walk_on(walk, motion, cell_offsets, begin);
    struct surroundings around = walk_surroundings(walk, motion, x, y);
    while (LANES > 1 && walk->end < end) {
        const ints later = particle >= (int)(walk->end - begin);
        walk_on(walk, motion, cell_offsets, walk->end);
        const struct surroundings next = walk_surroundings(walk, motion, x, y);
        around.right = later ? (ints)(int)(next.i - around.i) : around.right;
        around.above = later ? (ints)(int)(next.j - around.j) : around.above;
#pragma unroll
        for (int c = 0; c < FELT; c++)
            around.field[c] = REAL_MASK(later) ? next.field[c] : around.field[c];
#if WORK
        for (int c = 0; c < FELT && motion->external; c++)
            around.external[c] = REAL_MASK(later) ? next.external[c] : around.external[c];
#endif
    }
    return around;
}

/* Particles on their way: offsets, at first in the cells (i, j), velocities, and velocities at n with their
 * velocity_square(). */
struct pushed {
    reals x, y;
    struct velocity velocity, at_n;
    reals square;
    ints i, j;
#if WORK
    reals work[2]; /* where motion has an external field */
#endif
};

/* One step of particle number `first` and those after it in other lanes, at the offsets (x, y), which may
 * leave [0, 1). */
static inline struct pushed push(const struct motion *motion, const struct surroundings *around, uint first,
                                 ints particle, reals x, reals y, struct velocity velocity)
{
    const struct pusher *const pusher = &motion->pusher;
    const reals dither = dither_of(motion->factor, motion->start, first, particle);
    const struct velocity_step step = velocity_push(velocity, around->field, pusher, dither);
    const struct velocity v = velocity_of(step.moving, pusher);
    struct pushed pushed = {offset_after(x, v.u, motion->step_x, dither),
                            offset_after(y, v.v, motion->step_y, dither),
                            step.after,
                            step.at_n,
                            velocity_square(step.at_n, pusher),
                            (int)around->i + around->right,
                            (int)around->j + around->above};
#if WORK
    if (motion->external) {
        const real h = pusher->half_kick;
        const struct velocity first = add_kick(velocity, around->field, h);
        const struct velocity last = add_kick(step.after, around->field, -h);
        pushed.work[0] = kick_power(around->external, velocity, first, pusher);
        pushed.work[1] = kick_power(around->external, last, step.after, pusher);
    }
#endif
    return pushed;
}

/* Brings them to the cells (i, j) where they belong, before the grid's ends are joined; those beyond the
 * ends are as row_offset() has them. */
static inline void push_place(const struct motion *motion, struct pushed *pushed)
{
    const struct placement x = offset_place(pushed->x), y = offset_place(pushed->y);
    pushed->i += x.cells;
    pushed->j += y.cells;
    pushed->x = row_offset(motion->rows, x.offset, pushed->i);
    pushed->y = y.offset;
}

/* The keys of these cells. */
static inline uints pushed_cell(const struct motion *motion, const struct pushed *pushed)
{
    return cell_index(wrap_row(motion->rows, pushed->i, motion->nx), wrap_lanes(pushed->j, motion->ny),
                      motion->ny);
}

/* Adds the numbers of SUM_COUNT of particles `first` on, in lanes with a `particle` < `number`. */
static inline void push_add_sums(reals block[SUM_COUNT], const struct motion *motion,
                                 const struct pushed *pushed, uint first, uint number, ints particle)
{
    reals values[SUM_COUNT] = {pushed->square, pushed->at_n.u, pushed->at_n.v};
    if (HAS_W)
        values[VELOCITIES] = pushed->at_n.w;
#if WORK
    values[VELOCITIES + 1] = pushed->work[0];
    values[VELOCITIES + 2] = pushed->work[1];
#endif
#if WEIGHTS
    const reals weights = load_weights(motion->weight, first, number, particle);
    for (uint n = 0; n < SUM_COUNT; n++)
        values[n] *= weights;
#endif
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n++)
        block[n] += LANES == 1 || number == LANES       ? values[n]
                    : REAL_MASK(particle < (int)number) ? values[n]
                                                        : (reals)0;
}

#if LANES == 1

/* Velocities as lists have them: pairs, and w where species have it. */
static inline struct velocity read_velocity(global const real2 *pairs, global const real *w, uint p)
{
    const real2 pair = pairs[p];
    const struct velocity velocity = {pair.x, pair.y, HAS_W ? w[p] : (real)0};
    return velocity;
}

static inline void write_velocity(const struct velocity *velocity, global real2 *pairs, global real *w,
                                  uint p)
{
    pairs[p] = (real2)(velocity->u, velocity->v);
    if (HAS_W)
        w[p] = velocity->w;
}

/* Particle p, of the walk's cell, through the whole step. */
static inline struct pushed push_one(const struct motion *motion, const struct walk *walk, uint p,
                                     real2 offset, struct velocity velocity)
{
    const struct surroundings around = walk_surroundings(walk, motion, offset.x, offset.y);
    struct pushed pushed = push(motion, &around, p, 0, offset.x, offset.y, velocity);
    push_place(motion, &pushed);
    return pushed;
}

#else

/* floor() by way of int: CPU devices do that faster. */
static inline ints floor_in_reach(reals x)
{
    return TO_INTS(x) - ONE_WHERE(x < (real)0);
}

/* push_place() where that is simple. Returns the lanes of which it is: in the others a difference has rounded
 * up to 1, or the particle is far away or none. */
static inline ints push_place_near(struct pushed *pushed)
{
    const ints right = floor_in_reach(pushed->x), above = floor_in_reach(pushed->y);
    pushed->x -= TO_REALS(right);
    pushed->y -= TO_REALS(above);
    pushed->i += right;
    pushed->j += above;
    return INT_MASK(are_fractions(pushed->x, pushed->y));
}

#endif

/* push_place() and pushed_cell(), for vectors fast where no particle leaves the grid on one side and comes in
 * on the other, or goes to the lost row. */
static inline uints push_find_cells(const struct motion *motion, struct pushed *pushed)
{
#if LANES > 1
    struct pushed near = *pushed;
    const ints is_near = push_place_near(&near);
    if (all_lanes(is_near & (TO_UINTS(near.i) < (uint)rows_upwards(motion->rows, motion->nx)) &
                  (TO_UINTS(near.j) < motion->ny))) {
        *pushed = near;
        return TO_UINTS(cell_index(near.i, near.j, (int)motion->ny));
    }
#endif
    push_place(motion, pushed);
    return pushed_cell(motion, pushed);
}

#endif
