/* Cell shuffle: a random order of the particles inside each cell of a sorted list.
 *
 * The particle at place p of a cell draws a 32-bit random key (shared/random.h), and the places are sorted by
 * (key, place), a total order: there is one result, however it is found. Long cells are sorted by bitonic
 * networks of one form: all comparators put the lesser word first. Merging two sorted runs of `half` words,
 * the first step compares mirrored places, low ^ (2 half - 1), the others places low ^ half, half as far
 * apart each time. Words behind the end that count as larger than all others then never move, and comparators
 * that reach them may be left out.
 *
 * shuffle_cells: short cells, of up to CELL_MOST particles, a group a cell in local memory; it lists the
 * tiles of long cells, runs of TILE of their particles.
 *
 * shuffle_tiles: long cells, a group a tile, in local memory.
 *
 * shuffle_far, shuffle_near: cells of several tiles, one step of the network between tiles, and the steps
 * after it that stay inside.
 *
 * Short cells need no network: keys are counted in as many buckets as the cell has particles, by their high
 * bits, and words are brought to their buckets in any order. A word's place is where its bucket begins and
 * the number of lesser words there, which are one or none as a rule; an item alone inserts each word where it
 * belongs.
 */
#include "shared/random.h"

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

/* ---- short cells: a group a cell ---- */

/* One more of a bucket; how many it had. */
static inline uint take_one(local uint *bucket)
{
#if CELL_ITEMS == 1
    return (*bucket)++;
#else
    return atomic_inc(bucket);
#endif
}

/* In the order of keys. */
static inline uint bucket_of(uint key, uint count)
{
    return (uint)((ulong)key * count >> 32);
}

/* keys[] <- those of all places; buckets[] <- how many each bucket has. CPUs draw LANES counters at once. */
static inline void draw_keys(local uint *keys, local uint *buckets, uint count, uint cell, uint species,
                             ulong step, ulong seed)
{
#if LANES > 1
    uint drawn[4][LANES];
    for (uint first = 0; first < count; first += 4 * LANES) {
        uints words[4] = {(uints)cell, first / 4 + TO_UINTS(LANE_NUMBERS), (uints)(uint)step,
                          (uints)((uint)(step >> 32) << 8 | species)};
        random_lanes_at(words, seed);
        for (uint n = 0; n < 4; n++)
            STORE(words[n], drawn[n]);
        for (uint n = 0; n < 4 * LANES && first + n < count; n++) {
            keys[first + n] = drawn[n % 4][n / 4];
            take_one(&buckets[bucket_of(keys[first + n], count)]);
        }
    }
#else
    for (uint quad = (uint)get_local_id(0); 4 * quad < count; quad += CELL_ITEMS) {
        const random_words drawn = keys_of(cell, quad, species, step, seed);
        for (uint n = 0; n < 4 && 4 * quad + n < count; n++) {
            keys[4 * quad + n] = drawn.word[n];
            take_one(&buckets[bucket_of(drawn.word[n], count)]);
        }
    }
#endif
}

/* buckets[] <- the sums of those before each; totals[CELL_ITEMS]. Runs of odd length lie in different banks
 * of local memory. */
static inline void sum_buckets(local uint *buckets, local uint *totals, uint count)
{
    const uint item = (uint)get_local_id(0), each = ((count + CELL_ITEMS - 1) / CELL_ITEMS) | 1;
    const uint begin = min(item * each, count), end = min(begin + each, count);
    uint before = 0;
    for (uint b = begin; b < end; b++)
        before += buckets[b];
    totals[item] = before;
    barrier(CLK_LOCAL_MEM_FENCE);
    before = 0;
    for (uint n = 0; n < (begin < end ? item : 0); n++)
        before += totals[n];
    for (uint b = begin; b < end; b++) {
        const uint own = buckets[b];
        buckets[b] = before;
        before += own;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Brings words, which stand in their buckets in any order, into theirs, and writes their places; ends[]: of
 * the buckets. */
static inline void store_in_order(local ulong *words, local const uint *ends, uint count, uint start,
                                  global uint *restrict permutation)
{
#if CELL_ITEMS == 1
    for (uint n = 1; n < count; n++) {
        const ulong word = words[n];
        uint at = n;
        for (; at > 0 && words[at - 1] > word; at--)
            words[at] = words[at - 1];
        words[at] = word;
    }
    for (uint n = 0; n < count; n++)
        permutation[start + n] = start + (uint)words[n];
#else
    for (uint n = (uint)get_local_id(0); n < count; n += CELL_ITEMS) {
        const ulong word = words[n];
        const uint bucket = bucket_of((uint)(word >> 32), count), begin = bucket > 0 ? ends[bucket - 1] : 0;
        uint rank = begin;
        for (uint m = begin; m < ends[bucket]; m++)
            rank += words[m] < word ? 1 : 0;
        permutation[start + rank] = start + (uint)word;
    }
#endif
}

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

/* Group g has cells_of_group cells from g cells_of_group on. */
kernel __attribute__((reqd_work_group_size(CELL_ITEMS, 1, 1))) void
shuffle_cells(global const uint *restrict cell_offsets, uint cells, uint cells_of_group, ulong seed,
              uint species, ulong step, global uint *restrict summary, global uint2 *restrict tiles,
              global uint *restrict permutation)
{
    local uint keys[CELL_MOST], buckets[CELL_MOST], totals[CELL_ITEMS];
    local ulong words[CELL_MOST];
    const uint first = (uint)get_group_id(0) * cells_of_group, item = (uint)get_local_id(0);
    for (uint n = 0; n < cells_of_group; n++) {
        const uint cell = min(first + n, cells), start = cell_offsets[cell];
        const uint all = cell_offsets[min(cell + 1, cells)] - start, count = all <= CELL_MOST ? all : 0;
        if (all > CELL_MOST && item == 0)
            list_tiles(cell, all, summary, tiles);
        for (uint b = item; b < count; b += CELL_ITEMS)
            buckets[b] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        draw_keys(keys, buckets, count, cell, species, step, seed);
        barrier(CLK_LOCAL_MEM_FENCE);
        sum_buckets(buckets, totals, count);
        for (uint p = item; p < count; p += CELL_ITEMS)
            words[take_one(&buckets[bucket_of(keys[p], count)])] = word_of(keys[p], p);
        barrier(CLK_LOCAL_MEM_FENCE);
        store_in_order(words, buckets, count, start, permutation);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
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
