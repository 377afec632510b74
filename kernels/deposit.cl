/* Deposit: the density on the nodes of one species' charge, and with CURRENT of its current behind, from
 * particles sorted by cell.
 *
 * The list is cut by cells, and so that no cell is too much work however many particles it holds, also into
 * segments of 2^segment_bits consecutive particles. What a cell has of its particles in a segment is a piece.
 * First every piece sums what its particles give to the NODE_COUNT nodes around, by one of
 *
 *   deposit_group_per_segment  for GPUs (shared/deposit_groups.h)
 *   deposit_item_per_segment   for CPUs, in vectors (shared/deposit_vectors.h)
 *
 * then every node adds what the cells around hold for it, by deposit_nodes on GPUs and deposit_node_vectors
 * on CPUs. On GPUs cells of many pieces are joined by deposit_long_cells() before. No two items write one
 * word, but to add integers (deposit_beside.h), and sums run in a fixed order: equal lists give equal bits.
 *
 * The sums of a piece lie at its place, segment + cell: going through the list, each new piece is of a later
 * segment, a later cell or both, so no two share a place, and there are fewer places than segments and cells
 * together. Places from a cell's first up to the next cell's are the cell's own; the last may stay empty,
 * where a segment ends with the cell.
 *
 * Arguments that several kernels share:
 *   cell_offsets  uint[cells + 1]: where each cell's particles start;
 *   offset        the offsets (dx, dy), `stride` real2 from one particle to the next: 1 in SoA, 2 in AoS;
 *   sums          real[SUM_COUNT] of each piece (SUM_PLACE()): the components for each node, of which number
 *                 DEPOSIT_NODES a + b is a along x and b along y from the shape's first;
 *   segment_cell  uint[segments]: the cell that holds the first particle of a segment; before, any number.
 */
#define FUSE_PRODUCTS 0
#define VELOCITIES    3
#define MAGNETIC      0
#define PUSHER        0
#define FELT          2
#define DITHERS       0
#include "shared/cell.h"
#include "shared/deposit_sums.h"
#include "shared/fast_search.h"
#if LANES == 1
#include "shared/deposit_groups.h"
#else
#include "shared/deposit_vectors.h"
#endif

/* ---- from pieces to nodes ---- */

DEFINE_SUM(sum_add_amounts, sum_add_block_of_amounts, amounts)

/* Where the pieces of a cell lie. Of more than `most` deposit_long_cells has made one. */
struct pieces {
    uint place, count;
};

static inline struct pieces pieces_of(global const uint *restrict cell_offsets, uint segment_bits, uint most,
                                      uint cell)
{
    const uint begin = cell_offsets[cell], end = cell_offsets[cell + 1];
    const uint segment = begin >> segment_bits, later = ((end - 1) >> segment_bits) - segment;
    const struct pieces pieces = {segment + cell, begin == end ? 0 : later < most ? later + 1 : 1};
    return pieces;
}

static inline amounts load_piece(global const real *restrict sums, uint places, struct pieces pieces, uint n,
                                 uint number)
{
    return number < pieces.count ? load_amounts(sums, places, pieces.place + number, n) : (amounts)0;
}

/* What a cell holds for node n of those around, over its pieces first, first + step, ..., of which the first
 * is loaded. */
static inline amounts sum_pieces(global const real *restrict sums, uint places, struct pieces pieces, uint n,
                                 amounts loaded, uint first, uint step)
{
    amounts total = loaded, excess = (amounts)0;
    for (uint m = first + step; m < pieces.count; m += step)
        sum_add_amounts(&total, &excess, load_amounts(sums, places, pieces.place + m, n));
    return total;
}

#define NODES_ARGUMENTS                                                                                      \
    global const uint *restrict cell_offsets, global const real *restrict sums, uint places, uint nx,        \
        uint ny, uint segment_bits, uint most, uint lanes, real factor, uint set,                            \
        global real *restrict density, uint stride, global long *restrict beside, uint copies, real unit

#if LANES == 1

/* One group for every `most` segments: if the first of them is also the first such one that starts in a cell
 * of more than `most` pieces, the group adds them all into the place of the cell's first piece. So each long
 * cell has one group, found without a search, and deposit_nodes need not add more than `most` pieces. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
deposit_long_cells(global const uint *restrict cell_offsets, global const uint *restrict segment_cell,
                   uint segment_bits, uint most, global real *restrict sums, uint places)
{
    local real shared[SUM_SHARED];
    const uint segment = (uint)get_group_id(0) * most, item = (uint)get_local_id(0);
    const uint cell = segment_cell[segment];
    const uint2 ends = segments_of(cell_offsets, segment_bits, cell);
    const uint first_started = ends.x + (ends.x << segment_bits < cell_offsets[cell]);
    const bool mine = ends.y - ends.x >= most && segment - first_started < most;
    if (!mine) /* the same for all items of the group */
        return;
    real total[SUM_COUNT] = {(real)0}, excess[SUM_COUNT] = {(real)0};
    for (uint s = ends.x + item; s <= ends.y; s += GROUP_ITEMS) {
        real piece[SUM_COUNT];
        for (uint n = 0; n < SUM_COUNT; n++)
            piece[n] = HAS_SUM(n) ? sums[SUM_PLACE(places, s + cell, n)] : (real)0;
        sum_add_block(total, excess, piece);
    }
    sum_over_group(total, shared);
    if (item == 0)
        store_sums(sums, places, ends.x + cell, total);
}

/* The cells around a node whose pieces an item reads at once: it waits for where those of all of them lie,
 * and then for all of them. */
#define CELLS_AT_ONCE 4

/* The part that item `lane` of `lanes` adds of what the cells around a node hold for it: first their
 * NODE_COUNT sums are dealt out, then, to more items than sums, their pieces. nx and ny are at least 2, so a
 * cell two to the left is still within wrap_near(). */
static inline amounts sum_cells(global const uint *restrict cell_offsets, global const real *restrict sums,
                                uint places, uint nx, uint ny, uint segment_bits, uint most, uint node,
                                uint lane, uint lanes)
{
    const uint row_of_node = node / ny, turns = min(lanes, (uint)NODE_COUNT);
    const uint first = lane / turns, step = lanes / turns;
    const int i = (int)row_of_node, j = (int)(node - row_of_node * ny);
    amounts sum = (amounts)0;
    for (uint next = lane % turns; next < NODE_COUNT; next += CELLS_AT_ONCE * turns) {
        struct pieces pieces[CELLS_AT_ONCE];
        amounts loaded[CELLS_AT_ONCE];
#pragma unroll
        for (uint k = 0; k < CELLS_AT_ONCE; k++) {
            const uint n = next + k * turns;
            const int a = (int)(n / DEPOSIT_NODES), b = (int)(n % DEPOSIT_NODES);
            pieces[k].place = pieces[k].count = 0;
            if (n < NODE_COUNT)
                pieces[k] = pieces_of(cell_offsets, segment_bits, most,
                                      cell_index(wrap_near(i - DEPOSIT_FIRST - a, nx),
                                                 wrap_near(j - DEPOSIT_FIRST - b, ny), ny));
        }
#pragma unroll
        for (uint k = 0; k < CELLS_AT_ONCE; k++)
            loaded[k] = load_piece(sums, places, pieces[k], next + k * turns, first);
#pragma unroll
        for (uint k = 0; k < CELLS_AT_ONCE; k++)
            sum += sum_pieces(sums, places, pieces[k], next + k * turns, loaded[k], first, step);
    }
    return sum;
}

/* `lanes` items of a group per node, a power of two: the more, the fewer nodes there are, where a cell may
 * have many pieces. factor: charge per area of one macro-particle, q w/(dx dy). The density,
 * `stride` reals from one component to the next, is set where `set` is not 0, else added to. most: pieces of
 * a cell that are still apart. unit: of the sums beside. All that an item needs is read before the first of
 * it is waited for: a store to a place that is still being read holds up all that a multiprocessor reads. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void deposit_nodes(NODES_ARGUMENTS)
{
    local amounts shared[GROUP_ITEMS];
    const uint item = (uint)get_local_id(0), lane = item % lanes, cells = nx * ny;
    const uint node = (uint)(get_global_id(0) / lanes);
    const bool stores = node < cells && lane == 0;
    global real *const values = density + node;
    real before[COMPONENTS];
#pragma unroll
    for (uint c = 0; c < COMPONENTS; c++)
        before[c] = stores && !set ? values[(size_t)c * stride] : (real)0;
    amounts sum = (amounts)0;
#if BESIDE
    long counted[3] = {0};
    if (node < cells)
        read_beside(beside, copies, cells, node, lane, lanes, counted);
#endif
    if (node < cells)
        sum = sum_cells(cell_offsets, sums, places, nx, ny, segment_bits, most, node, lane, lanes);
#if BESIDE
    sum += (amounts)(0, (real)counted[0], (real)counted[1], (real)counted[2]) * unit;
    if (node < cells)
        clear_beside(beside, copies, cells, node, lane, lanes);
#endif
    for (uint width = lanes / 2; width > 0; width /= 2) {
        shared[item] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width)
            sum += shared[item + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint c = 0; c < COMPONENTS; c++) {
        const real change = factor * ((const real *)&sum)[c];
        if (stores)
            values[(size_t)c * stride] = set ? change : before[c] + change;
    }
}

#else

/* Adds what the LANES cells from (i, j) on, the ends of the grid joined, hold for their node n.
 * Those of one segment have one piece each, side by side, or none where they are empty. */
static inline void add_cells(global const uint *restrict cell_offsets, global const real *restrict sums,
                             uint places, uint nx, uint ny, uint segment_bits, uint most, int i, int j,
                             uint n, real total[COMPONENTS][LANES])
{
    const uint row = cell_index(wrap_near(i, nx), 0, ny);
    const bool in_row = j >= 0 && j + LANES <= (int)ny;
    const uint cell = row + (uint)j, begin = in_row ? cell_offsets[cell] : 0;
    const uint end = in_row ? cell_offsets[cell + LANES] : 0;
    if (in_row && begin == end)
        return;
    if (!in_row || (begin >> segment_bits) != ((end - 1) >> segment_bits)) {
        for (int l = 0; l < LANES; l++) {
            const struct pieces pieces =
                pieces_of(cell_offsets, segment_bits, most, row + wrap_any(j + l, ny));
            const amounts own =
                sum_pieces(sums, places, pieces, n, load_piece(sums, places, pieces, n, 0), 0, 1);
            for (uint c = 0; c < COMPONENTS; c++)
                total[c][l] += ((const real *)&own)[c];
        }
        return;
    }
    const masks filled = REAL_MASK(LOAD(cell_offsets + cell) != LOAD(cell_offsets + cell + 1));
#pragma unroll
    for (uint c = HAS_SUM(n * COMPONENTS) ? 0 : 1; c < COMPONENTS; c++) {
        const uint place = (begin >> segment_bits) + cell;
        global const real *const of_cell = sums + SUM_PLACE(places, place, n * COMPONENTS + c);
        STORE(LOAD(total[c]) + (filled ? LOAD(of_cell) : (reals)0), total[c]);
    }
}

/* What deposit_nodes() does with one lane, in the same order: an item has LANES nodes of a row. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void deposit_node_vectors(NODES_ARGUMENTS)
{
    const uint in_row = (ny + LANES - 1) / LANES, item = (uint)get_global_id(0);
    const uint i = item / in_row, j = item % in_row * LANES;
    if (i >= nx)
        return;
    real total[COMPONENTS][LANES] = {{(real)0}};
    for (uint n = 0; n < NODE_COUNT; n++) {
        const int a = (int)(n / DEPOSIT_NODES), b = (int)(n % DEPOSIT_NODES);
        add_cells(cell_offsets, sums, places, nx, ny, segment_bits, most, (int)i - DEPOSIT_FIRST - a,
                  (int)j - DEPOSIT_FIRST - b, n, total);
    }
    for (uint c = 0; c < COMPONENTS; c++)
        for (uint l = 0; l < LANES && j + l < ny; l++) {
            global real *const value = density + (size_t)c * stride + cell_index(i, j + l, ny);
            *value = set ? factor * total[c][l] : *value + factor * total[c][l];
        }
}

#endif
