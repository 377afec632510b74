/* Filter: binomial smoothing on the periodic grid (Birdsall & Langdon, Plasma Physics via Computer
 * Simulation, 1985, appendix C).
 *
 * A pass has the weights (1, middle, 1) along each axis, times `scale` in all: middle = 2 and scale = 1/16,
 * or those of a compensator. Both kernels add in the same order, first along y, then along x, and all
 * products of a binomial pass are with powers of two, thus exact, whether or not a compiler fuses them with
 * the sums: the same bits in both and for every tile.
 */
#include "shared/cell.h"
#include "shared/real.h"

static inline real around(real before, real own, real after, real middle)
{
    return before + middle * own + after;
}

/* Along y around node (i, j). */
static inline real smoothed_along_y(global const real *rho, uint i, int j, uint ny, real middle)
{
    return around(rho[cell_index(i, wrap_near(j - 1, ny), ny)], rho[cell_index(i, (uint)j, ny)],
                  rho[cell_index(i, wrap_near(j + 1, ny), ny)], middle);
}

/* One item per node. */
kernel void filter_pass(global const real *restrict rho, uint nx, uint ny, real middle, real scale,
                        global real *restrict smoothed)
{
    const uint node = (uint)get_global_id(0);
    if (node >= nx * ny)
        return;
    const int i = (int)(node / ny), j = (int)(node % ny);
    const real left = smoothed_along_y(rho, wrap_near(i - 1, nx), j, ny, middle);
    const real own = smoothed_along_y(rho, (uint)i, j, ny, middle);
    const real right = smoothed_along_y(rho, wrap_near(i + 1, nx), j, ny, middle);
    smoothed[node] = around(left, own, right, middle) * scale;
}

#if TILE_ROWS > 0
#define ITEMS        (TILE_ROWS / ITEM_ROWS * TILE_COLUMNS)
#define HELD_ROWS    (TILE_ROWS + 2)
#define HELD_COLUMNS (TILE_COLUMNS + 2)

/* Along y around a column of a row of the tile; column 0 is the one before the tile. */
static inline real smoothed_along_row(local const real *row, uint column, real middle)
{
    return around(row[column], row[column + 1], row[column + 2], middle);
}

/* One group per tile of TILE_ROWS x TILE_COLUMNS nodes, the last ones cut off at the grid's ends. The group
 * stages its tile and one row or column of nodes on each side, so that each node is read from global memory
 * once and not nine times: neighbouring tiles overlap. Then an item goes down its part of a column and sums
 * each row along y once, for the three rows that need it. One barrier, reached by all items. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
filter_pass_tiled(global const real *restrict rho, uint nx, uint ny, real middle, real scale,
                  global real *restrict smoothed)
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
    real left = smoothed_along_row(tile[first], column, middle);
    real own = smoothed_along_row(tile[first + 1], column, middle);
    for (uint row = first; row < end; row++) {
        const real right = smoothed_along_row(tile[row + 2], column, middle);
        smoothed[cell_index(row0 + row, column0 + column, ny)] = around(left, own, right, middle) * scale;
        left = own;
        own = right;
    }
}
#endif
