/* Tiled scan: the kernels of the tiled step that push no particle, between count and move (tiled_step.cl),
 * and step_find_tiles(). They are built apart, since they are the same for any precision and shape. */
#define BIN_BITS DIGIT_BITS

#include "shared/arrivals.h"
#include "shared/search.h"
#include "shared/tiles.h"
#if BY_DIRECTION
#include "shared/windows.h"
#endif

/* One item per tile, and one more: tile_cells[tile] is the cell of its first particle; beyond the last tile
 * it is the last cell. */
kernel void step_find_tiles(global const uint *restrict cell_offsets, global uint *restrict tile_cells,
                            uint cells, uint count)
{
    const uint tile = (uint)get_global_id(0), tiles = count / TILE + (count % TILE != 0);
    if (tile <= tiles)
        tile_cells[tile] = tile < tiles ? find_segment(cell_offsets, 0, cells - 1, tile * TILE) : cells - 1;
}

/* ---- leavers and the scan ---- */

/* `new_count` is that of the particles with the arrivals. */

#if !BY_DIRECTION

/* leavers: how many particles go to each cell from `own` on, an item each. */
kernel void step_count_leavers(global const uint *restrict totals, uint own, uint cells,
                               global uint *restrict leavers)
{
    const uint n = (uint)get_global_id(0);
    if (own + n < cells)
        leavers[n] = totals[own + n];
}

/* Counts the arrivals, one item per cell. */
kernel void step_add_arrivals(ARRIVAL_ARGUMENTS, uint cells, uint ny, global uint *restrict totals)
{
    const uint cell = (uint)get_global_id(0);
    if (cell < cells)
        totals[cell] += arrivals_of(ARRIVALS, cell, ny);
}

/* scan_table(), and the cell in which each tile of the new order begins. */
kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void
step_scan(global uint *restrict table, global const uint *restrict totals, global uint *restrict offsets,
          global uint *restrict tile_cells, uint chunks, uint cells, uint new_count)
{
    local uint sums[2 * SCAN_ITEMS];
    const uint t = (uint)get_local_id(0), cell = (uint)get_group_id(0) * SCAN_BINS + t % SCAN_BINS;
    const uint start = scan_table(sums, table, totals, offsets, chunks, cells);
    const uint tiles = new_count / TILE + (new_count % TILE != 0);
    const uint end_tile = (uint)(((ulong)start + totals[cell] + TILE - 1) / TILE); /* past the cell */
    for (uint tile = start / TILE + (start % TILE != 0) + t / SCAN_BINS; tile < end_tile;
         tile += SCAN_ITEMS / SCAN_BINS)
        tile_cells[tile] = cell;
    if (cell == 0 && t == 0)
        tile_cells[tiles] = cells - 1;
}

#else

/* What a count by directions leaves: its table, and the lists of the cells that the particles come from. */
#define RUN_ARGUMENTS                                                                                        \
    global uint *restrict table, global const uint *restrict cell_offsets,                                   \
        global const uint *restrict tile_cells
#define COUNTS_ARGUMENTS RUN_ARGUMENTS, global const uint *restrict stray_counts

/* ---- the runs of a cell ---- */

#define CHUNKS_ABREAST 4           /* of a column, whose entries are read at once */
#define FEW_CHUNKS     2           /* the same beside those of two other columns */
#define MOST_AT_ONCE   6           /* entries: CHUNKS_ABREAST, and FEW_CHUNKS of three columns, at most */
#define MOST_ALONE     (2 * ITEMS) /* chunks of a column that an item goes through alone */
#define DENSE          0x80000000u /* in `offsets`, of a cell with more: larger than any place */
#define COLUMNS        (3 * BANDS) /* of a cell: with those around either end of the grid */

/* Column number n of a cell, as a flat cell. */
static inline int flat_column(uint cell, uint cells, uint ny, int n)
{
    int from = (int)cell - (n / 3 - 1) * (int)ny;
    from += from < 0 ? (int)cells : from >= (int)cells ? -(int)cells : 0;
    return from + (n % 3 - 1) * (int)cells;
}

/* Chunks from `first` to `last`; none where last < first. */
struct chunks {
    int first, last;
};

/* The chunks from which particles come to the flat cell `flat`, which may lie before the grid's first or
 * behind its last: those that hold particles of the cell before, itself and the one behind. */
static inline struct chunks chunks_around(global const uint *restrict cell_offsets, int flat, uint cells,
                                          uint count)
{
    struct chunks range = {0, -1};
    const int high = flat + 1, low = flat - 1;
    if (high < 0 || low >= (int)cells)
        return range;
    const uint end = high + 1 >= (int)cells ? count : cell_offsets[high + 1];
    const uint begin = low <= 0 ? 0 : cell_offsets[low];
    range.first = (int)(begin / TILE);
    range.last = (int)((end + TILE - 1) / TILE) - 1;
    return range;
}

#define NO_RUN      0xffffffffu

/* The table's entry of the run from `chunk` to `flat`; NO_RUN where the chunk's window ends before. */
static inline uint run_entry(global const uint *restrict tile_cells, int band, int flat, int chunk)
{
    const uint column = (uint)(flat - (int)tile_cells[chunk] + MARGIN);
    return column < SPAN ? (uint)chunk * ROW + (uint)band * SPAN + column : NO_RUN;
}

/* Adds up the runs of `number` entries, read at once, from `place` on; returns where the last one ends. With
 * `keep` each entry becomes the end of its run. */
static inline uint visit_entries(global uint *restrict table, const uint *entries, const int number,
                                 uint place, const bool keep)
{
    uint counts[MOST_AT_ONCE];
    UNROLL
    for (int n = 0; n < number; n++)
        counts[n] = entries[n] != NO_RUN ? table[entries[n]] : 0;
    UNROLL
    for (int n = 0; n < number; n++) {
        place += counts[n];
        if (keep && entries[n] != NO_RUN)
            table[entries[n]] = place;
    }
    return place;
}

/* visit_entries() of a column in the chunks of `range`. */
static inline uint visit_chunks(RUN_ARGUMENTS, int band, int flat, struct chunks range, uint place,
                                const bool keep)
{
    for (int first = range.first; first <= range.last; first += CHUNKS_ABREAST) {
        uint entries[CHUNKS_ABREAST];
        UNROLL
        for (int n = 0; n < CHUNKS_ABREAST; n++)
            entries[n] = first + n <= range.last ? run_entry(tile_cells, band, flat, first + n) : NO_RUN;
        place = visit_entries(table, entries, CHUNKS_ABREAST, place, keep);
    }
    return place;
}

/* visit_runs() of a cell whose three columns have up to FEW_CHUNKS chunks each, and none around an end of the
 * grid: what the columns need is read at once. Returns whether this is such a cell. */
static inline bool visit_few(RUN_ARGUMENTS, uint cell, uint cells, uint ny, uint count, uint *place,
                             const bool keep)
{
    int flat[BANDS];
    struct chunks ranges[BANDS];
    uint entries[FEW_CHUNKS * BANDS];
    bool few = true;
    UNROLL
    for (int band = 0; band < BANDS; band++) {
        flat[band] = flat_column(cell, cells, ny, 3 * band + 1);
        ranges[band] = chunks_around(cell_offsets, flat[band], cells, count);
        few = few && flat[band] > 0 && flat[band] + 1 < (int)cells &&
              ranges[band].last - ranges[band].first < FEW_CHUNKS;
    }
    if (!few)
        return false;
    UNROLL
    for (int n = 0; n < FEW_CHUNKS * BANDS; n++) {
        const int band = n / FEW_CHUNKS, chunk = ranges[band].first + n % FEW_CHUNKS;
        entries[n] = chunk <= ranges[band].last ? run_entry(tile_cells, band, flat[band], chunk) : NO_RUN;
    }
    *place = visit_entries(table, entries, FEW_CHUNKS * BANDS, *place, keep);
    return true;
}

/* Adds up the runs that go to `cell`, band by band and chunk by chunk, as visit_chunks() does. Sets
 * `dense`, if that is not 0, and ends, where the chunks are too many for an item. */
static inline uint visit_runs(RUN_ARGUMENTS, uint cell, uint cells, uint ny, uint count, uint place,
                              bool *dense, const bool keep)
{
    if (visit_few(table, cell_offsets, tile_cells, cell, cells, ny, count, &place, keep))
        return place;
    for (int n = 0; n < COLUMNS; n++) {
        const int flat = flat_column(cell, cells, ny, n);
        const struct chunks range = chunks_around(cell_offsets, flat, cells, count);
        if (dense && range.last - range.first >= MOST_ALONE) {
            *dense = true;
            return place;
        }
        place = visit_chunks(table, cell_offsets, tile_cells, n / 3, flat, range, place, keep);
    }
    return place;
}

/* visit_runs() by all items of a group, each of which has some neighbouring chunks of every column. */
static inline uint visit_together(local uint *sums, RUN_ARGUMENTS, uint cell, uint cells, uint ny, uint count,
                                  uint place, const bool keep)
{
    const int t = (int)get_local_id(0);
    for (int n = 0; n < COLUMNS; n++) {
        const int flat = flat_column(cell, cells, ny, n);
        const struct chunks all = chunks_around(cell_offsets, flat, cells, count);
        const int chunks = all.last - all.first + 1;
        const struct chunks own = {all.first + chunks * t / ITEMS, all.first + chunks * (t + 1) / ITEMS - 1};
        const uint sum = visit_chunks(table, cell_offsets, tile_cells, n / 3, flat, own, 0, false);
        local const uint *up_to = sum_along(sums, ITEMS, 1, (uint)t, sum);
        if (keep)
            visit_chunks(table, cell_offsets, tile_cells, n / 3, flat, own, place + up_to[t] - sum, true);
        place += up_to[ITEMS - 1];
        barrier(CLK_LOCAL_MEM_FENCE); /* `sums` are read */
    }
    return place;
}

/* The dense cells of a group, in local memory: how many there are, the cells, and where each starts. */
#define DENSE_WORDS (1 + 2 * ITEMS)

/* visit_runs() for the cell of each item of a group, then visit_together() for the dense ones. All items
 * come here. `dense` is false, or with `keep` what it became without: the table changes. */
static inline uint visit_block(local uint *sums, volatile local uint *dense_cells, RUN_ARGUMENTS, uint cell,
                               uint cells, uint ny, uint count, uint place, bool *dense, const bool keep)
{
    uint end = place;
    if (get_local_id(0) == 0)
        dense_cells[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (cell < cells && !*dense)
        end = visit_runs(table, cell_offsets, tile_cells, cell, cells, ny, count, place, dense, keep);
    if (*dense) {
        const uint slot = atomic_inc(&dense_cells[0]);
        dense_cells[1 + slot] = cell;
        dense_cells[1 + ITEMS + slot] = place;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint slot = 0; slot < dense_cells[0]; slot++) {
        const uint together = visit_together(sums, table, cell_offsets, tile_cells, dense_cells[1 + slot],
                                             cells, ny, count, dense_cells[1 + ITEMS + slot], keep);
        end = dense_cells[1 + slot] == cell ? together : end;
    }
    return end;
}

/* ---- the scan ---- */

/* leavers: how many particles go to each cell from `own` on, an item each, as far as they are counted. */
kernel void step_count_leavers(COUNTS_ARGUMENTS, uint own, uint cells, uint ny, uint count,
                               global uint *restrict leavers)
{
    const uint n = (uint)get_global_id(0), cell = own + n;
    if (cell < cells)
        leavers[n] = visit_runs(table, cell_offsets, tile_cells, cell, cells, ny, count, 0, 0, false) +
                     stray_counts[cell];
}

/* One item per cell: how many particles each is to hold. `offsets` gets their number in the cells before,
 * within the block of ITEMS cells of the group, with DENSE, and block_totals that of the block. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void step_total(COUNTS_ARGUMENTS, ARRIVAL_ARGUMENTS,
                                                                          uint cells, uint ny, uint count,
                                                                          global uint *restrict offsets,
                                                                          global uint *restrict block_totals)
{
    local uint sums[2 * ITEMS], dense_cells[DENSE_WORDS];
    const uint t = (uint)get_local_id(0), cell = (uint)get_global_id(0);
    bool dense = false;
    uint total = visit_block(sums, dense_cells, table, cell_offsets, tile_cells, cell, cells, ny, count, 0,
                             &dense, false);
    if (cell < cells)
        total += stray_counts[cell] + arrivals_of(ARRIVALS, cell, ny);
    local const uint *up_to = sum_along(sums, ITEMS, 1, t, total);
    if (cell < cells)
        offsets[cell] = (up_to[t] - total) | (dense ? DENSE : 0);
    if (t == ITEMS - 1)
        block_totals[get_group_id(0)] = up_to[t];
}

/* One group: block_totals becomes the number of particles in the blocks before. Clears the other step's
 * numbers of strays. */
kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void
step_scan_blocks(global uint *restrict block_totals, uint blocks, global uint *restrict next_stray_number)
{
    local uint sums[2 * SCAN_ITEMS];
    scan_by_one_group(sums, block_totals, block_totals, blocks);
    if (get_local_id(0) < 2)
        next_stray_number[get_local_id(0)] = 0;
}

/* One item per cell: where its particles start, in `offsets`, where each run of the table ends, where its
 * strays start, after all runs and before the arrivals, and the tiles that begin in it; also where the cells
 * `low`, `high` and `own` start, from edges[first_edge] on. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
step_place(COUNTS_ARGUMENTS, ARRIVAL_ARGUMENTS, uint cells, uint ny, uint count, uint new_count,
           global uint *restrict offsets, global const uint *restrict block_totals,
           global uint *restrict stray_begins, global uint *restrict new_tile_cells, uint low, uint high,
           uint own, uint first_edge, global uint *restrict edges)
{
    local uint sums[2 * ITEMS], dense_cells[DENSE_WORDS];
    const uint cell = (uint)get_global_id(0), tiles = new_count / TILE + (new_count % TILE != 0);
    const uint within = cell < cells ? offsets[cell] : 0;
    const uint start = (within & ~DENSE) + block_totals[get_group_id(0)];
    bool dense = (within & DENSE) != 0;
    const uint strays = visit_block(sums, dense_cells, table, cell_offsets, tile_cells, cell, cells, ny,
                                    count, start, &dense, true);
    if (cell >= cells)
        return;
    const uint end = strays + stray_counts[cell] + arrivals_of(ARRIVALS, cell, ny);
    offsets[cell] = start;
    stray_begins[cell] = strays;
    if (cell == low)
        edges[first_edge] = start;
    if (cell == high)
        edges[first_edge + 1] = start;
    if (cell == own)
        edges[first_edge + 2] = start;
    for (uint tile = start / TILE + (start % TILE != 0); tile * TILE < end; tile++)
        new_tile_cells[tile] = cell;
    if (cell == cells - 1) {
        offsets[cells] = new_count;
        new_tile_cells[tiles] = cell;
    }
}

#endif
