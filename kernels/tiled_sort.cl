/* Tiled sort: one stable pass over short digits, in three steps: histogram, scan, reorder. How a tile is
 * ranked stands in shared/tiles.h.
 *
 * The reorder has two kernels, both launched over all chunks: tiled_reorder_registers() works on those of up
 * to 8 distinct digits, tiled_reorder() on the others; on all of them in short lists, where a launch costs
 * more than it saves.
 *
 * Where keys are short enough for a chunk to count whole ones, the first of two passes ranks whole keys, and
 * sorts by their low bits (BIN_BITS < DIGIT_BITS). What it counts gives the cell offsets. And as the entries
 * of one key leave a chunk together, it finds, for chunks of few keys, the runs of one digit that the next
 * pass will find: a chunk of known runs is not counted again, and copied run by run.
 */
#define KEYS_ALONE 0
#define PACKED     1
#define PAIRS      2
#define WINDOWS    (INPUT != NEXT) /* of two passes: their digits are parts of keys */

#include "shared/register_digits.h"
#include "shared/tiles.h"

#define IS_FIRST (INPUT == KEYS_ALONE)
#define IS_LAST  (NEXT == KEYS_ALONE)
#define NEXT_ROW (1u << NEXT_BITS < SCAN_BINS ? SCAN_BINS : 1u << NEXT_BITS)

/* What a first pass leaves about each chunk of the next: how many runs of one digit it has, and where they
 * begin, in no order. It is more than MOST_RUNS where not all are known. */
#define MOST_RUNS 128
#define RUN_WORDS (1 + MOST_RUNS)

#define INDEX_MASK ((1u << INDEX_BITS) - 1)

static inline uint digit_of(uint key)
{
#if INPUT == KEYS_ALONE
    return key & DIGIT_MASK;
#elif INPUT == PACKED
    return key >> INDEX_BITS;
#else
    return key;
#endif
}

/* The place in the first list of entry j. */
static inline uint sigma_of(global const KEY *restrict keys, global const uint *restrict values, uint j)
{
#if INPUT == KEYS_ALONE
    return j;
#elif INPUT == PACKED
    return keys[j] & INDEX_MASK;
#else
    return values[j];
#endif
}

/* ---- histogram ---- */

/* Counts the digits of each chunk into its row of the table, lists the distinct ones and adds them to the
 * totals. A second pass does not count where all runs are known, whose counts the row holds then. */
kernel __attribute__((reqd_work_group_size(2 * ITEMS, 1, 1))) void
tiled_histogram(global const KEY *restrict keys, global uint *restrict table, global uint *restrict lists,
                volatile global uint *restrict totals, global uint *restrict next_table,
                global uint *restrict runs, uint count)
{
    local uint counts[RADIX];
    local uint distinct, known;
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, (uint)get_num_groups(0), count);
    const uint begin = own.first * TILE, end = begin + min(own.tiles * TILE, count - begin);

    if (t == 0)
        distinct = known = 0;
#if IS_FIRST
    for (uint c = t; c < RADIX; c += 2 * ITEMS)
        counts[c] = 0;
#if !IS_LAST
    for (uint c = t; c < NEXT_ROW; c += 2 * ITEMS)
        next_table[chunk * NEXT_ROW + c] = 0;
    if (t == 0)
        runs[chunk * RUN_WORDS] = 0;
#endif
    uint j = begin;
#else
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = t; c < RADIX; c += 2 * ITEMS) {
        counts[c] = table[chunk * ROW + c];
        atomic_add(&known, counts[c]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint j = known == end - begin ? end : begin;
    for (uint c = t; c < RADIX; c += 2 * ITEMS)
        counts[c] = j == end ? counts[c] : 0;
    if (t == 0 && j < end)
        runs[chunk * RUN_WORDS] = MOST_RUNS + 1;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);

    for (; end - j >= TILE; j += TILE) {
        KEY4 four[KEYS / 8];
        UNROLL
        for (uint n = 0; n < KEYS / 8; n++)
            four[n] = ((global const KEY4 *)(keys + j))[n * 2 * ITEMS + t];
        UNROLL
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

/* Where the totals hold whole keys too, a last group makes the offsets of them. */
kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void
tiled_scan(global uint *restrict table, global const uint *restrict totals, global uint *restrict offsets,
           uint chunks, uint cells)
{
    local uint sums[2 * SCAN_ITEMS];
#if BIN_BITS < DIGIT_BITS
    if (get_group_id(0) == ROW / SCAN_BINS)
        scan_by_one_group(sums, totals + ROW, offsets, cells > 0 ? cells + 1 : 0);
    else
        scan_table(sums, table, totals, offsets, chunks, 0);
#else
    scan_table(sums, table, totals, offsets, chunks, cells);
#endif
}

/* ---- reorder ---- */

/* Sends list entry j, whose digit is `digit`, to place `target`. */
static inline void send(global const KEY *restrict keys, global const uint *restrict values,
                        global uint *restrict sent, global ushort *restrict sent_digits, uint digit, uint j,
                        uint target)
{
#if IS_LAST
    sent[target] = sigma_of(keys, values, j);
#else
    /* A digit as long as its bin does not hold the next one. */
    const uint next_digit = (BIN_BITS < DIGIT_BITS ? digit : keys[j]) >> BIN_BITS;
#if NEXT == PACKED
    sent[target] = next_digit << INDEX_BITS | j;
#else
    sent[target] = j;
    sent_digits[target] = (ushort)next_digit;
#endif
#endif
}

/* The digits of a tile of `valid` keys; places past its end read as RADIX. Item t holds, for each n, the four
 * from 4*(n*ITEMS + t) on. */
static inline void load_digits(global const KEY *restrict keys, uint begin, uint valid, uint t, uint4 *digits)
{
    if (valid == TILE) {
        UNROLL
        for (uint n = 0; n < KEYS / 4; n++) {
            const KEY4 four = ((global const KEY4 *)(keys + begin))[n * ITEMS + t];
            digits[n] = (uint4)(digit_of(four.x), digit_of(four.y), digit_of(four.z), digit_of(four.w));
        }
    } else {
        UNROLL
        for (uint n = 0; n < KEYS / 4; n++) {
            const uint j = 4 * (n * ITEMS + t);
            digits[n].x = j + 0 < valid ? digit_of(keys[begin + j + 0]) : RADIX;
            digits[n].y = j + 1 < valid ? digit_of(keys[begin + j + 1]) : RADIX;
            digits[n].z = j + 2 < valid ? digit_of(keys[begin + j + 2]) : RADIX;
            digits[n].w = j + 3 < valid ? digit_of(keys[begin + j + 3]) : RADIX;
        }
    }
}

/* Sends the entries of the chunks with up to REGISTER_DIGITS distinct digits to their places. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
tiled_reorder_registers(global const KEY *restrict keys, global const uint *restrict values,
                        global const uint *restrict table, global const uint *restrict lists,
                        global uint *restrict sent, global ushort *restrict sent_digits, uint count)
{
    DECLARE_REGISTER_ARRAYS(arrays);
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, (uint)get_num_groups(0), count);
    const uint distinct = lists[chunk * LIST_WORDS];
    open_list(arrays.number_of, arrays.digits, arrays.places, arrays.ends, REGISTER_DIGITS, 8, t, chunk,
              distinct, table, lists);
    const uint tiles = distinct <= REGISTER_DIGITS ? own.tiles : 0;
    for (uint left = tiles; left > 0; left--) {
        const uint begin = (own.first + left - 1) * TILE, valid = min((uint)TILE, count - begin);
        uint4 digits[KEYS / 4];
        barrier(CLK_LOCAL_MEM_FENCE); /* number_of is there, and the last tile's staging is read */
        load_digits(keys, begin, valid, t, digits);
        rank_in_registers(arrays, t, digits, valid);
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL_8
        for (uint n = 0; n < KEYS; n++) {
            const uint position = n * ITEMS + t;
            const uint word = arrays.staged[HALFWORD_PLACE(position)], number = word >> PLACE_BITS;
            if (position < valid)
                send(keys, values, sent, sent_digits, arrays.digits[number], begin + (word & (TILE - 1)),
                     arrays.places[number] + position);
        }
    }
}

/* Tells the next pass of a run that the chunk sends there, which ends before place `end`, and counts it. */
static inline void tell_run(uint digit, uint length, uint end, uint count,
                            volatile global uint *restrict next_table, volatile global uint *restrict runs)
{
    const uint chunks = (uint)get_num_groups(0), tiles = count / TILE + (count % TILE != 0);
    for (uint j = end - length; j < end;) { /* a run may go through several chunks */
        const uint chunk = (uint)(((ulong)(j / TILE + 1) * chunks - 1) / tiles); /* see own_tiles() */
        const tile_range next = own_tiles(chunk, chunks, count);
        const uint stop = (uint)min((ulong)end, (ulong)(next.first + next.tiles) * TILE);
        const uint slot = atomic_inc(&runs[chunk * RUN_WORDS]);
        if (slot < MOST_RUNS)
            runs[chunk * RUN_WORDS + 1 + slot] = j;
        atomic_add(&next_table[chunk * NEXT_ROW + (digit >> BIN_BITS)], stop - j);
        j = stop;
    }
}

#if !IS_FIRST

/* Entries that an item loads before it sends them. */
#define COPY_BATCH 16

/* Local arrays of a copy, for each run in order. */
typedef struct {
    local uint *unsorted, *starts, *digits, *shifts; /* shift: target of an entry minus its place */
} run_arrays;

#define DECLARE_RUN_ARRAYS(name)                                                                             \
    local uint name##_unsorted[MOST_RUNS], name##_starts[MOST_RUNS + 1], name##_digits[MOST_RUNS];           \
    local uint name##_shifts[MOST_RUNS];                                                                     \
    const run_arrays name = {name##_unsorted, name##_starts, name##_digits, name##_shifts}

/* Copies the entries [begin, end) of a chunk of `known` runs. All items come; 0 `known` copy nothing. */
static inline void copy_runs(const run_arrays run, global const KEY *restrict keys,
                             global const uint *restrict values, global const uint *restrict table_row,
                             global const uint *restrict begins, uint known, uint begin, uint end, uint t,
                             global uint *restrict sent)
{
    for (uint r = t; r < known; r += ITEMS)
        run.unsorted[r] = begins[r];
    if (t == 0)
        run.starts[known] = end;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = t; r < known; r += ITEMS) {
        uint place = 0;
        for (uint q = 0; q < known; q++)
            place += run.unsorted[q] < run.unsorted[r];
        run.starts[place] = run.unsorted[r];
        run.digits[place] = digit_of(keys[run.unsorted[r]]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = t; r < known; r += ITEMS) { /* its end is that of its digit, less what comes after it */
        uint run_end = table_row[run.digits[r]];
        for (uint q = r + 1; q < known; q++)
            run_end -= run.digits[q] == run.digits[r] ? run.starts[q + 1] - run.starts[q] : 0;
        run.shifts[r] = run_end - run.starts[r + 1];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    uint next = 0, stop = 0, shift = 0; /* of the run where the item is */
    for (uint first = begin + t; known > 0 && first < end; first += COPY_BATCH * ITEMS) {
        uint sigma[COPY_BATCH];
        UNROLL
        for (uint n = 0; n < COPY_BATCH; n++)
            sigma[n] = sigma_of(keys, values, min(first + n * ITEMS, end - 1));
        UNROLL
        for (uint n = 0; n < COPY_BATCH; n++) {
            const uint j = first + n * ITEMS;
            for (; j < end && j >= stop; next++) {
                shift = run.shifts[next];
                stop = run.starts[next + 1];
            }
            if (j < end)
                sent[j + shift] = sigma[n];
        }
    }
}

#endif

/* Reorders the chunks with more than `fewest` distinct digits, and for those of known runs. Clears the
 * totals for the next histogram. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
tiled_reorder(global const KEY *restrict keys, global const uint *restrict values,
              global const uint *restrict table, global const uint *restrict lists,
              global uint *restrict totals, global uint *restrict next_table, global uint *restrict runs,
              global uint *restrict sent, global ushort *restrict sent_digits, uint count, uint fewest)
{
    DECLARE_LOCAL_ARRAYS(arrays);
    const uint t = (uint)get_local_id(0), chunk = (uint)get_group_id(0);
    const tile_range own = own_tiles(chunk, (uint)get_num_groups(0), count);
    const uint distinct = lists[chunk * LIST_WORDS];
    uint tiles = distinct > fewest ? own.tiles : 0;
    const bool compact = distinct <= LISTED_DIGITS;
    for (uint c = chunk * ITEMS + t; c < TOTALS; c += (uint)get_global_size(0))
        totals[c] = 0;
    open_local_list(arrays, t, chunk, distinct, table, lists);
#if BIN_BITS < DIGIT_BITS
    if (compact && t < distinct)
        tell_run(arrays.digits[t], arrays.shifts[t], arrays.ends[t], count, next_table, runs);
#endif
#if !IS_FIRST
    DECLARE_RUN_ARRAYS(run);
    const uint known = runs[chunk * RUN_WORDS] <= MOST_RUNS ? runs[chunk * RUN_WORDS] : 0;
    const uint first = own.first * TILE, end = first + min(own.tiles * TILE, count - first);
    copy_runs(run, keys, values, table + chunk * ROW, runs + chunk * RUN_WORDS + 1, known, first, end, t,
              sent);
    tiles = known > 0 ? 0 : tiles;
#endif
    for (uint left = tiles; left > 0; left--) {
        const uint begin = (own.first + left - 1) * TILE, valid = min((uint)TILE, count - begin);
        uint4 digits[KEYS / 4];
        barrier(CLK_LOCAL_MEM_FENCE); /* the last tile's local arrays are read */
        load_digits(keys, begin, valid, t, digits);
        const tile_runs ranked = rank_in_local_memory(arrays, t, digits, valid, compact);
        UNROLL_8
        for (uint n = 0; n < KEYS; n++) {
            const uint position = n * ITEMS + t;
            const uint word = arrays.staged[STAGE_PLACE(position)], number = word >> PLACE_BITS;
            if (position < valid)
                send(keys, values, sent, sent_digits, compact ? arrays.digits[number] : number,
                     begin + (word & (TILE - 1)),
                     ranked.shifts[(number - ranked.base) & ranked.mask] + position);
        }
        close_local_list(arrays, t, valid, ranked);
    }
}
