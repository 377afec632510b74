/* Tiled sort: one stable pass over short digits, in three steps: histogram, scan, reorder.
 *
 * The list is cut into chunks of whole tiles, one work-group a chunk; a tile is ITEMS * KEYS keys. The table
 * holds one row of digit counts per chunk; the scan turns it into the places where each chunk's runs end. The
 * reorder ranks a tile in local memory, so that sigma leaves it in runs that lie together in global memory.
 * It takes the tiles of a chunk from the last to the first: their keys were read last and may still be
 * cached.
 *
 * In PIC order a chunk holds few distinct digits. The histogram lists them, and the reorder has a kernel for
 * each case, launched over all chunks; each works on its own chunks alone:
 *   tiled_reorder_few     up to 8: digits get compact numbers 0..7, their counters are bytes in registers
 *   tiled_reorder_some    up to 32: compact numbers, counters in local memory, one column an item
 *   tiled_reorder_many    any: rounds of 5 bits over the digit itself, counters likewise
 * Compact numbers may differ from run to run; the result does not, since a number only names a run.
 *
 * ITEMS         items of a group in the reorder, a power of two, 32..128
 * DIGIT_BITS    (r) bits of the digit, 1..12
 * SHIFT         lowest bit of the digit in a key
 * INPUT, NEXT   what the list holds before and after this pass:
 *               KEYS_ALONE (0)   input: keys, sigma(j) = j; output: sigma alone, no pass follows
 *               PACKED (1)       one word: the digit of the last pass above INDEX_BITS bits of sigma
 *               PAIRS (2)        a ushort, the digit of the last pass, and a word, sigma
 * INDEX_BITS    bits of sigma in a packed word
 * SCAN_ITEMS    items of a group in the scan, a power of two, at least 64
 */
#define KEYS        32 /* keys of an item; a count of them and 31 fit a byte and 5 bits */
#define TILE        (ITEMS * KEYS)
#define RADIX       (1u << DIGIT_BITS)
#define DIGIT_MASK  (RADIX - 1)
#define SCAN_BINS   8 /* bins of a group in the scan: one 32-byte sector of each row */
#define ROW         (RADIX < SCAN_BINS ? SCAN_BINS : RADIX)
#define CHUNKS_EACH 16 /* rows an item of the scan has */
#define FEW         8
#define SOME        32
#define LIST_WORDS                                                                                           \
    (1 + SOME) /* a chunk's number of distinct digits, then those digits, where it is <= SOME */

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

/* The tiles [first, first + tiles) of a chunk. */
typedef struct {
    uint first, tiles;
} tile_range;

static inline tile_range own_tiles(uint chunk, uint tiles_each, uint count)
{
    const uint tiles = count / TILE + (count % TILE != 0);
    tile_range range;
    range.first = min(chunk * tiles_each, tiles);
    range.tiles = min(tiles_each, tiles - range.first);
    return range;
}

/* ---- histogram ---- */

/* Counts the digits of each chunk into its row of the table, lists the distinct ones and adds them to the
 * totals. */
__kernel __attribute__((reqd_work_group_size(2 * ITEMS, 1, 1))) void
tiled_histogram(__global const key_type *restrict keys, __global uint *restrict table,
                __global uint *restrict lists, volatile __global uint *restrict totals, uint count,
                uint tiles_each)
{
    __local uint counts[RADIX];
    __local uint distinct;
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, tiles_each, count);
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

    for (uint c = t; c < ROW; c += 2 * ITEMS) {
        const uint found = c < RADIX ? counts[c] : 0;
        table[chunk * ROW + c] = found;
        if (found > 0) {
            const uint slot = atomic_inc(&distinct);
            if (slot < SOME)
                lists[chunk * LIST_WORDS + 1 + slot] = c;
            atomic_add(&totals[c], found);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t == 0)
        lists[chunk * LIST_WORDS] = distinct;
}

/* ---- scan ---- */

/* Replaces each entry of the table by the place after the last key of that digit in that chunk: the number of
 * smaller digits, plus those of the digit in the chunks up to this one. A group owns SCAN_BINS columns, an
 * item CHUNKS_EACH rows of one of them. Also writes where each digit starts, for digits up to `cells`, if
 * that is not 0. */
__kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void
tiled_scan(__global uint *restrict table, __global const uint *restrict totals,
           __global uint *restrict offsets, uint chunks, uint cells)
{
    __local uint sums[2][SCAN_ITEMS];
    const uint t = (uint)get_local_id(0), first_bin = (uint)get_group_id(0) * SCAN_BINS;
    const uint bin = first_bin + t % SCAN_BINS, first_chunk = t / SCAN_BINS * CHUNKS_EACH;

    uint entries[CHUNKS_EACH];
    uint sum = 0;
#pragma unroll
    for (uint n = 0; n < CHUNKS_EACH; n++)
        entries[n] = first_chunk + n < chunks ? table[(first_chunk + n) * ROW + bin] : 0;
#pragma unroll
    for (uint n = 0; n < CHUNKS_EACH; n++)
        sum += entries[n];

    /* How many keys have a digit below first_bin: summed by all items, then over the items. */
    uint before = 0;
    for (uint c = t; c < first_bin; c += SCAN_ITEMS)
        before += totals[c];
    sums[0][t] = before;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_items = SCAN_ITEMS / 2; half_items > 0; half_items /= 2) {
        if (t < half_items)
            sums[0][t] += sums[0][t + half_items];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint place = sums[0][0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = first_bin; c < bin; c++)
        place += totals[c];
    if (t < SCAN_BINS && cells > 0) {
        if (bin < RADIX && bin <= cells)
            offsets[bin] = place;
        if (bin == RADIX - 1 && cells == RADIX)
            offsets[RADIX] = place + totals[bin];
    }

    /* The items of one bin stand SCAN_BINS apart. */
    uint from = 0;
    sums[0][t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint stride = SCAN_BINS; stride < SCAN_ITEMS; stride *= 2) {
        sums[1 - from][t] = sums[from][t] + (t >= stride ? sums[from][t - stride] : 0);
        from = 1 - from;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    place += sums[from][t] - sum;
#pragma unroll
    for (uint n = 0; n < CHUNKS_EACH; n++) {
        place += entries[n];
        if (first_chunk + n < chunks)
            table[(first_chunk + n) * ROW + bin] = place;
    }
}

/* ---- reorder: what its kernels share ---- */

/* Sends list entry j to place `target`. */
static inline void send(__global const key_type *restrict keys, __global const uint *restrict values,
                        __global uint *restrict sent, __global ushort *restrict sent_digits, uint j,
                        uint target)
{
#if INPUT == PACKED
    const uint value = keys[j] & INDEX_MASK;
#elif INPUT == PAIRS
    const uint value = values[j];
#else
    const uint value = j;
#endif
#if NEXT == PACKED
    sent[target] = keys[j] >> (SHIFT + DIGIT_BITS) << INDEX_BITS | value;
#elif NEXT == PAIRS
    sent[target] = value;
    sent_digits[target] = (ushort)(keys[j] >> (SHIFT + DIGIT_BITS));
#else
    sent[target] = value;
#endif
}

/* Inclusive sum over the items of the group. sums has room for 2 * ITEMS; the returned half holds the result
 * of all items, after a barrier. */
static inline __local uint *sum_over_items(__local uint *sums, uint t, uint value)
{
    __local uint *from = sums, *to = sums + ITEMS;
    from[t] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint stride = 1; stride < ITEMS; stride *= 2) {
        to[t] = from[t] + (t >= stride ? from[t - stride] : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        __local uint *swapped = from;
        from = to;
        to = swapped;
    }
    return from;
}

static inline __local uint4 *sum4_over_items(__local uint4 *sums, uint t, uint4 value)
{
    __local uint4 *from = sums, *to = sums + ITEMS;
    from[t] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint stride = 1; stride < ITEMS; stride *= 2) {
        uint4 sum = from[t];
        if (t >= stride)
            sum += from[t - stride];
        to[t] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        __local uint4 *swapped = from;
        from = to;
        to = swapped;
    }
    return from;
}

/* Keys from j on of a tile with `valid` keys; places past its end read as `filler`. Item t holds, for each n,
 * the four keys from 4*(n*ITEMS + t) on. */
static inline void load_digits(__global const key_type *restrict keys, uint begin, uint valid, uint t,
                               uint4 *digits, uint filler)
{
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

/* ---- reorder: up to 8 distinct digits ---- */

/* Two ushorts to skip after every 64, so that items writing 8, 16 or 32 apart meet different banks. */
#define FEW_PLACE(position) ((position) + ((position) >> 6) * 2)

/* Compact number n is held as 8n, the place of its byte in the ulong of an item's counters. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
tiled_reorder_few(__global const key_type *restrict keys, __global const uint *restrict values,
                  __global const uint *restrict table, __global const uint *restrict lists,
                  __global uint *restrict totals, __global uint *restrict sent,
                  __global ushort *restrict sent_digits, uint count, uint tiles_each)
{
    __local uchar number_of[ROW]; /* digit -> 8 * compact number; junk for absent digits */
    __local uint
        numbers[TILE / 4 + TILE / 128]; /* of the tile's keys, a byte each; a word to skip after 32 */
    __local ushort
        staged[TILE + TILE / 32]; /* compact number and place in the tile, in order of the result */
    __local uint4 sums[2 * ITEMS];
    __local uint starts[FEW * ITEMS]; /* [n*ITEMS + t]: where item t's run of number n starts in the tile */
    __local uint ends[FEW];           /* where the chunk's runs end that are still to come */
    __local uint places[FEW];         /* target of a key minus its position in the tile */
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, tiles_each, count);
    const uint distinct = lists[chunk * LIST_WORDS];

    if (chunk == 0)
        for (uint c = t; c < ROW; c += ITEMS)
            totals[c] = 0; /* for the next histogram */
    if (t < FEW)
        ends[t] = 0;
    if (t < distinct && distinct <= FEW) {
        const uint digit = lists[chunk * LIST_WORDS + 1 + t];
        number_of[digit] = (uchar)(8 * t);
        ends[t] = table[chunk * ROW + digit];
    }
    const uint tiles = distinct <= FEW ? own.tiles : 0;
    for (uint left = tiles; left > 0; left--) {
        const uint begin = (own.first + left - 1) * TILE, valid = min((uint)TILE, count - begin);
        uint4 digits[KEYS / 4];
        load_digits(keys, begin, valid, t, digits, RADIX);
        barrier(CLK_LOCAL_MEM_FENCE); /* number_of is there, and the last tile's staging is read */
#pragma unroll
        for (uint n = 0; n < KEYS / 4; n++) {
            const uint word = n * ITEMS + t;
            /* The filler counts as the last number, and comes after all keys, being last in the tile. */
            const uint filler = 8 * (FEW - 1);
            const uint4 d = digits[n];
            const uint x = d.x < RADIX ? number_of[d.x] : filler, y = d.y < RADIX ? number_of[d.y] : filler;
            const uint z = d.z < RADIX ? number_of[d.z] : filler, w = d.w < RADIX ? number_of[d.w] : filler;
            numbers[word + (word >> 5)] = x | y << 8 | z << 16 | w << 24;
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        uint own_numbers[KEYS / 4], ranks[KEYS / 4];
        ulong counters = 0;
#pragma unroll
        for (uint n = 0; n < KEYS / 4; n++) {
            own_numbers[n] = numbers[t * (KEYS / 4) + n + (t >> 2)];
            ranks[n] = 0;
#pragma unroll
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
        __local uint4 *inclusive = sum4_over_items(sums, t, own_counts);
        const uint4 before = inclusive[t] - own_counts, all = inclusive[ITEMS - 1];
        const uint counts[FEW] = {all.x & 0xffff, all.y & 0xffff, all.x >> 16, all.y >> 16,
                                  all.z & 0xffff, all.w & 0xffff, all.z >> 16, all.w >> 16};
        const uint befores[FEW] = {before.x & 0xffff, before.y & 0xffff, before.x >> 16, before.y >> 16,
                                   before.z & 0xffff, before.w & 0xffff, before.z >> 16, before.w >> 16};
        uint start = 0;
#pragma unroll
        for (uint n = 0; n < FEW; n++) {
            starts[n * ITEMS + t] = start + befores[n];
            if (t == 0) {
                const uint real = counts[n] - (n == FEW - 1 ? TILE - valid : 0);
                const uint end = ends[n] - real;
                ends[n] = end;
                places[n] = end - start;
            }
            start += counts[n];
        }

#pragma unroll
        for (uint n = 0; n < KEYS; n++) {
            const uint byte = own_numbers[n / 4] >> (8 * (n % 4)) & 0xff;
            const uint rank = ranks[n / 4] >> (8 * (n % 4)) & 0xff;
            const uint position = starts[byte * (ITEMS / 8) + t] + rank;
            staged[FEW_PLACE(position)] = (ushort)(byte << 9 | (t * KEYS + n));
        }
        barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll 8
        for (uint n = 0; n < KEYS; n++) {
            const uint position = n * ITEMS + t;
            const uint word = staged[FEW_PLACE(position)];
            if (position < valid)
                send(keys, values, sent, sent_digits, begin + (word & (TILE - 1)),
                     places[word >> 12] + position);
        }
    }
}

/* ---- reorder: more distinct digits ---- */

/* A staged word: place in the tile (PLACE_BITS), number or digit (up to 12 bits), rank (5 bits) for a while,
 * above what any round reads. */
#define PLACE_BITS            12
#define RANK_SHIFT            27
#define STAGE_PLACE(position) ((position) + ((position) >> 5))
#define HALF                  (ITEMS / 2)
#define WORDS_EACH            (SOME / 2) /* words of counters an item sums: SOME * HALF / ITEMS */
#define ITEMS_A_ROW           (HALF / WORDS_EACH)

/* Reorders the staged words of a tile by the 5 bits from `shift` on, stably. Item t's counters are one column
 * of ushorts: of word t % HALF in each row, the low half for t < HALF and the high half for the others; so
 * the items of a warp meet different banks whatever their digits. Begins with a barrier's worth of staged
 * words, ends with a barrier. */
static inline void stage_by(__local uint *staged, __local uint *counters, __local uint *sums, uint t,
                            uint shift)
{
    __local ushort *column = (__local ushort *)counters + 2 * (t % HALF) + t / HALF;
    uint words[KEYS];
#pragma unroll
    for (uint n = 0; n < KEYS; n++)
        words[n] = staged[t * (KEYS + 1) + n];
#pragma unroll
    for (uint n = 0; n < WORDS_EACH; n++)
        counters[n * ITEMS + t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint n = 0; n < KEYS; n++) {
        const uint place = (words[n] >> shift & (SOME - 1)) * ITEMS;
        const uint rank = column[place];
        column[place] = (ushort)(rank + 1);
        words[n] |= rank << RANK_SHIFT;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    /* Item t sums WORDS_EACH words of row t / ITEMS_A_ROW, both halves at once. Each starts at another word
     * and goes round, to keep the banks apart; `wrapped` is the sum of the words before its first. */
    __local uint *row = counters + t / ITEMS_A_ROW * HALF + t % ITEMS_A_ROW * WORDS_EACH;
    const uint turn = (t >> 1) % WORDS_EACH;
    uint sum = 0, wrapped = 0;
#pragma unroll
    for (uint n = 0; n < WORDS_EACH; n++) {
        const uint place = (n + turn) % WORDS_EACH, word = row[place];
        sum += word;
        wrapped += place < turn ? word : 0;
    }
    __local uint *inclusive = sum_over_items(sums, t, sum);
    /* Order: row by row, in a row the low halves, then the high halves. */
    const uint first = t / ITEMS_A_ROW * ITEMS_A_ROW;
    const uint before_row = first > 0 ? inclusive[first - 1] : 0,
               to_row_end = inclusive[first + ITEMS_A_ROW - 1];
    const uint before = inclusive[t] - sum + (before_row >> 16) + (to_row_end << 16);
    uint running = before + wrapped;
#pragma unroll
    for (uint n = 0; n < WORDS_EACH; n++) {
        const uint place = (n + turn) % WORDS_EACH, word = row[place];
        running = place == 0 ? before : running;
        row[place] = running;
        running += word;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint n = 0; n < KEYS; n++) {
        const uint position = column[(words[n] >> shift & (SOME - 1)) * ITEMS] + (words[n] >> RANK_SHIFT);
        staged[STAGE_PLACE(position)] = words[n] & ((1u << RANK_SHIFT) - 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Stages four words of one item, neighbours in the tile. */
static inline void stage_four(__local uint *staged, uint position, uint4 numbers)
{
    __local uint *four = staged + STAGE_PLACE(position);
    four[0] = numbers.x << PLACE_BITS | position;
    four[1] = numbers.y << PLACE_BITS | (position + 1);
    four[2] = numbers.z << PLACE_BITS | (position + 2);
    four[3] = numbers.w << PLACE_BITS | (position + 3);
}

/* Turns the ends of the chunk's remaining runs, `ends`, by number or digit, into target minus position for
 * the tile that is staged in order: where a run ends, its end is taken off. */
static inline void open_runs(__local const uint *staged, __local uint *ends, uint t, uint valid)
{
#pragma unroll 8
    for (uint n = 0; n < KEYS; n++) {
        const uint position = n * ITEMS + t;
        if (position < valid) {
            const uint number = staged[STAGE_PLACE(position)] >> PLACE_BITS;
            const uint next = position + 1 < valid ? staged[STAGE_PLACE(position + 1)] >> PLACE_BITS : ~0u;
            if (number != next)
                ends[number] -= position + 1;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* The way back, to the ends of the runs that are left: where a run starts, its start is added. */
static inline void close_runs(__local const uint *staged, __local uint *ends, uint t, uint valid)
{
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 8
    for (uint n = 0; n < KEYS; n++) {
        const uint position = n * ITEMS + t;
        if (position < valid) {
            const uint number = staged[STAGE_PLACE(position)] >> PLACE_BITS;
            const uint last = position > 0 ? staged[STAGE_PLACE(position - 1)] >> PLACE_BITS : ~0u;
            if (number != last)
                ends[number] += position;
        }
    }
}

/* Sends the staged tile. */
static inline void send_tile(__global const key_type *restrict keys, __global const uint *restrict values,
                             __global uint *restrict sent, __global ushort *restrict sent_digits,
                             __local const uint *staged, __local const uint *ends, uint t, uint begin,
                             uint valid)
{
#pragma unroll 8
    for (uint n = 0; n < KEYS; n++) {
        const uint position = n * ITEMS + t;
        const uint word = staged[STAGE_PLACE(position)];
        if (position < valid)
            send(keys, values, sent, sent_digits, begin + (word & (TILE - 1)),
                 ends[word >> PLACE_BITS] + position);
    }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
tiled_reorder_some(__global const key_type *restrict keys, __global const uint *restrict values,
                   __global const uint *restrict table, __global const uint *restrict lists,
                   __global uint *restrict sent, __global ushort *restrict sent_digits, uint count,
                   uint tiles_each)
{
    __local uint staged[TILE + TILE / 32];
    __local uint counters[SOME * HALF];
    __local uint sums[2 * ITEMS];
    __local uint ends[SOME];
    __local uchar number_of[ROW];
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, tiles_each, count);
    const uint distinct = lists[chunk * LIST_WORDS];

    if (t < distinct && distinct <= SOME) { /* SOME <= ITEMS */
        const uint digit = lists[chunk * LIST_WORDS + 1 + t];
        number_of[digit] = (uchar)t;
        ends[t] = table[chunk * ROW + digit];
    }
    const uint tiles = distinct > FEW && distinct <= SOME ? own.tiles : 0;
    for (uint left = tiles; left > 0; left--) {
        const uint begin = (own.first + left - 1) * TILE, valid = min((uint)TILE, count - begin);
        uint4 digits[KEYS / 4];
        load_digits(keys, begin, valid, t, digits, RADIX);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint n = 0; n < KEYS / 4; n++) {
            const uint4 d = digits[n];
            const uint4 numbers =
                (uint4)(d.x < RADIX ? number_of[d.x] : SOME - 1, d.y < RADIX ? number_of[d.y] : SOME - 1,
                        d.z < RADIX ? number_of[d.z] : SOME - 1, d.w < RADIX ? number_of[d.w] : SOME - 1);
            stage_four(staged, 4 * (n * ITEMS + t), numbers);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        stage_by(staged, counters, sums, t, PLACE_BITS);
        open_runs(staged, ends, t, valid);
        send_tile(keys, values, sent, sent_digits, staged, ends, t, begin, valid);
        close_runs(staged, ends, t, valid);
    }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
tiled_reorder_many(__global const key_type *restrict keys, __global const uint *restrict values,
                   __global const uint *restrict table, __global const uint *restrict lists,
                   __global uint *restrict sent, __global ushort *restrict sent_digits, uint count,
                   uint tiles_each)
{
    __local uint staged[TILE + TILE / 32];
    __local uint counters[SOME * HALF];
    __local uint sums[2 * ITEMS];
    __local uint ends[RADIX];
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, tiles_each, count);
    const uint distinct = lists[chunk * LIST_WORDS];

    const uint tiles = distinct > SOME ? own.tiles : 0;
    if (tiles > 0)
        for (uint c = t; c < RADIX; c += ITEMS)
            ends[c] = table[chunk * ROW + c];
    for (uint left = tiles; left > 0; left--) {
        const uint begin = (own.first + left - 1) * TILE, valid = min((uint)TILE, count - begin);
        uint4 digits[KEYS / 4];
        load_digits(keys, begin, valid, t, digits, DIGIT_MASK);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint n = 0; n < KEYS / 4; n++)
            stage_four(staged, 4 * (n * ITEMS + t), digits[n]);
        barrier(CLK_LOCAL_MEM_FENCE);
        stage_by(staged, counters, sums, t, PLACE_BITS);
#if DIGIT_BITS > 5
        stage_by(staged, counters, sums, t, PLACE_BITS + 5);
#endif
#if DIGIT_BITS > 10
        stage_by(staged, counters, sums, t, PLACE_BITS + 10);
#endif
        open_runs(staged, ends, t, valid);
        send_tile(keys, values, sent, sent_digits, staged, ends, t, begin, valid);
        close_runs(staged, ends, t, valid);
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

/* Cell offsets where no pass counted whole keys: item j of count + 1 fills the entries of the cells after
 * that of sorted key j-1 up to that of key j. */
__kernel void tiled_cell_offsets(__global const uint *restrict keys,
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
