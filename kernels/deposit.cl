/* Deposit: the charge density of one species on the nodes, from particles sorted by cell.
 *
 * First the cells, or their pieces (shared/pieces.h), sum the weights that their particles give to the
 * SHAPE_NODES^2 nodes around, then every node adds what the cells around hold for it. No two items write one
 * word, so no atomics are needed, and all sums run in a fixed order: the same particles give the same bits.
 * There are several kernels for the first sum:
 *
 *   deposit_item_per_cell    the textbook's
 *   deposit_group_per_piece  for GPUs and many particles a cell
 *   deposit_group_per_segment  for GPUs and any number of particles a cell
 *   deposit_item_per_segment   for CPUs, in vectors
 *
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h), SHAPE_ORDER (shared/shape.h) and
 *   GROUP_ITEMS     items of a group, a power of two;
 *   SEGMENT_ITEMS   items of a group of deposit_group_per_segment, a power of two;
 *   ITEM_PARTICLES  particles of an item there, a power of two from 8 to SUM_BLOCK.
 *
 * Arguments that several kernels share:
 *   cell_offsets  uint[cells + 1]: where each cell's particles start;
 *   offset        the offsets (dx, dy), `stride` real2 from one particle to the next: 1 in the layout of
 *                 pairs, 2 in that of quads (domain/particles.h);
 *   sums          real[places][SHAPE_NODES^2]: number a SHAPE_NODES + b of a piece holds its weights for the
 *                 node a along x and b along y from the shape's first;
 *   segment_cell  uint[segments]: the cell that holds the first particle of a segment.
 *
 * Loops over the sums of an item are unrolled, so that the sums stay in registers.
 */
#include "shared/shape.h"

#define SUM_COUNT (SHAPE_NODES * SHAPE_NODES)

#include "shared/cell.h"
#include "shared/pieces.h"
#include "shared/sum.h"

/* ---- sums over particles ---- */

/* The weights of one particle, added to the sums of its cell. */
static inline void add_particle(real2 offset, real sums[SUM_COUNT])
{
    real along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights(offset.x, along_x);
    shape_weights(offset.y, along_y);
#pragma unroll
    for (uint a = 0; a < SHAPE_NODES; a++)
#pragma unroll
        for (uint b = 0; b < SHAPE_NODES; b++)
            sums[a * SHAPE_NODES + b] += along_x[a] * along_y[b];
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

/* One item per cell. The place of a cell is its number. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
deposit_item_per_cell(global const uint *restrict cell_offsets, global const real2 *restrict offset,
                      uint stride, uint cells, global real *restrict sums)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= cells)
        return;
    real total[SUM_COUNT];
    sum_particles(offset, stride, cell_offsets[cell], cell_offsets[cell + 1], 1, total);
    store_sums(sums, cell, total);
}

/* One group per place: its items stride through the piece side by side, so that the reads coalesce, then add
 * their sums in a tree. The barriers stand where all items come whatever the number of particles. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
deposit_group_per_piece(global const uint *restrict cell_offsets, global const real2 *restrict offset,
                        uint stride, uint cells, uint segment_bits, global real *restrict sums,
                        global uint *restrict segment_cell)
{
    local real shared[SUM_SHARED];
    local uint found;
    const uint place = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint cell = cell_found_by_group(cell_offsets, cells, segment_bits, BY_PLACE, place,
                                          (uint)get_num_groups(0), &found);
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
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n++)
        shared[n * SEGMENT_ITEMS + item] = total[n];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < SEGMENT_ITEMS; distance *= 2) {
        if (item >= distance && last_cells[item - distance] == cell)
#pragma unroll
            for (uint n = 0; n < SUM_COUNT; n++)
                total[n] += shared[n * SEGMENT_ITEMS + item - distance];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint n = 0; n < SUM_COUNT; n++)
            shared[n * SEGMENT_ITEMS + item] = total[n];
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
    uint cell = cell_holding(cell_offsets, cells, first_cell, begin + from);
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
            cell = cell_holding(cell_offsets, cells, cell + 1, begin + n);
            cell_end = cell_offsets[cell + 1] - begin;
        }
        add_particle(staged[n], own.last);
    }
    own.last_cell = cell;
    return own;
}

/* One group per segment: it stages the segment in local memory, with reads that coalesce, then each item sums
 * ITEM_PARTICLES consecutive particles, and pieces that several items share are added along the items. An
 * item adds no more than SUM_BLOCK particles, so its sums need no compensation. The staging has a gap after
 * the particles of each item, so that items side by side use different banks of local memory. */
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
    const uint cell = cell_found_by_group(cell_offsets, cells, 0, BY_PARTICLE, begin, count, &found);
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

/* The offsets of VECTOR particles. */
struct offsets16 {
    real16 x, y;
};

/* Every second lane of a, then of b: from the first, or from the second. Spelled out, and used for parts of a
 * vector too, since oclgrind loses track of the lanes where vectors of different widths meet. */
static inline real16 even_lanes(real16 a, real16 b)
{
    return (real16)(a.s0, a.s2, a.s4, a.s6, a.s8, a.sa, a.sc, a.se, b.s0, b.s2, b.s4, b.s6, b.s8, b.sa, b.sc,
                    b.se);
}
static inline real16 odd_lanes(real16 a, real16 b)
{
    return (real16)(a.s1, a.s3, a.s5, a.s7, a.s9, a.sb, a.sd, a.sf, b.s1, b.s3, b.s5, b.s7, b.s9, b.sb, b.sd,
                    b.sf);
}

static inline struct offsets16 offsets_of_pairs(real16 p0, real16 p1)
{
    return (struct offsets16){even_lanes(p0, p1), odd_lanes(p0, p1)};
}

static inline struct offsets16 offsets_of_quads(real16 q0, real16 q1, real16 q2, real16 q3)
{
    return (struct offsets16){even_lanes(even_lanes(q0, q1), even_lanes(q2, q3)),
                              even_lanes(odd_lanes(q0, q1), odd_lanes(q2, q3))};
}

/* From a multiple of VECTOR on, where whole vectors are loaded at once. */
static inline struct offsets16 load_aligned(global const real2 *restrict offset, uint stride, uint p)
{
    global const real16 *const state = (global const real16 *)(offset + (size_t)p * stride);
    return stride == 1 ? offsets_of_pairs(state[0], state[1])
                       : offsets_of_quads(state[0], state[1], state[2], state[3]);
}

/* From anywhere on. */
static inline struct offsets16 load_unaligned(global const real2 *restrict offset, uint stride, uint p)
{
    global const real *const state = (global const real *)(offset + (size_t)p * stride);
    if (stride == 1)
        return offsets_of_pairs(vload16(0, state), vload16(1, state));
    return offsets_of_quads(vload16(0, state), vload16(1, state), vload16(2, state), vload16(3, state));
}

/* The SHAPE_NODES weights of VECTOR particles at offsets d along one axis, as shape_weights() has them for
 * one (shared/shape.h). */
static inline void shape_weights16(real16 d, real16 weights[SHAPE_NODES])
{
    const real16 none = 0, one = 1;
#if SHAPE_ORDER == 0
    const real16 upper = (d < (real)0.5 ? none : one) + (real)0 * d;
    weights[0] = one - upper;
    weights[1] = upper;
#elif SHAPE_ORDER == 1
    weights[0] = one - d;
    weights[1] = d;
#else
    const real16 s = d - (d < (real)0.5 ? none : one);
    const real16 before = (real)0.5 * ((real)0.5 - s) * ((real)0.5 - s);
    const real16 middle = (real)0.75 - s * s;
    const real16 after = (real)0.5 * ((real)0.5 + s) * ((real)0.5 + s);
    weights[0] = d < (real)0.5 ? before : none;
    weights[1] = d < (real)0.5 ? middle : before;
    weights[2] = d < (real)0.5 ? after : middle;
    weights[3] = d < (real)0.5 ? none : after;
#endif
}

/* Adds the weights of a vector of particles to sums of VECTOR lanes each. Unrolled, or the sums would not
 * stay in registers. */
static inline void add_vector(struct offsets16 at, real16 sums[SUM_COUNT])
{
    real16 along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights16(at.x, along_x);
    shape_weights16(at.y, along_y);
#pragma unroll
    for (uint a = 0; a < SHAPE_NODES; a++)
#pragma unroll
        for (uint b = 0; b < SHAPE_NODES; b++)
            sums[a * SHAPE_NODES + b] += along_x[a] * along_y[b];
}

/* The particles begin to end alone, a vector or fewer: its other lanes hold neighbours in the list, which
 * has `count`, VECTOR or more, and are left out. */
static inline void add_part(global const real2 *restrict offset, uint stride, uint count, uint begin,
                            uint end, real16 sums[SUM_COUNT])
{
    const uint from = min(begin, count - VECTOR);
    const real before = (real)(begin - from), after = (real)(end - from);
    const real16 lane = (real16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), none = 0;
    real16 all[SUM_COUNT];
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n++)
        all[n] = none;
    add_vector(load_unaligned(offset, stride, from), all);
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n++)
        sums[n] += lane >= before && lane < after ? all[n] : none;
}

/* Adds neighbouring lanes of a, then of b. */
static inline real16 add_neighbours(real16 a, real16 b)
{
    return even_lanes(a, b) + odd_lanes(a, b);
}

/* Four of the sums, each over its lanes, in the first lanes of what it returns. */
static inline real16 sum_lanes(const real16 *of)
{
    const real16 four = add_neighbours(add_neighbours(of[0], of[1]), add_neighbours(of[2], of[3]));
    const real16 two = add_neighbours(four, four);
    return add_neighbours(two, two);
}

/* A block: the particles from `begin` to `aligned`, a vector or fewer, up to SUM_BLOCK - 2 whole vectors from
 * there on, and the rest before `end`. A lane adds no more than SUM_BLOCK terms plainly. */
static inline void sum_block(global const real2 *restrict offset, uint stride, uint count, uint begin,
                             uint aligned, uint end, real block[SUM_COUNT])
{
    real16 sums[SUM_COUNT];
    for (uint n = 0; n < SUM_COUNT; n++)
        sums[n] = (real16)0;
    if (begin < aligned)
        add_part(offset, stride, count, begin, min(aligned, end), sums);
    uint p = aligned;
    for (; p + VECTOR <= end; p += VECTOR)
        add_vector(load_aligned(offset, stride, p), sums);
    if (p < end)
        add_part(offset, stride, count, p, end, sums);
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
    uint cell = cell_holding(cell_offsets, cells, 0, begin);
    segment_cell[segment] = cell;
    for (uint p = begin; p < end;) {
        const uint piece_end = min(end, cell_offsets[cell + 1]);
        real total[SUM_COUNT];
        sum_consecutive(offset, stride, count, p, piece_end, total);
        store_sums(sums, segment + cell, total);
        p = piece_end;
        if (p < end)
            cell = cell_holding(cell_offsets, cells, cell + 1, p);
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
    const uint start = cell_offsets[cell];
    const uint first = segment_of(start, segment_bits);
    const uint last = segment_of(cell_offsets[cell + 1] - 1, segment_bits);
    const uint first_started = first + (first << segment_bits < start);
    const bool mine = last - first >= most && segment - first_started < most;
    real total[SUM_COUNT], excess[SUM_COUNT];
    clear_sums(total);
    clear_sums(excess);
    for (uint s = first + item; mine && s <= last; s += GROUP_ITEMS) {
        real piece[SUM_COUNT];
        for (uint n = 0; n < SUM_COUNT; n++)
            piece[n] = sums[(size_t)(s + cell) * SUM_COUNT + n];
        sum_add_block(total, excess, piece);
    }
    sum_over_group(total, shared);
    if (mine && item == 0)
        store_sums(sums, first + cell, total);
}

/* Sum number n of a cell over its pieces first, first + step, ... */
static inline real sum_pieces(global const uint *restrict cell_offsets, global const real *restrict sums,
                              uint segment_bits, uint most, uint cell, uint n, uint first, uint step)
{
    const uint start = cell_offsets[cell], end = cell_offsets[cell + 1];
    if (start == end)
        return (real)0;
    const uint place = first_place(cell, start, segment_bits);
    uint pieces = cell + segment_of(end - 1, segment_bits) - place + 1;
    if (pieces > most)
        pieces = 1; /* deposit_long_cells has added them */
    real total = (real)0, excess = (real)0;
    for (uint m = first; m < pieces; m += step) {
        const real addend = sums[(size_t)(place + m) * SUM_COUNT + n] - excess;
        const real sum = total + addend;
        excess = (sum - total) - addend;
        total = sum;
    }
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
