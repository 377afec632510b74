/* Tiled sort: one stable pass over short digits, in three steps: histogram, scan, reorder.
 *
 * The list is cut into chunks of whole tiles, one work-group a chunk; a tile is ITEMS * KEYS keys. The table
 * holds one row of digit counts per chunk; the scan turns it into the places where each chunk's runs end. The
 * reorder ranks a tile in local memory, so that sigma leaves it in runs that lie together in global memory.
 * It takes the tiles of a chunk from the last to the first: their keys were read last and may still be
 * cached.
 *
 * In PIC order a chunk holds few distinct digits. The histogram lists them, and gives each a compact number.
 * The reorder has two kernels, both launched over all chunks, each of which works on its own:
 *   tiled_reorder_few     up to 8 numbers: an item's counters are bytes in registers
 *   tiled_reorder         more: counters in local memory, a column an item; up to 32 numbers take one round
 * of 5 bits, else the digit itself takes a round for each 5 bits Compact numbers may differ from run to run;
 * the result does not, since a number only names a run.
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

/* The tiles [first, first + tiles) of a chunk; chunks differ by one tile at most. */
typedef struct {
    uint first, tiles;
} tile_range;

static inline tile_range own_tiles(uint chunk, uint chunks, uint count)
{
    const uint tiles = count / TILE + (count % TILE != 0);
    tile_range range;
    range.first = (uint)((ulong)chunk * tiles / chunks);
    range.tiles = (uint)((ulong)(chunk + 1) * tiles / chunks) - range.first;
    return range;
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

/* Where entries hold more than the digit, the tile's words are held in local memory: keys, packed words, or
 * the sigma of pairs. */
#define HOLDS                 (INPUT != KEYS_ALONE || NEXT != KEYS_ALONE)
#define HELD_WORDS            (HOLDS ? TILE + TILE / 32 : 1)
#define STAGE_PLACE(position) ((position) + ((position) >> 5))

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

/* Sums of four words over the items before each, returned, and over all, in *all. Four items at a time are
 * summed by one item per component, then those sums over the group. `quads` has room for FOUR_WORDS. */
#define FOUR_WORDS (5 * ITEMS)

static inline uint4 sum4_over_items(__local uint *quads, __local uint *sums, uint t, uint4 value, uint4 *all)
{
    vstore4(value, t + (t >> 2), quads); /* 4 words to skip after 16: other banks for the next four items */
    barrier(CLK_LOCAL_MEM_FENCE);
    __local uint *own = quads + t / 4 * 20 + t % 4;
    const uint a = own[0], b = own[4], c = own[8], sum = a + b + c + own[12];
    __local uint *from = sums, *to = sums + ITEMS;
    from[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint stride = 4; stride < ITEMS; stride *= 2) {
        to[t] = from[t] + (t >= stride ? from[t - stride] : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        __local uint *swapped = from;
        from = to;
        to = swapped;
    }
    const uint before = from[t] - sum;
    own[0] = before;
    own[4] = before + a;
    own[8] = before + a + b;
    own[12] = before + a + b + c;
    *all = vload4(ITEMS / 4 - 1, from);
    barrier(CLK_LOCAL_MEM_FENCE);
    return vload4(t + (t >> 2), quads);
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

/* Bits of a place in the tile, in staged words: enough for 128 items. */

/* Bits of a place in the tile, in staged words: enough for 128 items. */
#define PLACE_BITS 12

/* ---- reorder: up to 8 distinct digits ---- */

/* Two ushorts to skip after every 64, so that items writing 8, 16 or 32 apart meet different banks. */
#define FEW_PLACE(position) ((position) + ((position) >> 6) * 2)

/* Compact number n is held as 8n, the place of its byte in the ulong of an item's counters. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
tiled_reorder_few(__global const key_type *restrict keys, __global const uint *restrict values,
                  __global const uint *restrict table, __global const uint *restrict lists,
                  __global uint *restrict sent, __global ushort *restrict sent_digits, uint count)
{
    __local uchar number_of[ROW]; /* digit -> 8 * compact number; junk for absent digits */
    __local uint
        numbers[TILE / 4 + TILE / 128]; /* of the tile's keys, a byte each; a word to skip after 32 */
    __local ushort
        staged[TILE + TILE / 32]; /* compact number and place in the tile, in order of the result */
    __local uint held[HELD_WORDS];
    __local uint quads[FOUR_WORDS];
    __local uint sums[2 * ITEMS];
    __local uint starts[FEW * ITEMS]; /* [n*ITEMS + t]: where item t's run of number n starts in the tile */
    __local uint ends[FEW];           /* where the chunk's runs end that are still to come */
    __local uint places[FEW];         /* target of a key minus its position in the tile */
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, (uint)get_num_groups(0), count);
    const uint distinct = lists[chunk * LIST_WORDS];

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
        barrier(CLK_LOCAL_MEM_FENCE); /* number_of is there, and the last tile's staging is read */
        load_digits(keys, begin, valid, t, digits, RADIX, held, values);
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
        uint4 all;
        const uint4 before = sum4_over_items(quads, sums, t, own_counts, &all);
        const uint counts[FEW] = {all.x & 0xffff, all.y & 0xffff, all.x >> 16, all.y >> 16,
                                  all.z & 0xffff, all.w & 0xffff, all.z >> 16, all.w >> 16};
        const uint befores[FEW] = {before.x & 0xffff, before.y & 0xffff, before.x >> 16, before.y >> 16,
                                   before.z & 0xffff, before.w & 0xffff, before.z >> 16, before.w >> 16};
        uint start = 0, named_start = 0, named_count = 0; /* those of number t */
#pragma unroll
        for (uint n = 0; n < FEW; n++) {
            starts[n * ITEMS + t] = start + befores[n];
            named_start = t == n ? start : named_start;
            named_count = t == n ? counts[n] : named_count;
            start += counts[n];
        }
        if (t < FEW) {
            const uint end = ends[t] - (named_count - (t == FEW - 1 ? TILE - valid : 0));
            ends[t] = end;
            places[t] = end - named_start;
        }

#pragma unroll
        for (uint n = 0; n < KEYS; n++) {
            const uint byte = own_numbers[n / 4] >> (8 * (n % 4)) & 0xff;
            const uint rank = ranks[n / 4] >> (8 * (n % 4)) & 0xff;
            const uint position = starts[byte * (ITEMS / 8) + t] + rank;
            staged[FEW_PLACE(position)] = (ushort)(byte << (PLACE_BITS - 3) | (t * KEYS + n));
        }
        barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll 8
        for (uint n = 0; n < KEYS; n++) {
            const uint position = n * ITEMS + t;
            const uint word = staged[FEW_PLACE(position)];
            const uint place = word & (TILE - 1);
            if (position < valid)
                send(held, sent, sent_digits, begin + place, place, places[word >> PLACE_BITS] + position);
        }
    }
}

/* ---- reorder: more distinct digits ---- */

/* A staged word: place in the tile, number or digit (up to 12 bits), rank (5 bits) for a while, above what
 * any round reads. */
#define RANK_SHIFT  27
#define HALF        (ITEMS / 2)
#define WORDS_EACH  (SOME / 2) /* words of counters an item sums: SOME * HALF / ITEMS */
#define ITEMS_A_ROW (HALF / WORDS_EACH)

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
    __local uint *four = staged + STAGE_PLACE(position); /* no skip among them */
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
}

/* The way back, to the ends of the runs that are left: where a run starts, its start is added. */
static inline void close_runs(__local const uint *staged, __local uint *ends, uint t, uint valid)
{
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

/* Sends the staged tile; `targets` by number or digit is target minus position. */
static inline void send_tile(__local const uint *held, __global uint *restrict sent,
                             __global ushort *restrict sent_digits, __local const uint *staged,
                             __local const uint *targets, uint t, uint begin, uint valid)
{
#pragma unroll 8
    for (uint n = 0; n < KEYS; n++) {
        const uint position = n * ITEMS + t;
        const uint word = staged[STAGE_PLACE(position)], place = word & (TILE - 1);
        if (position < valid)
            send(held, sent, sent_digits, begin + place, place, targets[word >> PLACE_BITS] + position);
    }
}

/* Sends the entries of each chunk to their places. ends[] says by number, or by digit, where the chunk's runs
 * end that are still to come; targets[] by number the same for the first place of the tile, minus the
 * position. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
tiled_reorder(__global const key_type *restrict keys, __global const uint *restrict values,
              __global const uint *restrict table, __global const uint *restrict lists,
              __global uint *restrict totals, __global uint *restrict sent,
              __global ushort *restrict sent_digits, uint count)
{
    __local uint held[HELD_WORDS];
    __local uint staged[TILE + TILE / 32];
    __local uint counters[SOME * HALF];
    __local uint sums[2 * ITEMS];
    __local uint ends[RADIX < SOME ? SOME : RADIX];
    __local uint targets[SOME];
    __local uchar number_of[RADIX];
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, (uint)get_num_groups(0), count);
    const uint distinct = lists[chunk * LIST_WORDS];
    const uint tiles = distinct > FEW ? own.tiles : 0;
    const bool compact = distinct <= SOME;
    const uint rounds = compact ? 1 : (DIGIT_BITS + 4) / 5;

    if (chunk == 0)
        for (uint c = t; c < ROW; c += ITEMS)
            totals[c] = 0;                  /* for the next histogram */
    if (tiles > 0 && compact && t < SOME) { /* SOME <= ITEMS */
        const uint digit = t < distinct ? lists[chunk * LIST_WORDS + 1 + t] : 0;
        if (t < distinct)
            number_of[digit] = (uchar)t;
        ends[t] = t < distinct ? table[chunk * ROW + digit] : 0;
    }
    if (!compact)
        for (uint c = t; c < RADIX; c += ITEMS)
            ends[c] = table[chunk * ROW + c];

    for (uint left = tiles; left > 0; left--) {
        const uint begin = (own.first + left - 1) * TILE, valid = min((uint)TILE, count - begin);
        uint4 digits[KEYS / 4];
        barrier(CLK_LOCAL_MEM_FENCE); /* the last tile's local arrays are read */
        load_digits(keys, begin, valid, t, digits, RADIX, held, values);
        /* What fills up the last tile has the last number and stands last: it comes after all entries. */
#pragma unroll
        for (uint n = 0; n < KEYS / 4; n++) {
            uint4 d = digits[n];
            if (compact)
                d = (uint4)(d.x < RADIX ? number_of[d.x] : SOME - 1, d.y < RADIX ? number_of[d.y] : SOME - 1,
                            d.z < RADIX ? number_of[d.z] : SOME - 1, d.w < RADIX ? number_of[d.w] : SOME - 1);
            else
                d = min(d, DIGIT_MASK);
            stage_four(staged, 4 * (n * ITEMS + t), d);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint round = 0; round < rounds; round++) /* as many for all items of the group */
            stage_by(staged, counters, sums, t, PLACE_BITS + 5 * round);
        if (compact && t < SOME) { /* item 0's column says where each number starts in the tile */
            __local const ushort *column = (__local const ushort *)counters;
            const uint start = min((uint)column[t * ITEMS], valid);
            const uint next = t + 1 < SOME ? min((uint)column[(t + 1) * ITEMS], valid) : valid;
            const uint end = ends[t] - (next - start);
            ends[t] = end;
            targets[t] = end - start;
        }
        if (!compact)
            open_runs(staged, ends, t, valid);
        barrier(CLK_LOCAL_MEM_FENCE);
        send_tile(held, sent, sent_digits, staged, compact ? targets : ends, t, begin, valid);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!compact)
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
