/* Layout: fundamental algorithms on many arrays at once, one work-item per array, all data in global memory
 * (D. Takafuji, Y. Ito and K. Nakano, "Comparison of GPU Implementations of Row-wise and Column-wise
 * Fundamental Algorithms").
 *
 * Options:
 *   ELEMENT          int, float or double
 *   COLUMN_WISE      0: array after array, each in one piece (row-wise); 1: element j of all arrays in one
 *                    piece (column-wise), so that the items of a group, which are at the same j together,
 *                    read neighbours
 *   GROUP_ITEMS      items of a group of the algorithms
 *   TRANSPOSE_ITEMS  items of a group of the transposition
 *   TILE             elements along a side of its tile in local memory
 *
 * Every algorithm is one serial body for both layouts (shared/layout.h): the macro PLACE(j) alone knows where
 * element j of the item's own array lies. There are fewer than 2^32 elements, so an index of 32 bits reaches
 * all.
 */
#include "shared/real.h" /* allows double where the program asks for it */

#if !defined(ELEMENT) || !defined(COLUMN_WISE) || !defined(GROUP_ITEMS) || !defined(TRANSPOSE_ITEMS) ||      \
    !defined(TILE)
#error "layout.cl needs ELEMENT, COLUMN_WISE, GROUP_ITEMS, TRANSPOSE_ITEMS and TILE"
#endif

#if COLUMN_WISE
#define PLACE(j) elements[(uint)(j)*arrays + mine]
#else
#define PLACE(j) elements[mine * length + (uint)(j)]
#endif
#define ARRAY        global ELEMENT *elements, uint arrays, uint mine
#define SERIAL(name) name##_of_array
#include "shared/layout.h"

#define OF_ALL_ARRAYS(name)                                                                                  \
    kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void name(global ELEMENT *elements,      \
                                                                              uint arrays, uint length)      \
    {                                                                                                        \
        const uint mine = (uint)get_global_id(0);                                                            \
        if (mine < arrays)                                                                                   \
            SERIAL(name)(elements, arrays, mine, length);                                                    \
    }
OF_ALL_ARRAYS(prefix_sum)
OF_ALL_ARRAYS(bubble_sort)
OF_ALL_ARRAYS(bitonic_sort)

/* to[c][r] = from[r][c] of a matrix of `rows` times `columns`, a tile a group. Both the reads and the writes
 * of neighbouring items are neighbours; the turn is made in local memory, whose padding keeps a column of the
 * tile out of one bank. */
kernel __attribute__((reqd_work_group_size(TRANSPOSE_ITEMS, 1, 1))) void
transpose(global const ELEMENT *from, global ELEMENT *to, uint rows, uint columns)
{
    local ELEMENT tile[TILE][TILE + 1];
    const uint tiles_along = (columns + TILE - 1) / TILE;
    const uint first_row = (uint)get_group_id(0) / tiles_along * TILE;
    const uint first_column = (uint)get_group_id(0) % tiles_along * TILE;
    for (uint n = (uint)get_local_id(0); n < TILE * TILE; n += TRANSPOSE_ITEMS) {
        const uint row = first_row + n / TILE, column = first_column + n % TILE;
        if (row < rows && column < columns)
            tile[n / TILE][n % TILE] = from[row * columns + column];
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* whole tile read; every item of the group comes here */
    for (uint n = (uint)get_local_id(0); n < TILE * TILE; n += TRANSPOSE_ITEMS) {
        const uint row = first_row + n % TILE, column = first_column + n / TILE;
        if (row < rows && column < columns)
            to[column * rows + row] = tile[n % TILE][n / TILE];
    }
}
