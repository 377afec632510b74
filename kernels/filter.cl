/* Filter: binomial smoothing on the periodic grid (Birdsall & Langdon, Plasma Physics via Computer
 * Simulation, 1985, appendix C).
 *
 * Both kernels add in the same order, first along y, then along x, and all products are with powers of two,
 * thus exact, whether or not a compiler fuses them with the sums: the same bits in both and for every tile.
 */
#include "shared/cell.h"
#include "shared/real.h"

static inline real one_two_one(real before, real middle, real after)
{
    return before + (real)2 * middle + after;
}

/* (1, 2, 1) along y around node (i, j) */
static inline real smoothed_along_y(global const real *rho, uint i, int j, uint ny)
{
    return one_two_one(rho[cell_index(i, wrap_near(j - 1, ny), ny)], rho[cell_index(i, (uint)j, ny)],
                       rho[cell_index(i, wrap_near(j + 1, ny), ny)]);
}

/* One item per node: (1, 2, 1) x (1, 2, 1) / 16 around it. */
kernel void filter_pass(global const real *restrict rho, uint nx, uint ny, global real *restrict smoothed)
{
    const uint node = (uint)get_global_id(0);
    if (node >= nx * ny)
        return;
    const int i = (int)(node / ny), j = (int)(node % ny);
    const real left = smoothed_along_y(rho, wrap_near(i - 1, nx), j, ny);
    const real middle = smoothed_along_y(rho, (uint)i, j, ny);
    const real right = smoothed_along_y(rho, wrap_near(i + 1, nx), j, ny);
    smoothed[node] = one_two_one(left, middle, right) * (real)0.0625;
}

#if TILE_ROWS > 0
#define ITEMS        (TILE_ROWS / ITEM_ROWS * TILE_COLUMNS)
#define HELD_ROWS    (TILE_ROWS + 2)
#define HELD_COLUMNS (TILE_COLUMNS + 2)

/* (1, 2, 1) along y around a column of a row of the tile; column 0 is the one before the tile. */
static inline real smoothed_along_row(local const real *row, uint column)
{
    return one_two_one(row[column], row[column + 1], row[column + 2]);
}

/* One group per tile of TILE_ROWS x TILE_COLUMNS nodes, the last ones cut off at the grid's ends. The group
 * stages its tile and one row or column of nodes on each side, so that each node is read from global memory
 * once and not nine times: neighbouring tiles overlap. Then an item goes down its part of a column and sums
 * each row along y once, for the three rows that need it. One barrier, reached by all items. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
filter_pass_tiled(global const real *restrict rho, uint nx, uint ny, global real *restrict smoothed)
{
    local real tile[HELD_ROWS][HELD_COLUMNS];
    const uint tiles_along_y = (ny + TILE_COLUMNS - 1) / TILE_COLUMNS;
    const uint row0 = (uint)get_group_id(0) / tiles_along_y * TILE_ROWS;
    const uint column0 = (uint)get_group_id(0) % tiles_along_y * TILE_COLUMNS;
    const uint rows = min((uint)TILE_ROWS, nx - row0), columns = min((uint)TILE_COLUMNS, ny - column0);
    const uint item = (uint)get_local_id(0);

    for (uint n = item; n < HELD_ROWS * HELD_COLUMNS; n += ITEMS) {
        const uint row = n / HELD_COLUMNS, column = n % HELD_COLUMNS;
        if (row < rows + 2 && column < columns + 2)
            tile[row][column] = rho[cell_index(wrap_near((int)(row0 + row) - 1, nx),
                                               wrap_near((int)(column0 + column) - 1, ny), ny)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint column = item % TILE_COLUMNS, first = item / TILE_COLUMNS * ITEM_ROWS;
    const uint end = min(first + ITEM_ROWS, rows);
    if (column >= columns || first >= rows)
        return;
    real left = smoothed_along_row(tile[first], column);
    real middle = smoothed_along_row(tile[first + 1], column);
    for (uint row = first; row < end; row++) {
        const real right = smoothed_along_row(tile[row + 2], column);
        smoothed[cell_index(row0 + row, column0 + column, ny)] =
            one_two_one(left, middle, right) * (real)0.0625;
        left = middle;
        middle = right;
    }
}
#endif
