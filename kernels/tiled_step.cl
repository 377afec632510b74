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
 * On a small grid the digit is the cell, and the scan is step_scan(). On a large one (WINDOWED) it is the
 * cell's place in the chunk's window (shared/windows.h); the scan is step_total(), step_scan_blocks()
 * and step_place(), and the few particles that leave their chunk's window are moved by
 * step_order_strays() and step_move_strays().
 *
 * On several ranks (LEAVES_ROOM) others announce between count and scan how many come from them to each cell;
 * the scan leaves room for those behind the cell's own (shared/arrivals.h).
 *
 * Every kernel that pushes a particle must come to the same bits, or it is counted in one cell and moved to
 * another: hence FP_CONTRACT OFF.
 *
 * Compile-time parameters: those of shared/push.h, FUSE_PRODUCTS (shared/real.h), ITEMS, DIGIT_BITS,
 * SCAN_ITEMS (shared/tiles.h), LEAVES_ROOM (shared/arrivals.h), CARRIES: whether particles have further
 * attributes, which follow by `origin`, the old place of each new one, WINDOWED, and with it SPAN, MARGIN,
 * REACH, CHUNK_TILES (shared/windows.h).
 */
#pragma OPENCL FP_CONTRACT OFF

#define GROUP_ITEMS (2 * ITEMS)

#include "shared/arrivals.h"
#include "shared/push.h"
#include "shared/tiles.h"
#if WINDOWED
#include "shared/windows.h"
#endif

#define BATCH 8 /* particles that an item loads before it works on them */
#define MEASURE_BATCH                                                                                        \
    4 /* with sums: they need registers too, and with more than 64 fewer groups fit an H200 */

/* Items that a GPU runs side by side read neighbours, ABREAST of them, and go on to the next ABREAST: they
 * stay in a cell as long as they can. Entry number n of item t, among `each` entries an item. */
#define ABREAST           32
#define ENTRY(t, n, each) ((t) / ABREAST * (ABREAST * (each)) + (n)*ABREAST + (t) % ABREAST)

/* The sorted list as it is, and where it goes. */
#define LIST_ARGUMENTS                                                                                       \
    global const uint *restrict cell_offsets, global const real2 *restrict offset,                           \
        global const real2 *restrict velocity
#define NEW_LIST_ARGUMENTS                                                                                   \
    global real2 *restrict new_offset, global real2 *restrict new_velocity, global uint *restrict origin
/* What a windowed count leaves: see visit_runs(). */
#define COUNTS_ARGUMENTS                                                                                     \
    global uint *restrict table, global const uint *restrict cell_offsets,                                   \
        global const uint *restrict tile_cells, global const uint *restrict stray_counts
#define ARRIVAL_ARGUMENTS global const uint *restrict arrival_rows, global const uint *restrict arrival_counts

/* ---- tiles, and a particle of one ---- */

/* One item per tile, and one more: tile_cells[tile] is the cell of its first particle; beyond the last tile
 * it is the last cell. */
kernel void step_find_tiles(global const uint *restrict cell_offsets, global uint *restrict tile_cells,
                            uint cells, uint count)
{
    const uint tile = (uint)get_global_id(0), tiles = count / TILE + (count % TILE != 0);
    if (tile <= tiles)
        tile_cells[tile] = tile < tiles ? find_segment(cell_offsets, 0, cells - 1, tile * TILE) : cells - 1;
}

static inline struct pushed push_place(const struct motion *motion, const struct walk *walk, real2 offset,
                                       const struct velocity_step *step)
{
    struct pushed pushed = push_position(motion, walk, offset, step);
#if !WINDOWED || !BANDS_HAVE_ROWS /* else see push_stray() */
    pushed.offset = pushed_offset(motion, &pushed);
#endif
    return pushed;
}

static inline tile_range chunk_tiles(uint chunk, uint count)
{
#if WINDOWED
    return window_tiles(chunk, count);
#else
    return own_tiles(chunk, (uint)get_num_groups(0), count);
#endif
}

/* ---- count ---- */

#define COUNT_ARGUMENTS                                                                                      \
    global const uint *restrict tile_cells, global ushort *restrict digits, global uint *restrict table,     \
        global uint *restrict lists, volatile global uint *restrict totals, uint count,                      \
        volatile global uint *restrict stray_number, global uint *restrict stray_list,                       \
        volatile global uint *restrict stray_counts, global real *restrict sums

/* Pushes every particle, keeps the digit of its new cell in `digits` and counts it, chunk by chunk. WINDOWED:
 * strays are listed in stray_list, in no order, and counted by cell; stray_number is how many there are.
 * `measures`, a constant of each kernel: the sums of push.cl too, chunk by chunk, in sums[3 chunk ...]. */
static inline void count_chunk(const struct motion *motion, LIST_ARGUMENTS, COUNT_ARGUMENTS,
                               local uint *counts, local uint *distinct, local real *shared,
                               const bool measures)
{
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const uint batch = measures ? MEASURE_BATCH : BATCH;
    const tile_range own = chunk_tiles(chunk, count);
    for (uint c = t; c < RADIX; c += 2 * ITEMS)
        counts[c] = 0;
    if (t == 0)
        *distinct = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    struct walk walk = walk_start();
    real total[SUM_COUNT] = {(real)0, (real)0, (real)0}, excess[SUM_COUNT] = {(real)0, (real)0, (real)0};
#if WINDOWED
    const uint first_cell = tile_cells[own.first];
#endif
    for (uint tile = own.first; tile < own.first + own.tiles; tile++) {
        const uint begin = tile * TILE, end = begin + min((uint)TILE, count - begin);
        const uint low = tile_cells[tile], high = tile_cells[tile + 1];
        real block[SUM_COUNT] = {(real)0, (real)0, (real)0}; /* of KEYS / 2 particles, below SUM_BLOCK */
        for (uint first = 0; first < KEYS / 2; first += batch) {
            real2 offsets[BATCH], velocities[BATCH];
#pragma unroll
            for (uint n = 0; n < batch; n++) {
                const uint p = min(begin + ENTRY(t, first + n, KEYS / 2), end - 1);
                offsets[n] = offset[p];
                velocities[n] = velocity[p];
            }
#pragma unroll
            for (uint n = 0; n < batch; n++) {
                const uint p = begin + ENTRY(t, first + n, KEYS / 2);
                if (p < end) {
                    walk_to(&walk, motion, cell_offsets, p, low, high);
                    const struct velocity_step step = push_velocity(motion, &walk, offsets[n], velocities[n]);
                    const struct pushed pushed = push_place(motion, &walk, offsets[n], &step);
                    if (measures)
                        push_add_sums(block, &step);
#if WINDOWED
                    const uint digit =
                        window_digit(first_cell, walk.i, walk.j, pushed.i, pushed.j, motion->nx, motion->ny);
                    if (digit == STRAY) {
                        stray_list[atomic_inc(stray_number)] = p;
                        atomic_inc(&stray_counts[pushed_cell(motion, &pushed)]);
                    }
#else
                    const uint digit = pushed_cell(motion, &pushed);
#endif
                    digits[p] = (ushort)digit;
                    atomic_inc(&counts[digit]);
                }
            }
        }
        if (measures)
            sum_add_block(total, excess, block);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    store_counts(counts, distinct, t, chunk, table, lists, WINDOWED ? 0 : totals);
#if WINDOWED
    if (t == STRAY % (2 * ITEMS))
        table[chunk * ROW + STRAY] = STRAY_PLACE;
#endif
    if (measures)
        sum_store(total, shared, sums + SUM_COUNT * chunk);
}

/* With the sums at n, where they are measured, from sums[first_sum] on. No name begins with that of another:
 * oclgrind gives a kernel the local arrays of all whose names do. */
#define DEFINE_COUNT(name, measures)                                                                         \
    kernel __attribute__((reqd_work_group_size(2 * ITEMS, 1, 1))) void name(                                 \
        MOTION_ARGUMENTS, LIST_ARGUMENTS, COUNT_ARGUMENTS, uint first_sum)                                   \
    {                                                                                                        \
        local uint counts[RADIX], distinct;                                                                  \
        local real shared[SUM_SHARED];                                                                       \
        const struct motion motion = MOTION;                                                                 \
        count_chunk(&motion, cell_offsets, offset, velocity, tile_cells, digits, table, lists, totals,       \
                    count, stray_number, stray_list, stray_counts, sums + first_sum, counts, &distinct,      \
                    shared, measures);                                                                       \
    }
DEFINE_COUNT(step_count, false)
DEFINE_COUNT(step_measure_and_count, true)

/* ---- leavers and the scan ---- */

/* `new_count` is that of the particles with the arrivals. */

#if !WINDOWED

/* leavers: how many particles go to each cell from `own` on, an item each. */
kernel void step_count_leavers(global const uint *restrict totals, uint own, uint cells,
                               global uint *restrict leavers)
{
    const uint n = (uint)get_global_id(0);
    if (own + n < cells)
        leavers[n] = totals[own + n];
}

/* Counts the arrivals, one item per cell. */
kernel void step_add_arrivals(ARRIVAL_ARGUMENTS, uint cells, uint ny, global uint *restrict totals)
{
    const uint cell = (uint)get_global_id(0);
    if (cell < cells)
        totals[cell] += arrivals_of(arrival_rows, arrival_counts, cell, ny);
}

/* scan_table(), and the cell in which each tile of the new order begins. */
kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void
step_scan(global uint *restrict table, global const uint *restrict totals, global uint *restrict offsets,
          global uint *restrict tile_cells, uint chunks, uint cells, uint new_count)
{
    local uint sums[2 * SCAN_ITEMS];
    const uint t = (uint)get_local_id(0), cell = (uint)get_group_id(0) * SCAN_BINS + t % SCAN_BINS;
    const uint start = scan_table(sums, table, totals, offsets, chunks, cells);
    const uint tiles = new_count / TILE + (new_count % TILE != 0);
    const uint end_tile = (uint)(((ulong)start + totals[cell] + TILE - 1) / TILE); /* past the cell */
    for (uint tile = start / TILE + (start % TILE != 0) + t / SCAN_BINS; tile < end_tile;
         tile += SCAN_ITEMS / SCAN_BINS)
        tile_cells[tile] = cell;
    if (cell == 0 && t == 0)
        tile_cells[tiles] = cells - 1;
}

#else

/* The same, then how many particles stand in rows before `low_row` and before `high_row`, an item each. */
kernel void step_count_leavers(COUNTS_ARGUMENTS, uint own, uint cells, uint ny, uint count, uint low_row,
                               uint high_row, global uint *restrict leavers)
{
    const uint n = (uint)get_global_id(0), cell = own + n;
    if (cell < cells)
        leavers[n] = visit_runs(table, cell_offsets, tile_cells, cell, cells, ny, count, 0, false) +
                     stray_counts[cell];
    else if (cell < cells + 2)
        leavers[n] = cell_offsets[(cell == cells ? low_row : high_row) * ny];
}

/* One item per cell: how many particles each is to hold. `offsets` gets their number in the cells before,
 * within the block of ITEMS cells of the group, and block_totals that of the block. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void step_total(COUNTS_ARGUMENTS, ARRIVAL_ARGUMENTS,
                                                                          uint cells, uint ny, uint count,
                                                                          global uint *restrict offsets,
                                                                          global uint *restrict block_totals)
{
    local uint sums[2 * ITEMS];
    const uint t = (uint)get_local_id(0), cell = (uint)get_global_id(0);
    const uint total = cell < cells
                           ? visit_runs(table, cell_offsets, tile_cells, cell, cells, ny, count, 0, false) +
                                 stray_counts[cell] + arrivals_of(arrival_rows, arrival_counts, cell, ny)
                           : 0;
    local const uint *up_to = sum_along(sums, ITEMS, 1, t, total);
    if (cell < cells)
        offsets[cell] = up_to[t] - total;
    if (t == ITEMS - 1)
        block_totals[get_group_id(0)] = up_to[t];
}

/* One group: block_totals becomes the number of particles in the blocks before. Clears the other step's
 * number of strays. */
kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void
step_scan_blocks(global uint *restrict block_totals, uint blocks, global uint *restrict next_stray_number)
{
    local uint sums[2 * SCAN_ITEMS];
    scan_by_one_group(sums, block_totals, block_totals, blocks);
    if (get_local_id(0) == 0)
        *next_stray_number = 0;
}

/* One item per cell: where its particles start, in `offsets`, where each run of the table ends, where its
 * strays start, after all runs and before the arrivals, and the tiles that begin in it. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
step_place(COUNTS_ARGUMENTS, ARRIVAL_ARGUMENTS, uint cells, uint ny, uint count, uint new_count,
           global uint *restrict offsets, global const uint *restrict block_totals,
           global uint *restrict stray_begins, global uint *restrict new_tile_cells)
{
    const uint cell = (uint)get_global_id(0), tiles = new_count / TILE + (new_count % TILE != 0);
    if (cell >= cells)
        return;
    const uint start = offsets[cell] + block_totals[get_group_id(0)];
    const uint strays = visit_runs(table, cell_offsets, tile_cells, cell, cells, ny, count, start, true);
    const uint end = strays + stray_counts[cell] + arrivals_of(arrival_rows, arrival_counts, cell, ny);
    offsets[cell] = start;
    stray_begins[cell] = strays;
    for (uint tile = start / TILE + (start % TILE != 0); tile * TILE < end; tile++)
        new_tile_cells[tile] = cell;
    if (cell == cells - 1) {
        offsets[cells] = new_count;
        new_tile_cells[tiles] = cell;
    }
}

#endif

/* ---- move ---- */

/* The digits of a tile; places past its end read as RADIX. Item t holds, for each n, the four from 4*(n*ITEMS
 * + t) on. */
static inline void load_digits(global const ushort *restrict list, uint begin, uint valid, uint t,
                               uint4 digits[KEYS / 4])
{
#pragma unroll
    for (uint n = 0; n < KEYS / 4; n++) {
        const uint j = 4 * (n * ITEMS + t);
        digits[n] = j + 3 < valid ? convert_uint4(vload4(n * ITEMS + t, list + begin))
                                  : (uint4)(j < valid ? list[begin + j] : RADIX,
                                            j + 1 < valid ? list[begin + j + 1] : RADIX,
                                            j + 2 < valid ? list[begin + j + 2] : RADIX, RADIX);
    }
}

#define NOWHERE 0xffffffffu

/* The arrays of a move. */
struct arrays {
    global const uint *cell_offsets;
    global const real2 *offset, *velocity;
    global real2 *new_offset, *new_velocity;
    global uint *origin;
};

static inline void store_pushed(const struct arrays *arrays, const struct pushed *pushed, uint source,
                                uint target)
{
    arrays->new_offset[target] = pushed->offset;
    arrays->new_velocity[target] = pushed->velocity;
    if (CARRIES)
        arrays->origin[target] = source;
}

/* Pushes BATCH particles from their old places to their new ones; those to NOWHERE are none. They stand
 * in the cells from `low` to `high`. */
static inline void move_batch(const struct arrays *arrays, const struct motion *motion, struct walk *walk,
                              const uint sources[BATCH], const uint targets[BATCH], uint low, uint high)
{
    real2 offsets[BATCH], velocities[BATCH];
#pragma unroll
    for (uint n = 0; n < BATCH; n++) {
        offsets[n] = arrays->offset[sources[n]];
        velocities[n] = arrays->velocity[sources[n]];
    }
#pragma unroll
    for (uint n = 0; n < BATCH; n++) {
        if (targets[n] == NOWHERE)
            continue;
        walk_to(walk, motion, arrays->cell_offsets, sources[n], low, high);
        const struct velocity_step step = push_velocity(motion, walk, offsets[n], velocities[n]);
        const struct pushed pushed = push_place(motion, walk, offsets[n], &step);
        store_pushed(arrays, &pushed, sources[n], targets[n]);
    }
}

/* Pushes every particle to its place, but for strays; without windows clears the totals for the next count.
 * WINDOWED: those of the chunks below `split`, and of the others from split + skip on, as many as there are
 * groups. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
step_move(MOTION_ARGUMENTS, LIST_ARGUMENTS, global const uint *restrict tile_cells,
          global const ushort *restrict digits, global const uint *restrict table,
          global const uint *restrict lists, NEW_LIST_ARGUMENTS, uint count, uint new_count, uint split,
          uint skip, global uint *restrict totals)
{
    DECLARE_SOME_ARRAYS(some);
    const uint t = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint chunk = group < split ? group : group + skip;
    const tile_range own = chunk_tiles(chunk, count);
    const uint distinct = lists[chunk * LIST_WORDS];
    const bool compact = distinct <= SOME;
    const struct motion motion = MOTION;
    const struct arrays arrays = {cell_offsets, offset, velocity, new_offset, new_velocity, origin};
    struct walk walk = walk_start();
    for (uint c = t; !WINDOWED && chunk == 0 && c < ROW; c += ITEMS)
        totals[c] = 0;
    open_some(some, t, chunk, distinct, table, lists);
    for (uint left = own.tiles; left > 0; left--) {
        const uint tile = own.first + left - 1, begin = tile * TILE, valid = min((uint)TILE, count - begin);
        const uint low = tile_cells[tile], high = tile_cells[tile + 1];
        uint4 tile_digits[KEYS / 4];
        barrier(CLK_LOCAL_MEM_FENCE); /* the last tile's local arrays are read */
        load_digits(digits, begin, valid, t, tile_digits);
        local const uint *places = stage_some(some, t, tile_digits, valid, compact);
        for (uint first = 0; first < KEYS; first += BATCH) {
            uint sources[BATCH], targets[BATCH];
#pragma unroll
            for (uint n = 0; n < BATCH; n++) {
                const uint position = (first + n) * ITEMS + t;
                const uint word = some.staged[STAGE_PLACE(position)];
                sources[n] = position < valid ? begin + (word & (TILE - 1)) : begin;
                targets[n] = position < valid ? places[word >> PLACE_BITS] + position : NOWHERE;
                if (WINDOWED && targets[n] >= new_count) /* strays move apart */
                    targets[n] = NOWHERE;
            }
            move_batch(&arrays, &motion, &walk, sources, targets, low, high);
        }
        leave_some(some, t, valid, compact);
    }
}

/* ---- strays ---- */

#if WINDOWED

/* The strays stand in their cell behind the others, in the order of their old places. They were listed in no
 * order: first each takes any place of its cell's, in `order`, then its rank is counted there. */

static inline struct pushed push_stray(const struct arrays *arrays, const struct motion *motion, uint source)
{
    struct walk walk = walk_start();
    walk_to(&walk, motion, arrays->cell_offsets, source, 0, motion->nx * motion->ny - 1);
    const struct velocity_step step =
        push_velocity(motion, &walk, arrays->offset[source], arrays->velocity[source]);
    struct pushed pushed = push_position(motion, &walk, arrays->offset[source], &step);
    pushed.offset = pushed_offset(motion, &pushed);
    return pushed;
}

/* Leaves stray_counts at 0, for the next count. */
kernel void step_order_strays(MOTION_ARGUMENTS, LIST_ARGUMENTS, global const uint *restrict stray_number,
                              global const uint *restrict stray_list,
                              volatile global uint *restrict stray_counts,
                              global const uint *restrict stray_begins, global uint *restrict order)
{
    const struct motion motion = MOTION;
    const struct arrays arrays = {cell_offsets, offset, velocity, 0, 0, 0};
    for (uint n = (uint)get_global_id(0); n < *stray_number; n += (uint)get_global_size(0)) {
        const struct pushed pushed = push_stray(&arrays, &motion, stray_list[n]);
        const uint cell = pushed_cell(&motion, &pushed);
        order[stray_begins[cell] + atomic_dec(&stray_counts[cell]) - 1] = stray_list[n];
    }
}

kernel void step_move_strays(MOTION_ARGUMENTS, LIST_ARGUMENTS, global const uint *restrict stray_number,
                             global const uint *restrict stray_list, global const uint *restrict stray_begins,
                             global const uint *restrict order, ARRIVAL_ARGUMENTS,
                             global const uint *restrict new_offsets, NEW_LIST_ARGUMENTS)
{
    const struct motion motion = MOTION;
    const struct arrays arrays = {cell_offsets, offset, velocity, new_offset, new_velocity, origin};
    for (uint n = (uint)get_global_id(0); n < *stray_number; n += (uint)get_global_size(0)) {
        const uint source = stray_list[n];
        const struct pushed pushed = push_stray(&arrays, &motion, source);
        const uint cell = pushed_cell(&motion, &pushed);
        uint target = stray_begins[cell];
        const uint end = new_offsets[cell + 1] - arrivals_of(arrival_rows, arrival_counts, cell, ny);
        for (uint other = stray_begins[cell]; other < end; other++)
            target += order[other] < source;
        store_pushed(&arrays, &pushed, source, target);
    }
}

#endif
