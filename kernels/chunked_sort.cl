/* Chunked sort: the radix sort for CPU devices. A work-item is a group of its own and owns a chunk, a run of
 * consecutive entries of the list; it counts and moves them in their order, so the sort is stable, and no
 * barrier and no atomic operation is needed.
 *
 * One pass sorts by one digit of `radix` values: chunked_histogram counts the digits of each chunk,
 * chunked_scan turns the counts H(digit, chunk) into the places where each chunk's entries of each digit
 * begin, chunked_reorder writes the entries there. Two things make it fast. Particles that were in order one
 * step ago hold few distinct digits in any stretch of the list: a block of BLOCK entries is then counted,
 * and moved, digit by digit with vector compares. And the result leaves in whole cache lines: each digit
 * collects its next LINE entries in `lines` before they are stored, past the caches where the list is long.
 *
 * Of two passes the first sorts by the high digit, and in the second, chunked_bins, an item sorts the entries
 * of one of them, which lie together and mostly fit in its caches. Of more, each sorts the whole list, by the
 * low digit first.
 *
 * A pass READS one of three sources, for each of which the program is built:
 *   KEYS    the list of keys; entry n has the index n
 *   PACKED  words with the unsorted bits of the key above index_bits bits of index
 *   SIGMA   indices; the keys are looked up through them
 *
 * What a pass writes are words of the same kind: (unsorted bits << index_bits | index) where `keep` is all
 * ones, indices alone where it is 0. */
#include "shared/chunk.h"
#include "shared/fold.h"

#define LINE     16u   /* entries of a cache line */
#define BLOCK    1024u /* entries looked at together; a multiple of LINE */
#define FEW      24u   /* distinct digits of a block up to which going digit by digit pays */
#define NEXT_TRY 32u   /* blocks from one of many digits to the next one that is tried */
#define SCANNED  256u  /* digits of an item of chunked_scan */
#define PARTS    (MOST_LOW_BITS > 13 ? 1u : 4u) /* of a bin; counts of long digits would fill the caches */

#if !PORTABLE && defined(__AVX512F__) && defined(__has_builtin)
#if __has_builtin(__builtin_ia32_compresssi512_mask) && __has_builtin(__builtin_ia32_ucmpd512_mask)
#define HAS_COMPRESS
#endif
#endif
#if defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define HAS_STREAMING
#endif
#endif

#define KEYS   0
#define PACKED 1
#define SIGMA  2

/* How the entries of this pass are read and written. */
typedef struct {
    global const uint *source;
    global const KEY *keys;
    uint shift;      /* of the digit in a key: KEYS, SIGMA */
    uint index_bits; /* of a packed word */
    uint radix_bits;
    uint rest_shift, keep; /* of the unsorted bits in what is written, and their mask */
} pass_format;

/* Digit of entry n, and what is written for it. */
static inline uint digit_of(const pass_format *format, uint n, uint *word)
{
    const uint entry = READS == KEYS ? n : format->source[n];
    const uint index = READS == PACKED ? entry & ((1u << format->index_bits) - 1) : entry;
    const uint key = READS == PACKED ? entry >> format->index_bits : format->keys[index];
    const uint digit = READS == PACKED ? key : key >> format->shift;
    const uint rest = READS == KEYS ? key : digit;
    *word = ((rest >> format->rest_shift) & format->keep) << format->index_bits | index;
    return digit & ((1u << format->radix_bits) - 1);
}

static inline uint16 keys_at(global const KEY *keys, uint16 index)
{
    return (uint16)(keys[index.s0], keys[index.s1], keys[index.s2], keys[index.s3], keys[index.s4],
                    keys[index.s5], keys[index.s6], keys[index.s7], keys[index.s8], keys[index.s9],
                    keys[index.sa], keys[index.sb], keys[index.sc], keys[index.sd], keys[index.se],
                    keys[index.sf]);
}

/* The digits of the entries n..n+15, and their words. */
static inline uint16 digits_of(const pass_format *format, uint n, uint16 *word)
{
    uint16 index, rest, digit;
    if (READS == KEYS) {
        index = n + (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        rest = convert_uint16(vload16(0, format->keys + n));
        digit = rest >> format->shift;
    } else {
        const uint16 entries = vload16(0, format->source + n);
        const bool packed = READS == PACKED;
        index = packed ? entries & ((1u << format->index_bits) - 1) : entries;
        rest = packed ? entries >> format->index_bits : keys_at(format->keys, index) >> format->shift;
        digit = rest;
    }
    *word = ((rest >> format->rest_shift) & format->keep) << format->index_bits | index;
    return digit & ((1u << format->radix_bits) - 1);
}

DEFINE_FOLD(largest_of, uint, max)
DEFINE_FOLD(sum_of, uint, ADD)

/* Counts the block digit by digit, from the largest down. Returns whether it held few; else, or as soon as
 * that shows, the digits below the ones counted are counted one entry at a time. */
static inline int count_block(const pass_format *format, uint begin, global uint *counts)
{
    uint16 digits[BLOCK / LINE], unused, largest = 0;
    for (uint v = 0; v < BLOCK / LINE; v++) {
        digits[v] = digits_of(format, begin + v * LINE, &unused);
        largest = max(largest, digits[v]);
    }
    uint digit = largest_of(largest), counted = 0;
    for (uint distinct = 0; distinct < FEW && (distinct < FEW / 3 || counted >= BLOCK / 8); distinct++) {
        uint16 found = 0, below = 0; /* below: the largest digits that are smaller */
        for (uint v = 0; v < BLOCK / LINE; v++) {
            found = select(found, found + 1, digits[v] == digit);
            below = select(below, max(below, digits[v]), digits[v] < digit);
        }
        const uint entries = sum_of(found);
        counts[digit] += entries;
        counted += entries;
        if (counted == BLOCK)
            return 1;
        digit = largest_of(below);
    }
    for (uint n = begin; n < begin + BLOCK; n++) {
        uint word;
        const uint own = digit_of(format, n, &word);
        if (own <= digit)
            counts[own]++;
    }
    return 0;
}

/* Item t counts the digits of chunk t in table[t*radix ..]; few[t]: whether most of its blocks held few
 * distinct ones; totals[t][s]: the counts of SCANNED digits together. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
chunked_histogram(global const uint *source, global const KEY *keys, global uint *table, global uint *few,
                  global uint *totals, uint count, uint chunk, uint radix, uint shift, uint index_bits,
                  uint radix_bits)
{
    const uint t = (uint)get_global_id(0);
    const pass_format format = {source, keys, shift, index_bits, radix_bits, 0, 0};
    const chunk_range own = own_chunk((uint)get_global_id(0), chunk, count);
    global uint *counts = table + (ulong)t * radix;
    for (uint c = 0; c < radix; c++)
        counts[c] = 0;

    const uint blocks = own.length / BLOCK, end = own.begin + own.length;
    uint tried_at = 0, of_many = 0, n = own.begin, word;
    for (uint block = 0; n < end; block++) {
        const uint stop = block < blocks ? n + BLOCK : end;
        if (block < blocks && block >= tried_at) {
            if (!count_block(&format, n, counts)) {
                tried_at = block + NEXT_TRY;
                of_many++;
            }
            n = stop;
        }
        for (; n < stop; n++)
            counts[digit_of(&format, n, &word)]++;
    }
    few[t] = of_many * NEXT_TRY <= blocks / 2;
    for (uint first = 0, s = t * ((radix + SCANNED - 1) / SCANNED); first < radix; first += SCANNED, s++) {
        totals[s] = 0;
        for (uint c = first; c < min(first + SCANNED, radix); c++)
            totals[s] += counts[c];
    }
}

/* table[t*radix + c] becomes the place of the first entry of digit c of chunk t, that is the number of
 * entries of smaller digits, and of this digit in earlier chunks; an item has SCANNED digits. In a single
 * pass also offsets[c] = the number of keys below c, for c = 0..cells where that is not 0. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void chunked_scan(global uint *table,
                                                                        global const uint *totals, uint radix,
                                                                        uint chunks, global uint *offsets,
                                                                        uint cells)
{
    const uint item = (uint)get_global_id(0), items = (uint)get_global_size(0);
    const uint first = item * SCANNED, number = min(SCANNED, radix - first);
    uint place = 0, next[SCANNED] = {0};
    for (uint t = 0; t < chunks; t++)
        for (uint before = 0; before < item; before++)
            place += totals[t * items + before];
    for (uint t = 0; t < chunks; t++)
        for (uint k = 0; k < number; k++)
            next[k] += table[(ulong)t * radix + first + k];
    for (uint k = 0; k < number; k++) {
        const uint entries = next[k];
        next[k] = place;
        if (first + k <= cells && cells > 0)
            offsets[first + k] = place;
        place += entries;
    }
    for (uint t = 0; t < chunks; t++)
        for (uint k = 0; k < number; k++) {
            const uint entries = table[(ulong)t * radix + first + k];
            table[(ulong)t * radix + first + k] = next[k];
            next[k] += entries;
        }
    for (uint c = radix; item + 1 == items && c <= cells; c++)
        offsets[c] = place;
}

/* Where a chunk's entries go. Entry `next[c]` of the result is the next one of digit c; those of them from
 * next[c] rounded down to a whole line, but not before starts[c], wait in line c of `lines`. With `streams`
 * whole lines go past the caches, for lists that do not fit in them. */
typedef struct {
    global uint *result, *next, *lines;
    global const uint *starts;
    bool streams;
} chunk_output;

static inline void store_line(const chunk_output *output, uint place, uint16 entries)
{
    global uint16 *line = (global uint16 *)(output->result + place);
#ifdef HAS_STREAMING
    if (output->streams) {
        __builtin_nontemporal_store(entries, line);
        return;
    }
#endif
    *line = entries;
}

static inline void put(const chunk_output *output, uint digit, uint word)
{
    const uint place = output->next[digit];
    global uint *line = output->lines + (ulong)digit * LINE;
    output->next[digit] = place + 1;
    line[place % LINE] = word;
    if (place % LINE != LINE - 1)
        return;
    const uint first = place - (LINE - 1);
    if (first >= output->starts[digit])
        store_line(output, first, *(global const uint16 *)line);
    else /* the line's head belongs to others */
        for (uint j = output->starts[digit]; j <= place; j++)
            output->result[j] = line[j % LINE];
}

#ifdef HAS_COMPRESS
/* Sixteen words at any place; vload16() and vstore16() may go in pieces. */
typedef uint16 loose_uint16 __attribute__((aligned(4)));

/* Moves a block digit by digit, from the largest down: the words of one digit are squeezed together behind
 * those that wait in its line. */
static inline void move_block(const pass_format *format, const chunk_output *output, uint begin)
{
    uint16 digits[BLOCK / LINE], words[BLOCK / LINE], largest = 0;
    uint staged[BLOCK + 2 * LINE] __attribute__((aligned(64)));
    for (uint v = 0; v < BLOCK / LINE; v++) {
        digits[v] = digits_of(format, begin + v * LINE, &words[v]);
        largest = max(largest, digits[v]);
    }
    uint digit = largest_of(largest), moved = 0;
    for (uint distinct = 0; distinct < FEW; distinct++) {
        global uint *line = output->lines + (ulong)digit * LINE;
        const uint place = output->next[digit], first = place / LINE * LINE;
        uint filled = place % LINE;
        uint16 below = 0; /* the largest digits that are smaller */
        *(uint16 *)staged = *(global const uint16 *)line;
        for (uint v = 0; v < BLOCK / LINE; v++) {
            const ushort own =
                (ushort)__builtin_ia32_ucmpd512_mask(as_int16(digits[v]), as_int16((uint16)digit), 0, -1);
            *(loose_uint16 *)(staged + filled) =
                as_uint16(__builtin_ia32_compresssi512_mask(as_int16(words[v]), (int16)0, own));
            filled += popcount((uint)own);
            below = select(below, max(below, digits[v]), digits[v] < digit);
        }
        output->next[digit] = first + filled;
        const uint whole = filled / LINE * LINE;
        uint stored = 0;
        if (whole > 0 && first < output->starts[digit]) { /* the line's head belongs to others */
            for (uint j = output->starts[digit]; j < first + LINE; j++)
                output->result[j] = staged[j - first];
            stored = LINE;
        }
        for (; stored < whole; stored += LINE)
            store_line(output, first + stored, *(const uint16 *)(staged + stored));
        *(global uint16 *)line = *(const uint16 *)(staged + whole);
        moved += filled - place % LINE;
        if (moved == BLOCK)
            return;
        digit = largest_of(below);
    }
    for (uint n = begin; n < begin + BLOCK; n++) {
        uint word;
        const uint own = digit_of(format, n, &word);
        if (own <= digit)
            put(output, own, word);
    }
}
#endif

/* Item t moves chunk t, by way of its own `next` and `lines`. Chunks of few distinct digits a block go block
 * by block where the device can, or else word by word, as their lines stay in the caches by themselves. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
chunked_reorder(global const uint *source, global const KEY *keys, global uint *result,
                global const uint *table, global const uint *few, global uint *all_next,
                global uint *all_lines, uint count, uint chunk, uint radix, uint shift, uint index_bits,
                uint radix_bits, uint rest_shift, uint keep, uint streams)
{
    const uint t = (uint)get_global_id(0);
    const ulong row = (ulong)t * radix;
    const pass_format format = {source, keys, shift, index_bits, radix_bits, rest_shift, keep};
    const chunk_output output = {result, all_next + row, all_lines + row * LINE, table + row, streams != 0};
    const chunk_range own = own_chunk((uint)get_global_id(0), chunk, count);
    const uint end = own.begin + own.length;
    for (uint c = 0; c < radix; c++)
        output.next[c] = output.starts[c];

    uint n = own.begin;
    if (few[t]) {
#ifdef HAS_COMPRESS
        for (; end - n >= BLOCK; n += BLOCK)
            move_block(&format, &output, n);
#else
        for (; n < end; n++) {
            uint word;
            const uint digit = digit_of(&format, n, &word);
            result[output.next[digit]++] = word;
        }
        return;
#endif
    }
    for (; n < end; n++) {
        uint word;
        const uint digit = digit_of(&format, n, &word);
        put(&output, digit, word);
    }
    for (uint c = 0; c < radix; c++)
        for (uint j = max(output.starts[c], output.next[c] / LINE * LINE); j < output.next[c]; j++)
            result[j] = output.lines[(ulong)c * LINE + j % LINE];
}

/* Item t sorts the entries with the high digit t, which begin at starts[t], by their low digits: counts and
 * places them one by one. Entries near one another have the same digits, and a count waits for the one before
 * it in the same place; so the item walks PARTS parts of them side by side, with counts of their own. Also
 * offsets[c] = the number of keys below c for those keys, as far as there are cells, and by the last item for
 * what is above all keys. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
chunked_bins(global const uint *source, global const KEY *keys, global uint *result,
             global const uint *starts, global uint *offsets, uint count, uint cells, uint index_bits,
             uint radix_bits)
{
    const uint t = (uint)get_global_id(0), bins = (uint)get_global_size(0);
    const uint begin = starts[t], end = t + 1 < bins ? starts[t + 1] : count, part = (end - begin) / PARTS;
    /* An empty bin has work only where offsets of its cells are wanted; a long key has many such bins. */
    const bool has_cells = cells > 0 && t << radix_bits <= cells;
    const uint radix = begin < end || has_cells ? 1u << radix_bits : 0;
    const pass_format format = {source, keys, 0, index_bits, radix_bits, 0, 0};
    uint places[1 << MOST_LOW_BITS][PARTS], word;
    for (uint c = 0; c < radix; c++)
        for (uint k = 0; k < PARTS; k++)
            places[c][k] = 0;
    for (uint n = begin; n < begin + part; n++)
        for (uint k = 0; k < PARTS; k++)
            places[digit_of(&format, n + k * part, &word)][k]++;
    for (uint n = begin + PARTS * part; n < end; n++)
        places[digit_of(&format, n, &word)][PARTS - 1]++;
    uint place = begin;
    for (uint c = 0; c < radix; c++) {
        const uint cell = t << radix_bits | c;
        if (cell <= cells && cells > 0)
            offsets[cell] = place;
        for (uint k = 0; k < PARTS; k++) {
            const uint entries = places[c][k];
            places[c][k] = place;
            place += entries;
        }
    }
    for (ulong c = (ulong)bins << radix_bits; t + 1 == bins && cells > 0 && c <= cells; c++)
        offsets[c] = count;
    for (uint n = begin; n < begin + part; n++)
        for (uint k = 0; k < PARTS; k++) {
            const uint digit = digit_of(&format, n + k * part, &word);
            result[places[digit][k]++] = word;
        }
    for (uint n = begin + PARTS * part; n < end; n++) {
        const uint digit = digit_of(&format, n, &word);
        result[places[digit][PARTS - 1]++] = word;
    }
}
