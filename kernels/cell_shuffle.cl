/* Cell shuffle: a random order of the particles inside each cell of a sorted list.
 *
 * The particle at place p of a cell draws a 32-bit random key (shared/random.h), and the places are sorted by
 * (key, place), a total order: there is one result, however it is found. It is found by bitonic sorting
 * networks of one form: all comparators put the lesser word first. Merging two sorted runs of `half` words,
 * the first step compares mirrored places, low ^ (2 half - 1), the others places low ^ half, half as far
 * apart each time. Words behind the end that count as larger than all others then never move, and comparators
 * that reach them may be left out.
 *
 * shuffle_columns: short cells, of up to COLUMN_MOST particles, each sorted by one item; it lists the tiles
 * of long cells, runs of TILE of their particles.
 *
 * shuffle_tiles: long cells, a group a tile, in local memory.
 *
 * shuffle_far, shuffle_near: cells of several tiles, one step of the network between tiles, and the steps
 * after it that stay inside.
 *
 * Column-wise, after D. Takafuji, Y. Ito, K. Nakano: "Comparison of GPU implementations of row-wise and
 * column-wise fundamental algorithms". COLUMN_ITEMS neighbouring cells are a block; word j of all of them is
 * a row of the scratch memory, so items side by side read words side by side, and all of a group make the
 * same steps: each cell is padded to the power of two above the fullest short cell of the block, at least 4.
 *
 * With BUCKETS the keys of a cell are counted by their high bits, a bucket or two for each particle, and
 * brought to the start of their bucket, after which few are out of order: less work, in the cache of a CPU.
 *
 * Compile-time parameters: COLUMN_ITEMS (of a group; one with BUCKETS), BUCKETS (0 or 1), COLUMN_MOST (a
 * power of two from 4 on), GROUP_ITEMS, TILE (a power of two from 4 on, words of local memory).
 */
#include "shared/random.h"

#define LAST (~0ul) /* padding: beyond every (key, place), since no place is 2^32 - 1 */

/* ---- random keys ---- */

/* The keys of places 4 quad to 4 quad + 3 of a cell. */
static inline random_words keys_of(uint cell, uint quad, uint species, ulong step, ulong seed)
{
    const random_words counter = {{cell, quad, (uint)step, (uint)(step >> 32) << 8 | species}};
    return random_words_at(counter, seed);
}

/* What is sorted. */
static inline ulong word_of(uint key, uint place)
{
    return (ulong)key << 32 | place;
}

/* The word of any one place. */
static inline ulong word_at(uint cell, uint place, uint species, ulong step, ulong seed)
{
    const random_words keys = keys_of(cell, place / 4, species, step, seed);
    const uint even = place & 2 ? keys.word[2] : keys.word[0];
    const uint odd = place & 2 ? keys.word[3] : keys.word[1];
    return word_of(place & 1 ? odd : even, place);
}

/* ---- networks ---- */

typedef struct {
    uint low, high;
} comparator;

/* Number t of a step: `mask` is 2 half - 1 in the first step of a merge, half in the others. */
static inline comparator comparator_of(uint t, uint half_run, uint mask)
{
    comparator places;
    places.low = 2 * t - (t & (half_run - 1));
    places.high = places.low ^ mask;
    return places;
}

/* The power of two from `count` on, count > 0. */
static inline ulong padded(uint count)
{
    return 1ul << (32 - clz(count - 1));
}

/* ---- one item a cell ---- */

/* How many particles a cell has; beyond the last cell none. */
static inline uint count_of(global const uint *restrict cell_offsets, uint cells, uint cell)
{
    return cell < cells ? cell_offsets[cell + 1] - cell_offsets[cell] : 0;
}

/* As many as are sorted here: none of a long cell. */
static inline uint short_count(uint count)
{
    return count <= COLUMN_MOST ? count : 0;
}

/* Rows that a block needs: the same number for all items of a group, each of which looks at all cells. */
static inline uint block_rows(global const uint *restrict cell_offsets, uint cells, uint first)
{
    uint fullest = 0;
    for (uint n = 0; n < COLUMN_ITEMS; n++)
        fullest = max(fullest, short_count(count_of(cell_offsets, cells, first + n)));
    return fullest == 0 ? 0 : max((uint)padded(fullest), 4u);
}

#if BUCKETS

/* Draws the words of the places from `first` on, 64 or those that there are, and counts them by their high
 * bits. */
static inline void draw_words(global ulong *words, global uint *buckets, uint shift, uint first, uint count,
                              uint cell, uint species, ulong step, ulong seed)
{
    const uint16 lanes = (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    uint16 drawn[4] = {(uint16)cell, first / 4 + lanes, (uint16)(uint)step,
                       (uint16)((uint)(step >> 32) << 8 | species)};
    uint keys[4][16];
    random_words_at16(drawn, seed);
    for (uint n = 0; n < 4; n++)
        vstore16(drawn[n], 0, keys[n]);
    for (uint n = 0; n < 64 && first + n < count; n++) {
        words[first + n] = word_of(keys[n % 4][n / 4], first + n);
        buckets[words[first + n] >> shift]++;
    }
}

/* Leaves the words of a cell, drawn by the key, in order in column[]; behind them it has room for twice as
 * many. */
static inline void sort_cell(global ulong *column, uint count, uint cell, uint species, ulong step,
                             ulong seed)
{
    global ulong *const words = column + COLUMN_MOST;
    global uint *const places = (global uint *)(words + COLUMN_MOST);
    const uint buckets = (uint)padded(count), shift = clz(buckets) + 33;
    for (uint b = 0; b < buckets; b++)
        places[b] = 0;
    for (uint first = 0; first < count; first += 64)
        draw_words(words, places, shift, first, count, cell, species, step, seed);
    for (uint b = 0, before = 0; b < buckets; b++) {
        const uint own = places[b];
        places[b] = before;
        before += own;
    }
    for (uint n = 0; n < count; n++)
        column[places[words[n] >> shift]++] = words[n];
    for (uint n = 1; n < count; n++) {
        const ulong word = column[n];
        uint at = n;
        for (; at > 0 && column[at - 1] > word; at--)
            column[at] = column[at - 1];
        column[at] = word;
    }
}

#else

/* column: the first word of the item's cell; words of a cell lie COLUMN_ITEMS apart. */
static inline void sort_column(global ulong *column, uint rows)
{
    for (uint size = 2; size <= rows; size *= 2)
        for (uint half_run = size / 2, mask = size - 1; half_run > 0; half_run /= 2, mask = half_run)
            for (uint t = 0; t < rows / 2; t++) {
                const comparator places = comparator_of(t, half_run, mask);
                global ulong *const low = column + (size_t)places.low * COLUMN_ITEMS;
                global ulong *const high = column + (size_t)places.high * COLUMN_ITEMS;
                const ulong a = *low, b = *high;
                *low = min(a, b);
                *high = max(a, b);
            }
}

static inline void fill_column(global ulong *column, uint rows, uint cell, uint count, uint species,
                               ulong step, ulong seed)
{
    for (uint quad = 0; quad < rows / 4; quad++) {
        const random_words keys = keys_of(cell, quad, species, step, seed);
        for (uint n = 0; n < 4; n++) {
            const uint place = 4 * quad + n;
            column[(size_t)place * COLUMN_ITEMS] = place < count ? word_of(keys.word[n], place) : LAST;
        }
    }
}

#endif

/* Lists the tiles of a long cell: the cell, and the place in it where the tile begins. summary: how many
 * tiles there are, and the most particles of a cell. The order of the list is a matter of chance; it changes
 * nothing. */
static inline void list_tiles(uint cell, uint count, global uint *restrict summary,
                              global uint2 *restrict tiles)
{
    const uint own = (count - 1) / TILE + 1;
    const uint first = atomic_add(summary, own);
    atomic_max(summary + 1, count);
    for (uint n = 0; n < own; n++)
        tiles[first + n] = (uint2)(cell, n * TILE);
}

/* Group g has the blocks g, g + groups, ... of COLUMN_ITEMS cells, and the scratch from SLOT_WORDS g on: a
 * row of COLUMN_ITEMS words for each of COLUMN_MOST places, with BUCKETS what sort_cell() needs. */
#define SLOT_WORDS ((size_t)COLUMN_MOST * (BUCKETS ? 3 : COLUMN_ITEMS))
kernel __attribute__((reqd_work_group_size(COLUMN_ITEMS, 1, 1))) void
shuffle_columns(global const uint *restrict cell_offsets, uint cells, ulong seed, uint species, ulong step,
                global ulong *restrict scratch, global uint *restrict summary, global uint2 *restrict tiles,
                global uint *restrict permutation)
{
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const uint item = (uint)get_local_id(0);
    global ulong *const column = scratch + group * SLOT_WORDS + item;
    for (uint first = group * COLUMN_ITEMS; first < cells; first += groups * COLUMN_ITEMS) {
        const uint own = first + item, all = count_of(cell_offsets, cells, own), count = short_count(all);
        if (all > COLUMN_MOST)
            list_tiles(own, all, summary, tiles);
#if BUCKETS
        if (count > 1)
            sort_cell(column, count, own, species, step, seed);
        else
            *column = 0;
#else
        const uint rows = block_rows(cell_offsets, cells, first);
        fill_column(column, rows, own, count, species, step, seed);
        sort_column(column, rows);
#endif
        const uint start = count ? cell_offsets[own] : 0;
        for (uint n = 0; n < count; n++)
            permutation[start + n] = start + (uint)column[(size_t)n * COLUMN_ITEMS];
    }
}

/* ---- long cells: a group a tile ---- */

/* A tile, its cell, and what the cell's keys are drawn by. */
typedef struct {
    uint cell, start, cell_count; /* where the cell's particles are in the list, and how many */
    uint begin, count;            /* the tile's places in the cell */
    uint species;
    ulong step, seed;
} tile_place;

static inline tile_place tile_of(global const uint *restrict cell_offsets, global const uint2 *restrict tiles,
                                 uint species, ulong step, ulong seed)
{
    const uint2 listed = tiles[get_group_id(0)];
    const uint start = cell_offsets[listed.x], cell_count = cell_offsets[listed.x + 1] - start;
    const tile_place own = {listed.x, start, cell_count, listed.y, min((uint)TILE, cell_count - listed.y),
                            species,  step,  seed};
    return own;
}

static inline ulong tile_word(const tile_place *own, uint place)
{
    return word_at(own->cell, place, own->species, own->step, own->seed);
}

/* The words of a tile's places, which nothing has moved yet: four keys a draw. */
static inline void draw_tile(const tile_place *own, local ulong *words)
{
    for (uint quad = (uint)get_local_id(0); 4 * quad < own->count; quad += GROUP_ITEMS) {
        const uint first = own->begin + 4 * quad;
        const random_words keys = keys_of(own->cell, first / 4, own->species, own->step, own->seed);
        for (uint n = 0; n < 4; n++)
            if (4 * quad + n < own->count)
                words[4 * quad + n] = word_of(keys.word[n], first + n);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* A step of the network on the first `count` words of a tile. */
static inline void tile_step(local ulong *words, uint count, uint half_run, uint mask)
{
    const uint comparators = count > 0 ? (uint)padded(count) / 2 : 0;
    for (uint t = (uint)get_local_id(0); t < comparators; t += GROUP_ITEMS) {
        const comparator places = comparator_of(t, half_run, mask);
        if (places.high < count) {
            const ulong a = words[places.low], b = words[places.high];
            words[places.low] = min(a, b);
            words[places.high] = max(a, b);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

static inline void store_tile(const tile_place *own, uint count, local const ulong *words,
                              global uint *restrict permutation)
{
    global uint *const places = permutation + own->start + own->begin;
    for (uint n = (uint)get_local_id(0); n < count; n += GROUP_ITEMS)
        places[n] = own->start + (uint)words[n];
}

/* Sorts each tile for itself, which is all for a cell of one tile. All groups make the steps of a whole tile,
 * since the loops around a barrier must not depend on data; those beyond a tile's length find nothing to do.
 */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
shuffle_tiles(global const uint *restrict cell_offsets, global const uint2 *restrict tiles, ulong seed,
              uint species, ulong step, global uint *restrict permutation)
{
    local ulong words[TILE];
    const tile_place own = tile_of(cell_offsets, tiles, species, step, seed);
    draw_tile(&own, words);
    for (uint size = 2; size <= TILE; size *= 2)
        for (uint half_run = size / 2, mask = size - 1; half_run > 0; half_run /= 2, mask = half_run)
            tile_step(words, size / 2 < own.count ? own.count : 0, half_run, mask);
    store_tile(&own, own.count, words, permutation);
}

/* A step between tiles, in the merge of runs of `run` words; on the permutation itself, with keys drawn again
 * rather than kept. A group has as many comparators as its tile has places: low is never below t, so all are
 * had that end inside the cell. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
shuffle_far(global const uint *restrict cell_offsets, global const uint2 *restrict tiles, ulong seed,
            uint species, ulong step, uint run, uint half_run, uint mask, global uint *restrict permutation)
{
    const tile_place own = tile_of(cell_offsets, tiles, species, step, seed);
    global uint *const places = permutation + own.start;
    const ulong comparators = own.cell_count > run ? padded(own.cell_count) / 2 : 0;
    const uint end = (uint)min((ulong)(own.begin + own.count), comparators);
    for (uint t = own.begin + (uint)get_local_id(0); t < end; t += GROUP_ITEMS) {
        const comparator pair = comparator_of(t, half_run, mask);
        if (pair.high >= own.cell_count)
            continue;
        const uint a = places[pair.low], b = places[pair.high];
        if (tile_word(&own, a - own.start) > tile_word(&own, b - own.start)) {
            places[pair.low] = b;
            places[pair.high] = a;
        }
    }
}

/* The last steps of that merge, which stay inside a tile. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
shuffle_near(global const uint *restrict cell_offsets, global const uint2 *restrict tiles, ulong seed,
             uint species, ulong step, uint run, global uint *restrict permutation)
{
    local ulong words[TILE];
    const tile_place own = tile_of(cell_offsets, tiles, species, step, seed);
    const uint count = own.cell_count > run ? own.count : 0;
    global const uint *const places = permutation + own.start + own.begin;
    for (uint n = (uint)get_local_id(0); n < count; n += GROUP_ITEMS)
        words[n] = tile_word(&own, places[n] - own.start);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_run = TILE / 2; half_run > 0; half_run /= 2)
        tile_step(words, count, half_run, half_run);
    store_tile(&own, count, words, permutation);
}
