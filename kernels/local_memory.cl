/* Local memory: the kernels of S. Vialle's lecture "Advanced CUDA programming", part 1, on shared memory
 * (OpenCL's local memory), atomic functions and dynamic parallelism. */
#define ELEMENT float
#include "shared/local_memory.h"
#include "shared/tile.h"

#define GROUP_OF(items) __attribute__((reqd_work_group_size(items, 1, 1)))

/* ---- filter of a line: out[i] = in[i-1]/4 + in[i]/2 + in[i+1]/4 for 0 < i < n-1 ----
 *
 * The two ends have one neighbour each and are not written. All products are with powers of two, thus exact,
 * so that every version has the same bits. */

static inline float quarters(float left, float middle, float right)
{
    return left * 0.25f + middle * 0.5f + right * 0.25f;
}

/* Without local memory: each item reads three elements. */
kernel GROUP_OF(BLOCK) void line_plain(global const float *restrict in, global float *restrict out, uint n)
{
    const uint i = (uint)get_global_id(0);
    if (i > 0 && i < n - 1)
        out[i] = quarters(in[i - 1], in[i], in[i + 1]);
}

/* v1 and v2: juxtaposed blocks; beyond a block's edges lies the next one, which is read from global memory.
 * v3 and v4: blocks that overlap by two elements, whose first and last items only stage. In the ragged
 * versions, v2 and v4, the last block may reach beyond the end; in the others all blocks are whole. */
#define LINE_KERNEL(name, filter_block, is_ragged)                                                           \
    kernel GROUP_OF(BLOCK) void name(global const float *restrict in, global float *restrict out, uint n)    \
    {                                                                                                        \
        local float block[BLOCK];                                                                            \
        filter_block(in, out, n, is_ragged, block);                                                          \
    }

static inline void filter_juxtaposed(global const float *in, global float *out, uint n, bool is_ragged,
                                     local float *block)
{
    const uint item = (uint)get_local_id(0), i = (uint)get_global_id(0);
    if (!is_ragged || i < n)
        block[item] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE); /* the whole block is staged */
    if (i > 0 && i < n - 1)
        out[i] = quarters(item == 0 ? in[i - 1] : block[item - 1], block[item],
                          item == BLOCK - 1 ? in[i + 1] : block[item + 1]);
}
LINE_KERNEL(line_v1, filter_juxtaposed, false)
LINE_KERNEL(line_v2, filter_juxtaposed, true)

static inline void filter_overlapping(global const float *in, global float *out, uint n, bool is_ragged,
                                      local float *block)
{
    const uint item = (uint)get_local_id(0), i = (uint)get_group_id(0) * (BLOCK - 2) + item;
    if (!is_ragged || i < n)
        block[item] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item > 0 && item < BLOCK - 1 && (!is_ragged || i < n - 1))
        out[i] = quarters(block[item - 1], block[item], block[item + 1]);
}
LINE_KERNEL(line_v3, filter_overlapping, false)
LINE_KERNEL(line_v4, filter_overlapping, true)

/* ---- transpose: out[column][row] = in[row][column] ---- */

/* Without local memory: neighbouring items read neighbours and write a row's length apart. */
kernel GROUP_OF(TILE *TILE_ROWS) void transpose_naive(global const float *restrict in,
                                                      global float *restrict out, uint rows, uint columns)
{
    const uint2 corner = tile_corner(columns, TILE);
    const uint fast = (uint)get_local_id(0) % TILE, slow = (uint)get_local_id(0) / TILE;
    for (uint k = slow; k < TILE; k += TILE_ROWS) {
        const uint row = corner.x + k, column = corner.y + fast;
        if (row < rows && column < columns)
            out[(size_t)column * rows + row] = in[(size_t)row * columns + column];
    }
}

/* Through tiles: the elements of a column of the tile lie in the same bank where TILE is a multiple of the
 * banks; one word more in each row moves each to a bank of its own. */
#define TRANSPOSE_KERNEL(name, stride)                                                                       \
    kernel GROUP_OF(TILE *TILE_ROWS) void name(global const float *restrict in, global float *restrict out,  \
                                               uint rows, uint columns)                                      \
    {                                                                                                        \
        local float tile[TILE * (stride)];                                                                   \
        transpose_tile(in, out, rows, columns, rows *columns, false, tile, stride);                          \
    }
TRANSPOSE_KERNEL(transpose_tiled, TILE)
TRANSPOSE_KERNEL(transpose_padded, TILE + 1)

/* ---- matrix product: c = a b, of `side` rows and columns ---- */

/* Without local memory: each item reads a row of a and a column of b. */
kernel GROUP_OF(SQUARE *SQUARE) void product_plain(global const float *restrict a,
                                                   global const float *restrict b, global float *restrict c,
                                                   uint side)
{
    const uint2 corner = tile_corner(side, SQUARE);
    const uint row = corner.x + (uint)get_local_id(0) / SQUARE;
    const uint column = corner.y + (uint)get_local_id(0) % SQUARE;
    float sum = 0;
    if (row >= side || column >= side)
        return;
    for (uint k = 0; k < side; k++)
        sum += a[(size_t)row * side + k] * b[(size_t)k * side + column];
    c[(size_t)row * side + column] = sum;
}

/* With a loop over tiles: in each step the group stages a tile of a and one of b, zeros beyond the ends, and
 * every item reads SQUARE elements of each from there. The loop runs as often for all items, so that all
 * reach its two barriers: staged before it is read, and read before it is staged anew. */
kernel GROUP_OF(SQUARE *SQUARE) void product_tiled(global const float *restrict a,
                                                   global const float *restrict b, global float *restrict c,
                                                   uint side)
{
    local float tile_a[SQUARE][SQUARE], tile_b[SQUARE][SQUARE];
    const uint2 corner = tile_corner(side, SQUARE);
    const uint y = (uint)get_local_id(0) / SQUARE, x = (uint)get_local_id(0) % SQUARE;
    const uint row = corner.x + y, column = corner.y + x;
    float sum = 0;
    for (uint first = 0; first < side; first += SQUARE) {
        tile_a[y][x] = row < side && first + x < side ? a[(size_t)row * side + first + x] : 0;
        tile_b[y][x] = column < side && first + y < side ? b[(size_t)(first + y) * side + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < SQUARE; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < side && column < side)
        c[(size_t)row * side + column] = sum;
}

/* ---- atomic functions ----
 *
 * In every round an item makes operation n = round * items + item on its word, with a number made from n. The
 * choice of the function is the same for all items and outside the loop, which is therefore as short as in a
 * kernel of its own. Macros, because the words of the two scopes are of two types. */
#define ATOMIC_ROUNDS(NAME, name, device, host)                                                              \
    case ATOMIC_##NAME:                                                                                      \
        for (uint round = 0; round < rounds; round++) {                                                      \
            const uint n = round * items + item, operand = atomic_operand(n);                                \
            device;                                                                                          \
        }                                                                                                    \
        break;

/* Counts one up: the sum is stored only where no other item has counted since `seen`, which an item has from
 * its last operation, was there. */
#define COUNT_BY_CMPXCHG(at)                                                                                 \
    {                                                                                                        \
        uint found = atomic_cmpxchg((at), seen, seen + 1);                                                   \
        while (found != seen) {                                                                              \
            seen = found;                                                                                    \
            found = atomic_cmpxchg((at), seen, seen + 1);                                                    \
        }                                                                                                    \
        seen++;                                                                                              \
    }

/* Device scope: all items share `addresses` words in global memory, which begin as `initial`. */
kernel GROUP_OF(BLOCK) void atomics_global(volatile global uint *words, global uint *returned, uint function,
                                           uint addresses, uint rounds, uint initial)
{
    const uint item = (uint)get_global_id(0), items = (uint)get_global_size(0), address = item % addresses;
    volatile global uint *const at = &words[address];
    const uint pattern = atomic_pattern(address);
    uint seen = initial;
    switch (function) {
        FOR_ATOMIC_FUNCTIONS(ATOMIC_ROUNDS)
    }
}

/* Group scope: every group has `addresses` words in local memory, at most BLOCK, which begin as `initial` and
 * end in results[group * addresses + address]. */
kernel GROUP_OF(BLOCK) void atomics_local(global uint *results, global uint *returned, uint function,
                                          uint addresses, uint rounds, uint initial)
{
    local uint words[BLOCK];
    const uint item = (uint)get_global_id(0), items = (uint)get_global_size(0), own = (uint)get_local_id(0);
    const uint address = own % addresses;
    volatile local uint *const at = &words[address];
    const uint pattern = atomic_pattern(address);
    uint seen = initial;
    if (own < addresses)
        words[own] = initial;
    barrier(CLK_LOCAL_MEM_FENCE);
    switch (function) {
        FOR_ATOMIC_FUNCTIONS(ATOMIC_ROUNDS)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own < addresses)
        results[(uint)get_group_id(0) * addresses + own] = words[own];
}

/* ---- refinement: a coarse grid whose cells over a threshold get a child grid ---- */

/* One item per cell of the coarse grid of `cells` x `cells`: its value from its middle, and its number into
 * the list of those that a child grid refines. Nothing depends on their order in the list. */
kernel void refine_parent(global uint *values, global uint *listed, volatile global uint *listed_count,
                          uint cells, uint threshold)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= cells * cells)
        return;
    const uint density = coarse_density(cell, cells);
    values[cell] = REFINEMENT_CELLS * density;
    if (density > threshold)
        listed[atomic_inc(listed_count)] = cell;
}

/* One group per child grid, that of cell listed[first + group]: each item a cell of the child, summed by
 * halves into the value of the parent's cell. As many rounds, thus barriers, for all items. */
kernel GROUP_OF(REFINEMENT_CELLS) void refine_child(global uint *values, global const uint *listed,
                                                    uint first, uint cells)
{
    local uint sums[REFINEMENT_CELLS];
    const uint item = (uint)get_local_id(0), cell = listed[first + (uint)get_group_id(0)];
    const uint i = cell / cells * REFINEMENT + item / REFINEMENT;
    const uint j = cell % cells * REFINEMENT + item % REFINEMENT;
    sums[item] = refinement_density(cells, 2 * i + 1, 2 * j + 1);
    for (uint half_of = REFINEMENT_CELLS / 2; half_of > 0; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_of)
            sums[item] += sums[item + half_of];
    }
    if (item == 0)
        values[cell] = sums[0];
}
