/* Layout: fundamental algorithms on many arrays at once, one work-item per array, all data in global memory
 * (D. Takafuji, Y. Ito and K. Nakano, "Comparison of GPU Implementations of Row-wise and Column-wise
 * Fundamental Algorithms").
 *
 * Column-wise the items of a group, which are at the same j together, read neighbours. Every algorithm is one
 * serial body for both layouts (shared/layout.h): the macro PLACE(j) alone says where element j of the
 * item's own array lies. There are fewer than 2^32 elements, so an index of 32 bits reaches all.
 */
#include "shared/real.h" /* allows double where the program asks for it */

#if COLUMN_WISE
#define PLACE(j) elements[(uint)(j)*arrays + mine]
#else
#define PLACE(j) elements[mine * length + (uint)(j)]
#endif
#define ARRAY        global ELEMENT *elements, uint arrays, uint mine
#define SERIAL(name) name##_of_array
#include "shared/layout.h"
#include "shared/tile.h"

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

/* to[c][r] = from[r][c] of a matrix of `rows` times `columns`, a tile a group; one element more in each row
 * of the tile keeps a column of it out of one bank. */
kernel __attribute__((reqd_work_group_size(TILE * TILE_ROWS, 1, 1))) void
transpose(global const ELEMENT *from, global ELEMENT *to, uint rows, uint columns)
{
    local ELEMENT tile[TILE * (TILE + 1)];
    transpose_tile(from, to, rows, columns, rows * columns, false, tile, TILE + 1);
}
