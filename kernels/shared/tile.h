/* Tile: matrices of ELEMENT, row by row, in tiles of TILE x TILE, of which a group of TILE * TILE_ROWS items
 * moves one. */

/* Row and column at which a group's tile of side x side begins, tiles counted along rows first. */
static inline uint2 tile_corner(uint columns, uint side)
{
    const uint across = (columns + side - 1) / side;
    return (uint2)((uint)get_group_id(0) / across * side, (uint)get_group_id(0) % across * side);
}

/* out[column][row] = in[row][column], through a tile of rows `stride` elements apart in local memory, so that
 * neighbouring items read and write neighbours. What an item reads and what it writes are different elements,
 * each with a bound of its own. There are `count` of them, the first in the order of `in`, or of `out` where
 * that is the list which may end within a row. */
static inline void transpose_tile(global const ELEMENT *in, global ELEMENT *out, uint rows, uint columns,
                                  uint count, const bool ends_in_out, local ELEMENT *tile, uint stride)
{
    const uint2 corner = tile_corner(columns, TILE);
    const uint fast = (uint)get_local_id(0) % TILE, slow = (uint)get_local_id(0) / TILE;
    for (uint k = slow; k < TILE; k += TILE_ROWS) {
        const uint row = corner.x + k, column = corner.y + fast;
        if (row < rows && column < columns &&
            (ends_in_out ? (ulong)column * rows + row : (ulong)row * columns + column) < count)
            tile[k * stride + fast] = in[(size_t)row * columns + column];
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* the whole tile is staged */
    for (uint k = slow; k < TILE; k += TILE_ROWS) {
        const uint row = corner.x + fast, column = corner.y + k;
        if (row < rows && column < columns &&
            (ends_in_out ? (ulong)column * rows + row : (ulong)row * columns + column) < count)
            out[(size_t)column * rows + row] = tile[fast * stride + k];
    }
}
