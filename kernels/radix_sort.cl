/* Radix sort: the phases of one pass, after P. Helluy, "A portable implementation of the radix sort algorithm
 * in OpenCL", 2011, hal-00596730. Section numbers below are the paper's.
 *
 * G groups of I items share the list: item t = g*I + i owns the `chunk` consecutive keys from t*chunk on, cut
 * off at the end of the list, so no padding keys exist and none can enter the result. Each item counts and
 * moves its own keys in their order, which makes the sort stable without any atomic operation.
 *
 * RADIX_BITS (r)  bits of a digit, 1..16; R = 2^r
 * ITEMS (I)       items of a group in histogram and reorder
 * TRANSPOSED      0: key n of item t lies at t*chunk + n. 1: at n*G*I + t, so that neighbouring items read
 *                 neighbouring keys (section 3.2.1)
 * TABLE_ROWS      how the histogram H(c, g, i) lies. 0: in the order c, g, i, a column an item, so that
 *                 neighbouring items touch neighbouring words. 1: in the order g, i, c, a row an item, so
 *                 that an item has its counters to itself in cache lines of its own
 * WITH_PERMUTATION  1: the reorder makes sigma too. 0: keys alone
 */
#define RADIX (1u << RADIX_BITS)

/* The keys [begin, begin + length) of an item; length is 0 for items past the end of the list. */
typedef struct {
    uint begin, length;
} chunk_range;

static inline chunk_range own_chunk(uint item, uint chunk, uint count)
{
    const ulong begin = (ulong)item * chunk;
    chunk_range range;
    range.begin = (uint)min(begin, (ulong)count);
    range.length = min(chunk, count - range.begin);
    return range;
}

/* Where list position j lies in memory, for `items` = G*I. */
static inline uint place_of(uint j, uint chunk, uint items)
{
    return TRANSPOSED ? (j % chunk) * items + j / chunk : j;
}

/* Where key n of item t lies in memory. */
static inline uint place_of_own(chunk_range own, uint n, uint item, uint items)
{
    return TRANSPOSED ? n * items + item : own.begin + n;
}

/* Where the counter of digit c and item t of `items` lies: in the table with t = g*I + i and G*I items, in
 * the local memory of a group with t = i and I items. */
static inline uint counter_place(uint c, uint item, uint items)
{
    return TABLE_ROWS ? item * RADIX + c : c * items + item;
}

/* Where entry n in the order c, g, i lies, the order of the scan. With one item it lies at n. */
static inline uint entry_place(uint n, uint items)
{
    return TABLE_ROWS ? counter_place(n / items, n % items, items) : n;
}

/* Histogram (section 2.1). Every item counts the digits of its keys in its own counters in local memory, then
 * writes them to the table. No barrier: no item touches another's counters. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
radix_histogram(global const uint *keys, global uint *table, uint count, uint chunk, uint shift)
{
    local uint counts[RADIX * ITEMS];
    const uint i = (uint)get_local_id(0), g = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint item = g * ITEMS + i;
    const chunk_range own = own_chunk(item, chunk, count);

    for (uint c = 0; c < RADIX; c++)
        counts[counter_place(c, i, ITEMS)] = 0;
    for (uint n = 0; n < own.length; n++) {
        const uint key = keys[place_of_own(own, n, item, groups * ITEMS)];
        counts[counter_place((key >> shift) & (RADIX - 1), i, ITEMS)]++;
    }
    for (uint c = 0; c < RADIX; c++)
        table[counter_place(c, item, groups * ITEMS)] = counts[counter_place(c, i, ITEMS)];
}

/* Scan (section 3.2.2): every group replaces its part of `length` entries by their exclusive prefix sum and
 * writes the part's total; `table_items` as for entry_place(). Blelloch's two sweeps over `padded` (a power
 * of two, at least 2 and at least the length) words of local memory. The loops run the same number of times
 * for all items, so the barriers are reached by all. */
kernel void radix_scan_parts(global uint *values, global uint *totals, uint count, uint length, uint padded,
                             uint table_items, local uint *part)
{
    const uint i = (uint)get_local_id(0), items = (uint)get_local_size(0), g = (uint)get_group_id(0);
    const ulong begin = (ulong)g * length;

    for (uint n = i; n < padded; n += items)
        part[n] = (n < length && begin + n < count) ? values[entry_place((uint)begin + n, table_items)] : 0;

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
    for (uint n = i; n < length; n += items)
        if (begin + n < count)
            values[entry_place((uint)begin + n, table_items)] = part[n];
}

/* The end of the scan: one item an entry, every part is raised by the sum of the parts before it. */
kernel void radix_scan_add(global uint *values, global const uint *totals, uint count, uint length,
                           uint table_items)
{
    const uint n = (uint)get_global_id(0);
    if (n < count)
        values[entry_place(n, table_items)] += totals[n / length];
}

/* Reorder (section 2.3). The scanned table says where the next key of each digit of each item goes; the
 * item's own counters of it are kept and counted up in local memory. No barrier, for the same reason as in
 * the histogram. WITH_PERMUTATION sigma travels with its key; in the first pass sigma(j) = j is not read but
 * known. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
radix_reorder(global const uint *keys, global uint *new_keys, global const uint *permutation,
              global uint *new_permutation, global const uint *table, uint count, uint chunk, uint shift,
              uint first_pass)
{
    local uint next[RADIX * ITEMS];
    const uint i = (uint)get_local_id(0), g = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint item = g * ITEMS + i;
    const chunk_range own = own_chunk(item, chunk, count);

    for (uint c = 0; c < RADIX; c++)
        next[counter_place(c, i, ITEMS)] = table[counter_place(c, item, groups * ITEMS)];
    for (uint n = 0; n < own.length; n++) {
        const uint source = place_of_own(own, n, item, groups * ITEMS);
        const uint key = keys[source];
        const uint target =
            place_of(next[counter_place((key >> shift) & (RADIX - 1), i, ITEMS)]++, chunk, groups * ITEMS);
        new_keys[target] = key;
#if WITH_PERMUTATION
        new_permutation[target] = first_pass ? own.begin + n : permutation[source];
#endif
    }
}

/* Transpose (section 3.2.1): the list as a matrix of `rows` = G*I rows of `chunk` keys, row-major in the
 * list, column-major where TRANSPOSED. A group moves one tile of TILE x TILE through local memory, so that
 * both reading and writing go along rows; the extra column keeps the items of a column in different banks.
 * One barrier, reached by all items. */
#define TILE 16

kernel __attribute__((reqd_work_group_size(TILE * TILE, 1, 1))) void
radix_transpose(global const uint *from, global uint *to, uint count, uint rows, uint chunk, uint to_columns)
{
    local uint tile[TILE][TILE + 1];
    const uint tiles_across = (chunk + TILE - 1) / TILE;
    const uint row0 = (uint)get_group_id(0) / tiles_across * TILE,
               column0 = (uint)get_group_id(0) % tiles_across * TILE;
    const uint fast = (uint)get_local_id(0) % TILE, slow = (uint)get_local_id(0) / TILE;

    /* (row, column) as seen along the memory of the list, and along the memory of the transposed one. */
    const uint list_row = row0 + slow, list_column = column0 + fast;
    const uint turned_row = row0 + fast, turned_column = column0 + slow;
    const ulong in_list = (ulong)list_row * chunk + list_column;
    const int list_inside = list_row < rows && list_column < chunk && in_list < count;
    const int turned_inside =
        turned_row < rows && turned_column < chunk && (ulong)turned_row * chunk + turned_column < count;
    const ulong in_turned = (ulong)turned_column * rows + turned_row;

    if (to_columns && list_inside)
        tile[slow][fast] = from[in_list];
    if (!to_columns && turned_inside)
        tile[fast][slow] = from[in_turned];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (to_columns && turned_inside)
        to[in_turned] = tile[fast][slow];
    if (!to_columns && list_inside)
        to[in_list] = tile[slow][fast];
}
