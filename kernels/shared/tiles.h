/* Tiles: what the tiled sort and the tiled advance share, the stable ranking of a list's digits tile by tile.
 *
 * The list is cut into chunks of whole tiles, one work-group a chunk; a tile is ITEMS * KEYS entries. A table
 * holds one row of digit counts per chunk; scan_table() turns it into the places where each chunk's runs end.
 * A reorder ranks a tile's digits in local memory, so that the entries leave it in runs that lie together in
 * global memory. It takes a chunk's tiles backwards, since the last may still be cached.
 *
 * In PIC order a chunk holds few distinct digits. The histogram lists them, and gives each a compact number.
 * Up to 8 numbers (REGISTER_DIGITS) an item counts in bytes of its registers (shared/register_digits.h), up
 * to 32 (LISTED_DIGITS) in local memory, a column an item, in one round of 5 bits. More digits are not
 * numbered: they take a round for each 5 bits, or with WINDOWS one round, if those of a tile are in a window
 * of 32, as in long keys. Compact numbers may differ from run to run; the result does not. */
#ifndef SHARED_TILES_H
#define SHARED_TILES_H
#if !defined(BIN_BITS) || !defined(DIGIT_BITS) ||                                                            \
    !defined(KEYS) /* up to 32: a count and 31 fit a byte and 5 bits */
#error "BIN_BITS, DIGIT_BITS and KEYS must be set"
#endif
/* Before loops over arrays that a GPU keeps in registers. Unrolled they take a CPU's compiler three times as
 * long, for kernels that are no faster there. ON_CPU: the device is one (src/device/program.c). */
#if ON_CPU
#define UNROLL
#define UNROLL_8
#else
#define UNROLL   _Pragma("unroll")
#define UNROLL_8 _Pragma("unroll 8")
#endif

#define TILE            (ITEMS * KEYS)
#define RADIX           (1u << DIGIT_BITS)
#define DIGIT_MASK      (RADIX - 1)
#define BINS            (1u << BIN_BITS)
#define BIN_MASK        (BINS - 1)
#define SCAN_BINS       8 /* bins of a group in the scan: one 32-byte sector of each row */
#define ROW             (BINS < SCAN_BINS ? SCAN_BINS : BINS)
#define CHUNKS_EACH     16 /* rows an item of the scan has */
#define REGISTER_DIGITS 8
#define LISTED_DIGITS   32
#define NARROW          (BINS < LISTED_DIGITS ? BINS : LISTED_DIGITS)
/* A chunk's number of distinct digits; where it is <= LISTED_DIGITS, then those digits, and from 1 +
 * LISTED_DIGITS on the count of each. */
#define LIST_WORDS (1 + 2 * LISTED_DIGITS)
/* Bins, and where they are not digits, from ROW on the digits too, and a 0. */
#define TOTALS     (BIN_BITS < DIGIT_BITS ? ROW + RADIX + 1 : ROW)
#define PLACE_BITS 12 /* bits of a place in the tile, in staged words: enough for 128 items */

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

/* The end of a histogram: writes the chunk's counts into its row of the table, lists the distinct digits and
 * adds the counts to the totals, if there are any. By all 2 * ITEMS items of the group, after a barrier;
 * `distinct` is 0. */
static inline void store_counts(volatile local uint *counts, volatile local uint *distinct, uint t,
                                uint chunk, global uint *restrict table, global uint *restrict lists,
                                volatile global uint *restrict totals)
{
    global uint *list = lists + chunk * LIST_WORDS;
    for (uint c = t; c < RADIX; c += 2 * ITEMS)
        if (counts[c] > 0) {
            const uint slot = atomic_inc(distinct);
            if (slot < LISTED_DIGITS) {
                list[1 + slot] = c;
                list[1 + LISTED_DIGITS + slot] = counts[c];
            }
            if (totals)
                atomic_add(&totals[TOTALS > ROW ? ROW + c : c], counts[c]);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t == 0)
        list[0] = *distinct;
#if BIN_BITS < DIGIT_BITS
    for (uint c = BINS + t; c < RADIX; c += 2 * ITEMS)
        if (counts[c] > 0)
            atomic_add(&counts[c & BIN_MASK], counts[c]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = t; c < BINS; c += 2 * ITEMS)
        if (counts[c] > 0)
            atomic_add(&totals[c], counts[c]);
#endif
    for (uint c = t; c < ROW; c += 2 * ITEMS)
        table[chunk * ROW + c] = c < BINS ? counts[c] : 0;
}

/* Reads the list of a chunk of up to `most` distinct digits: digits[n] and counts[n] of number n, ends[n],
 * where its run ends in the list, once the table is scanned, and number_of[digit], `scale` times the number.
 * What fills up the last tile, RADIX, counts as the last number: it comes after all entries. All items come
 * here; followed by a barrier of the caller. */
static inline void open_list(local uchar *number_of, local uint *digits, local uint *counts, local uint *ends,
                             uint most, uint scale, uint t, uint chunk, uint distinct,
                             global const uint *restrict table, global const uint *restrict lists)
{
    global const uint *list = lists + chunk * LIST_WORDS + 1;
    const bool listed = distinct <= most && t < distinct;
    uint end = 0;
    if (listed) {
        digits[t] = list[t];
        counts[t] = list[LISTED_DIGITS + t];
        number_of[digits[t]] = (uchar)(scale * t);
        end = table[chunk * ROW + (digits[t] & BIN_MASK)];
    }
    if (t == 0)
        number_of[RADIX] = (uchar)(scale * (most - 1));
    barrier(CLK_LOCAL_MEM_FENCE);
#if BIN_BITS < DIGIT_BITS
    for (uint n = 0; listed && n < t; n++) /* they end behind it */
        end -= ((digits[n] ^ digits[t]) & BIN_MASK) == 0 ? counts[n] : 0;
#endif
    if (t < most)
        ends[t] = end;
}

/* ---- sums over the items ---- */

/* Inclusive sums over the items t, t - apart, t - 2 apart, ... of the group, whose number `items` and `apart`
 * are constants. sums has room for 2 * items; the returned half holds the sums, after a barrier. */
static inline local uint *sum_along(local uint *sums, const uint items, const uint apart, uint t, uint value)
{
    local uint *from = sums, *to = sums + items;
    from[t] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint stride = apart; stride < items; stride *= 2) {
        to[t] = from[t] + (t >= stride ? from[t - stride] : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        local uint *swapped = from;
        from = to;
        to = swapped;
    }
    return from;
}

/* ---- scan ---- */

/* The scan, with room in `sums` for 2 * SCAN_ITEMS. Replaces each entry of the table by the place after the
 * last key of that digit in that chunk: the number of smaller digits, plus those of the digit in the chunks
 * up to this one. A group of SCAN_ITEMS owns SCAN_BINS columns, an item CHUNKS_EACH rows of one of them. Also
 * writes where each digit starts, for digits up to `cells`, if that is not 0. Returns where the digit of the
 * item's column starts. */
static inline uint scan_table(local uint *sums, global uint *restrict table,
                              global const uint *restrict totals, global uint *restrict offsets, uint chunks,
                              uint cells)
{
    const uint t = (uint)get_local_id(0), first_bin = (uint)get_group_id(0) * SCAN_BINS;
    const uint bin = first_bin + t % SCAN_BINS, first_chunk = t / SCAN_BINS * CHUNKS_EACH;

    uint entries[CHUNKS_EACH];
    uint sum = 0;
    UNROLL
    for (uint n = 0; n < CHUNKS_EACH; n++)
        entries[n] = first_chunk + n < chunks ? table[(first_chunk + n) * ROW + bin] : 0;
    UNROLL
    for (uint n = 0; n < CHUNKS_EACH; n++)
        sum += entries[n];

    /* How many keys have a digit below first_bin: summed by the items of a row, then over them. */
    uint before = 0;
    for (uint c = t; c < first_bin; c += SCAN_ITEMS)
        before += totals[c];
    sums[t] = before;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_items = (ROW < SCAN_ITEMS ? ROW : SCAN_ITEMS) / 2; half_items > 0; half_items /= 2) {
        if (t < half_items)
            sums[t] += sums[t + half_items];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint place = sums[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = first_bin; c < bin; c++)
        place += totals[c];
    const uint start = place;
    if (t < SCAN_BINS && cells > 0) {
        if (bin < BINS && bin <= cells)
            offsets[bin] = place;
        if (bin == BINS - 1 && cells == BINS)
            offsets[BINS] = place + totals[bin];
    }

    /* The items of one bin stand SCAN_BINS apart. */
    place += sum_along(sums, SCAN_ITEMS, SCAN_BINS, t, sum)[t] - sum;
    UNROLL
    for (uint n = 0; n < CHUNKS_EACH; n++) {
        place += entries[n];
        if (first_chunk + n < chunks)
            table[(first_chunk + n) * ROW + bin] = place;
    }
    return start;
}

/* The number of entries before each: before[n] = values[0] + ... + values[n-1], for n < count. By one group
 * of SCAN_ITEMS; `before` may be `values`. */
static inline void scan_by_one_group(local uint *sums, global const uint *values, global uint *before,
                                     uint count)
{
    const uint t = (uint)get_local_id(0), each = (count + SCAN_ITEMS - 1) / SCAN_ITEMS;
    const uint begin = min(t * each, count), end = min(begin + each, count);
    uint sum = 0;
    for (uint n = begin; n < end; n++)
        sum += values[n];
    uint place = sum_along(sums, SCAN_ITEMS, 1, t, sum)[t] - sum;
    for (uint n = begin; n < end; n++) {
        const uint value = values[n];
        before[n] = place;
        place += value;
    }
}

/* ---- ranking ---- */

#define STAGE_PLACE(position) ((position) + ((position) >> 5))

/* A staged word: place in the tile, number or digit (up to 12 bits), rank (5 bits) for a while, above what
 * any round reads. */
#define RANK_SHIFT  27
#define HALF        (ITEMS / 2)
#define WORDS_EACH  (LISTED_DIGITS / 2) /* words of counters an item sums: LISTED_DIGITS * HALF / ITEMS */
#define ITEMS_A_ROW (HALF / WORDS_EACH)

/* Reorders the staged words of a tile, less `base`, by the bits of `mask`, up to 5, from `shift` on, stably.
 * Item t's counters are one column of ushorts: of word t % HALF in each row, the low half for t < HALF and
 * the high half for the others; so the items of a warp meet different banks whatever their digits. Begins
 * with a barrier's worth of staged words, ends with a barrier. */
static inline void stage_by(local uint *staged, local uint *counters, local uint *sums, uint t, uint base,
                            uint shift, uint mask)
{
    local ushort *column = (local ushort *)counters + 2 * (t % HALF) + t / HALF;
    uint words[KEYS];
    UNROLL
    for (uint n = 0; n < KEYS; n++)
        words[n] = staged[STAGE_PLACE(t * KEYS) + n];
    UNROLL
    for (uint n = 0; n < WORDS_EACH; n++)
        counters[n * ITEMS + t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint n = 0; n < KEYS; n++) {
        const uint place = ((words[n] - base) >> shift & mask) * ITEMS;
        const uint rank = column[place];
        column[place] = (ushort)(rank + 1);
        words[n] |= rank << RANK_SHIFT;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    /* Item t sums WORDS_EACH words of row t / ITEMS_A_ROW, both halves at once. Each starts at another word
     * and goes round, to keep the banks apart; `wrapped` is the sum of the words before its first. */
    local uint *row = counters + t / ITEMS_A_ROW * HALF + t % ITEMS_A_ROW * WORDS_EACH;
    const uint turn = (t >> 1) % WORDS_EACH;
    uint sum = 0, wrapped = 0;
    UNROLL
    for (uint n = 0; n < WORDS_EACH; n++) {
        const uint place = (n + turn) % WORDS_EACH, word = row[place];
        sum += word;
        wrapped += place < turn ? word : 0;
    }
    local uint *inclusive = sum_along(sums, ITEMS, 1, t, sum);
    /* Order: row by row, in a row the low halves, then the high halves. */
    const uint first = t / ITEMS_A_ROW * ITEMS_A_ROW;
    const uint before_row = first > 0 ? inclusive[first - 1] : 0,
               to_row_end = inclusive[first + ITEMS_A_ROW - 1];
    const uint before = inclusive[t] - sum + (before_row >> 16) + (to_row_end << 16);
    uint running = before + wrapped;
    UNROLL
    for (uint n = 0; n < WORDS_EACH; n++) {
        const uint place = (n + turn) % WORDS_EACH, word = row[place];
        running = place == 0 ? before : running;
        row[place] = running;
        running += word;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint n = 0; n < KEYS; n++) {
        const uint place = ((words[n] - base) >> shift & mask) * ITEMS;
        const uint position = column[place] + (words[n] >> RANK_SHIFT);
        staged[STAGE_PLACE(position)] = words[n] & ((1u << RANK_SHIFT) - 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Stages four words of one item, neighbours in the tile. */
static inline void stage_four(local uint *staged, uint position, uint4 numbers)
{
    local uint *four = staged + STAGE_PLACE(position); /* no skip among them */
    four[0] = numbers.x << PLACE_BITS | position;
    four[1] = numbers.y << PLACE_BITS | (position + 1);
    four[2] = numbers.z << PLACE_BITS | (position + 2);
    four[3] = numbers.w << PLACE_BITS | (position + 3);
}

/* Turns the ends of the chunk's remaining runs, `ends`, by bin, into target minus position for the tile that
 * is staged in order: where a run ends, its end is taken off. The way back, to the ends of the runs that are
 * left: where a run starts, its start is added. */
static inline void turn_runs(local const uint *staged, local uint *ends, uint t, uint valid, const bool back)
{
    UNROLL_8
    for (uint n = 0; n < KEYS; n++) {
        const uint position = n * ITEMS + t, beside = back ? position - 1 : position + 1;
        if (position < valid) {
            const uint bin = staged[STAGE_PLACE(position)] >> PLACE_BITS & BIN_MASK;
            const uint other = beside < valid ? staged[STAGE_PLACE(beside)] >> PLACE_BITS & BIN_MASK : ~0u;
            if (bin != other)
                ends[bin] += back ? position : -(position + 1);
        }
    }
}

/* Local arrays of the ranking. */
typedef struct {
    local uint *staged; /* number or digit and place in the tile, in order of the result */
    local uint *counters, *sums;
    local uint *ends;       /* by number or bin: where the chunk's runs end that are still to come */
    local uint *shifts;     /* by number: target of an entry minus its position in the tile */
    local uint *digits;     /* by number */
    local uchar *number_of; /* digit -> compact number; junk for absent digits; RADIX -> the last */
} local_arrays;

#define DECLARE_LOCAL_ARRAYS(name)                                                                           \
    local uint name##_staged[TILE + TILE / 32], name##_counters[LISTED_DIGITS * HALF],                       \
        name##_sums[2 * ITEMS];                                                                              \
    local uint name##_ends[BINS < LISTED_DIGITS ? LISTED_DIGITS : BINS], name##_shifts[LISTED_DIGITS],       \
        name##_digits[LISTED_DIGITS];                                                                        \
    local uchar name##_number_of[RADIX + 1];                                                                 \
    const local_arrays name = {name##_staged, name##_counters, name##_sums,     name##_ends,                 \
                               name##_shifts, name##_digits,   name##_number_of}

/* Opens the list of a chunk, or its whole row where it has more than LISTED_DIGITS distinct digits, which are
 * then not compacted. All items come here; followed by a barrier of the caller. */
static inline void open_local_list(const local_arrays arrays, uint t, uint chunk, uint distinct,
                                   global const uint *restrict table, global const uint *restrict lists)
{
    open_list(arrays.number_of, arrays.digits, arrays.shifts, arrays.ends, LISTED_DIGITS, 1, t, chunk,
              distinct, table, lists);
    for (uint c = t; distinct > LISTED_DIGITS && c < BINS; c += ITEMS)
        arrays.ends[c] = table[chunk * ROW + c];
}

typedef struct {
    local const uint
        *shifts; /* an entry's target is its position + shifts[(number or digit - base) & mask] */
    uint base, mask;
    bool by_bin; /* neither by number nor in a window */
} tile_runs;

#if WINDOWS
/* The bin from which on LISTED_DIGITS bins, in a circle, have those of the tile's first and last entry in
 * their middle. In a list nearly in order so are all: *fits says so, unless `compact` is set. */
static inline uint window_of(local uint *sums, uint t, const uint4 digits[KEYS / 4], bool compact, bool *fits)
{
    if (t == 0) {
        sums[0] = digits[0].x;
        sums[2] = 0;
    }
    if (t == ITEMS - 1)
        sums[1] = digits[KEYS / 4 - 1].w;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint up = (sums[1] - sums[0]) & BIN_MASK, width = min(up, BINS - up) + 1;
    const uint base = sums[up < BINS / 2 ? 0 : 1] - (LISTED_DIGITS - min(width, (uint)LISTED_DIGITS)) / 2;
    uint4 beyond = 0;
    if (!compact) {
        UNROLL
        for (uint n = 0; n < KEYS / 4; n++)
            beyond |= (digits[n] - base) & BIN_MASK;
    }
    if ((beyond.x | beyond.y | beyond.z | beyond.w) >= LISTED_DIGITS)
        atomic_or((volatile local uint *)sums + 2, 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    *fits = sums[2] == 0;
    return base & BIN_MASK;
}
#endif

/* Ranks a tile as rank_in_registers() does. Afterwards staged[STAGE_PLACE(position)] names the entry at
 * `position`, its place in the tile below its compact number or its digit. Ends with a barrier. */
static inline tile_runs rank_in_local_memory(const local_arrays arrays, uint t, const uint4 digits[KEYS / 4],
                                             uint valid, bool compact)
{
    tile_runs runs = {arrays.shifts, 0, compact ? LISTED_DIGITS - 1 : NARROW - 1, BIN_BITS > 5 && !compact};
#if BIN_BITS > 5 && WINDOWS
    bool fits;
    const uint base = window_of(arrays.sums, t, digits, compact, &fits);
    runs.by_bin = !compact && !(fits && valid == TILE);
    runs.base = compact || runs.by_bin ? 0 : base;
#endif
    /* What fills up the last tile has the last number and stands last: it comes after all entries. */
    UNROLL
    for (uint n = 0; n < KEYS / 4; n++) {
        uint4 d = digits[n];
        if (compact)
            d = (uint4)(arrays.number_of[d.x], arrays.number_of[d.y], arrays.number_of[d.z],
                        arrays.number_of[d.w]);
        else
            d = min(d, (uint4)DIGIT_MASK); /* oclgrind reads past a scalar here */
        stage_four(arrays.staged, 4 * (n * ITEMS + t), d);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint rounds = runs.by_bin ? (BIN_BITS + 4) / 5 : 1;
    for (uint round = 0; round < rounds; round++) { /* as many for all items of the group */
        const uint mask = compact ? LISTED_DIGITS - 1 : (1u << min(5u, BIN_BITS - 5 * round)) - 1;
        stage_by(arrays.staged, arrays.counters, arrays.sums, t, runs.base << PLACE_BITS,
                 PLACE_BITS + 5 * round, mask);
    }
    if (runs.by_bin) {
        turn_runs(arrays.staged, arrays.ends, t, valid, false);
        runs.shifts = arrays.ends;
        runs.mask = BIN_MASK;
    } else if (t <= runs.mask) {
        local const ushort *column = (local const ushort *)arrays.counters; /* item 0's: the starts */
        const uint start = min((uint)column[t * ITEMS], valid);
        const uint next = t + 1 < LISTED_DIGITS ? min((uint)column[(t + 1) * ITEMS], valid) : valid;
        const uint run = compact ? t : (runs.base + t) & BIN_MASK;
        arrays.ends[run] -= next - start;
        arrays.shifts[t] = arrays.ends[run] - start;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return runs;
}

/* To be called when the tile was sent. Begins with a barrier; followed by one of the caller. */
static inline void close_local_list(const local_arrays arrays, uint t, uint valid, tile_runs runs)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    if (runs.by_bin)
        turn_runs(arrays.staged, arrays.ends, t, valid, true);
}

#endif
