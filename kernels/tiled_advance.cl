/* Tiled advance: push and sort at once, on sorted particles in pairs. A pass of the tiled sort over the cells
 * that the particles are about to be in, whose histogram pushes each particle to learn its cell, and whose
 * reorder pushes it again to move it there (how a tile is ranked stands in shared/tiles.h).
 *
 *   advance_find_tiles       the cell in which each tile begins, for the first step
 *   advance_count            push, keep the new cell alone, count; the histogram
 *   advance_scan             places of the chunks' runs, new cell offsets, the cells of the new tiles
 *   advance_move             push, move
 *   advance_measure          the sums at n
 *
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h), SHAPE_ORDER (shared/shape.h), ITEMS, DIGIT_BITS,
 * SCAN_ITEMS (shared/tiles.h), HAS_IDS: whether particles carry one.
 */
#define SUM_COUNT   3 /* |v|^2, u, v */
#define GROUP_ITEMS (2 * ITEMS)

#include "shared/interpolate.h"
#include "shared/motion.h"
#include "shared/sum.h"
#include "shared/tiles.h"

#define BATCH 4 /* particles that an item loads before it works on them */

/* ---- where a particle stands ---- */

/* The cell of particle p, between `low` and `high`: the last that starts at or before p, so never an empty
 * one. */
static inline uint find_cell(global const uint *restrict cell_offsets, uint low, uint high, uint p)
{
    while (low < high) {
        const uint middle = low + (high - low + 1) / 2;
        if (cell_offsets[middle] <= p)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The cell whose particles an item meets, and the field around it. */
struct walk {
    uint begin, end; /* the cell's particles are [begin, end); none at first */
    uint i, j;       /* the cell */
    struct cell_field around;
};

static inline void walk_to(struct walk *walk, uint p, uint low, uint high,
                           global const uint *restrict cell_offsets, global const real *restrict ex,
                           global const real *restrict ey, uint nx, uint ny)
{
    if (p >= walk->begin && p < walk->end)
        return;
    const uint cell = find_cell(cell_offsets, low, high, p);
    walk->begin = cell_offsets[cell];
    walk->end = cell_offsets[cell + 1];
    walk->i = cell / ny;
    walk->j = cell - walk->i * ny;
    walk->around = cell_field_read(ex, ey, nx, ny, cell);
}

/* One item per tile, and one more: tile_cells[tile] is the cell of its first particle; beyond the last tile
 * it is the last cell. */
kernel void advance_find_tiles(global const uint *restrict cell_offsets, global uint *restrict tile_cells,
                               uint cells, uint count)
{
    const uint tile = (uint)get_global_id(0), tiles = count / TILE + (count % TILE != 0);
    if (tile < tiles)
        tile_cells[tile] = find_cell(cell_offsets, 0, cells - 1, tile * TILE);
    else if (tile == tiles)
        tile_cells[tile] = cells - 1;
}

/* ---- one particle ---- */

/* A particle at n+1. */
struct pushed {
    real2 offset, velocity;
    uint cell;
};

/* What the push of a species takes: half_kick = q dt/2m, tangent and sine of the rotation (shared/motion.h),
 * (step_x, step_y) = (dt/dx, dt/dy). */
struct motion {
    uint nx, ny;
    real half_kick, tangent, sine, step_x, step_y;
};

static inline struct pushed push_particle(const struct motion *motion, const struct walk *walk, real2 offset,
                                          real2 velocity)
{
    const real2 field = interpolate(&walk->around, offset);
    const struct velocity_step step = velocity_push(velocity.x, velocity.y, field.x, field.y,
                                                    motion->half_kick, motion->tangent, motion->sine);
    const struct placement x = offset_place(offset.x + step.u * motion->step_x);
    const struct placement y = offset_place(offset.y + step.v * motion->step_y);
    struct pushed pushed;
    pushed.offset = (real2)(x.offset, y.offset);
    pushed.velocity = (real2)(step.u, step.v);
    pushed.cell = cell_index(wrap_any((int)walk->i + x.cells, motion->nx),
                             wrap_any((int)walk->j + y.cells, motion->ny), motion->ny);
    return pushed;
}

/* ---- count ---- */

/* Pushes every particle, keeps its new cell in `digits` and counts it, chunk by chunk. */
kernel __attribute__((reqd_work_group_size(2 * ITEMS, 1, 1))) void
advance_count(global const real *restrict ex, global const real *restrict ey, uint nx, uint ny,
              real half_kick, real tangent, real sine, real step_x, real step_y,
              global const uint *restrict cell_offsets, global const uint *restrict tile_cells,
              global const real2 *restrict offset, global const real2 *restrict velocity,
              global ushort *restrict digits, global uint *restrict table, global uint *restrict lists,
              volatile global uint *restrict totals, uint count)
{
    local uint counts[RADIX];
    local uint distinct;
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, (uint)get_num_groups(0), count);
    for (uint c = t; c < RADIX; c += 2 * ITEMS)
        counts[c] = 0;
    if (t == 0)
        distinct = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    const struct motion motion = {nx, ny, half_kick, tangent, sine, step_x, step_y};
    struct walk walk;
    walk.begin = walk.end = 0;
    for (uint tile = own.first; tile < own.first + own.tiles; tile++) {
        const uint begin = tile * TILE, end = begin + min((uint)TILE, count - begin);
        const uint low = tile_cells[tile], high = tile_cells[tile + 1];
        for (uint first = begin + t; first < end; first += BATCH * 2 * ITEMS) {
            real2 offsets[BATCH], velocities[BATCH];
#pragma unroll
            for (uint n = 0; n < BATCH; n++) {
                const uint p = min(first + n * 2 * ITEMS, end - 1);
                offsets[n] = offset[p];
                velocities[n] = velocity[p];
            }
#pragma unroll
            for (uint n = 0; n < BATCH; n++) {
                const uint p = first + n * 2 * ITEMS;
                if (p < end) {
                    walk_to(&walk, p, low, high, cell_offsets, ex, ey, nx, ny);
                    const struct pushed pushed = push_particle(&motion, &walk, offsets[n], velocities[n]);
                    digits[p] = (ushort)pushed.cell;
                    atomic_inc(&counts[pushed.cell]);
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    store_counts(counts, &distinct, t, chunk, table, lists, totals);
}

/* ---- scan ---- */

/* scan_table(), and the cell in which each tile of the new order begins. */
kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void
advance_scan(global uint *restrict table, global const uint *restrict totals, global uint *restrict offsets,
             global uint *restrict tile_cells, uint chunks, uint cells, uint count)
{
    local uint sums[2][SCAN_ITEMS];
    const uint t = (uint)get_local_id(0), cell = (uint)get_group_id(0) * SCAN_BINS + t % SCAN_BINS;
    const uint start = scan_table(sums, table, totals, offsets, chunks, cells);
    const uint tiles = count / TILE + (count % TILE != 0);
    const uint end_tile =
        (uint)(((ulong)start + totals[cell] + TILE - 1) / TILE); /* the first past the cell */
    for (uint tile = start / TILE + (start % TILE != 0) + t / SCAN_BINS; tile < end_tile;
         tile += SCAN_ITEMS / SCAN_BINS)
        tile_cells[tile] = cell;
    if (cell == 0 && t == 0)
        tile_cells[tiles] = cells - 1;
}

/* ---- move ---- */

/* The digits of a tile; places past its end read as RADIX. Item t holds, for each n, the four from 4*(n*ITEMS
 * + t) on. */
static inline void load_digits(global const ushort *restrict list, uint begin, uint valid, uint t,
                               uint4 digits[KEYS / 4])
{
#pragma unroll
    for (uint n = 0; n < KEYS / 4; n++) {
        const uint j = 4 * (n * ITEMS + t);
        if (j + 3 < valid)
            digits[n] = convert_uint4(vload4(n * ITEMS + t, list + begin));
        else
            digits[n] =
                (uint4)(j < valid ? list[begin + j] : RADIX, j + 1 < valid ? list[begin + j + 1] : RADIX,
                        j + 2 < valid ? list[begin + j + 2] : RADIX, RADIX);
    }
}

#define NOWHERE 0xffffffffu

/* The arrays of a move. */
struct arrays {
    global const real *ex, *ey;
    global const uint *cell_offsets;
    global const real2 *offset, *velocity;
    global const ulong *id;
    global real2 *new_offset, *new_velocity;
    global ulong *new_id;
};

/* Pushes BATCH particles from their old places to their new ones; those to NOWHERE are none. They stand in
 * the cells from `low` to `high`. */
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
        walk_to(walk, sources[n], low, high, arrays->cell_offsets, arrays->ex, arrays->ey, motion->nx,
                motion->ny);
        const struct pushed pushed = push_particle(motion, walk, offsets[n], velocities[n]);
        arrays->new_offset[targets[n]] = pushed.offset;
        arrays->new_velocity[targets[n]] = pushed.velocity;
#if HAS_IDS
        arrays->new_id[targets[n]] = arrays->id[sources[n]];
#endif
    }
}

/* Pushes every particle to its place, and clears the totals for the next count. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
advance_move(global const real *restrict ex, global const real *restrict ey, uint nx, uint ny, real half_kick,
             real tangent, real sine, real step_x, real step_y, global const uint *restrict cell_offsets,
             global const uint *restrict tile_cells, global const real2 *restrict offset,
             global const real2 *restrict velocity, global const ulong *restrict id,
             global const ushort *restrict digits, global const uint *restrict table,
             global const uint *restrict lists, global real2 *restrict new_offset,
             global real2 *restrict new_velocity, global ulong *restrict new_id, uint count,
             global uint *restrict totals)
{
    DECLARE_SOME_ARRAYS(some);
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, (uint)get_num_groups(0), count);
    const uint distinct = lists[chunk * LIST_WORDS];
    const bool compact = distinct <= SOME;
    const struct motion motion = {nx, ny, half_kick, tangent, sine, step_x, step_y};
    const struct arrays arrays = {ex, ey,         cell_offsets, offset, velocity,
                                  id, new_offset, new_velocity, new_id};
    struct walk walk;
    walk.begin = walk.end = 0;
    if (chunk == 0)
        for (uint c = t; c < ROW; c += ITEMS)
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
            }
            move_batch(&arrays, &motion, &walk, sources, targets, low, high);
        }
        leave_some(some, t, valid, compact);
    }
}

/* ---- measure ---- */

/* The sums of push_measure() (push.cl), chunk by chunk: sums[3 chunk ...] from element first_sum on. */
kernel __attribute__((reqd_work_group_size(2 * ITEMS, 1, 1))) void
advance_measure(global const real *restrict ex, global const real *restrict ey, uint nx, uint ny,
                real half_kick, real tangent, real sine, global const uint *restrict cell_offsets,
                global const uint *restrict tile_cells, global const real2 *restrict offset,
                global const real2 *restrict velocity, uint count, uint first_sum, global real *restrict sums)
{
    local real shared[SUM_SHARED];
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, (uint)get_num_groups(0), count);
    struct walk walk;
    walk.begin = walk.end = 0;
    real total[SUM_COUNT] = {(real)0, (real)0, (real)0}, excess[SUM_COUNT] = {(real)0, (real)0, (real)0};
    for (uint tile = own.first; tile < own.first + own.tiles; tile++) {
        const uint begin = tile * TILE, end = begin + min((uint)TILE, count - begin);
        const uint low = tile_cells[tile], high = tile_cells[tile + 1];
        real block[SUM_COUNT] = {(real)0, (real)0, (real)0}; /* of KEYS / 2 particles, below SUM_BLOCK */
        for (uint p = begin + t; p < end; p += 2 * ITEMS) {
            walk_to(&walk, p, low, high, cell_offsets, ex, ey, nx, ny);
            const real2 field = interpolate(&walk.around, offset[p]), before = velocity[p];
            const struct velocity_step step =
                velocity_push(before.x, before.y, field.x, field.y, half_kick, tangent, sine);
            block[0] += step.square;
            block[1] += step.mean_u;
            block[2] += step.mean_v;
        }
        sum_add_block(total, excess, block);
    }
    sum_over_group(total, shared);
    if (t == 0)
        for (uint n = 0; n < SUM_COUNT; n++)
            sums[first_sum + chunk * SUM_COUNT + n] = total[n];
}
