/* Tiled step: push and sort at once, on sorted particles in LAYOUT_SOA. A pass of the tiled sort over the
 * cells that the particles are about to be in, whose histogram pushes each particle to learn its cell, and
 * whose reorder pushes it again to move it there (how a tile is ranked stands in shared/tiles.h).
 *
 *   step_find_tiles     the cell in which each tile begins, for the first step
 *   step_count          push, keep a digit for the new cell, count; the histogram; and
 *                       step_measure_and_count, the same with the sums at n
 *   step_count_leavers  how many go to each cell beside a rank's own
 *   the scan            places of the chunks' runs, new cell offsets, the cells of the new tiles
 *   step_move           push, move
 *
 * step_find_tiles, step_count_leavers and the scan push no particle and stand in tiled_scan.cl.
 *
 * On a small grid the digit is the cell, and the scan is step_scan(). On a large one (BY_DIRECTION) it is the
 * cell's place in the tile's window (shared/windows.h); the count keeps the direction to it instead, by which
 * the move ranks (shared/directions.h); the scan is step_total(), step_scan_blocks() and step_place(), and
 * the few particles that leave their tile's window are moved by the kernels of shared/strays.h.
 *
 * On several ranks others announce between count and scan how many come from them to each cell;
 * the scan leaves room for those behind the cell's own (shared/arrivals.h).
 *
 * Every kernel that pushes a particle must come to the same bits, or it is counted in one cell and moved to
 * another: hence FP_CONTRACT OFF.
 */
#pragma OPENCL FP_CONTRACT OFF

#define HAS_KERNEL(n) (KERNEL == 0 || KERNEL == (n))

#define GROUP_ITEMS (2 * ITEMS)
#define BIN_BITS    DIGIT_BITS

#define LANES 1
#include "shared/arrivals.h"
#include "shared/push.h"
#include "shared/tiles.h"
#if BY_DIRECTION
#include "shared/directions.h"
typedef uchar digit_type; /* a direction */
#else
typedef ushort digit_type;
#define COUNT_STAGES       0
#define COUNT_STAGED_CELLS 1
#define STAGED_CELLS       1
#endif

/* Particles that an item of a count, and of a move, loads at once: with more, fewer groups fit an H200. With
 * 2 in place of 8 the move of an electromagnetic step takes 0.79 of its time with tsc, and 1.1 with cic. */
#define BATCH      (ELECTROMAGNETIC && !BY_DIRECTION ? 2 : 4)
#define MOVE_BATCH (ELECTROMAGNETIC && SHAPE_ORDER > 1 ? 2 : 8)

/* On a GPU ABREAST items side by side read neighbours, then go on to the next ABREAST, so that they stay in a
 * cell as long as they can. Entry number n of item t, among `each` entries an item. */
#define ABREAST           16
#define ENTRY(t, n, each) ((t) / ABREAST * (ABREAST * (each)) + (n)*ABREAST + (t) % ABREAST)

/* The sorted list as it is, and where it goes. */
#define LIST_ARGUMENTS                                                                                       \
    global const uint *restrict cell_offsets, global const real2 *restrict offset,                           \
        global const real2 *restrict velocity, global const real *restrict w
#define NEW_LIST_ARGUMENTS                                                                                   \
    global real2 *restrict new_offset, global real2 *restrict new_velocity, global real *restrict new_w,     \
        global uint *restrict origin, uint carries

/* ---- tiles, and a particle of one ---- */

/* The chunk of a group of a count or move: chunks below `split`, and of the others those from split + skip
 * on; not by direction all are taken. */
static inline uint chunk_of(uint split, uint skip)
{
    const uint group = (uint)get_group_id(0);
    return group < split ? group : group + skip;
}

static inline tile_range chunk_tiles(uint chunk, uint count)
{
#if BY_DIRECTION
    const tile_range own = {chunk, 1};
    return own;
#else
    return own_tiles(chunk, (uint)get_num_groups(0), count);
#endif
}

/* ---- count ---- */

#define COUNT_ARGUMENTS                                                                                      \
    global const uint *restrict tile_cells, global digit_type *restrict digits, global uint *restrict table, \
        global uint *restrict lists, volatile global uint *restrict totals, uint count,                      \
        volatile global uint *restrict stray_number, global uint *restrict stray_list,                       \
        volatile global uint *restrict stray_counts, global real *restrict sums

/* Pushes every particle, keeps the digit of its new cell in `digits` and counts it, chunk by chunk.
 * BY_DIRECTION: strays are listed in stray_list, in no order, and counted by cell; stray_number is how many
 * there are. `counts` is volatile for ptxas, which takes 10 registers fewer so. `measures`, a constant of
 * each kernel: the sums of push.cl too, chunk by chunk, in sums[SUM_COUNT chunk ...]. */
static inline void count_chunk(const struct motion *motion, LIST_ARGUMENTS, COUNT_ARGUMENTS, uint chunk,
                               volatile local uint *counts, local uint *distinct, local real *shared,
                               local struct cell_field *around, local uint *starts, const bool measures)
{
    const uint t = (uint)get_local_id(0);
    const tile_range own = chunk_tiles(chunk, count);
    for (uint c = t; c < RADIX; c += 2 * ITEMS)
        counts[c] = 0;
    if (t == 0)
        *distinct = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    struct walk walk = walk_start();
    real total[SUM_COUNT] = {(real)0}, excess[SUM_COUNT] = {(real)0};
    for (uint tile = own.first; tile < own.first + own.tiles; tile++) {
        const uint begin = tile * TILE, end = begin + min((uint)TILE, count - begin);
        const uint low = tile_cells[tile], high = tile_cells[tile + 1];
#if COUNT_STAGES
        const uint cells = min(high + 1 - low, (uint)COUNT_STAGED_CELLS);
        barrier(CLK_LOCAL_MEM_FENCE); /* the last tile's are read */
        stage_fields(around, COUNT_STAGED_CELLS, motion, t, 2 * ITEMS, low, high);
        for (uint c = t; c <= cells; c += 2 * ITEMS)
            starts[c] = cell_offsets[low + c];
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        real block[SUM_COUNT] = {(real)0}; /* of KEYS / 2 particles, below SUM_BLOCK */
        for (uint first = 0; first < KEYS / 2; first += BATCH) {
            real2 offsets[BATCH];
            struct velocity velocities[BATCH];
            UNROLL
            for (uint n = 0; n < BATCH; n++) {
                const uint p = min(begin + ENTRY(t, first + n, KEYS / 2), end - 1);
                offsets[n] = offset[p];
                velocities[n] = read_velocity(velocity, w, p);
            }
            UNROLL
            for (uint n = 0; n < BATCH; n++) {
                const uint p = begin + ENTRY(t, first + n, KEYS / 2);
                if (p < end) {
#if COUNT_STAGES
                    walk_staged(&walk, motion, cell_offsets, starts, around, p, low, high, cells);
#else
                    walk_to(&walk, motion, cell_offsets, p, low, high);
#endif
                    const struct pushed pushed = push_one(motion, &walk, p, offsets[n], velocities[n]);
                    if (measures)
                        push_add_sums(block, motion, &pushed, p, 1, 0);
#if BY_DIRECTION
                    uint digit;
                    const uint kept =
                        direction_of(walk.cell - low, walk.i, walk.j, pushed.i, pushed.j, motion->ny, &digit);
                    if (digit == STRAY) {
                        stray_list[atomic_inc(stray_number)] = p;
                        atomic_inc(&stray_counts[pushed_cell(motion, &pushed)]);
                    }
#else
                    const uint digit = pushed_cell(motion, &pushed), kept = digit;
#endif
                    digits[p] = (digit_type)kept;
                    atomic_inc(&counts[digit]);
                }
            }
        }
        if (measures)
            sum_add_block(total, excess, block);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if BY_DIRECTION
    for (uint c = t; c < ROW; c += 2 * ITEMS)
        table[chunk * ROW + c] = counts[c];
#else
    store_counts(counts, distinct, t, chunk, table, lists, totals);
#endif
    if (measures)
        sum_store(total, shared, sums + SUM_COUNT * chunk);
}

/* With the sums at n, where they are measured, from sums[first_sum] on. No name begins with that of another:
 * oclgrind gives a kernel the local arrays of all whose names do. */
#define DEFINE_COUNT(name, measures)                                                                         \
    kernel __attribute__((reqd_work_group_size(2 * ITEMS, 1, 1))) void name(                                 \
        MOTION_ARGUMENTS, LIST_ARGUMENTS, COUNT_ARGUMENTS, uint first_sum, uint split,                       \
        uint skip SUM_ARGUMENTS)                                                                             \
    {                                                                                                        \
        local uint counts[RADIX], distinct;                                                                  \
        local struct cell_field around[COUNT_STAGED_CELLS];                                                  \
        local uint starts[COUNT_STAGED_CELLS + 1];                                                           \
        SUM_MEMORY_##measures;                                                                               \
        const struct motion motion = MEASURED_MOTION;                                                        \
        count_chunk(&motion, cell_offsets, offset, velocity, w, tile_cells, digits, table, lists, totals,    \
                    count, stray_number, stray_list, stray_counts, sums + first_sum, chunk_of(split, skip),  \
                    counts, &distinct, shared, around, starts, measures);                                    \
    }
#if HAS_KERNEL(1)
DEFINE_COUNT(step_count, false)
#endif
#if HAS_KERNEL(2)
DEFINE_COUNT(step_measure_and_count, true)
#endif

/* ---- move ---- */

#if !BY_DIRECTION

/* The digits of a tile; places past its end read as RADIX. Item t holds, for each n, the four from 4*(n*ITEMS
 * + t) on. */
static inline void load_digits(global const ushort *restrict list, uint begin, uint valid, uint t,
                               uint4 digits[KEYS / 4])
{
    UNROLL
    for (uint n = 0; n < KEYS / 4; n++) {
        const uint j = 4 * (n * ITEMS + t);
        digits[n] = j + 3 < valid ? convert_uint4(vload4(n * ITEMS + t, list + begin))
                                  : (uint4)(j < valid ? list[begin + j] : RADIX,
                                            j + 1 < valid ? list[begin + j + 1] : RADIX,
                                            j + 2 < valid ? list[begin + j + 2] : RADIX, RADIX);
    }
}

#endif

/* The arrays of a move, and those of NEW_LIST_ARGUMENTS. */
struct arrays {
    global const uint *cell_offsets;
    global const real2 *offset, *velocity;
    global const real *w;
    global real2 *new_offset, *new_velocity;
    global real *new_w;
    global uint *origin;
    bool carries; /* attributes that follow by `origin`: the old place of each new one */
};

#define NEW_ARRAYS                                                                                           \
    {                                                                                                        \
        cell_offsets, offset, velocity, w, new_offset, new_velocity, new_w, origin, carries != 0             \
    }

static inline void store_pushed(const struct arrays *arrays, const struct pushed *pushed, uint source,
                                uint target)
{
    arrays->new_offset[target] = (real2)(pushed->x, pushed->y);
    write_velocity(&pushed->velocity, arrays->new_velocity, arrays->new_w, target);
    if (arrays->carries)
        arrays->origin[target] = source;
}

/* A ranked tile: the words at positions 0 to staged - 1 name the entries that move. */
struct ranked_tile {
    local const uint *words, *shifts; /* an entry's target is its position + shifts[run_of()] */
    uint begin, staged, low, high;    /* particles from `begin` on, in cells from `low` to `high` */
    uint base, mask;                  /* tile_runs */
};

static inline uint run_of(const struct ranked_tile *tile, uint word)
{
#if BY_DIRECTION
    return staged_digit(word);
#else
    return ((word >> PLACE_BITS) - tile->base) & tile->mask;
#endif
}

/* Pushes the entries of item t at MOVE_BATCH positions from number `first` on to their new places. */
static inline void move_batch(const struct arrays *arrays, const struct motion *motion, struct walk *walk,
                              local const struct cell_field *around, const struct ranked_tile *tile, uint t,
                              uint first)
{
    uint words[MOVE_BATCH];
    real2 offsets[MOVE_BATCH];
    struct velocity velocities[MOVE_BATCH];
    UNROLL
    for (uint n = 0; n < MOVE_BATCH; n++) {
        const uint position = (first + n) * ITEMS + t;
        words[n] = tile->words[STAGE_PLACE(position)];
        const uint source = tile->begin + (position < tile->staged ? words[n] & (TILE - 1) : 0);
        offsets[n] = arrays->offset[source];
        velocities[n] = read_velocity(arrays->velocity, arrays->w, source);
    }
    UNROLL
    for (uint n = 0; n < MOVE_BATCH; n++) {
        const uint position = (first + n) * ITEMS + t, source = tile->begin + (words[n] & (TILE - 1));
        if (position >= tile->staged)
            continue;
        const uint target = tile->shifts[run_of(tile, words[n])] + position;
#if BY_DIRECTION
        enter_cell(walk, motion, around, tile->low, staged_cell(words[n], tile->low));
#else
        walk_to(walk, motion, arrays->cell_offsets, source, tile->low, tile->high);
#endif
        const struct pushed pushed = push_one(motion, walk, source, offsets[n], velocities[n]);
        store_pushed(arrays, &pushed, source, target);
    }
}

#if HAS_KERNEL(3)

/* Pushes all but strays to their places; not by direction it clears the totals for the next count. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
step_move(MOTION_ARGUMENTS, LIST_ARGUMENTS, global const uint *restrict tile_cells,
          global const digit_type *restrict digits, global const uint *restrict table,
          global const uint *restrict lists, NEW_LIST_ARGUMENTS, uint count, uint split, uint skip,
          global uint *restrict totals)
{
    local struct cell_field around[STAGED_CELLS];
#if BY_DIRECTION
    DECLARE_DIRECTION_ARRAYS(ranked);
#else
    DECLARE_LOCAL_ARRAYS(ranked);
#endif
    const uint t = (uint)get_local_id(0), chunk = chunk_of(split, skip);
    const tile_range own = chunk_tiles(chunk, count);
    const struct motion motion = MOTION;
    const struct arrays arrays = NEW_ARRAYS;
    struct walk walk = walk_start();
#if !BY_DIRECTION
    for (uint c = t; chunk == 0 && c < ROW; c += ITEMS)
        totals[c] = 0;
    const uint distinct = lists[chunk * LIST_WORDS];
    const bool compact = distinct <= LISTED_DIGITS;
    open_local_list(ranked, t, chunk, distinct, table, lists);
#endif
    for (uint left = own.tiles; left > 0; left--) {
        const uint tile = own.first + left - 1, begin = tile * TILE, valid = min((uint)TILE, count - begin);
        const uint low = tile_cells[tile], high = tile_cells[tile + 1];
        barrier(CLK_LOCAL_MEM_FENCE); /* the last tile's local arrays are read */
#if BY_DIRECTION
        const uint staged = stage_directions(ranked, t, &motion, around, cell_offsets, digits, begin, valid,
                                             low, high, table + chunk * ROW);
        const struct ranked_tile ranked_tile = {ranked.staged, ranked.targets, begin, staged,
                                                low,           high,           0,     0};
#else
        uint4 tile_digits[KEYS / 4];
        load_digits(digits, begin, valid, t, tile_digits);
        const tile_runs runs = rank_in_local_memory(ranked, t, tile_digits, valid, compact);
        const struct ranked_tile ranked_tile = {ranked.staged, runs.shifts, begin,     valid,
                                                low,           high,        runs.base, runs.mask};
#endif
        for (uint first = 0; first < KEYS; first += MOVE_BATCH)
            move_batch(&arrays, &motion, &walk, around, &ranked_tile, t, first);
#if !BY_DIRECTION
        close_local_list(ranked, t, valid, runs);
#endif
    }
}

#endif

#if BY_DIRECTION
#include "shared/strays.h" /* kernels 4 and 5 */
#endif
