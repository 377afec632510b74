/* Push: velocities n-1/2 -> n+1/2 and positions n -> n+1 in the field interpolated to each particle, the key
 * of the cell that it comes to, and the sums at n on the way.
 *
 * A group owns the particles [g chunk, (g + 1) chunk) of the sorted list; the cell of a particle follows from
 * the cell offsets. On a GPU the items of a group stride through its particles side by side, so that reads
 * and writes coalesce. On a CPU a group is one item, which pushes sixteen particles at once, in one
 * cell or in several; this is the same physics, sixteen lanes wide.
 *
 * Compile-time parameters: those of shared/push.h; GROUP_ITEMS, a power of two.
 */
#include "shared/push.h"

#define LIST_ARGUMENTS                                                                                       \
    uint count, uint chunk, global const uint *restrict cell_offsets, global real2 *restrict offset,         \
        global real2 *restrict velocity, global real *restrict w

#if GROUP_ITEMS > 1

/* `moves` and `measures` are constants of each kernel. Group g leaves the sums of |v|^2, u, v and w at n in
 * sums[SUM_COUNT g ...]. */
static inline void push_chunk(const struct motion *motion, LIST_ARGUMENTS, global uint *restrict key,
                              global real *restrict sums, local real *shared, const bool moves,
                              const bool measures)
{
    const uint group = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint begin = group * chunk, end = begin + min(chunk, count - begin);
    struct walk walk = walk_start();
    real total[SUM_COUNT] = {(real)0}, excess[SUM_COUNT] = {(real)0};
    for (uint p = begin + item; p < end;) {
        const uint block_end = min(end, p + SUM_BLOCK * GROUP_ITEMS);
        real block[SUM_COUNT] = {(real)0};
        for (; p < block_end; p += GROUP_ITEMS) {
            walk_to(&walk, motion, cell_offsets, p, 0, motion->nx * motion->ny - 1);
            const real2 place = offset[p];
            const struct velocity_step step =
                push_velocity(motion, &walk, place, read_velocity(velocity, w, p));
            if (measures)
                push_add_sums(block, &step);
            if (moves) {
                const struct pushed pushed = push_position(motion, &walk, place, &step);
                write_velocity(&pushed.velocity, velocity, w, p);
                offset[p] = pushed.offset;
                key[p] = pushed_cell(motion, &pushed);
            }
        }
        if (measures)
            sum_add_block(total, excess, block);
    }
    if (measures)
        sum_store(total, shared, sums + SUM_COUNT * group);
}

#else /* the vector form */

/* Particles [p, p + number) of the sixteen that a state has room for; the other lanes are 0. */
static inline struct state16 load_state(global const real2 *offset, global const real2 *velocity,
                                        global const real *w, uint p, uint number)
{
    real16 pairs[4], third = (real16)((real)0);
    if (number == LANES) {
        WILL_READ(offset + p + PREFETCH_AHEAD);
        WILL_READ(velocity + p + PREFETCH_AHEAD);
        for (uint part = 0; part < 2; part++) {
            pairs[part] = vload16(part, (global const real *)(offset + p));
            pairs[2 + part] = vload16(part, (global const real *)(velocity + p));
        }
        if (HAS_W)
            third = vload16(0, w + p);
    } else {
        real2 *one = (real2 *)pairs;
        for (uint n = 0; n < LANES; n++) {
            one[n] = n < number ? offset[p + n] : (real2)((real)0);
            one[LANES + n] = n < number ? velocity[p + n] : (real2)((real)0);
            if (HAS_W && n < number)
                ((real *)&third)[n] = w[p + n];
        }
    }
    struct state16 state;
    state.x = even_lanes(pairs[0], pairs[1]);
    state.y = odd_lanes(pairs[0], pairs[1]);
    state.velocity.u = even_lanes(pairs[2], pairs[3]);
    state.velocity.v = odd_lanes(pairs[2], pairs[3]);
    state.velocity.w = third;
    return state;
}

/* The way back, and the keys of the cells. */
static inline void store_state(const struct state16 *state, uint16 cells, uint p, uint number,
                               global real2 *offset, global real2 *velocity, global real *w, global uint *key)
{
    const struct velocity16 *const velocities = &state->velocity;
    const real16 pairs[4] = {low_pairs(state->x, state->y), high_pairs(state->x, state->y),
                             low_pairs(velocities->u, velocities->v),
                             high_pairs(velocities->u, velocities->v)};
    if (number == LANES) {
        for (uint part = 0; part < 2; part++) {
            vstore16(pairs[part], part, (global real *)(offset + p));
            vstore16(pairs[2 + part], part, (global real *)(velocity + p));
        }
        if (HAS_W)
            vstore16(velocities->w, 0, w + p);
        vstore16(cells, 0, key + p);
        return;
    }
    const real2 *one = (const real2 *)pairs;
    const uint *cell = (const uint *)&cells;
    for (uint n = 0; n < number; n++) {
        offset[p + n] = one[n];
        velocity[p + n] = one[LANES + n];
        if (HAS_W)
            w[p + n] = ((const real *)&velocities->w)[n];
        key[p + n] = cell[n];
    }
}

static inline void push_chunk(const struct motion *motion, LIST_ARGUMENTS, global uint *restrict key,
                              global real *restrict sums, local real *shared, const bool moves,
                              const bool measures)
{
    const int16 particle = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    struct chunk_walk walk = chunk_walk_begin(motion, cell_offsets, count, chunk);
    struct sums16 measured = {{0}, {0}, {0}, 0};
    for (uint p = walk.begin; p < walk.end; p += LANES) {
        const uint number = min(LANES, walk.end - p);
        struct state16 state = load_state(offset, velocity, w, p, number);
        const struct surroundings16 around =
            chunk_walk_surroundings(&walk, motion, cell_offsets, p, p + number, particle, state.x, state.y);
        struct velocity_step16 step;
        push16(motion, &around, &state, &step);
        const uint16 cells = as_uint16(find_cells(motion, &around, &state));
        if (measures)
            push_add_sums16(&measured, &step, number == LANES, particle < (int)number);
        if (moves)
            store_state(&state, cells, p, number, offset, velocity, w, key);
    }
    if (measures)
        sums16_store(&measured, sums + SUM_COUNT * get_group_id(0));
}

#endif

/* One step; the same with the sums at n; the sums alone, where nothing moves. */
#define DEFINE_PUSH(name, moves, measures)                                                                   \
    kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void name(                               \
        MOTION_ARGUMENTS, LIST_ARGUMENTS, global uint *restrict key, uint first_sum,                         \
        global real *restrict sums)                                                                          \
    {                                                                                                        \
        local real shared[SUM_SHARED];                                                                       \
        const struct motion motion = MOTION;                                                                 \
        push_chunk(&motion, count, chunk, cell_offsets, offset, velocity, w, key, sums + first_sum, shared,  \
                   moves, measures);                                                                         \
    }
DEFINE_PUSH(push_step, true, false)
DEFINE_PUSH(push_step_and_measure, true, true)
DEFINE_PUSH(push_measure, false, true)
