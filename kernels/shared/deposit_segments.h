/* Deposit segments: the sums of all pieces of a segment (kernels/deposit.cl), by a group on GPUs and by an
 * item with vectors on CPUs; and those of a cell of many pieces by a group.
 *
 * SEGMENT_ITEMS: items of a group of deposit_group_per_segment, a power of two. ITEM_PARTICLES: particles of
 * an item there, a power of two from 8 to SUM_BLOCK.
 */
#ifndef SHARED_DEPOSIT_SEGMENTS_H
#define SHARED_DEPOSIT_SEGMENTS_H

#include "shared/deposit_sums.h"
#include "shared/fast_search.h"
#include "shared/lanes.h"

/* ---- one group per segment ---- */

#define SEGMENT_SIZE (SEGMENT_ITEMS * ITEM_PARTICLES)
#define NO_CELL      0xffffffffu

/* Copies `size` particles from `begin` on to local memory, with a gap after those of each item, so that items
 * side by side use different banks. All reads of an item are under way at once. */
static inline void stage_particles(global const real2 *restrict offset, uint stride, uint begin, uint size,
                                   local real2 *staged)
{
    const uint item = (uint)get_local_id(0);
    real2 ahead[ITEM_PARTICLES];
#pragma unroll
    for (uint k = 0; k < ITEM_PARTICLES; k++)
        ahead[k] = offset[(size_t)(begin + min(item + k * SEGMENT_ITEMS, size - 1)) * stride];
#pragma unroll
    for (uint k = 0; k < ITEM_PARTICLES; k++) {
        const uint m = item + k * SEGMENT_ITEMS;
        if (m < size)
            staged[m + m / ITEM_PARTICLES] = ahead[k];
    }
}

/* Adds the totals of consecutive items that end in the same cell, each to the ones after it (Hillis & Steele,
 * Commun. ACM 29, 1170, 1986): the last item of the row is left with the sum over all, also in `shared`.
 * Every item must call it, from uniform control flow. shared: SUM_COUNT * SEGMENT_ITEMS reals. */
static inline void sum_along_items(uint cell, local uint *last_cells, real total[SUM_COUNT],
                                   local real *shared)
{
    const uint item = (uint)get_local_id(0);
    last_cells[item] = cell;
    for (uint distance = 1;; distance *= 2) {
#pragma unroll
        for (uint n = 0; n < SUM_COUNT; n++)
            shared[n * SEGMENT_ITEMS + item] = total[n];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (distance >= SEGMENT_ITEMS)
            return;
        if (item >= distance && last_cells[item - distance] == cell)
#pragma unroll
            for (uint n = 0; n < SUM_COUNT; n++)
                total[n] += shared[n * SEGMENT_ITEMS + item - distance];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* What an item has of the cells it meets among its consecutive particles. */
struct item_sums {
    uint first_cell, last_cell; /* NO_CELL without particles */
    real first[SUM_COUNT];      /* of the first cell where that is not the last */
    real last[SUM_COUNT];
};

/* Sums the staged particles from..to of a segment that begins with `begin` in first_cell or behind it. A cell
 * between the item's first and last one is all the item's own: its piece is done. */
static inline struct item_sums sum_item(global const uint *restrict cell_offsets, uint cells,
                                        const local real2 *staged, uint begin, uint from, uint to,
                                        uint first_cell, uint segment, global real *restrict sums)
{
    struct item_sums own = {NO_CELL, NO_CELL, {(real)0}, {(real)0}};
    if (from >= to)
        return own;
    uint cell = find_segment_near(cell_offsets, cells, first_cell, begin + from);
    uint cell_end = cell_offsets[cell + 1];
    own.first_cell = cell;
    for (uint n = from; n < to; n++) {
        if (begin + n == cell_end) {
            if (cell != own.first_cell)
                store_sums(sums, segment + cell, own.last);
#pragma unroll
            for (uint m = 0; m < SUM_COUNT; m++) {
                own.first[m] = cell == own.first_cell ? own.last[m] : own.first[m];
                own.last[m] = (real)0;
            }
            cell = find_segment_near(cell_offsets, cells, cell + 1, begin + n);
            cell_end = cell_offsets[cell + 1];
        }
        add_particle(staged[n], own.last);
    }
    own.last_cell = cell;
    return own;
}

/* A group stages its segment in local memory, with reads that coalesce, then each item sums ITEM_PARTICLES
 * consecutive particles, no more than SUM_BLOCK, which need no compensation, and pieces that several items
 * share are added along the items. */
kernel __attribute__((reqd_work_group_size(SEGMENT_ITEMS, 1, 1))) void
deposit_group_per_segment(global const uint *restrict cell_offsets, global const real2 *restrict offset,
                          uint stride, uint cells, uint count, uint segment_bits, global real *restrict sums,
                          global uint *restrict segment_cell)
{
    local real2 staged[SEGMENT_ITEMS * (ITEM_PARTICLES + 1)];
    local uint first_cells[SEGMENT_ITEMS], last_cells[SEGMENT_ITEMS], found;
    const uint segment = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint begin = segment * SEGMENT_SIZE;
    const uint size = min((uint)SEGMENT_SIZE, count - begin);
    stage_particles(offset, stride, begin, size, staged);
    /* With its barriers, behind which the particles are staged. */
    const uint first_cell = find_segment_by_group(cell_offsets, cells, begin, count, &found);

    const uint from = item * ITEM_PARTICLES, to = min(from + ITEM_PARTICLES, size);
    struct item_sums own =
        sum_item(cell_offsets, cells, staged + item, begin, from, to, first_cell, segment, sums);
    if (item == 0)
        segment_cell[segment] = own.first_cell;
    first_cells[item] = own.first_cell;
    barrier(CLK_LOCAL_MEM_FENCE); /* the staged particles are done with */
    local real *shared = (local real *)staged;
    sum_along_items(own.last_cell, last_cells, own.last, shared);

    if (own.first_cell != own.last_cell) {
        if (item > 0 && last_cells[item - 1] == own.first_cell)
            for (uint n = 0; n < SUM_COUNT; n++)
                own.first[n] += shared[n * SEGMENT_ITEMS + item - 1];
        store_sums(sums, segment + own.first_cell, own.first);
    }
    const bool goes_on = item + 1 < SEGMENT_ITEMS && first_cells[item + 1] == own.last_cell;
    if (own.last_cell != NO_CELL && !goes_on)
        store_sums(sums, segment + own.last_cell, own.last);
}

/* ---- one item per segment, in vectors ---- */

#define VECTOR 16 /* particles side by side */

/* Adds the weights of VECTOR particles from p on to sums of as many lanes each; those before `begin` and from
 * `end` on are left out. `whole`: none is, and p is a multiple of VECTOR, where vectors are loaded at once.
 */
static inline void add_vector(global const real2 *restrict offset, uint stride, uint p, bool whole,
                              uint begin, uint end, real16 sums[SUM_COUNT])
{
    global const real16 *const at = (global const real16 *)(offset + (size_t)p * stride);
    global const real *const from = (global const real *)at;
    real16 x = whole ? at[0] : vload16(0, from), y = whole ? at[1] : vload16(1, from);
    if (stride == 2) {
        const real16 c = whole ? at[2] : vload16(2, from), d = whole ? at[3] : vload16(3, from);
        const real16 x_u = even_lanes(x, y), y_v = odd_lanes(x, y);
        x = even_lanes(x_u, even_lanes(c, d));
        y = even_lanes(y_v, odd_lanes(c, d));
    } else {
        const real16 a = x;
        x = even_lanes(a, y);
        y = odd_lanes(a, y);
    }
    const real16 lane = (real16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), none = 0;
    real16 along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights16(x, along_x);
    shape_weights16(y, along_y);
    if (!whole)
        for (uint a = 0; a < SHAPE_NODES; a++) { /* both: the others' may be non-finite */
            along_x[a] = lane >= (real)(begin - p) && lane < (real)(end - p) ? along_x[a] : none;
            along_y[a] = lane >= (real)(begin - p) && lane < (real)(end - p) ? along_y[a] : none;
        }
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n++)
        sums[n] += along_x[n / SHAPE_NODES] * along_y[n % SHAPE_NODES];
}

/* A block: the particles from `begin` to `aligned`, a vector or fewer, up to SUM_BLOCK - 2 whole vectors from
 * there on, and the rest before `end`. A lane adds no more than SUM_BLOCK terms plainly. */
static inline void sum_block(global const real2 *restrict offset, uint stride, uint count, uint begin,
                             uint aligned, uint end, real block[SUM_COUNT])
{
    real16 sums[SUM_COUNT];
    for (uint n = 0; n < SUM_COUNT; n++)
        sums[n] = (real16)0;
    /* Of a part of a vector the other lanes hold neighbours in the list. */
    if (begin < aligned)
        add_vector(offset, stride, min(begin, count - VECTOR), false, begin, min(aligned, end), sums);
    uint p = aligned;
    for (; p + VECTOR <= end; p += VECTOR)
        add_vector(offset, stride, p, true, p, end, sums);
    if (p < end)
        add_vector(offset, stride, min(p, count - VECTOR), false, p, end, sums);
    for (uint n = 0; n < SUM_COUNT; n += 4) {
        const real16 four = sum_lanes(sums + n);
        block[n] = four.s0;
        block[n + 1] = four.s1;
        block[n + 2] = four.s2;
        block[n + 3] = four.s3;
    }
}

/* The sums over particles begin to end, added to `total`, which is 0. */
static inline void sum_consecutive(global const real2 *restrict offset, uint stride, uint count, uint begin,
                                   uint end, real total[SUM_COUNT])
{
    if (count < VECTOR) {
        for (uint p = begin; p < end; p++) /* no more than SUM_BLOCK */
            add_particle(offset[(size_t)p * stride], total);
        return;
    }
    real excess[SUM_COUNT] = {(real)0};
    for (uint p = begin; p < end;) {
        const uint aligned = end - p <= VECTOR ? end : (p + VECTOR - 1) / VECTOR * VECTOR;
        const uint block_end = min(end, aligned + VECTOR * (SUM_BLOCK - 2));
        real block[SUM_COUNT];
        sum_block(offset, stride, count, p, aligned, block_end, block);
        sum_add_block(total, excess, block);
        p = block_end;
    }
}

/* The pieces of a segment, one after the other. */
static inline void sum_segment(global const uint *restrict cell_offsets, global const real2 *restrict offset,
                               uint stride, uint cells, uint count, uint segment_bits,
                               global real *restrict sums, global uint *restrict segment_cell)
{
    const uint segment = (uint)get_group_id(0);
    const uint begin = segment << segment_bits;
    const uint end = begin + min(count - begin, 1u << segment_bits);
    uint cell = find_segment_near(cell_offsets, cells, 0, begin);
    segment_cell[segment] = cell;
    for (uint p = begin; p < end;) {
        const uint piece_end = min(end, cell_offsets[cell + 1]);
        real total[SUM_COUNT] = {(real)0};
        sum_consecutive(offset, stride, count, p, piece_end, total);
        store_sums(sums, segment + cell, total);
        p = piece_end;
        if (p < end)
            cell = find_segment_near(cell_offsets, cells, cell + 1, p);
    }
}

/* One item per segment, each in a group of its own. The stride is spelled out so that the compiler knows it
 * in the inner loop. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
deposit_item_per_segment(global const uint *restrict cell_offsets, global const real2 *restrict offset,
                         uint stride, uint cells, uint count, uint segment_bits, global real *restrict sums,
                         global uint *restrict segment_cell)
{
    if (stride == 1)
        sum_segment(cell_offsets, offset, 1, cells, count, segment_bits, sums, segment_cell);
    else
        sum_segment(cell_offsets, offset, 2, cells, count, segment_bits, sums, segment_cell);
}

/* ---- cells of many pieces ---- */

/* One group for every `most` segments: if the first of them is also the first such one that starts in a cell
 * of more than `most` pieces, the group adds them all into the place of the cell's first piece. So each long
 * cell has one group, found without a search, and deposit_nodes need not add more than `most` pieces. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
deposit_long_cells(global const uint *restrict cell_offsets, global const uint *restrict segment_cell,
                   uint segment_bits, uint most, global real *restrict sums)
{
    local real shared[SUM_SHARED];
    const uint segment = (uint)get_group_id(0) * most, item = (uint)get_local_id(0);
    const uint cell = segment_cell[segment];
    const uint2 ends = segments_of(cell_offsets, segment_bits, cell);
    const uint first_started = ends.x + (ends.x << segment_bits < cell_offsets[cell]);
    const bool mine = ends.y - ends.x >= most && segment - first_started < most;
    real total[SUM_COUNT] = {(real)0}, excess[SUM_COUNT] = {(real)0};
    for (uint s = ends.x + item; mine && s <= ends.y; s += GROUP_ITEMS) {
        real piece[SUM_COUNT];
        for (uint n = 0; n < SUM_COUNT; n++)
            piece[n] = sums[(size_t)(s + cell) * SUM_COUNT + n];
        sum_add_block(total, excess, piece);
    }
    sum_over_group(total, shared);
    if (mine && item == 0)
        store_sums(sums, ends.x + cell, total);
}

#endif
