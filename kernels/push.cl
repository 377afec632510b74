/* Push: velocities n-1/2 -> n+1/2 and positions n -> n+1 in the field interpolated to each particle, the key
 * of the cell that it comes to, and the sums at n on the way.
 *
 * A group owns a chunk of the sorted list, each row of its items a part; the cell of a particle follows from
 * the cell offsets. On a GPU a row strides through its part, so that reads and writes coalesce, and is soon
 * in the next cell. On a CPU a row is one item, which pushes LANES particles at once, in one cell or in
 * several.
 */
#include "shared/push.h"

#define ROW_ITEMS (GROUP_ITEMS < 32 ? GROUP_ITEMS : 32)
#define LIST_ARGUMENTS                                                                                       \
    uint count, uint chunk, global const uint *restrict cell_offsets, global real2 *restrict offset,         \
        global real2 *restrict velocity, global real *restrict w

/* Offsets and velocities of the particles [p, p + number), LANES or fewer; the other lanes are 0. */
struct state {
    reals x, y;
    struct velocity velocity;
};

#if LANES == 1

static inline struct state load_state(global const real2 *offset, global const real2 *velocity,
                                      global const real *w, uint p, uint number)
{
    const real2 place = offset[p];
    const struct state state = {place.x, place.y, read_velocity(velocity, w, p)};
    return state;
}

static inline void store_state(const struct pushed *pushed, uints cells, uint p, uint number,
                               global real2 *offset, global real2 *velocity, global real *w, global uint *key)
{
    write_velocity(&pushed->velocity, velocity, w, p);
    offset[p] = (real2)(pushed->x, pushed->y);
    key[p] = cells;
}

#else

static inline struct state load_state(global const real2 *offset, global const real2 *velocity,
                                      global const real *w, uint p, uint number)
{
    reals pairs[4], third = (reals)0;
    if (number == LANES) {
        WILL_READ(offset + p + PREFETCH_AHEAD);
        WILL_READ(velocity + p + PREFETCH_AHEAD);
        for (uint part = 0; part < 2; part++) {
            pairs[part] = vload16(part, (global const real *)(offset + p));
            pairs[2 + part] = vload16(part, (global const real *)(velocity + p));
        }
        if (HAS_W)
            third = LOAD(w + p);
    } else {
        real2 *one = (real2 *)pairs;
        for (uint n = 0; n < LANES; n++) {
            one[n] = n < number ? offset[p + n] : (real2)((real)0);
            one[LANES + n] = n < number ? velocity[p + n] : (real2)((real)0);
            if (HAS_W && n < number)
                ((real *)&third)[n] = w[p + n];
        }
    }
    const struct state state = {even_lanes(pairs[0], pairs[1]),
                                odd_lanes(pairs[0], pairs[1]),
                                {even_lanes(pairs[2], pairs[3]), odd_lanes(pairs[2], pairs[3]), third}};
    return state;
}

static inline void store_state(const struct pushed *pushed, uints cells, uint p, uint number,
                               global real2 *offset, global real2 *velocity, global real *w, global uint *key)
{
    const struct velocity *const velocities = &pushed->velocity;
    const reals pairs[4] = {low_pairs(pushed->x, pushed->y), high_pairs(pushed->x, pushed->y),
                            low_pairs(velocities->u, velocities->v),
                            high_pairs(velocities->u, velocities->v)};
    const real2 *one = (const real2 *)pairs;
    if (number == LANES) {
        for (uint part = 0; part < 2; part++) {
            vstore16(pairs[part], part, (global real *)(offset + p));
            vstore16(pairs[2 + part], part, (global real *)(velocity + p));
        }
        if (HAS_W)
            STORE(velocities->w, w + p);
        STORE(cells, key + p);
        return;
    }
    for (uint n = 0; n < number; n++) {
        offset[p + n] = one[n];
        velocity[p + n] = one[LANES + n];
        if (HAS_W)
            w[p + n] = ((const real *)&velocities->w)[n];
        key[p + n] = ((const uint *)&cells)[n];
    }
}

#endif

/* `moves` and `measures` are constants. Group g leaves its sums of |v|^2, u, v, w at sums[SUM_COUNT g]. */
static inline void push_chunk(const struct motion *motion, LIST_ARGUMENTS, global uint *restrict key,
                              global real *restrict sums, local real *shared, const bool moves,
                              const bool measures)
{
    const uint item = (uint)get_global_id(0), part = chunk / (GROUP_ITEMS / ROW_ITEMS);
    const uint begin = min(item / ROW_ITEMS * part, count), end = begin + min(part, count - begin);
    struct walk walk = walk_start();
    if (LANES > 1)
        walk_to(&walk, motion, cell_offsets, begin, 0, motion->nx * motion->ny - 1);
    reals total[SUM_COUNT] = {0}, excess[SUM_COUNT] = {0};
    for (uint p = begin + item % ROW_ITEMS * LANES; p < end;) {
        const uint block_end = min(end, p + SUM_BLOCK * ROW_ITEMS * LANES);
        reals block[SUM_COUNT] = {0};
        for (; p < block_end; p += ROW_ITEMS * LANES) {
            const uint number = LANES == 1 ? 1 : min((uint)LANES, end - p);
            const struct state state = load_state(offset, velocity, w, p, number);
            const struct surroundings around =
                walk_along(&walk, motion, cell_offsets, p, p + number, LANE_NUMBERS, state.x, state.y);
            struct pushed pushed = push(motion, &around, state.x, state.y, state.velocity);
            if (measures)
                push_add_sums(block, &pushed, number, LANE_NUMBERS);
            if (moves) {
                const uints cells = push_find_cells(motion, &pushed);
                store_state(&pushed, cells, p, number, offset, velocity, w, key);
            }
        }
        if (measures)
            sum_add_block_of_lanes(total, excess, block);
    }
    if (measures)
        sum_store(total, shared, sums + SUM_COUNT * get_group_id(0));
}

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
