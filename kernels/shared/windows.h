/* Windows: short digits for the cells of a large grid.
 *
 * The particles of a tile lie in neighbouring cells of the sorted list and go to cells near by. Take the
 * cells in the order of their keys, c = ny i + j. A particle that goes from c by (di, dj) comes to cell c +
 * dj of the row di further, its band; where j leaves its row, c + dj lies in the next row, so the band is one
 * less (or one more). Rows and cells are counted around the grid's ends. A tile's window is SPAN columns,
 * from MARGIN before the cell where the tile begins, in each of the three bands around; the digit is
 * band * SPAN + column. A particle that goes further than one cell is a stray. A chunk is one tile.
 */
#ifndef SHARED_WINDOWS_H
#define SHARED_WINDOWS_H

#include "shared/tiles.h"

#define BANDS  3
#define MARGIN 4 /* columns before and behind a tile's cells; room for MORE_ROWS (shared/directions.h) */
#define STRAY  (RADIX - 1)

#endif
