/* Windows: short digits for the cells of a large grid.
 *
 * The particles of a chunk lie in neighbouring cells of the sorted list and go to cells near by. Take the
 * cells in the order of their keys, c = ny i + j. A particle that goes from c by (di, dj) comes to cell c +
 * dj of the row di further, its band; where j leaves its row, c + dj lies in the next row, so the band is one
 * less (or one more). Rows and cells are counted around the grid's ends. A chunk's window is SPAN columns,
 * from MARGIN before the cell where the chunk begins, in each of the 2 REACH + 1 bands around; the digit is
 * band * SPAN + column. What goes elsewhere is a stray, and so is what goes beyond the ghost rows
 * (shared/cell.h), since its row is not where it went.
 *
 * Seen from a cell, its particles come from a few chunks in each band, which the cell offsets tell.
 *
 * SPAN, MARGIN   cells, SPAN (2 REACH + 1) < RADIX
 * REACH          rows
 * CHUNK_TILES    tiles of a chunk; the last chunk may have fewer
 * BY_DIRECTION   shared/directions.h
 */
#ifndef SHARED_WINDOWS_H
#define SHARED_WINDOWS_H

#include "shared/cell.h"
#include "shared/tiles.h"

#define BANDS       (2 * REACH + 1)
#define STRAY       (RADIX - 1)
#define STRAY_PLACE 0xc0000000u /* in the table: beyond every list, the length of a tile taken off */
#define CHUNK       (CHUNK_TILES * TILE)

/* Whether all bands of an own row lie within the ghost rows; the outermost holds one row more, of those that
 * leave their row. */
#define BANDS_HAVE_ROWS (GHOST_ROWS == 0 || GHOST_ROWS > REACH)

static inline tile_range window_tiles(uint chunk, uint count)
{
    const uint tiles = count / TILE + (count % TILE != 0);
    tile_range range;
    range.first = chunk * CHUNK_TILES;
    range.tiles = min((uint)CHUNK_TILES, tiles - range.first);
    return range;
}

/* The digit of a particle of cell (i, j), in a chunk that begins in first_cell, that goes to (new_i, new_j),
 * not yet wrapped around the grid. */
static inline uint window_digit(uint first_cell, uint i, uint j, int new_i, int new_j, uint nx, uint ny)
{
    const int band = new_i - (int)i + (new_j < 0) - (new_j >= (int)ny) + REACH;
    const uint column = (uint)((int)(i * ny) + new_j - (int)first_cell + MARGIN);
    const bool once_around = new_j >= -(int)ny && new_j < 2 * (int)ny;
    return once_around && (BANDS_HAVE_ROWS || has_row(new_i, nx)) && (uint)band < BANDS && column < SPAN
               ? (uint)band * SPAN + column
               : STRAY;
}

/* The chunks from which particles come to the flat cell `flat`, which may lie before the grid's first or
 * behind its last: [first, last]; none where last < first. */
typedef struct {
    int first, last;
} chunk_range;

/* By directions: the chunks that reach into the cells from CELLS_BEFORE before `flat` to CELLS_BEHIND behind
 * it. Else: those that begin in these cells, so that their windows hold `flat`; ROUND_BEGIN rounds up for
 * that. */
#if BY_DIRECTION
#define CELLS_BEHIND 1
#define CELLS_BEFORE 1
#define ROUND_BEGIN  0
#else
#define CELLS_BEHIND MARGIN
#define CELLS_BEFORE (SPAN - 1 - MARGIN)
#define ROUND_BEGIN  (CHUNK - 1)
#endif

static inline chunk_range chunks_around(global const uint *restrict cell_offsets, int flat, uint cells,
                                        uint count)
{
    chunk_range range = {0, -1};
    const int high = flat + CELLS_BEHIND, low = flat - CELLS_BEFORE;
    if (high < 0 || low >= (int)cells)
        return range;
    const uint end = high + 1 >= (int)cells ? count : cell_offsets[high + 1];
    const uint begin = low <= 0 ? 0 : cell_offsets[low];
    range.first = (int)((begin + ROUND_BEGIN) / CHUNK);
    range.last = (int)((end + CHUNK - 1) / CHUNK) - 1;
    return range;
}

#endif
