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
 * then every node adds what the cells around hold for it, by deposit_nodes on GPUs (shared/deposit_nodes.h)
 * and deposit_node_vectors on CPUs. On GPUs cells of many pieces are joined by deposit_long_cells() before.
 * No two items write one word, but to add integers (deposit_beside.h), and sums run in a fixed order: equal
 * lists give equal bits.
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
#include "shared/deposit_nodes.h"
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
