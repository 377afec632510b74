/* Directions: the ranking of a tile (shared/tiles.h) of particles in the order of their cells that go to the
 * cells around, as windows have them (shared/windows.h): a direction is one of three bands and the column
 * before, of or after the old cell, 3 band + column. What goes elsewhere is a stray.
 *
 * Particles of one direction are in the order of their new cells as they stand. So their ranks within a
 * direction are counted in an item's registers, whatever the number of cells, and what a cell adds to them is
 * looked up: row r says how many of each direction stand in the tile before its cell, the tile's first cell
 * being row 2, since those before and behind the tile's cells are gone to as well.
 *
 * SPAN rows and columns find room in `staged`. TILE_CELLS: a tile's cells that particles may come from, from
 * those behind they are strays. A count has the field in a tile's cells in local memory for shapes of two
 * nodes an axis in single precision.
 */
#ifndef SHARED_DIRECTIONS_H
#define SHARED_DIRECTIONS_H

#include "shared/cell.h"
#include "shared/windows.h"

#define DIRECTIONS      9 /* and that of strays, which is the last */
#define COUNTER_BITS    6
#define PAIRS           5 /* words of two counters */
#define SEGMENT         8 /* items */
#define SEGMENTS        (ITEMS / SEGMENT)
#define SPOT(item)      ((item) + (item) / SEGMENT) /* other banks for the next eight */
#define PAIR_STRIDE     (SPOT(ITEMS) + 1)
#define MORE_ROWS       5                   /* than the tile has cells */
#define TILE_CELLS      (SPAN - 1 - MARGIN) /* MORE_ROWS less than SPAN */
#define FIRST_ROW       2
#define PLACED          16 /* entries of an item whose positions are computed before any is written */
#define ROW_SHIFT       PLACE_BITS
#define ROW_MASK        0xfffu
#define DIRECTION_SHIFT 28

typedef struct {
    local uint *staged; /* direction, row and place in the tile, in the order of the result; before that,
                         * rows and columns */
    local uint *before; /* [pair * PAIR_STRIDE + SPOT(item)]: of each direction in the items before */
    local uint *sums;
    local ushort *places;  /* [row * DIRECTIONS + direction]: position of the first, its rank taken off */
    local ushort *starts;  /* of the row's cell in the tile */
    local ushort *columns; /* behind the rows: sum_columns() */
    local uint *targets;   /* by digit: target of an entry minus its position in the tile */
} direction_arrays;

#define DECLARE_DIRECTION_ARRAYS(name)                                                                       \
    local uint name##_staged[TILE + TILE / 32], name##_before[PAIRS * PAIR_STRIDE];                          \
    local uint name##_sums[ITEMS], name##_targets[BANDS * SPAN];                                             \
    local ushort name##_places[SPAN * DIRECTIONS], name##_starts[SPAN];                                      \
    const direction_arrays name = {name##_staged, name##_before,                                             \
                                   name##_sums,   name##_places,                                             \
                                   name##_starts, (local ushort *)(name##_staged + SPAN * PAIRS),            \
                                   name##_targets}

/* The direction of a particle of cell (i, j) that goes to (new_i, new_j), not yet wrapped around the grid: of
 * the cell `steps` behind the tile's first. Its digit in *digit. From an own row all bands come to rows of
 * the grid, since slabs have two ghost rows at least (src/domain/slab.h). */
static inline uint direction_of(uint steps, uint i, uint j, int new_i, int new_j, uint ny, uint *digit)
{
    const uint band = (uint)(new_i - (int)i + (new_j < 0) - (new_j >= (int)ny) + 1);
    const uint along = (uint)(new_j - (int)j + 1);
    const bool known = band < BANDS && along < 3 && steps < TILE_CELLS;
    *digit = known ? band * SPAN + steps + (MARGIN - 1) + along : STRAY;
    return known ? 3 * band + along : DIRECTIONS;
}

/* ---- the cells of a tile ---- */

#define STAGED_CELLS       (STAGES_FIELD ? TILE_CELLS : 1)
#define COUNT_STAGES       (COUNT_CELLS > 0)
#define COUNT_STAGED_CELLS (COUNT_STAGES ? COUNT_CELLS : 1)

/* The field in the first `cells` cells of a tile, or in as many as it has. */
static inline void stage_fields(local struct cell_field *around, uint cells, const struct motion *motion,
                                uint t, uint items, uint low, uint high)
{
    for (uint c = t; c < cells && low + c <= high; c += items) {
        struct walk walk;
        walk_enter(&walk, motion, low + c);
        around[c] = walk.around;
    }
}

/* Moves the walk to a cell of a tile whose first one is `low`. Where its field is staged, i stays that of
 * another cell: particles of a band come to rows that the grid has from any own row, so that push_place()
 * keeps their offset, and nothing else reads i. */
static inline void enter_cell(struct walk *walk, const struct motion *motion,
                              local const struct cell_field *around, uint low, uint cell)
{
#if STAGES_FIELD
    walk->around = around[cell - low];
#else
    if (cell != walk->cell)
        walk_enter(walk, motion, cell);
#endif
}

/* To particle p, which comes after those before, as walk_to(). starts: where the tile's first `cells` cells
 * start, and the next one. */
static inline void walk_staged(struct walk *walk, const struct motion *motion,
                               global const uint *restrict cell_offsets, local const uint *starts,
                               local const struct cell_field *around, uint p, uint low, uint high, uint cells)
{
    if (p >= walk->begin && p < walk->end)
        return;
    if (p >= starts[cells]) {
        walk_to(walk, motion, cell_offsets, p, low, high);
        return;
    }
    uint c = walk->cell + 1 - low;
    if (walk->cell < low || walk->cell > high) { /* the first of the tile */
        c = 0;
        for (uint last = cells - 1; c < last;) {
            const uint middle = c + (last - c + 1) / 2;
            if (starts[middle] <= p)
                c = middle;
            else
                last = middle - 1;
        }
        walk->i = (low + c) / motion->ny;
        walk->j = low + c - walk->i * motion->ny;
    } else {
        while (starts[c + 1] <= p)
            c++;
        walk->j += low + c - walk->cell;
        for (; walk->j >= motion->ny; walk->j -= motion->ny)
            walk->i++;
    }
    walk->cell = low + c;
    walk->begin = starts[c];
    walk->end = starts[c + 1];
    walk->around = around[c];
    walk_read_external(walk, motion);
}

/* ---- ranking ---- */

/* The directions of `valid` of KEYS entries, a byte each; those of others are that of strays. */
static inline void load_directions(global const uchar *restrict list, uint valid, uint words[KEYS / 4])
{
    if (valid >= KEYS) {
        global const uint4 *const whole = (global const uint4 *)list;
        UNROLL
        for (uint n = 0; n < KEYS / 16; n++) {
            const uint4 four = whole[n];
            words[4 * n] = four.x;
            words[4 * n + 1] = four.y;
            words[4 * n + 2] = four.z;
            words[4 * n + 3] = four.w;
        }
        return;
    }
    UNROLL
    for (uint n = 0; n < KEYS / 4; n++) {
        words[n] = 0;
        UNROLL
        for (uint k = 0; k < 4; k++)
            words[n] |= (4 * n + k < valid ? (uint)list[4 * n + k] : DIRECTIONS) << (8 * k);
    }
}

#define DIRECTION_OF(words, n) ((words)[(n) / 4] >> (8 * ((n) % 4)) & 0xff)

/* Counters 2 pair and 2 pair + 1 as halfwords. */
static inline uint counter_pair(ulong counters, const uint pair)
{
    const uint mask = (1u << COUNTER_BITS) - 1, both = (uint)(counters >> (2 * COUNTER_BITS * pair));
    return (both & mask) | (both >> COUNTER_BITS & mask) << 16;
}

/* Item t's counters become those of the items before it, in `before`; those of all stand after the last item.
 * Ends with a barrier. */
static inline void scan_directions(const direction_arrays arrays, uint t, ulong counters)
{
    UNROLL
    for (uint pair = 0; pair < PAIRS; pair++)
        arrays.before[pair * PAIR_STRIDE + SPOT(t)] = counter_pair(counters, pair);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint segment = t % SEGMENTS;
    local uint *const own =
        arrays.before + min(t / SEGMENTS, PAIRS - 1u) * PAIR_STRIDE + SPOT(segment * SEGMENT);
    uint sum = 0; /* by all items: PoCL breaks where the same branch stands before and behind a barrier */
    UNROLL
    for (uint n = 0; n < SEGMENT; n++)
        sum += own[n];
    arrays.sums[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < PAIRS * SEGMENTS) {
        uint place = 0;
        for (uint n = t - segment; n < t; n++)
            place += arrays.sums[n];
        UNROLL
        for (uint n = 0; n < SEGMENT; n++) {
            const uint count = own[n];
            own[n] = place;
            place += count;
        }
        if (segment == SEGMENTS - 1)
            own[SPOT(SEGMENT)] = place;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Fills rows 0 to rows - 1, by all items. Rows 0 to 2, before which no entry stands, need no loads and are
 * taken last, so that a second round is short. `list`: the tile's directions. */
static inline void fill_rows(const direction_arrays arrays, uint t, uint rows,
                             global const uchar *restrict list, uint valid)
{
    for (uint n = t; n < rows; n += ITEMS) {
        const uint r = (n + FIRST_ROW + 1) % rows, start = arrays.starts[r];
        const uint item = start / KEYS, some = start % KEYS;
        ulong counters = 0;
        if (some > 0) {
            uint words[KEYS / 4];
            load_directions(list + item * KEYS, valid - item * KEYS, words);
            UNROLL
            for (uint k = 0; k < KEYS; k++)
                counters += k < some ? (ulong)1 << (COUNTER_BITS * DIRECTION_OF(words, k)) : 0;
        }
        UNROLL
        for (uint pair = 0; pair < PAIRS; pair++)
            arrays.staged[r * PAIRS + pair] =
                arrays.before[pair * PAIR_STRIDE + SPOT(item)] + counter_pair(counters, pair);
    }
}

static inline uint counter_of(local const uint *pairs, const uint stride, uint direction)
{
    return pairs[direction / 2 * stride] >> (16 * (direction % 2)) & 0xffff;
}

/* In `columns`, how many entries come before each column in its band: to column r go direction 2 of the cell
 * before it, 1 of its own and 0 of the one behind. The first and the last column get none. */
static inline void sum_columns(const direction_arrays arrays, uint t, uint rows)
{
    for (uint n = t; n < rows * BANDS; n += ITEMS) {
        const uint r = n / BANDS, d = n % BANDS * 3;
        local const uint *const row = arrays.staged + r * PAIRS;
        arrays.columns[n] = r == 0 || r == rows - 1
                                ? 0
                                : (ushort)(counter_of(row - PAIRS, 1, d + 2) + counter_of(row, 1, d + 1) +
                                           counter_of(row + PAIRS, 1, d));
    }
}

/* How many entries of other bands come before the entries of `band` that go to a column: those of earlier
 * bands up to the column's end, of later ones up to its start. before[b]: entries of band b before the
 * column; before[BANDS + b]: before the next column. */
static inline uint in_other_bands(const ushort before[2 * BANDS], const uint band)
{
    uint others = 0;
    UNROLL
    for (uint b = 0; b < BANDS; b++)
        others += b == band ? 0 : before[b < band ? BANDS + b : b];
    return others;
}

/* Sets the positions of the tile's entries in `places`, turns the ends of runs in `targets` into targets
 * minus positions, and returns how many entries are no strays. Entries are placed column by column, each band
 * by band: the tiles of neighbouring rows then write into the same cells at about the same time, and the
 * cache joins what they write. */
static inline uint find_places(const direction_arrays arrays, uint t, uint rows)
{
    for (uint r = t + 1; r < rows - 2; r += ITEMS) {
        ushort before[4 * BANDS]; /* of columns r - 1 to r + 2 */
        UNROLL
        for (uint n = 0; n < 4 * BANDS; n++)
            before[n] = arrays.columns[(r - 1) * BANDS + n];
        UNROLL
        for (uint band = 0; band < BANDS; band++) {
            const uint d = 3 * band, own = BANDS + band, next = own + BANDS;
            const uint row_2 = counter_of(arrays.staged + r * PAIRS, 1, d + 2);
            const uint next_0 = counter_of(arrays.staged + (r + 1) * PAIRS, 1, d);
            const uint others = in_other_bands(before + BANDS, band);
            arrays.targets[band * SPAN + r + MARGIN - FIRST_ROW] -= others + before[next];
            local ushort *const places = arrays.places + r * DIRECTIONS + d;
            places[0] = (ushort)(in_other_bands(before, band) + before[own] - next_0);
            places[1] = (ushort)(others + row_2 + next_0);
            places[2] = (ushort)(in_other_bands(before + 2 * BANDS, band) + before[next] - row_2);
        }
    }
    uint staying = 0;
    UNROLL
    for (uint band = 0; band < BANDS; band++)
        staying += arrays.columns[(rows - 2) * BANDS + band];
    return staying;
}

/* Where the runs of the chunk end, in `targets`, and where the rows' cells start. */
static inline void stage_rows(const direction_arrays arrays, uint t, uint rows,
                              global const uint *restrict cell_offsets, uint begin, uint valid, uint low,
                              uint cells, global const uint *restrict ends)
{
    UNROLL
    for (uint first = 0; first < BANDS * SPAN; first += ITEMS)
        if (first + t < BANDS * SPAN)
            arrays.targets[first + t] = ends[first + t];
    for (uint r = t; r < rows; r += ITEMS) {
        const uint cell = low + r - FIRST_ROW;
        arrays.starts[r] = (ushort)(r <= FIRST_ROW  ? 0
                                    : cell >= cells ? valid
                                                    : min(max(cell_offsets[cell], begin) - begin, valid));
    }
}

/* Ranks a tile: afterwards staged[STAGE_PLACE(position)] names the entry at `position`, of which there are as
 * many as are returned, and `around` has the field in the tile's cells, if it finds room. low, high: those
 * cells. Loads from global memory come first, since their latency is long. Ends with a barrier. */
static inline uint stage_directions(const direction_arrays arrays, uint t, const struct motion *motion,
                                    local struct cell_field *around, global const uint *restrict cell_offsets,
                                    global const uchar *restrict list, uint begin, uint valid, uint low,
                                    uint high, global const uint *restrict ends)
{
    /* Keys of cells behind the window are strays. */
    const uint tile_cells = min(high + 1 - low, (uint)TILE_CELLS), rows = tile_cells + MORE_ROWS;
    const uint entry = t * KEYS;
    uint words[KEYS / 4], ranks[KEYS / 4];
    load_directions(list + begin + entry, valid > entry ? valid - entry : 0, words);
    stage_rows(arrays, t, rows, cell_offsets, begin, valid, low, motion->nx * motion->ny, ends);
#if STAGES_FIELD
    stage_fields(around, TILE_CELLS, motion, t, ITEMS, low, high);
#endif
    ulong counters = 0;
    UNROLL
    for (uint n = 0; n < KEYS; n++) {
        const uint shift = COUNTER_BITS * DIRECTION_OF(words, n), k = n % 4;
        const uint rank = (uint)(counters >> shift) & ((1u << COUNTER_BITS) - 1);
        ranks[n / 4] = k == 0 ? rank : ranks[n / 4] | rank << (8 * k);
        counters += (ulong)1 << shift;
    }
    scan_directions(arrays, t, counters);
    fill_rows(arrays, t, rows, list + begin, valid);
    barrier(CLK_LOCAL_MEM_FENCE);
    sum_columns(arrays, t, rows);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint staying = find_places(arrays, t, rows);
    barrier(CLK_LOCAL_MEM_FENCE);

    uint r = FIRST_ROW;
    for (uint high_row = tile_cells + FIRST_ROW - 1; r < high_row;) {
        const uint middle = r + (high_row - r + 1) / 2;
        if (arrays.starts[middle] <= entry)
            r = middle;
        else
            high_row = middle - 1;
    }
    uint next = arrays.starts[r + 1];
    UNROLL
    for (uint first = 0; first < KEYS; first += PLACED) {
        uint positions[PLACED], named[PLACED];
        UNROLL
        for (uint k = 0; k < PLACED; k++) {
            const uint n = first + k, direction = DIRECTION_OF(words, n);
            while (direction < DIRECTIONS && entry + n >= next)
                next = arrays.starts[++r + 1];
            positions[k] = arrays.places[r * DIRECTIONS + direction] +
                           counter_of(arrays.before + SPOT(t), PAIR_STRIDE, direction) +
                           (ranks[n / 4] >> (8 * (n % 4)) & 0xff);
            named[k] = direction << DIRECTION_SHIFT | r << ROW_SHIFT | (entry + n);
        }
        UNROLL
        for (uint k = 0; k < PLACED; k++)
            if (DIRECTION_OF(words, first + k) < DIRECTIONS)
                arrays.staged[STAGE_PLACE(positions[k])] = named[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return staying;
}

/* The old cell of a staged entry, and the digit where it goes. */
static inline uint staged_cell(uint word, uint low)
{
    return low - FIRST_ROW + (word >> ROW_SHIFT & ROW_MASK);
}

static inline uint staged_digit(uint word)
{
    const uint direction = word >> DIRECTION_SHIFT, band = (direction >= 3) + (direction >= 6);
    return band * (SPAN - 3) + direction + (word >> ROW_SHIFT & ROW_MASK) + MARGIN - FIRST_ROW - 1;
}

#endif
