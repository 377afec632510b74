/* Radix scan: scan and transpose of radix_sort.cl's sort, the same for all options of that sort. */
#define ELEMENT   uint
#define TILE      16
#define TILE_ROWS 16
#include "shared/tile.h"

/* Where entry n in the order c, g, i lies among `count`: a table by rows has `table_items` = G*I rows; where
 * that is 1 the entry lies at n, as in a table by columns and in any other list. */
static inline uint entry_place(uint n, uint count, uint table_items)
{
    return table_items == 1 ? n : n % table_items * (count / table_items) + n / table_items;
}

/* Scan (section 3.2.2): every group replaces its part of `length` entries by their exclusive prefix sum and
 * writes the part's total; `table_items` as for entry_place(). Blelloch's two sweeps over `padded` (a power
 * of two, at least 2 and at least the length) words of local memory. The loops run the same number of times
 * for all items, so the barriers are reached by all. */
kernel void radix_scan_parts(global uint *values, global uint *totals, uint count, uint length, uint padded,
                             uint table_items, local uint *part)
{
    const uint i = (uint)get_local_id(0), items = (uint)get_local_size(0), g = (uint)get_group_id(0);
    const uint begin = (uint)min((ulong)g * length, (ulong)count), own = min(length, count - begin);

    for (uint n = i; n < padded; n += items)
        part[n] = n < own ? values[entry_place(begin + n, count, table_items)] : 0;

    /* Up: after the round of `stride`, part[(k + 1)*2*stride - 1] holds the sum of its 2*stride words. */
    for (uint stride = 1; stride < padded; stride *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint pair = i; pair < padded / (2 * stride); pair += items) {
            const uint right = (pair + 1) * 2 * stride - 1;
            part[right] += part[right - stride];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) {
        totals[g] = part[padded - 1];
        part[padded - 1] = 0;
    }
    /* Down: a node passes its prefix to its left half, and the prefix plus that half's sum to the right. */
    for (uint stride = padded / 2; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint pair = i; pair < padded / (2 * stride); pair += items) {
            const uint right = (pair + 1) * 2 * stride - 1;
            const uint left_sum = part[right - stride];
            part[right - stride] = part[right];
            part[right] += left_sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint n = i; n < own; n += items)
        values[entry_place(begin + n, count, table_items)] = part[n];
}

/* The end of the scan: one item an entry, every part is raised by the sum of the parts before it. */
kernel void radix_scan_add(global uint *values, global const uint *totals, uint count, uint length,
                           uint table_items)
{
    const uint n = (uint)get_global_id(0);
    if (n < count)
        values[entry_place(n, count, table_items)] += totals[n / length];
}

/* Transpose (section 3.2.1): the list as a matrix of `rows` = G*I rows of `chunk` keys, row-major in the
 * list, column-major where TRANSPOSED; an extra column keeps a tile's column in different banks. */
kernel __attribute__((reqd_work_group_size(TILE * TILE_ROWS, 1, 1))) void
radix_transpose(global const uint *from, global uint *to, uint count, uint rows, uint chunk, uint to_columns)
{
    local uint tile[TILE * (TILE + 1)];
    transpose_tile(from, to, to_columns ? rows : chunk, to_columns ? chunk : rows, count, !to_columns, tile,
                   TILE + 1);
}
