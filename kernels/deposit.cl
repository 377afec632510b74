/* Deposit: the charge density of one species on the nodes, from particles sorted by cell.
 *
 * First every cell sums the weights that its particles give to the SHAPE_NODES^2 nodes around, then every
 * node adds what the cells around hold for it. No two items write one word, so no atomics are needed, and all
 * sums run in a fixed order: the same particles give the same bits.
 *
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h), SHAPE_ORDER (shared/shape.h) and
 *   GROUP_ITEMS  items of a group, a power of two.
 *
 * cell_sums is real[SHAPE_NODES^2][cells]: plane a SHAPE_NODES + b holds, for every cell, the weights of the
 * node a along x and b along y from the shape's first.
 */
#include "shared/shape.h"

#define SUM_COUNT (SHAPE_NODES * SHAPE_NODES)

#include "shared/cell.h"
#include "shared/sum.h"

/* The weights of one particle, added to the sums of its cell. */
static inline void add_particle(real2 offset, real sums[SUM_COUNT])
{
    real along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights(offset.x, along_x);
    shape_weights(offset.y, along_y);
    for (uint a = 0; a < SHAPE_NODES; a++)
        for (uint b = 0; b < SHAPE_NODES; b++)
            sums[a * SHAPE_NODES + b] += along_x[a] * along_y[b];
}

/* The sums over particles begin, begin + stride, ... before `end`. */
static inline void sum_particles(global const real2 *restrict offset, uint begin, uint end, uint stride,
                                 real total[SUM_COUNT])
{
    real excess[SUM_COUNT];
    for (uint n = 0; n < SUM_COUNT; n++)
        total[n] = excess[n] = (real)0;
    for (uint p = begin; p < end;) {
        const uint block_end = min(end, p + SUM_BLOCK * stride);
        real block[SUM_COUNT];
        for (uint n = 0; n < SUM_COUNT; n++)
            block[n] = (real)0;
        for (; p < block_end; p += stride)
            add_particle(offset[p], block);
        sum_add_block(total, excess, block);
    }
}

/* One item per cell: for CPU devices, and where cells hold so few particles that a group would idle. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
deposit_item_per_cell(global const uint *restrict cell_offsets, global const real2 *restrict offset,
                      uint cells, global real *restrict cell_sums)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= cells)
        return;
    real total[SUM_COUNT];
    sum_particles(offset, cell_offsets[cell], cell_offsets[cell + 1], 1, total);
    for (uint n = 0; n < SUM_COUNT; n++)
        cell_sums[(size_t)n * cells + cell] = total[n];
}

/* One group per cell: its items stride through the cell's particles side by side, so that the reads coalesce,
 * then add their sums in a tree. As many groups as cells. The barriers stand in sum_over_group(), which all
 * items reach whatever the number of particles. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
deposit_group_per_cell(global const uint *restrict cell_offsets, global const real2 *restrict offset,
                       uint cells, global real *restrict cell_sums)
{
    local real shared[SUM_SHARED];
    const uint cell = (uint)get_group_id(0);
    const uint item = (uint)get_local_id(0);
    real total[SUM_COUNT];
    sum_particles(offset, cell_offsets[cell] + item, cell_offsets[cell + 1], GROUP_ITEMS, total);
    sum_over_group(total, shared);
    if (item == 0)
        for (uint n = 0; n < SUM_COUNT; n++)
            cell_sums[(size_t)n * cells + cell] = total[n];
}

/* One item per node: adds the SHAPE_NODES^2 sums that the cells around hold for it. factor: charge per area
 * of one macro-particle, q w/(dx dy). rho is set where `first` is not 0, else added to. nx and ny are at
 * least 2, so a cell two to the left is still within wrap_near(). */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
deposit_nodes(global const real *restrict cell_sums, uint nx, uint ny, real factor, uint first,
              global real *restrict rho)
{
    const uint node = (uint)get_global_id(0);
    const uint cells = nx * ny;
    if (node >= cells)
        return;
    const uint row_of_node = node / ny;
    const int i = (int)row_of_node, j = (int)(node - row_of_node * ny);
    real sum = (real)0;
    for (int a = 0; a < SHAPE_NODES; a++) {
        const uint row = wrap_near(i - SHAPE_FIRST - a, nx);
        for (int b = 0; b < SHAPE_NODES; b++) {
            const uint cell = cell_index(row, wrap_near(j - SHAPE_FIRST - b, ny), ny);
            sum += cell_sums[(size_t)(a * SHAPE_NODES + b) * cells + cell];
        }
    }
    if (first)
        rho[node] = factor * sum;
    else
        rho[node] += factor * sum;
}
