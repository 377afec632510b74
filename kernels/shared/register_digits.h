/* Few digits: the ranking of a tile (shared/tiles.h) of a chunk of up to REGISTER_DIGITS distinct digits,
 * whose counters are bytes in an item's registers. */
#ifndef SHARED_REGISTER_DIGITS_H
#define SHARED_REGISTER_DIGITS_H

#include "shared/tiles.h"

/* Sums of four words over the items before each, returned, and over all, in *all. Four items at a time are
 * summed by one item per component, then those sums over the group. `quads` has room for FOUR_WORDS. */
#define FOUR_WORDS (5 * ITEMS)

static inline uint4 sum4_over_items(local uint *quads, local uint *sums, uint t, uint4 value, uint4 *all)
{
    vstore4(value, t + (t >> 2), quads); /* 4 words to skip after 16: other banks for the next four items */
    barrier(CLK_LOCAL_MEM_FENCE);
    local uint *own = quads + t / 4 * 20 + t % 4;
    const uint a = own[0], b = own[4], c = own[8], sum = a + b + c + own[12];
    local uint *sums_to_here = sum_along(sums, ITEMS, 4, t, sum);
    const uint before = sums_to_here[t] - sum;
    own[0] = before;
    own[4] = before + a;
    own[8] = before + a + b;
    own[12] = before + a + b + c;
    *all = vload4(ITEMS / 4 - 1, sums_to_here);
    barrier(CLK_LOCAL_MEM_FENCE);
    return vload4(t + (t >> 2), quads);
}

/* Two ushorts to skip after every 64, so that items writing 8, 16 or 32 apart meet different banks. */
#define HALFWORD_PLACE(position) ((position) + ((position) >> 6) * 2)

/* Local arrays of the ranking. */
typedef struct {
    local uchar *number_of; /* digit -> 8 * compact number; junk for absent digits; RADIX -> the last */
    local uint *numbers;    /* of the tile's entries, a byte each; a word to skip after 32 */
    local ushort *staged;   /* compact number and place in the tile, in order of the result */
    local uint *quads, *sums;
    local uint *starts; /* [n*ITEMS + t]: where item t's run of number n starts in the tile */
    local uint *ends;   /* where the chunk's runs end that are still to come */
    local uint *places; /* target of an entry minus its position in the tile */
    local uint *digits; /* by number */
} register_arrays;

#define DECLARE_REGISTER_ARRAYS(name)                                                                        \
    local uchar name##_number_of[RADIX + 1];                                                                 \
    local uint name##_numbers[TILE / 4 + TILE / 128];                                                        \
    local ushort name##_staged[TILE + TILE / 32];                                                            \
    local uint name##_quads[FOUR_WORDS], name##_sums[2 * ITEMS], name##_starts[REGISTER_DIGITS * ITEMS];     \
    local uint name##_ends[REGISTER_DIGITS], name##_places[REGISTER_DIGITS], name##_digits[REGISTER_DIGITS]; \
    const register_arrays name = {                                                                           \
        name##_number_of, name##_numbers, name##_staged, name##_quads, name##_sums,                          \
        name##_starts,    name##_ends,    name##_places, name##_digits}

/* Ranks a tile of `valid` entries. Item t holds the digits of four entries, from 4*(n*ITEMS + t) on, in
 * digits[n]; those past the end of the list are RADIX. Afterwards, and after a barrier,
 * staged[HALFWORD_PLACE(position)] names the entry that stands at `position`, and places[] where that is in
 * the list. Compact number n is held as 8n, the place of its byte in the ulong of an item's counters. */
static inline void rank_in_registers(const register_arrays arrays, uint t, const uint4 digits[KEYS / 4],
                                     uint valid)
{
    UNROLL
    for (uint n = 0; n < KEYS / 4; n++) {
        const uint word = n * ITEMS + t;
        const uint4 d = digits[n];
        const uint x = arrays.number_of[d.x], y = arrays.number_of[d.y];
        const uint z = arrays.number_of[d.z], w = arrays.number_of[d.w];
        arrays.numbers[word + (word >> 5)] = x | y << 8 | z << 16 | w << 24;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    uint own_numbers[KEYS / 4], ranks[KEYS / 4];
    ulong counters = 0;
    UNROLL
    for (uint n = 0; n < KEYS / 4; n++) {
        own_numbers[n] = arrays.numbers[t * (KEYS / 4) + n + (t * (KEYS / 4) >> 5)];
        ranks[n] = 0;
        UNROLL
        for (uint k = 0; k < 4; k++) {
            const uint byte = own_numbers[n] >> (8 * k) & 0xff;
            ranks[n] |= ((uint)(counters >> byte) & 0xff) << (8 * k);
            counters += (ulong)1 << byte;
        }
    }

    /* Bytes to halfwords: x holds numbers 0 and 2, y 1 and 3, z 4 and 6, w 5 and 7. */
    const uint low = (uint)counters, high = (uint)(counters >> 32);
    const uint4 own_counts =
        (uint4)(low & 0xff00ff, low >> 8 & 0xff00ff, high & 0xff00ff, high >> 8 & 0xff00ff);
    uint4 all;
    const uint4 before = sum4_over_items(arrays.quads, arrays.sums, t, own_counts, &all);
    const uint counts[REGISTER_DIGITS] = {all.x & 0xffff, all.y & 0xffff, all.x >> 16, all.y >> 16,
                                          all.z & 0xffff, all.w & 0xffff, all.z >> 16, all.w >> 16};
    const uint befores[REGISTER_DIGITS] = {before.x & 0xffff, before.y & 0xffff, before.x >> 16,
                                           before.y >> 16,    before.z & 0xffff, before.w & 0xffff,
                                           before.z >> 16,    before.w >> 16};
    uint start = 0, named_start = 0, named_count = 0; /* those of number t */
    UNROLL
    for (uint n = 0; n < REGISTER_DIGITS; n++) {
        arrays.starts[n * ITEMS + t] = start + befores[n];
        named_start = t == n ? start : named_start;
        named_count = t == n ? counts[n] : named_count;
        start += counts[n];
    }
    if (t < REGISTER_DIGITS) {
        const uint end = arrays.ends[t] - (named_count - (t == REGISTER_DIGITS - 1 ? TILE - valid : 0));
        arrays.ends[t] = end;
        arrays.places[t] = end - named_start;
    }

    UNROLL
    for (uint n = 0; n < KEYS; n++) {
        const uint byte = own_numbers[n / 4] >> (8 * (n % 4)) & 0xff;
        const uint rank = ranks[n / 4] >> (8 * (n % 4)) & 0xff;
        const uint position = arrays.starts[byte * (ITEMS / 8) + t] + rank;
        arrays.staged[HALFWORD_PLACE(position)] = (ushort)(byte << (PLACE_BITS - 3) | (t * KEYS + n));
    }
}

#endif
