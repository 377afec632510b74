/* Push: velocities n-1/2 -> n+1/2 and positions n -> n+1 in the field interpolated to each particle, the key
 * of the cell that it comes to, and the sums at n on the way.
 *
 * A group owns a chunk of the sorted list, each row of its items a part; the cell of a particle follows from
 * the cell offsets. On a GPU a row strides through its part, so that reads and writes coalesce, and is soon
 * in the next cell. On a CPU a row is one item, which pushes LANES particles at once, of one cell or more.
 */
#define FUSE_PRODUCTS  0
#define HAS_GHOST_ROWS 1 /* or may have some: in a grid that is the whole box all rows are in range */
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
#define PARTICLE_OF_LANE 0

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

#include "shared/quads.h"

static inline struct state load_state(global const real2 *offset, global const real2 *velocity,
                                      global const real *w, uint p, uint number)
{
    reals third;
    const struct quads quads = load_quads((global const real4 *)offset, w, p, number, &third);
    const struct state state = {quads.a, quads.b, {quads.c, quads.d, third}};
    return state;
}

static inline void store_state(const struct pushed *pushed, uints cells, uint p, uint number,
                               global real2 *offset, global real2 *velocity, global real *w, global uint *key)
{
    const struct velocity *const velocities = &pushed->velocity;
    const struct quads quads = transpose_quads(pushed->x, pushed->y, velocities->u, velocities->v);
    const reals third = IN_ORDER(reals, velocities->w);
    const uints keys = IN_ORDER(uints, cells);
    if (number == LANES) {
        *(global struct quads *)((global real4 *)offset + p) = quads;
        if (HAS_W)
            STORE(third, w + p);
        STORE(keys, key + p);
        return;
    }
    for (uint n = 0; n < number; n++) {
        ((global real4 *)offset)[p + n] = ((const real4 *)&quads)[n];
        if (HAS_W)
            w[p + n] = ((const real *)&third)[n];
        key[p + n] = ((const uint *)&keys)[n];
    }
}

#endif

/* `moves` and `measures` are constants. Group g leaves its sums at sums[SUM_COUNT g]. */
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
                walk_along(&walk, motion, cell_offsets, p, p + number, PARTICLE_OF_LANE, state.x, state.y);
            struct pushed pushed =
                push(motion, &around, p, PARTICLE_OF_LANE, state.x, state.y, state.velocity);
            if (measures)
                push_add_sums(block, motion, &pushed, p, number, PARTICLE_OF_LANE);
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
        global real *restrict sums SUM_ARGUMENTS)                                                            \
    {                                                                                                        \
        SUM_MEMORY_##measures;                                                                               \
        const struct motion motion = MEASURED_MOTION;                                                        \
        push_chunk(&motion, count, chunk, cell_offsets, offset, velocity, w, key, sums + first_sum, shared,  \
                   moves, measures);                                                                         \
    }
DEFINE_PUSH(push_step, true, false)
DEFINE_PUSH(push_step_and_measure, true, true)
DEFINE_PUSH(push_measure, false, true)
