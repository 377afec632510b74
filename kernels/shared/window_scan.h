/* Window scan: the kernels of tiled_step.cl between count and move where digits are places in windows
 * (shared/windows.h).
 */
#ifndef SHARED_WINDOW_SCAN_H
#define SHARED_WINDOW_SCAN_H

#include "shared/arrivals.h"
#include "shared/windows.h"

/* What a windowed count leaves: see visit_runs(). */
#define COUNTS_ARGUMENTS                                                                                     \
    global uint *restrict table, global const uint *restrict cell_offsets,                                   \
        global const uint *restrict tile_cells, global const uint *restrict stray_counts

/* leavers: how many particles go to each cell from `own` on, then how many stand in rows before `low_row` and
 * before `high_row`, an item each. */
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
 * numbers of strays. */
kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void
step_scan_blocks(global uint *restrict block_totals, uint blocks, global uint *restrict next_stray_number)
{
    local uint sums[2 * SCAN_ITEMS];
    scan_by_one_group(sums, block_totals, block_totals, blocks);
    if (get_local_id(0) < 2)
        next_stray_number[get_local_id(0)] = 0;
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
