/* Push: the walk along a sorted list, and particles through one step, from their cell and offset at n to
 * those at n+1: one at a time, and sixteen of one cell at a time for CPU devices. Device only.
 *
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h), SHAPE_ORDER (shared/shape.h), GHOST_ROWS
 * (shared/cell.h), MAGNETIC (shared/motion.h) and GROUP_ITEMS (shared/sum.h).
 */
#ifndef SHARED_PUSH_H
#define SHARED_PUSH_H

#define SUM_COUNT 3 /* |v|^2, u, v at n, of the pushed particles */

#include "shared/interpolate.h"
#include "shared/motion.h"
#include "shared/search.h"
#include "shared/sum.h"

/* What the push of a species takes: E, half_kick = q dt/2m, tangent and sine of the rotation
 * (shared/motion.h), (step_x, step_y) = (dt/dx, dt/dy); MOTION_ARGUMENTS of the host's
 * src/step/stepper_internal.h. */
struct motion {
    global const real *ex, *ey;
    uint nx, ny;
    real half_kick, tangent, sine, step_x, step_y;
};
#define MOTION_ARGUMENTS                                                                                     \
    global const real *restrict ex, global const real *restrict ey, uint nx, uint ny, real half_kick,        \
        real tangent, real sine, real step_x, real step_y
#define MOTION                                                                                               \
    (struct motion)                                                                                          \
    {                                                                                                        \
        ex, ey, nx, ny, half_kick, tangent, sine, step_x, step_y                                             \
    }

/* ---- the walk of an item ---- */

#define WALK_NO_CELL 0xfffffffeu /* no next one either */

/* The cell of the particles that an item is at, and the field around it. */
struct walk {
    uint begin, end; /* the cell's particles are [begin, end); none at first */
    uint cell, i, j; /* the cell */
    struct cell_field around;
};

static inline struct walk walk_start(void)
{
    struct walk walk;
    walk.begin = walk.end = 0;
    walk.cell = WALK_NO_CELL;
    return walk;
}

/* To particle p, which is in one of the cells from `low` to `high`. */
static inline void walk_to(struct walk *walk, const struct motion *motion,
                           global const uint *restrict cell_offsets, uint p, uint low, uint high)
{
    if (p >= walk->begin && p < walk->end)
        return;
    uint cell = walk->cell + 1; /* often the next one */
    if (p < walk->end || cell > high || cell_offsets[cell + 1] <= p)
        cell = find_segment(cell_offsets, low, high, p);
    walk->cell = cell;
    walk->begin = cell_offsets[cell];
    walk->end = cell_offsets[cell + 1];
    walk->i = cell / motion->ny;
    walk->j = cell - walk->i * motion->ny;
    walk->around = cell_field_read(motion->ex, motion->ey, motion->nx, motion->ny, cell);
}

/* ---- one particle ---- */

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

/* The key of the cell, and the offset in it, beyond the ends of the grid as shared/cell.h has it. */
static inline uint pushed_cell(const struct motion *motion, const struct pushed *pushed)
{
    return cell_index(wrap_row(pushed->i, motion->nx), wrap_any(pushed->j, motion->ny), motion->ny);
}

static inline real2 pushed_offset(const struct motion *motion, const struct pushed *pushed)
{
    return (real2)(row_offset(pushed->offset.x, pushed->i, motion->nx), pushed->offset.y);
}

static inline void push_add_sums(real block[SUM_COUNT], const struct velocity_step *step)
{
    block[0] += step->square;
    block[1] += step->mean_u;
    block[2] += step->mean_v;
}

/* ---- the walk of an item through a chunk, cell by cell ---- */

struct chunk_walk {
    uint begin, end; /* particles of the chunk */
    uint cell, i, j; /* of the next particle */
};

static inline struct chunk_walk chunk_walk_begin(const struct motion *motion, global const uint *cell_offsets,
                                                 uint count, uint chunk)
{
    const ulong item = get_global_id(0);
    struct chunk_walk walk;
    walk.begin = (uint)min(item * chunk, (ulong)count);
    walk.end = walk.begin + min(chunk, count - walk.begin);
    walk.cell =
        walk.begin < count ? find_segment(cell_offsets, 0, motion->nx * motion->ny - 1, walk.begin) : 0;
    walk.i = walk.cell / motion->ny;
    walk.j = walk.cell - walk.i * motion->ny;
    return walk;
}

static inline void chunk_walk_next_cell(struct chunk_walk *walk, const struct motion *motion)
{
    walk->cell++;
    walk->j++;
    if (walk->j == motion->ny) {
        walk->j = 0;
        walk->i++;
    }
}

/* ---- sixteen particles ---- */

struct state16 {
    real16 x, y, u, v;
};

/* The cell that a vector is in, and which of its neighbours are reached without leaving the grid on one side
 * and coming in on the other, or going to the lost row: those where left <= x < right and below <= y < above,
 * in cells from here. */
struct vector_cell {
    uint cell, i, j;
    real left, right, below, above;
    struct field16 field;
};

static inline struct vector_cell vector_cell_make(const struct motion *motion, const struct chunk_walk *walk)
{
    const uint nx = motion->nx, ny = motion->ny;
    const struct cell_field nodes = cell_field_read(motion->ex, motion->ey, nx, ny, walk->cell);
    const bool exact_cells = REAL_IS_DOUBLE || nx * ny <= 1u << 24; /* a real holds the number of any cell */
    struct vector_cell made;
    made.cell = walk->cell;
    made.i = walk->i;
    made.j = walk->j;
    made.left = -(real)walk->i;
    made.right = exact_cells ? (real)(rows_upwards(nx) - (int)walk->i) : made.left;
    made.below = -(real)walk->j;
    made.above = (real)(ny - walk->j);
    made.field = field16_make(&nodes);
    return made;
}

/* The cells of particles with any offsets, also NaN or far outside [0, 1), and the offsets there. */
static inline uint16 find_any_cells(const struct motion *motion, const struct vector_cell *from, real16 *x,
                                    real16 *y)
{
    const struct placement16 along_x = offset_place16(*x), along_y = offset_place16(*y);
    *x = row_offset16(along_x.offset, (int)from->i + along_x.cells, motion->nx);
    *y = along_y.offset;
    return as_uint16(wrap_row16((int)from->i, along_x.cells, motion->nx) * (int)motion->ny +
                     wrap_any16((int)from->j, along_y.cells, motion->ny));
}

/* floor() by way of int: CPU devices do that faster. */
static inline real16 floor_in_reach(real16 x)
{
    const real16 towards_zero = convert_real16(convert_int16(x));
    return select(towards_zero, towards_zero - (real)1, x < towards_zero);
}

/* The same, fast where no particle leaves the box and no difference rounds up to 1. */
static inline uint16 find_cells(const struct motion *motion, const struct vector_cell *from, real16 *x,
                                real16 *y)
{
    const real16 lower_x = floor_in_reach(*x), lower_y = floor_in_reach(*y);
    const real16 rest_x = *x - lower_x, rest_y = *y - lower_y;
    const mask16 plain = *x >= from->left & *x < from->right & *y >= from->below & *y < from->above &
                         rest_x < (real)1 & rest_y < (real)1;
    if (!all_lanes(plain))
        return find_any_cells(motion, from, x, y);
    *x = rest_x;
    *y = rest_y;
    return from->cell + as_uint16(convert_int16(MULTIPLY_ADD(lower_x, (real)motion->ny, lower_y)));
}

/* One step of sixteen particles. Returns the cells where they are then, and `state` as they are there. */
static inline uint16 push16(const struct motion *motion, const struct vector_cell *from,
                            struct state16 *state, struct velocity_step16 *step)
{
    real16 ex, ey;
    interpolate16(&from->field, state->x, state->y, &ex, &ey);
    *step = velocity_push16(state->u, state->v, ex, ey, motion->half_kick, motion->tangent, motion->sine);
    state->x = MULTIPLY_ADD(step->u, motion->step_x, state->x);
    state->y = MULTIPLY_ADD(step->v, motion->step_y, state->y);
    state->u = step->u;
    state->v = step->v;
    return find_cells(motion, from, &state->x, &state->y);
}

/* Of the lanes where `counts` is set. */
static inline void push_add_sums16(struct sums16 *sums, const struct velocity_step16 *step, int16 counts)
{
    const real16 values[SUM_COUNT] = {step->square, step->mean_u, step->mean_v};
    sums16_add(sums, values, convert_mask16(counts));
}

#endif
