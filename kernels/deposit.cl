/* Deposit: the charge density of one species on the nodes, from particles sorted by cell.
 *
 * The list is cut by cells, and so that no cell is too much work however many particles it holds, also into
 * segments of 2^segment_bits consecutive particles. What a cell has of its particles in a segment is a piece.
 * First every piece sums the weights that its particles give to the SHAPE_NODES^2 nodes around, by one of
 *
 *   deposit_group_per_piece    for GPUs and many particles a cell
 *   deposit_group_per_segment  for GPUs and any number of particles a cell
 *   deposit_item_per_segment   for CPUs, in vectors
 *
 * then every node adds what the cells around hold for it. No two items write one word, so no atomics are
 * needed, and all sums run in a fixed order: the same particles give the same bits.
 *
 * The sums of a piece lie at its place, segment + cell: going through the list, each new piece is of a later
 * segment, a later cell or both, so no two share a place, and there are fewer places than segments and cells
 * together. Places from a cell's first up to the next cell's are the cell's own; the last may stay empty,
 * where a segment ends with the cell.
 *
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h), SHAPE_ORDER (shared/shape.h) and
 *   GROUP_ITEMS     items of a group, a power of two;
 *   SEGMENT_ITEMS   items of a group of deposit_group_per_segment, a power of two;
 *   ITEM_PARTICLES  particles of an item there, a power of two from 8 to SUM_BLOCK.
 *
 * Arguments that several kernels share:
 *   cell_offsets  uint[cells + 1]: where each cell's particles start;
 *   offset        the offsets (dx, dy), `stride` real2 from one particle to the next: 1 in SoA, 2 in AoS;
 *   sums          real[places][SUM_COUNT]: number a SHAPE_NODES + b of a piece holds its weights for the node
 *                 a along x and b along y from the shape's first;
 *   segment_cell  uint[segments]: the cell that holds the first particle of a segment.
 *
 * Loops over the sums of an item are unrolled, so that the sums stay in registers.
 */
#include "shared/shape.h"

#define SUM_COUNT (SHAPE_NODES * SHAPE_NODES)

#include "shared/cell.h"
#include "shared/lanes.h"
#include "shared/search.h"
#include "shared/sum.h"

/* The weights of one particle, added to the sums of its cell. */
static inline void add_particle(real2 offset, real sums[SUM_COUNT])
{
    real along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights(offset.x, along_x);
    shape_weights(offset.y, along_y);
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n++)
        sums[n] += along_x[n / SHAPE_NODES] * along_y[n % SHAPE_NODES];
}

static inline void clear_sums(real sums[SUM_COUNT])
{
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n++)
        sums[n] = (real)0;
}

static inline void store_sums(global real *restrict sums, uint place, const real total[SUM_COUNT])
{
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n++)
        sums[(size_t)place * SUM_COUNT + n] = total[n];
}

/* Reads of an item that are under way at once. */
#define READ_AHEAD 8

/* The sums over particles begin, begin + step, ... before `end`. */
static inline void sum_particles(global const real2 *restrict offset, uint stride, uint begin, uint end,
                                 uint step, real total[SUM_COUNT])
{
    real excess[SUM_COUNT];
    clear_sums(total);
    clear_sums(excess);
    for (uint p = begin; p < end;) {
        real block[SUM_COUNT];
        clear_sums(block);
        for (uint part = 0; part < SUM_BLOCK / READ_AHEAD && p < end; part++, p += READ_AHEAD * step) {
            real2 ahead[READ_AHEAD];
#pragma unroll
            for (uint k = 0; k < READ_AHEAD; k++)
                ahead[k] = offset[(size_t)min(p + k * step, end - 1) * stride];
#pragma unroll
            for (uint k = 0; k < READ_AHEAD; k++)
                if (p + k * step < end)
                    add_particle(ahead[k], block);
        }
        sum_add_block(total, excess, block);
    }
}

/* ---- one group per piece ---- */

/* The items of a group stride through the piece side by side, so that the reads coalesce, then add their sums
 * in a tree. The barriers stand where all items come whatever the number of particles. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
deposit_group_per_piece(global const uint *restrict cell_offsets, global const real2 *restrict offset,
                        uint stride, uint cells, uint segment_bits, global real *restrict sums,
                        global uint *restrict segment_cell)
{
    local real shared[SUM_SHARED];
    local uint found;
    const uint place = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint cell =
        find_segment_by_group(cell_offsets, cells, segment_bits, 1, place, (uint)get_num_groups(0), &found);
    const uint segment_begin = (place - cell) << segment_bits;
    const uint begin = max(cell_offsets[cell], segment_begin);
    const uint end = min(cell_offsets[cell + 1], segment_begin + (1u << segment_bits));
    real total[SUM_COUNT];
    sum_particles(offset, stride, begin + item, end, GROUP_ITEMS, total);
    sum_over_group(total, shared);
    if (item != 0)
        return;
    store_sums(sums, place, total);
    if (begin == segment_begin && begin < end)
        segment_cell[place - cell] = cell;
}

/* ---- one group per segment ---- */

#define SEGMENT_SIZE (SEGMENT_ITEMS * ITEM_PARTICLES)
#define NO_CELL      0xffffffffu

/* Copies `size` particles from `begin` on to local memory, with a gap after those of each item, so that items
 * side by side use different banks. */
static inline void stage_particles(global const real2 *restrict offset, uint stride, uint begin, uint size,
                                   local real2 *staged)
{
    for (uint n = (uint)get_local_id(0); n < size; n += READ_AHEAD * SEGMENT_ITEMS) {
        real2 ahead[READ_AHEAD];
#pragma unroll
        for (uint k = 0; k < READ_AHEAD; k++)
            ahead[k] = offset[(size_t)(begin + min(n + k * SEGMENT_ITEMS, size - 1)) * stride];
#pragma unroll
        for (uint k = 0; k < READ_AHEAD; k++) {
            const uint m = n + k * SEGMENT_ITEMS;
            if (m < size)
                staged[m + m / ITEM_PARTICLES] = ahead[k];
        }
    }
}

/* Adds the totals of items in a row whose last cell is the same, each to the ones after it (Hillis & Steele,
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

/* Sums the staged particles from..to of a segment that begins with `begin` in first_cell. A cell between the
 * item's first and last one is all the item's own: its piece is done. */
static inline struct item_sums sum_item(global const uint *restrict cell_offsets, uint cells,
                                        const local real2 *staged, uint begin, uint from, uint to,
                                        uint first_cell, uint segment, global real *restrict sums)
{
    struct item_sums own = {NO_CELL, NO_CELL, {(real)0}, {(real)0}};
    if (from >= to)
        return own;
    uint cell = find_segment_near(cell_offsets, cells, first_cell, begin + from);
    uint cell_end = cell_offsets[cell + 1] - begin;
    own.first_cell = cell;
    for (uint n = from; n < to; n++) {
        if (n == cell_end) {
            if (cell != own.first_cell)
                store_sums(sums, segment + cell, own.last);
#pragma unroll
            for (uint m = 0; m < SUM_COUNT; m++) {
                own.first[m] = cell == own.first_cell ? own.last[m] : own.first[m];
                own.last[m] = (real)0;
            }
            cell = find_segment_near(cell_offsets, cells, cell + 1, begin + n);
            cell_end = cell_offsets[cell + 1] - begin;
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
                          uint stride, uint cells, uint count, global real *restrict sums,
                          global uint *restrict segment_cell)
{
    local real2 staged[SEGMENT_ITEMS * (ITEM_PARTICLES + 1)];
    local uint first_cells[SEGMENT_ITEMS], last_cells[SEGMENT_ITEMS], found;
    const uint segment = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint begin = segment * SEGMENT_SIZE;
    const uint size = min((uint)SEGMENT_SIZE, count - begin);
    stage_particles(offset, stride, begin, size, staged);
    const uint cell = find_segment_by_group(cell_offsets, cells, 0, 0, begin, count, &found);
    if (item == 0)
        segment_cell[segment] = cell;
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint from = item * ITEM_PARTICLES, to = min(from + ITEM_PARTICLES, size);
    struct item_sums own = sum_item(cell_offsets, cells, staged + item, begin, from, to, cell, segment, sums);
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

/* The sums over particles begin to end, as sum_particles() with a step of 1. */
static inline void sum_consecutive(global const real2 *restrict offset, uint stride, uint count, uint begin,
                                   uint end, real total[SUM_COUNT])
{
    if (count < VECTOR) {
        sum_particles(offset, stride, begin, end, 1, total);
        return;
    }
    real excess[SUM_COUNT];
    clear_sums(total);
    clear_sums(excess);
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
        real total[SUM_COUNT];
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

/* ---- from pieces to nodes ---- */

/* Segments, from the first to the last, that have a piece of a cell which is not empty. */
static inline uint2 segments_of(global const uint *restrict cell_offsets, uint segment_bits, uint cell)
{
    return (uint2)(cell_offsets[cell] >> segment_bits, (cell_offsets[cell + 1] - 1) >> segment_bits);
}

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
    real total[SUM_COUNT], excess[SUM_COUNT];
    clear_sums(total);
    clear_sums(excess);
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

/* Sum number n of a cell over its pieces first, first + step, ... */
static inline real sum_pieces(global const uint *restrict cell_offsets, global const real *restrict sums,
                              uint segment_bits, uint most, uint cell, uint n, uint first, uint step)
{
    if (cell_offsets[cell] == cell_offsets[cell + 1])
        return (real)0;
    const uint2 ends = segments_of(cell_offsets, segment_bits, cell);
    /* Of more than `most` deposit_long_cells has made one. */
    const uint pieces = ends.y - ends.x < most ? ends.y - ends.x + 1 : 1;
    real total = (real)0, excess = (real)0;
    for (uint m = first; m < pieces; m += step)
        sum_add(&total, &excess, sums[(size_t)(ends.x + cell + m) * SUM_COUNT + n]);
    return total;
}

/* The share of item `lane` of `lanes` in the SHAPE_NODES^2 sums that the cells around a node hold for it:
 * first the sums are dealt out, then, to more items than sums, their pieces. nx and ny are at least 2, so a
 * cell two to the left is still within wrap_near(). */
static inline real sum_cells(global const uint *restrict cell_offsets, global const real *restrict sums,
                             uint nx, uint ny, uint segment_bits, uint most, uint node, uint lane, uint lanes)
{
    const uint row_of_node = node / ny, turns = min(lanes, (uint)SUM_COUNT);
    const int i = (int)row_of_node, j = (int)(node - row_of_node * ny);
    real sum = (real)0;
    for (uint n = lane % turns; n < SUM_COUNT; n += turns) {
        const int a = (int)(n / SHAPE_NODES), b = (int)(n % SHAPE_NODES);
        const uint row = wrap_near(i - SHAPE_FIRST - a, nx);
        const uint cell = cell_index(row, wrap_near(j - SHAPE_FIRST - b, ny), ny);
        sum += sum_pieces(cell_offsets, sums, segment_bits, most, cell, n, lane / turns, lanes / turns);
    }
    return sum;
}

/* `lanes` items of a group per node, a power of two: 1 on CPU devices, more on GPUs, the more where there are
 * few nodes and a cell may have many pieces. factor: charge per area of one macro-particle, q w/(dx dy). rho
 * is set where `set` is not 0, else added to. most: pieces of a cell that are still apart. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
deposit_nodes(global const uint *restrict cell_offsets, global const real *restrict sums, uint nx, uint ny,
              uint segment_bits, uint most, uint lanes, real factor, uint set, global real *restrict rho)
{
    local real shared[GROUP_ITEMS];
    const uint item = (uint)get_local_id(0), lane = item % lanes;
    const uint node = (uint)(get_global_id(0) / lanes), cells = nx * ny;
    real sum = (real)0;
    if (node < cells)
        sum = sum_cells(cell_offsets, sums, nx, ny, segment_bits, most, node, lane, lanes);
    for (uint width = lanes / 2; width > 0; width /= 2) {
        shared[item] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width)
            sum += shared[item + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (node < cells && lane == 0)
        rho[node] = set ? factor * sum : rho[node] + factor * sum;
}
