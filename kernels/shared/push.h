/* Push: the walk along a sorted list, and particles through one step, from their cell and offset at n to
 * those at n+1: one at a time, and sixteen of one cell at a time for CPU devices. Device only.
 *
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h), SHAPE_ORDER (shared/shape.h), GHOST_ROWS
 * (shared/cell.h), VELOCITIES, MAGNETIC (shared/motion.h) and GROUP_ITEMS (shared/sum.h).
 */
#ifndef SHARED_PUSH_H
#define SHARED_PUSH_H

#define SUM_COUNT (VELOCITIES + 1) /* |v|^2, u, v, w at n, of the pushed particles */

#include "shared/interpolate.h"
#include "shared/motion.h"
#include "shared/search.h"
#include "shared/sum.h"

/* What the push of a species takes: Ex, Ey `stride` reals behind it, and (step_x, step_y) = (dt/dx, dt/dy);
 * MOTION_ARGUMENTS of the host's src/step/stepper_internal.h. */
struct motion {
    global const real *e;
    uint stride;
    uint nx, ny;
    real step_x, step_y;
    struct pusher pusher;
};
#define MOTION_ARGUMENTS                                                                                     \
    global const real *restrict e, uint field_stride, uint nx, uint ny, real step_x, real step_y,            \
        struct pusher pusher
#define MOTION ((struct motion){e, field_stride, nx, ny, step_x, step_y, pusher})

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
    const struct walk start = {.cell = WALK_NO_CELL};
    return start;
}

static inline void walk_enter(struct walk *walk, const struct motion *motion, uint cell)
{
    walk->cell = cell;
    walk->i = cell / motion->ny;
    walk->j = cell - walk->i * motion->ny;
    walk->around = cell_field_read(motion->e, motion->stride, motion->nx, motion->ny, cell);
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
    walk->begin = cell_offsets[cell];
    walk->end = cell_offsets[cell + 1];
    walk_enter(walk, motion, cell);
}

/* ---- one particle ---- */

/* A particle at n+1: its cell before the grid's ends are joined, and its offset there, beyond the ends as
 * shared/cell.h has it. */
struct pushed {
    real2 offset;
    struct velocity velocity;
    int i, j;
};

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

/* The velocities before and after the step, in the field around the particle. */
static inline struct velocity_step push_velocity(const struct motion *motion, const struct walk *walk,
                                                 real2 offset, struct velocity velocity)
{
    const real2 field = interpolate(&walk->around, offset);
    return velocity_push(velocity, field.x, field.y, &motion->pusher);
}

/* Where a particle at `offset` of the walk's cell comes with its new velocity. */
static inline struct pushed push_position(const struct motion *motion, const struct walk *walk, real2 offset,
                                          const struct velocity_step *step)
{
    const struct placement x = offset_place(PRODUCT_SUM(step->after.u, motion->step_x, offset.x));
    const struct placement y = offset_place(PRODUCT_SUM(step->after.v, motion->step_y, offset.y));
    struct pushed pushed;
    pushed.velocity = step->after;
    pushed.i = (int)walk->i + x.cells;
    pushed.j = (int)walk->j + y.cells;
    pushed.offset = (real2)(row_offset(x.offset, pushed.i, motion->nx), y.offset);
    return pushed;
}

/* The key of the cell. */
static inline uint pushed_cell(const struct motion *motion, const struct pushed *pushed)
{
    return cell_index(wrap_row(pushed->i, motion->nx), wrap_any(pushed->j, motion->ny), motion->ny);
}

static inline void push_add_sums(real block[SUM_COUNT], const struct velocity_step *step)
{
    const struct velocity at_n = step->at_n;
    const real in_plane = at_n.u * at_n.u + at_n.v * at_n.v;
    block[0] += HAS_W ? in_plane + at_n.w * at_n.w : in_plane;
    block[1] += at_n.u;
    block[2] += at_n.v;
    if (HAS_W)
        block[SUM_COUNT - 1] += at_n.w;
}

/* ---- the vector form ---- */

/* The walk of an item through a chunk, sixteen particles at a time. */
struct chunk_walk {
    uint begin, end;          /* particles of the chunk */
    uint cell, i, j;          /* the cell where the walk is, */
    uint cell_end;            /* the first particle behind it, */
    struct field_strip strip; /* and the field around it and its neighbours */
};

static inline void chunk_walk_enter(struct chunk_walk *walk, const struct motion *motion)
{
    struct field_strip *const strip = &walk->strip;
    const uint j = walk->j / LANES * LANES;
    if (strip->i == walk->i && strip->j == j)
        return;
    strip->i = walk->i;
    strip->j = j;
    strip_read(motion->e, motion->nx, motion->ny, walk->i, j, strip->ex);
    strip_read(motion->e + motion->stride, motion->nx, motion->ny, walk->i, j, strip->ey);
}

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
    walk.cell_end = cell_offsets[walk.cell + 1];
    walk.strip.i = NO_ROW;
    chunk_walk_enter(&walk, motion);
    return walk;
}

/* To the cell of particle p, which is behind the cell where the walk is. */
static inline void chunk_walk_to(struct chunk_walk *walk, const struct motion *motion,
                                 global const uint *cell_offsets, uint p)
{
    do {
        walk->cell++;
        walk->j++;
        if (walk->j == motion->ny) {
            walk->j = 0;
            walk->i++;
        }
        walk->cell_end = cell_offsets[walk->cell + 1];
    } while (walk->cell_end <= p);
    chunk_walk_enter(walk, motion);
}

struct state16 {
    real16 x, y;
    struct velocity16 velocity;
};

/* The cells of sixteen particles, and the field around each. */
struct surroundings16 {
    uint i, j;          /* the first one's cell, */
    int16 right, above; /* and how far each is from there */
    real16 ex, ey;
};

/* Of the particles from `begin` to before `end`, which come next; lane l has particle begin + particle[l] and
 * its offset (x, y). Where a vector has several cells, what belongs to the later ones replaces what the
 * earlier ones gave. */
static inline struct surroundings16 chunk_walk_surroundings(struct chunk_walk *walk,
                                                            const struct motion *motion,
                                                            global const uint *cell_offsets, uint begin,
                                                            uint end, int16 particle, real16 x, real16 y)
{
    struct surroundings16 around;
    if (walk->cell_end <= begin)
        chunk_walk_to(walk, motion, cell_offsets, begin);
    around.i = walk->i;
    around.j = walk->j;
    around.right = around.above = (int16)0;
    interpolate16(&walk->strip, walk->j % LANES, x, y, &around.ex, &around.ey);
    while (walk->cell_end < end) {
        const int16 later = particle >= (int)(walk->cell_end - begin);
        real16 ex, ey;
        chunk_walk_to(walk, motion, cell_offsets, walk->cell_end);
        interpolate16(&walk->strip, walk->j % LANES, x, y, &ex, &ey);
        around.ex = select(around.ex, ex, convert_mask16(later));
        around.ey = select(around.ey, ey, convert_mask16(later));
        around.right = select(around.right, (int16)((int)walk->i - (int)around.i), later);
        around.above = select(around.above, (int16)((int)walk->j - (int)around.j), later);
    }
    return around;
}

/* One step of sixteen particles, but for their cells: `state` has offsets in the cells where they were. */
static inline void push16(const struct motion *motion, const struct surroundings16 *around,
                          struct state16 *state, struct velocity_step16 *step)
{
    *step = velocity_push16(state->velocity, around->ex, around->ey, &motion->pusher);
    state->velocity = step->after;
    state->x = MULTIPLY_ADD(step->after.u, motion->step_x, state->x);
    state->y = MULTIPLY_ADD(step->after.v, motion->step_y, state->y);
}

/* floor() by way of int: CPU devices do that faster. */
static inline int16 floor_in_reach(real16 x)
{
    return convert_int16(x) + convert_int16(x < (real)0);
}

/* By how many cells particles have left their cells; `state` becomes what it is there. Returns the lanes for
 * which that holds: elsewhere a difference has rounded up to 1, or the particle is far away or none. */
static inline int16 leave_cells(struct state16 *state, int16 *right, int16 *above)
{
    *right = floor_in_reach(state->x);
    *above = floor_in_reach(state->y);
    state->x -= convert_real16(*right);
    state->y -= convert_real16(*above);
    return convert_int16(is_fraction(state->x) & is_fraction(state->y));
}

/* The cells of particles with any offsets, also NaN or far outside [0, 1), and the offsets there. */
static inline int16 find_any_cells(const struct motion *motion, const struct surroundings16 *around,
                                   struct state16 *state)
{
    const struct placement16 along_x = offset_place16(state->x), along_y = offset_place16(state->y);
    const int16 row = (int)around->i + around->right + along_x.cells;
    state->x = row_offset16(along_x.offset, row, motion->nx);
    state->y = along_y.offset;
    return wrap_row16(row, motion->nx) * (int)motion->ny +
           wrap_any16((int)around->j + around->above + along_y.cells, motion->ny);
}

/* The same, fast where no particle leaves the grid on one side and comes in on the other, or goes to the lost
 * row. */
static inline int16 find_cells(const struct motion *motion, const struct surroundings16 *around,
                               struct state16 *state)
{
    struct state16 there = *state;
    int16 right, above;
    const int16 left = leave_cells(&there, &right, &above);
    const int16 row = (int)around->i + around->right + right, column = (int)around->j + around->above + above;
    if (!all_lanes(left & (as_uint16(row) < (uint)rows_upwards(motion->nx)) &
                   (as_uint16(column) < motion->ny)))
        return find_any_cells(motion, around, state);
    *state = there;
    return row * (int)motion->ny + column;
}

/* Of all lanes, or of those where `counts` is set. */
static inline void push_add_sums16(struct sums16 *sums, const struct velocity_step16 *step, bool all,
                                   int16 counts)
{
    const struct velocity16 at_n = step->at_n;
    real16 values[SUM_COUNT] = {MULTIPLY_ADD(at_n.u, at_n.u, at_n.v * at_n.v), at_n.u, at_n.v};
    if (HAS_W) {
        values[0] = MULTIPLY_ADD(at_n.w, at_n.w, values[0]);
        values[SUM_COUNT - 1] = at_n.w;
    }
    sums16_add(sums, values, all, convert_mask16(counts));
}

#endif
