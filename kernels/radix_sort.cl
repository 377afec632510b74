/* Radix sort: the phases of one pass, after P. Helluy, "A portable implementation of the radix sort algorithm
 * in OpenCL", 2011, hal-00596730. Section numbers below are the paper's. The phases that no option changes
 * stand in radix_scan.cl, which is built once.
 *
 * G groups of I items share the list: item t = g*I + i owns the `chunk` consecutive keys from t*chunk on, cut
 * off at the end of the list, so no padding keys exist and none can enter the result. Each item counts and
 * moves its own keys in their order, which makes the sort stable without any atomic operation.
 *
 * Where the list is TRANSPOSED neighbouring items read neighbouring keys. Of a table by columns they touch
 * neighbouring words; of one by rows an item has its counters in cache lines of its own.
 */
#include "shared/chunk.h"

#define RADIX (1u << RADIX_BITS)

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

/* Histogram (section 2.1). Every item counts the digits of its keys in its own counters in local memory, then
 * writes them to the table. No barrier: no item touches another's counters. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
radix_histogram(global const KEY *keys, global uint *table, uint count, uint chunk, uint shift)
{
    local uint counts[RADIX * ITEMS];
    const uint i = (uint)get_local_id(0), g = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint item = g * ITEMS + i;
    const chunk_range own = own_chunk(item, chunk, count);

    for (uint c = 0; c < RADIX; c++)
        counts[counter_place(c, i, ITEMS)] = 0;
    for (uint n = 0; n < own.length; n++) {
        const KEY key = keys[place_of_own(own, n, item, groups * ITEMS)];
        counts[counter_place((key >> shift) & (RADIX - 1), i, ITEMS)]++;
    }
    for (uint c = 0; c < RADIX; c++)
        table[counter_place(c, item, groups * ITEMS)] = counts[counter_place(c, i, ITEMS)];
}

/* Reorder (section 2.3). The scanned table says where the next key of each digit of each item goes; the
 * item's own counters of it are kept and counted up in local memory. No barrier, for the same reason as in
 * the histogram. WITH_PERMUTATION sigma travels with its key; in the first pass sigma(j) = j is not read. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
radix_reorder(global const KEY *keys, global KEY *new_keys, global const uint *permutation,
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
        const KEY key = keys[source];
        const uint target =
            place_of(next[counter_place((key >> shift) & (RADIX - 1), i, ITEMS)]++, chunk, groups * ITEMS);
        new_keys[target] = key;
#if WITH_PERMUTATION
        new_permutation[target] = first_pass ? own.begin + n : permutation[source];
#endif
    }
}
