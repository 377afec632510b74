/* Vector push: push.h for sixteen particles of one cell at once, for CPU devices, where an item walks through
 * a chunk of the sorted list cell by cell. Device only.
 *
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h), SHAPE_ORDER (shared/shape.h), GHOST_ROWS
 * (shared/cell.h), SUM_COUNT and GROUP_ITEMS (shared/sum.h), both 3 and 1, and MAGNETIC: 1 where there is a
 * magnetic field, else 0.
 */
#ifndef SHARED_VECTOR_PUSH_H
#define SHARED_VECTOR_PUSH_H

#include "shared/cell.h"
#include "shared/search.h"
#include "shared/sum.h"
#include "shared/vector_motion.h"

/* Hints that memory will be read, or written, soon: what a processor guesses by itself ends with the page,
 * and it does not guess where particles go. OpenCL's prefetch() does nothing on PoCL. Results do not depend
 * on it. */
#if defined(__x86_64__)
#define WILL_READ(address)  __builtin_prefetch((const void *)(size_t)(address), 0)
#define WILL_WRITE(address) __builtin_prefetch((const void *)(size_t)(address), 1)
#else
#define WILL_READ(address)  ((void)0)
#define WILL_WRITE(address) ((void)0)
#endif
#define READ_AHEAD 256u /* particles */

/* What moves the particles of a species. */
typedef struct {
    global const real *ex, *ey;
    uint nx, ny;
    real half_kick, tangent, sine;
    real step_x, step_y; /* dt/dx, dt/dy */
    int exact_cells;     /* whether a real holds the number of any cell */
} species_motion;

/* ---- the particles of a chunk, cell by cell ---- */

typedef struct {
    uint begin, end; /* particles of the chunk */
    uint cell, i, j; /* of the next particle */
} chunk_walk;

static inline chunk_walk chunk_walk_begin(global const uint *offsets, uint nx, uint ny, uint count,
                                          uint chunk)
{
    const uint item = (uint)get_global_id(0);
    chunk_walk walk;
    walk.begin = (uint)min((ulong)item * chunk, (ulong)count);
    walk.end = walk.begin + min(chunk, count - walk.begin);
    walk.cell = walk.begin < count ? find_segment(offsets, 0, nx * ny - 1, walk.begin) : 0;
    walk.i = walk.cell / ny;
    walk.j = walk.cell - walk.i * ny;
    return walk;
}

static inline void chunk_walk_next_cell(chunk_walk *walk, uint ny)
{
    walk->cell++;
    walk->j++;
    if (walk->j == ny) {
        walk->j = 0;
        walk->i++;
    }
}

/* ---- one step of a vector ---- */

/* The cell that a vector is in, and which of its neighbours are reached without leaving the grid on one side
 * and coming in on the other, or going to the lost row: those where left <= x < right and below <= y < above,
 * in cells from here. */
typedef struct {
    uint cell, i, j;
    real left, right, below, above;
    struct field16 field;
} vector_cell;

static inline vector_cell vector_cell_make(const species_motion *motion, const chunk_walk *walk)
{
    const struct cell_field nodes =
        cell_field_read(motion->ex, motion->ey, motion->nx, motion->ny, walk->cell);
    vector_cell made;
    made.cell = walk->cell;
    made.i = walk->i;
    made.j = walk->j;
    made.left = -(real)walk->i;
    made.right = motion->exact_cells ? (real)(rows_upwards(motion->nx) - (int)walk->i) : made.left;
    made.below = -(real)walk->j;
    made.above = (real)(motion->ny - walk->j);
    made.field = field16_make(&nodes);
    return made;
}

/* i + steps brought to [0, n). */
static inline int16 wrap16(int i, int16 steps, uint n)
{
    const int size = (int)n;
    int16 wrapped = i + steps;
    wrapped += select((int16)0, (int16)size, wrapped < 0);
    wrapped -= select((int16)0, (int16)size, wrapped >= size);
    int lane[LANES];
    vstore16(wrapped, 0, lane);
    int far = 0; /* further than the box is long */
    for (uint l = 0; l < LANES; l++)
        far |= lane[l] < 0 || lane[l] >= size;
    if (far) {
        vstore16(i + steps, 0, lane);
        for (uint l = 0; l < LANES; l++)
            lane[l] = (int)wrap_any(lane[l], n);
        wrapped = vload16(0, lane);
    }
    return wrapped;
}

/* The row i + steps as wrap_row() has it. */
static inline int16 wrap_row16(int i, int16 steps, uint nx)
{
#if GHOST_ROWS == 0
    return wrap16(i, steps, nx);
#else
    const int16 row = i + steps;
    const int16 wrapped = row + select((int16)0, (int16)(int)nx, row < 0);
    return select((int16)rows_upwards(nx), wrapped, row >= -GHOST_ROWS & row < rows_upwards(nx));
#endif
}

/* The offsets in row i as row_offset() has them. */
static inline real16 row_offset16(real16 offset, int16 i, uint nx)
{
#if GHOST_ROWS == 0
    return offset;
#else
    const real16 row = convert_real16(i);
    const mask16 has_row = row >= -(real)GHOST_ROWS & row < (real)rows_upwards(nx);
    return select(row + offset, offset, has_row);
#endif
}

/* The cells of particles whose offsets may be anything, and the offsets there. */
static inline uint16 find_any_cells(const species_motion *motion, const vector_cell *from, real16 *x,
                                    real16 *y)
{
    const struct placement16 along_x = offset_place16(*x), along_y = offset_place16(*y);
    *x = row_offset16(along_x.offset, (int)from->i + along_x.cells, motion->nx);
    *y = along_y.offset;
    return as_uint16(wrap_row16((int)from->i, along_x.cells, motion->nx) * (int)motion->ny +
                     wrap16((int)from->j, along_y.cells, motion->ny));
}

/* floor() by way of int: CPU devices do that faster. */
static inline real16 floor_in_reach(real16 x)
{
    const real16 towards_zero = convert_real16(convert_int16(x));
    return select(towards_zero, towards_zero - (real)1, x < towards_zero);
}

/* The same, fast where no particle leaves the box and no difference rounds up to 1. */
static inline uint16 find_cells(const species_motion *motion, const vector_cell *from, real16 *x, real16 *y)
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
static inline uint16 step_state(const species_motion *motion, const vector_cell *from, struct state16 *state,
                                struct velocity_step16 *step)
{
    real16 ex, ey;
    interpolate16(&from->field, state->x, state->y, &ex, &ey);
    *step = velocity_push16(state->u, state->v, ex, ey, motion->half_kick, motion->tangent, motion->sine,
                            MAGNETIC);
    state->x = MULTIPLY_ADD(step->u, motion->step_x, state->x);
    state->y = MULTIPLY_ADD(step->v, motion->step_y, state->y);
    state->u = step->u;
    state->v = step->v;
    return find_cells(motion, from, &state->x, &state->y);
}

/* ---- sums ---- */

/* The sums of sum.h, lane by lane. */
typedef struct {
    real16 block[SUM_COUNT], total[SUM_COUNT], excess[SUM_COUNT];
    uint added; /* vectors in the block */
} vector_sums;

static inline void vector_sums_end_block(vector_sums *sums)
{
    for (int n = 0; n < SUM_COUNT; n++) {
        const real16 addend = sums->block[n] - sums->excess[n];
        const real16 sum = sums->total[n] + addend;
        sums->excess[n] = (sum - sums->total[n]) - addend;
        sums->total[n] = sum;
        sums->block[n] = (real16)((real)0);
    }
    sums->added = 0;
}

/* Adds those of the lanes where `counts` is set. */
static inline void vector_sums_add(vector_sums *sums, const struct velocity_step16 *step, int16 counts)
{
    const real16 nought = (real16)((real)0);
    sums->block[0] += select(nought, step->square, convert_mask16(counts));
    sums->block[1] += select(nought, step->mean_u, convert_mask16(counts));
    sums->block[2] += select(nought, step->mean_v, convert_mask16(counts));
    if (++sums->added == SUM_BLOCK)
        vector_sums_end_block(sums);
}

static inline real sum_of_lanes(real16 lanes)
{
    const real4 four = (lanes.lo.lo + lanes.hi.lo) + (lanes.lo.hi + lanes.hi.hi);
    const real2 two = four.lo + four.hi;
    return two.x + two.y;
}

/* Leaves the sums of all lanes in result[0..2]. */
static inline void vector_sums_end(vector_sums *sums, global real *result)
{
    vector_sums_end_block(sums);
    for (int n = 0; n < SUM_COUNT; n++)
        result[n] = sum_of_lanes(sums->total[n]);
}

#endif
