/* Sorted order: what follows from a sorted list of keys, however it was sorted. Key j of it is keys[j], or
 * where `through` is set, keys[permutation[j]]. */

static inline uint key_at(global const KEY *restrict keys, global const uint *restrict permutation,
                          uint through, uint j)
{
    return keys[through ? permutation[j] : j];
}

/* sorted_keys[j] = keys[permutation[j]]. */
kernel void order_keys(global const KEY *restrict keys, global const uint *restrict permutation,
                       global KEY *restrict sorted_keys, uint count)
{
    const uint j = (uint)get_global_id(0);
    if (j < count)
        sorted_keys[j] = keys[permutation[j]];
}

/* Cell offsets, offsets[c] = number of keys below c, for c = 0..cells. Item n fills the entries of the cells
 * after that of key M n - 1 up to that of key M n + M - 1, M = MARKED_KEYS, or of the last cell. */
kernel void order_mark_cells(global const KEY *restrict keys, global const uint *restrict permutation,
                             uint through, global uint *restrict offsets, uint count, uint cells)
{
    const uint first = MARKED_KEYS * (uint)get_global_id(0);
    if (first > count)
        return;
    uint places[MARKED_KEYS], found[MARKED_KEYS];
    for (uint n = 0; n < MARKED_KEYS; n++)
        places[n] = through && first + n < count ? permutation[first + n] : first + n;
    uint c = first == 0 ? 0 : key_at(keys, permutation, through, first - 1) + 1;
    for (uint n = 0; n < MARKED_KEYS; n++)
        found[n] = first + n < count ? keys[places[n]] : cells;
    for (uint n = 0; n < MARKED_KEYS; n++)
        for (; c <= found[n]; c++)
            offsets[c] = min(first + n, count);
}

/* Cell offsets where there are many keys a cell, or where most cells are empty and one item might have to
 * fill thousands of entries: item c of cells + 1 looks for its own by bisection. */
kernel void order_find_cells(global const KEY *restrict keys, global const uint *restrict permutation,
                             uint through, global uint *restrict offsets, uint count, uint cells)
{
    const uint c = (uint)get_global_id(0);
    if (c > cells)
        return;
    uint low = 0, high = count; /* the first key that is not below c is in [low, high] */
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if (key_at(keys, permutation, through, middle) < c)
            low = middle + 1;
        else
            high = middle;
    }
    offsets[c] = low;
}
