/* Cell shuffle: a random order of the particles inside each cell of a sorted list.
 *
 * The particle at place p of a cell draws a 32-bit random key (shared/random.h), and the places are sorted by
 * (key, place), a total order: there is one result, however it is found. Keys are counted in buckets by their
 * high bits, and words are brought to their buckets in any order.
 *
 * shuffle_cells: short cells, of up to CELL_MOST particles, a group a cell in local memory, in as many
 * buckets as the cell has particles. A word's place is where its bucket begins and the number of lesser words
 * there, which are one or none as a rule; an item alone inserts each word where it belongs. It lists long
 * cells.
 *
 * shuffle_long_cells: the others, a group a cell, in up to LONG_BUCKETS buckets: places go to their buckets
 * in the permutation itself, and an item sorts each bucket. Keys are drawn again rather than kept.
 */
#include "shared/random.h"

/* ---- random keys ---- */

/* A cell, and what its keys are drawn by. */
typedef struct {
    uint cell, start, count; /* where its particles are in the list, and how many */
    uint buckets;
    uint species;
    ulong step, seed;
} drawn_cell;

/* The keys of places 4 quad to 4 quad + 3. */
static inline random_words keys_of(const drawn_cell *own, uint quad)
{
    const random_words counter = {
        {own->cell, quad, (uint)own->step, (uint)(own->step >> 32) << 8 | own->species}};
    return random_words_at(counter, own->seed);
}

/* What is sorted. */
static inline ulong word_of(uint key, uint place)
{
    return (ulong)key << 32 | place;
}

/* The word of any one place. */
static inline ulong word_at(const drawn_cell *own, uint place)
{
    const random_words keys = keys_of(own, place / 4);
    const uint even = place & 2 ? keys.word[2] : keys.word[0];
    const uint odd = place & 2 ? keys.word[3] : keys.word[1];
    return word_of(place & 1 ? odd : even, place);
}

/* One more of a bucket; how many it had. */
static inline uint count_one(local uint *bucket)
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

/* ---- short cells: a group a cell ---- */

/* keys[] <- those of all places; buckets[] <- how many each bucket has. CPUs draw LANES counters at once. */
static inline void draw_keys(const drawn_cell *own, local uint *keys, local uint *buckets)
{
#if LANES > 1
    uint drawn[4][LANES];
    for (uint first = 0; first < own->count; first += 4 * LANES) {
        uints words[4] = {(uints)own->cell, first / 4 + TO_UINTS(LANE_NUMBERS), (uints)(uint)own->step,
                          (uints)((uint)(own->step >> 32) << 8 | own->species)};
        random_lanes_at(words, own->seed);
        for (uint n = 0; n < 4; n++)
            STORE(words[n], drawn[n]);
        for (uint n = 0; n < 4 * LANES && first + n < own->count; n++) {
            keys[first + n] = drawn[n % 4][n / 4];
            count_one(&buckets[bucket_of(keys[first + n], own->count)]);
        }
    }
#else
    for (uint quad = (uint)get_local_id(0); 4 * quad < own->count; quad += CELL_ITEMS) {
        const random_words drawn = keys_of(own, quad);
        for (uint n = 0; n < 4 && 4 * quad + n < own->count; n++) {
            keys[4 * quad + n] = drawn.word[n];
            count_one(&buckets[bucket_of(drawn.word[n], own->count)]);
        }
    }
#endif
}

/* buckets[] <- sums of those before each; totals[CELL_ITEMS]. Runs of odd length lie in different banks. */
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

/* Orders words within their buckets, and writes their places; ends[]: of the buckets. */
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

/* Group g has cells_of_group cells from g cells_of_group on. number: how many long cells there are, 0 before;
 * their order in long_cells is a matter of chance, and changes nothing. */
kernel __attribute__((reqd_work_group_size(CELL_ITEMS, 1, 1))) void
shuffle_cells(global const uint *restrict cell_offsets, uint cells, uint cells_of_group, ulong seed,
              uint species, ulong step, volatile global uint *restrict number,
              global uint *restrict long_cells, global uint *restrict permutation)
{
    local uint keys[CELL_MOST], buckets[CELL_MOST], totals[CELL_ITEMS];
    local ulong words[CELL_MOST];
    const uint first = (uint)get_group_id(0) * cells_of_group, item = (uint)get_local_id(0);
    for (uint n = 0; n < cells_of_group; n++) {
        const uint cell = min(first + n, cells), start = cell_offsets[cell];
        const uint all = cell_offsets[min(cell + 1, cells)] - start, count = all <= CELL_MOST ? all : 0;
        const drawn_cell own = {cell, start, count, count, species, step, seed};
        if (all > CELL_MOST && item == 0)
            long_cells[atomic_inc(number)] = cell;
        for (uint b = item; b < count; b += CELL_ITEMS)
            buckets[b] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        draw_keys(&own, keys, buckets);
        barrier(CLK_LOCAL_MEM_FENCE);
        sum_buckets(buckets, totals, count);
        for (uint p = item; p < count; p += CELL_ITEMS)
            words[count_one(&buckets[bucket_of(keys[p], count)])] = word_of(keys[p], p);
        barrier(CLK_LOCAL_MEM_FENCE);
        store_in_order(words, buckets, count, start, permutation);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* ---- long cells: a group a cell ---- */

/* Counts the places of each bucket. */
static inline void count_places(const drawn_cell *own, local uint *buckets)
{
    for (uint quad = (uint)get_local_id(0); 4 * quad < own->count; quad += CELL_ITEMS) {
        const random_words keys = keys_of(own, quad);
        for (uint n = 0; n < 4 && 4 * quad + n < own->count; n++)
            count_one(&buckets[bucket_of(keys.word[n], own->buckets)]);
    }
}

/* Brings the places to their buckets, from the begins on that are in buckets[] and become their ends. (One
 * function for this and count_places() PoCL 3.1 compiles wrongly.) */
static inline void bring_places(const drawn_cell *own, local uint *buckets, global uint *places)
{
    for (uint quad = (uint)get_local_id(0); 4 * quad < own->count; quad += CELL_ITEMS) {
        const random_words keys = keys_of(own, quad);
        for (uint n = 0; n < 4 && 4 * quad + n < own->count; n++)
            places[count_one(&buckets[bucket_of(keys.word[n], own->buckets)])] = 4 * quad + n;
    }
}

/* Sorts a bucket's places by gaps that halve (D. L. Shell, Commun. ACM 2, 30, 1959), into the list's. */
static inline void sort_bucket(const drawn_cell *own, global uint *places, uint count)
{
    for (uint gap = count / 2; gap > 0; gap /= 2)
        for (uint n = gap; n < count; n++) {
            const uint place = places[n];
            const ulong word = word_at(own, place);
            uint at = n;
            for (; at >= gap && word_at(own, places[at - gap]) > word; at -= gap)
                places[at] = places[at - gap];
            places[at] = place;
        }
    for (uint n = 0; n < count; n++)
        places[n] += own->start;
}

/* Group g has cells_of_group of the listed cells from g cells_of_group on, as far as there are any: no loop
 * around a barrier depends on data. */
kernel __attribute__((reqd_work_group_size(CELL_ITEMS, 1, 1))) void
shuffle_long_cells(global const uint *restrict cell_offsets, uint cells_of_group, ulong seed, uint species,
                   ulong step, global const uint *restrict number, global const uint *restrict long_cells,
                   global uint *restrict permutation)
{
    local uint buckets[LONG_BUCKETS], totals[CELL_ITEMS];
    const uint first = (uint)get_group_id(0) * cells_of_group, item = (uint)get_local_id(0);
    for (uint n = 0; n < cells_of_group; n++) {
        const bool is_there = first + n < number[0];
        const uint cell = is_there ? long_cells[first + n] : 0, start = cell_offsets[cell];
        const uint count = is_there ? cell_offsets[cell + 1] - start : 0,
                   used = min(count, (uint)LONG_BUCKETS);
        const drawn_cell own = {cell, start, count, used, species, step, seed};
        global uint *const places = permutation + start;
        for (uint b = item; b < used; b += CELL_ITEMS)
            buckets[b] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        count_places(&own, buckets);
        barrier(CLK_LOCAL_MEM_FENCE);
        sum_buckets(buckets, totals, used);
        bring_places(&own, buckets, places);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint b = item; b < used; b += CELL_ITEMS) {
            const uint begin = b > 0 ? buckets[b - 1] : 0;
            sort_bucket(&own, places + begin, buckets[b] - begin);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
