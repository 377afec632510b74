/* Tiled sort: one stable pass over short digits, in three steps: histogram, scan, reorder. How a tile is
 * ranked stands in shared/tiles.h.
 *
 * The reorder has two kernels, both launched over all chunks: tiled_reorder_few() works on those of up to 8
 * distinct digits, tiled_reorder() on the others; on all of them in short lists, where a launch costs more
 * than it saves.
 *
 * ITEMS, DIGIT_BITS, SCAN_ITEMS: see shared/tiles.h
 * SHIFT         lowest bit of the digit in a key
 * INPUT, NEXT   what the list holds before and after this pass:
 *               KEYS_ALONE (0)   input: keys, sigma(j) = j; output: sigma alone, no pass follows
 *               PACKED (1)       one word: the digit of the last pass above INDEX_BITS bits of sigma
 *               PAIRS (2)        a ushort, the digit of the last pass, and a word, sigma
 * INDEX_BITS    bits of sigma in a packed word
 */
#include "shared/tiles.h"

#define KEYS_ALONE 0
#define PACKED     1
#define PAIRS      2

#if INPUT == PAIRS
typedef ushort key_type;
typedef ushort4 key_type4;
#else
typedef uint key_type;
typedef uint4 key_type4;
#endif

#define INDEX_MASK ((1u << INDEX_BITS) - 1)

static inline uint digit_of(uint key)
{
#if INPUT == KEYS_ALONE
    return (key >> SHIFT) & DIGIT_MASK;
#elif INPUT == PACKED
    return key >> INDEX_BITS;
#else
    return key;
#endif
}

/* ---- histogram ---- */

/* Counts the digits of each chunk into its row of the table, lists the distinct ones and adds them to the
 * totals. */
__kernel __attribute__((reqd_work_group_size(2 * ITEMS, 1, 1))) void
tiled_histogram(__global const key_type *restrict keys, __global uint *restrict table,
                __global uint *restrict lists, volatile __global uint *restrict totals, uint count)
{
    __local uint counts[RADIX];
    __local uint distinct;
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, (uint)get_num_groups(0), count);
    const uint begin = own.first * TILE, end = begin + min(own.tiles * TILE, count - begin);

    for (uint c = t; c < RADIX; c += 2 * ITEMS)
        counts[c] = 0;
    if (t == 0)
        distinct = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    uint j = begin;
    for (; end - j >= TILE; j += TILE) {
        key_type4 four[KEYS / 8];
#pragma unroll
        for (uint n = 0; n < KEYS / 8; n++)
            four[n] = ((__global const key_type4 *)(keys + j))[n * 2 * ITEMS + t];
#pragma unroll
        for (uint n = 0; n < KEYS / 8; n++) {
            atomic_inc(&counts[digit_of(four[n].x)]);
            atomic_inc(&counts[digit_of(four[n].y)]);
            atomic_inc(&counts[digit_of(four[n].z)]);
            atomic_inc(&counts[digit_of(four[n].w)]);
        }
    }
    for (j += t; j < end; j += 2 * ITEMS)
        atomic_inc(&counts[digit_of(keys[j])]);
    barrier(CLK_LOCAL_MEM_FENCE);

    store_counts(counts, &distinct, t, chunk, table, lists, totals);
}

/* ---- scan ---- */

__kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void
tiled_scan(__global uint *restrict table, __global const uint *restrict totals,
           __global uint *restrict offsets, uint chunks, uint cells)
{
    __local uint sums[2][SCAN_ITEMS];
    scan_table(sums, table, totals, offsets, chunks, cells);
}

/* ---- reorder ---- */

/* Where entries hold more than the digit, the tile's words are held in local memory: keys, packed words, or
 * the sigma of pairs. */
#define HOLDS      (INPUT != KEYS_ALONE || NEXT != KEYS_ALONE)
#define HELD_WORDS (HOLDS ? TILE + TILE / 32 : 1)

/* Sends list entry j, which is entry `place` of its tile, to place `target`. */
static inline void send(__local const uint *held, __global uint *restrict sent,
                        __global ushort *restrict sent_digits, uint j, uint place, uint target)
{
#if INPUT == PACKED
    sent[target] = held[STAGE_PLACE(place)] & INDEX_MASK;
#elif INPUT == PAIRS
    sent[target] = held[STAGE_PLACE(place)];
#elif NEXT == PACKED
    sent[target] = held[STAGE_PLACE(place)] >> (SHIFT + DIGIT_BITS) << INDEX_BITS | j;
#elif NEXT == PAIRS
    sent[target] = j;
    sent_digits[target] = (ushort)(held[STAGE_PLACE(place)] >> (SHIFT + DIGIT_BITS));
#else
    sent[target] = j;
#endif
}

/* Keys from j on of a tile with `valid` keys; places past its end read as `filler`. Item t holds, for each n,
 * the four keys from 4*(n*ITEMS + t) on. */
static inline void load_digits(__global const key_type *restrict keys, uint begin, uint valid, uint t,
                               uint4 *digits, uint filler, __local uint *held,
                               __global const uint *restrict values)
{
#if HOLDS
#pragma unroll
    for (uint n = 0; n < KEYS; n++) {
        const uint place = n * ITEMS + t;
        if (place < valid)
#if INPUT == PAIRS
            held[STAGE_PLACE(place)] = values[begin + place];
#else
            held[STAGE_PLACE(place)] = keys[begin + place];
#endif
    }
#endif
    if (valid == TILE) {
#pragma unroll
        for (uint n = 0; n < KEYS / 4; n++) {
            const key_type4 four = ((__global const key_type4 *)(keys + begin))[n * ITEMS + t];
            digits[n] = (uint4)(digit_of(four.x), digit_of(four.y), digit_of(four.z), digit_of(four.w));
        }
    } else {
#pragma unroll
        for (uint n = 0; n < KEYS / 4; n++) {
            const uint j = 4 * (n * ITEMS + t);
            digits[n].x = j + 0 < valid ? digit_of(keys[begin + j + 0]) : filler;
            digits[n].y = j + 1 < valid ? digit_of(keys[begin + j + 1]) : filler;
            digits[n].z = j + 2 < valid ? digit_of(keys[begin + j + 2]) : filler;
            digits[n].w = j + 3 < valid ? digit_of(keys[begin + j + 3]) : filler;
        }
    }
}

/* Sends the entries of the chunks with up to FEW distinct digits to their places. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
tiled_reorder_few(__global const key_type *restrict keys, __global const uint *restrict values,
                  __global const uint *restrict table, __global const uint *restrict lists,
                  __global uint *restrict sent, __global ushort *restrict sent_digits, uint count)
{
    __local uint held[HELD_WORDS];
    DECLARE_FEW_ARRAYS(few);
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, (uint)get_num_groups(0), count);
    const uint distinct = lists[chunk * LIST_WORDS];
    open_few(few, t, chunk, distinct, table, lists);
    const uint tiles = distinct <= FEW ? own.tiles : 0;
    for (uint left = tiles; left > 0; left--) {
        const uint begin = (own.first + left - 1) * TILE, valid = min((uint)TILE, count - begin);
        uint4 digits[KEYS / 4];
        barrier(CLK_LOCAL_MEM_FENCE); /* number_of is there, and the last tile's staging is read */
        load_digits(keys, begin, valid, t, digits, RADIX, held, values);
        stage_few(few, t, digits, valid);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 8
        for (uint n = 0; n < KEYS; n++) {
            const uint position = n * ITEMS + t;
            const uint word = few.staged[FEW_PLACE(position)];
            const uint place = word & (TILE - 1);
            if (position < valid)
                send(held, sent, sent_digits, begin + place, place,
                     few.places[word >> PLACE_BITS] + position);
        }
    }
}

/* The same for the chunks with more than `fewest` distinct digits. Clears the totals for the next histogram.
 */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
tiled_reorder(__global const key_type *restrict keys, __global const uint *restrict values,
              __global const uint *restrict table, __global const uint *restrict lists,
              __global uint *restrict totals, __global uint *restrict sent,
              __global ushort *restrict sent_digits, uint count, uint fewest)
{
    __local uint held[HELD_WORDS];
    DECLARE_SOME_ARRAYS(some);
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, (uint)get_num_groups(0), count);
    const uint distinct = lists[chunk * LIST_WORDS];
    const uint tiles = distinct > fewest ? own.tiles : 0;
    const bool compact = distinct <= SOME;
    if (chunk == 0)
        for (uint c = t; c < ROW; c += ITEMS)
            totals[c] = 0;
    if (tiles > 0)
        open_some(some, t, chunk, distinct, table, lists);
    for (uint left = tiles; left > 0; left--) {
        const uint begin = (own.first + left - 1) * TILE, valid = min((uint)TILE, count - begin);
        uint4 digits[KEYS / 4];
        barrier(CLK_LOCAL_MEM_FENCE); /* the last tile's local arrays are read */
        load_digits(keys, begin, valid, t, digits, RADIX, held, values);
        __local const uint *targets = stage_some(some, t, digits, valid, compact);
#pragma unroll 8
        for (uint n = 0; n < KEYS; n++) {
            const uint position = n * ITEMS + t;
            const uint word = some.staged[STAGE_PLACE(position)], place = word & (TILE - 1);
            if (position < valid)
                send(held, sent, sent_digits, begin + place, place, targets[word >> PLACE_BITS] + position);
        }
        leave_some(some, t, valid, compact);
    }
}

/* ---- beside the passes ---- */

/* sorted_keys[j] = keys[permutation[j]]. */
__kernel void tiled_sorted_keys(__global const uint *restrict keys, __global const uint *restrict permutation,
                                __global uint *restrict sorted_keys, uint count)
{
    const uint j = (uint)get_global_id(0);
    if (j < count)
        sorted_keys[j] = keys[permutation[j]];
}

/* Cell offsets where no pass counted whole keys. With many keys a cell: a group finds the offset of one cell,
 * the number of keys below it, by comparing SEARCH_ITEMS keys at a time that part the range still in question
 * evenly. */
#define SEARCH_ITEMS 64
#define SEARCH_STEPS 6 /* 64^6 > 2^32 */

__kernel __attribute__((reqd_work_group_size(SEARCH_ITEMS, 1, 1))) void
tiled_find_offsets(__global const uint *restrict keys, __global const uint *restrict permutation,
                   __global uint *restrict offsets, uint count)
{
    __local uint range[2]; /* the offset is among range[0]..range[1] */
    __local uchar below[SEARCH_ITEMS + 1];
    const uint t = (uint)get_local_id(0), cell = (uint)get_group_id(0);
    if (t == 0) {
        range[0] = 0;
        range[1] = count;
        below[SEARCH_ITEMS] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 0; step < SEARCH_STEPS; step++) {
        const uint low = range[0], high = range[1];
        /* Key number place[t] is compared; the places rise from low to below high. */
        const uint place = low + (uint)((ulong)(high - low) * t / SEARCH_ITEMS);
        const uint next = low + (uint)((ulong)(high - low) * (t + 1) / SEARCH_ITEMS);
        below[t] = place < high && keys[permutation[place]] < cell;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t == 0 && !below[0])
            range[1] = low;
        if (below[t] && !below[t + 1]) {
            range[0] = place + 1;
            range[1] = next;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        offsets[cell] = range[0];
}

/* With few keys a cell: item j of count + 1 fills the entries of the cells after that of sorted key j-1 up to
 * that of key j. */
__kernel void tiled_mark_offsets(__global const uint *restrict keys,
                                 __global const uint *restrict permutation, __global uint *restrict offsets,
                                 uint count, uint cells)
{
    const ulong j = get_global_id(0);
    if (j > count)
        return;
    const uint first = j == 0 ? 0 : keys[permutation[j - 1]] + 1;
    const uint last = j == count ? cells : keys[permutation[j]];
    for (uint c = first; c <= last; c++)
        offsets[c] = (uint)j;
}
