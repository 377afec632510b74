/* Deposit segments: the sums of all pieces of a segment (kernels/deposit.cl), by a group on GPUs and by an
 * item with vectors on CPUs; and those of a cell of many pieces by a group.
 */
#ifndef SHARED_DEPOSIT_SEGMENTS_H
#define SHARED_DEPOSIT_SEGMENTS_H

#include "shared/deposit_sums.h"
#include "shared/fast_search.h"

#if LANES == 1

/* ---- one group per segment ---- */

/* A segment has a run of ITEM_PARTICLES, no more than SUM_BLOCK, which need no compensation, for every SHARES
 * items: each of these sums a share of the rows of nodes. */
#define SEGMENT_RUNS (SEGMENT_ITEMS / SHARES)
#define SEGMENT_SIZE (SEGMENT_RUNS * ITEM_PARTICLES)
#define ITEM_STAGES  ((ITEM_PARTICLES + SHARES - 1) / SHARES) /* particles that an item stages */
#define SHARE_ROWS   (DEPOSIT_NODES / SHARES)
#define SHARE_SUMS   (COMPONENTS * SHARE_ROWS * DEPOSIT_NODES)
#define NO_CELL      0xffffffffu

/* A segment in local memory, with a gap behind each run, so that items side by side use different banks.
 * Afterwards it holds the items' sums. */
#define STAGED_REALS   (SEGMENT_RUNS * (ITEM_PARTICLES + 1) * (CURRENT ? 2 + COMPONENTS : 2))
#define SHARED_REALS   (STAGED_REALS < SHARE_SUMS * SEGMENT_ITEMS ? SHARE_SUMS * SEGMENT_ITEMS : STAGED_REALS)
#define STAGE_PLACE(n) ((n) + (n) / ITEM_PARTICLES)

static inline struct samples sample(const struct list *list, uint p)
{
    const real2 place = list->offset[(size_t)p * list->stride];
#if CURRENT
    const real2 pair = list->velocity[(size_t)p * list->stride];
    const struct velocity u = {pair.x, pair.y, list->w[p]};
    return sample_current(list, place.x, place.y, u);
#else
    const struct samples samples = {place.x, place.y};
    return samples;
#endif
}

/* Copies `size` particles from `begin` on to local memory. All reads of an item are under way at once. */
static inline void stage_particles(const struct list *list, uint begin, uint size,
                                   local struct samples *staged)
{
    const uint item = (uint)get_local_id(0);
    struct samples ahead[ITEM_STAGES];
#pragma unroll
    for (uint k = 0; k < ITEM_STAGES; k++)
        ahead[k] = sample(list, begin + min(item + k * SEGMENT_ITEMS, size - 1));
#pragma unroll
    for (uint k = 0; k < ITEM_STAGES; k++) {
        const uint n = item + k * SEGMENT_ITEMS;
        if (n < size)
            staged[STAGE_PLACE(n)] = ahead[k];
    }
}

/* Adds the totals of consecutive runs that end in the same cell, each to the ones after it (Hillis & Steele,
 * Commun. ACM 29, 1170, 1986): the last run of a row is left with the sum over all, also in `shared`. Every
 * item must call it, from uniform control flow. shared: SHARE_SUMS * SEGMENT_ITEMS reals. */
static inline void sum_along_runs(uint cell, local uint *last_cells, real total[SHARE_SUMS],
                                  local real *shared)
{
    const uint item = (uint)get_local_id(0), run = item / SHARES;
    if (item % SHARES == 0)
        last_cells[run] = cell;
    for (uint distance = 1;; distance *= 2) {
#pragma unroll
        for (uint n = 0; n < SHARE_SUMS; n++)
            shared[n * SEGMENT_ITEMS + item] = total[n];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (distance >= SEGMENT_RUNS)
            return;
        if (run >= distance && last_cells[run - distance] == cell)
#pragma unroll
            for (uint n = 0; n < SHARE_SUMS; n++)
                total[n] += shared[n * SEGMENT_ITEMS + item - distance * SHARES];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* What an item has of the cells that its run meets. */
struct item_sums {
    uint first_cell, last_cell; /* NO_CELL without particles */
    real first[SHARE_SUMS];     /* of the first cell where that is not the last */
    real last[SHARE_SUMS];
};

/* The weights along x of the share's rows. */
static inline void share_weights(real d, uint share, real weights[SHARE_ROWS])
{
#if SHARES == 1
    deposit_weights(d, weights);
#else
    for (uint a = 0; a < SHARE_ROWS; a++)
        weights[a] = shape_at(SHAPE_ORDER, d - (real)(DEPOSIT_FIRST + (int)(share * SHARE_ROWS + a)));
#endif
}

static inline void add_share(const struct samples *sample, uint share, real sums[SHARE_SUMS])
{
    real along_x[SHARE_ROWS], along_y[DEPOSIT_NODES];
    share_weights(sample->x, share, along_x);
    deposit_weights(sample->y, along_y);
#pragma unroll
    for (uint n = 0; n < SHARE_SUMS; n++) {
        const uint row = n / DEPOSIT_NODES;
        const real weight = AMOUNT(sample, row / SHARE_ROWS, along_x[row % SHARE_ROWS]);
        sums[n] += weight * along_y[n % DEPOSIT_NODES];
    }
}

static inline void store_share(global real *restrict sums, uint places, uint place, uint share,
                               const real total[SHARE_SUMS])
{
#pragma unroll
    for (uint n = 0; n < SHARE_SUMS; n++) {
        const uint row = n / DEPOSIT_NODES, component = row / SHARE_ROWS;
        const uint plane = component * DEPOSIT_NODES + share * SHARE_ROWS + row % SHARE_ROWS;
        sums[SUM_PLACE(places, place, plane * DEPOSIT_NODES + n % DEPOSIT_NODES)] = total[n];
    }
}

/* Sums the staged particles from..to of a segment that begins with `begin` in first_cell or behind it. A cell
 * between the run's first and last one is all the run's own: its piece is done. */
static inline struct item_sums sum_run(global const uint *restrict cell_offsets, uint cells,
                                       local const struct samples *staged, uint begin, uint from, uint to,
                                       uint first_cell, uint share, uint segment, global real *restrict sums,
                                       uint places)
{
    struct item_sums own = {NO_CELL, NO_CELL, {(real)0}, {(real)0}};
    if (from >= to)
        return own;
    local const struct samples *const of_run = staged + STAGE_PLACE(from) - from;
    uint cell = find_segment_near(cell_offsets, cells, first_cell, begin + from);
    uint cell_end = cell_offsets[cell + 1];
    own.first_cell = cell;
    for (uint n = from; n < to; n++) {
        if (begin + n == cell_end) {
            if (cell != own.first_cell)
                store_share(sums, places, segment + cell, share, own.last);
#pragma unroll
            for (uint m = 0; m < SHARE_SUMS; m++) {
                own.first[m] = cell == own.first_cell ? own.last[m] : own.first[m];
                own.last[m] = (real)0;
            }
            cell = find_segment_near(cell_offsets, cells, cell + 1, begin + n);
            cell_end = cell_offsets[cell + 1];
        }
        const struct samples sample = of_run[n];
        add_share(&sample, share, own.last);
    }
    own.last_cell = cell;
    return own;
}

/* A group stages its segment in local memory, with reads that coalesce, then sums its runs, and pieces that
 * several runs share are added along them. The search begins where the segment was at the last deposit. */
kernel __attribute__((reqd_work_group_size(SEGMENT_ITEMS, 1, 1))) void
deposit_group_per_segment(global const uint *restrict cell_offsets, LIST_ARGUMENTS, uint cells, uint count,
                          uint segment_bits, global real *restrict sums, uint places,
                          global uint *restrict segment_cell)
{
    local real shared[SHARED_REALS];
    local uint first_cells[SEGMENT_RUNS], last_cells[SEGMENT_RUNS], found;
    const uint segment = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint run = item / SHARES, share = item % SHARES;
    const uint begin = segment * SEGMENT_SIZE;
    const uint size = min((uint)SEGMENT_SIZE, count - begin);
    const struct list list = LIST(stride);
    local struct samples *const staged = (local struct samples *)shared;
    stage_particles(&list, begin, size, staged);
    /* With its barriers, behind which the particles are staged. */
    const uint first_cell = find_segment_by_group(cell_offsets, cells, begin, segment_cell[segment], &found);

    const uint from = run * ITEM_PARTICLES, to = min(from + ITEM_PARTICLES, size);
    struct item_sums own =
        sum_run(cell_offsets, cells, staged, begin, from, to, first_cell, share, segment, sums, places);
    if (share == 0)
        first_cells[run] = own.first_cell;
    /* The staged particles are done with, and every item has read the segment's cell. */
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (item == 0)
        segment_cell[segment] = own.first_cell;
    sum_along_runs(own.last_cell, last_cells, own.last, shared);

    if (own.first_cell != own.last_cell) {
        if (run > 0 && last_cells[run - 1] == own.first_cell)
            for (uint n = 0; n < SHARE_SUMS; n++)
                own.first[n] += shared[n * SEGMENT_ITEMS + item - SHARES];
        store_share(sums, places, segment + own.first_cell, share, own.first);
    }
    const bool goes_on = run + 1 < SEGMENT_RUNS && first_cells[run + 1] == own.last_cell;
    if (own.last_cell != NO_CELL && !goes_on)
        store_share(sums, places, segment + own.last_cell, share, own.last);
}

#else

/* ---- one item per segment ---- */

/* The reals of LANES particles from p on, one after the other in memory: `stride` pairs each. `whole`: p is a
 * multiple of LANES, where vectors are loaded at once. */
static inline void load_reals(global const real2 *restrict pairs, uint stride, uint p, const bool whole,
                              reals of[4])
{
    global const reals *const at = (global const reals *)(pairs + (size_t)p * stride);
    global const real *const from = (global const real *)at;
    const reals a = whole ? at[0] : vload16(0, from), b = whole ? at[1] : vload16(1, from);
    of[0] = even_lanes(a, b);
    of[1] = odd_lanes(a, b);
    if (stride == 1)
        return;
    const reals c = whole ? at[2] : vload16(2, from), d = whole ? at[3] : vload16(3, from);
    const reals even = even_lanes(c, d), odd = odd_lanes(c, d);
    of[2] = odd_lanes(of[0], even);
    of[3] = odd_lanes(of[1], odd);
    of[0] = even_lanes(of[0], even);
    of[1] = even_lanes(of[1], odd);
}

/* Adds the weights of LANES particles from p on; those before `begin` and from `end` on are left out.
 * `whole`: none is, and p is a multiple of LANES. */
static inline void add_vector(const struct list *list, uint p, const bool whole, uint begin, uint end,
                              reals sums[SUM_COUNT])
{
    const ints lane = LANE_NUMBERS;
    const masks counts = REAL_MASK(lane >= (int)(begin - p) & lane < (int)(end - p));
    reals of[4]; /* x, y, u, v */
    load_reals(list->offset, list->stride, p, whole, of);
#if CURRENT
    if (list->stride == 1)
        load_reals(list->velocity, 1, p, false, of + 2);
    const struct velocity u = {of[2], of[3], LOAD(list->w + p)};
    const struct samples samples = sample_current(list, of[0], of[1], u);
#else
    const struct samples samples = {of[0], of[1]};
#endif
    add_particles(&samples, whole, counts, sums);
}

/* Adds those of the particles from `begin` to before `end` of a list that is shorter than LANES. */
static inline void add_few(const struct list *list, uint begin, uint end, reals sums[SUM_COUNT])
{
    real x[LANES], y[LANES], u[LANES], v[LANES], w[LANES];
    for (uint n = 0; n < LANES; n++) {
        const uint p = min(n, end - 1);
        const real2 place = list->offset[(size_t)p * list->stride];
        x[n] = place.x;
        y[n] = place.y;
#if CURRENT
        const real2 pair = list->velocity[(size_t)p * list->stride];
        u[n] = pair.x;
        v[n] = pair.y;
        w[n] = list->w[p];
#endif
    }
    const ints lane = LANE_NUMBERS;
#if CURRENT
    const struct velocity velocity = {LOAD(u), LOAD(v), LOAD(w)};
    const struct samples samples = sample_current(list, LOAD(x), LOAD(y), velocity);
#else
    const struct samples samples = {LOAD(x), LOAD(y)};
#endif
    add_particles(&samples, false, REAL_MASK(lane >= (int)begin & lane < (int)end), sums);
}

/* A block: the particles from `begin` to `aligned`, a vector or fewer, up to SUM_BLOCK - 2 whole vectors from
 * there on, and the rest before `end`. A lane adds no more than SUM_BLOCK terms plainly. */
static inline void sum_block(const struct list *list, uint count, uint begin, uint aligned, uint end,
                             real block[SUM_COUNT])
{
    reals sums[SUM_COUNT] = {0};
    /* Of a part of a vector the other lanes hold neighbours in the list. */
    if (count < LANES)
        add_few(list, begin, end, sums);
    else if (begin < aligned)
        add_vector(list, min(begin, count - LANES), false, begin, min(aligned, end), sums);
    uint p = aligned;
    for (; p + LANES <= end; p += LANES)
        add_vector(list, p, true, p, end, sums);
    if (p < end)
        add_vector(list, min(p, count - LANES), false, p, end, sums);
    for (uint n = 0; n < SUM_COUNT; n += 4) {
        const reals four = sum_lanes(sums + n);
        block[n] = four.s0;
        block[n + 1] = four.s1;
        block[n + 2] = four.s2;
        block[n + 3] = four.s3;
    }
}

/* The sums over particles begin to end. */
static inline void sum_consecutive(const struct list *list, uint count, uint begin, uint end,
                                   real total[SUM_COUNT])
{
    real excess[SUM_COUNT] = {(real)0};
    for (uint p = begin; p < end;) {
        const uint aligned = end - p <= LANES ? end : (p + LANES - 1) / LANES * LANES;
        const uint block_end = min(end, aligned + LANES * (SUM_BLOCK - 2));
        real block[SUM_COUNT];
        sum_block(list, count, p, aligned, block_end, p == begin ? total : block);
        if (p > begin)
            sum_add_block(total, excess, block);
        p = block_end;
    }
}

/* The pieces of a segment, one after the other. */
static inline void sum_segment(global const uint *restrict cell_offsets, const struct list *list, uint cells,
                               uint count, uint segment_bits, global real *restrict sums, uint places,
                               global uint *restrict segment_cell)
{
    const uint segment = (uint)get_group_id(0);
    const uint begin = segment << segment_bits;
    const uint end = begin + min(count - begin, 1u << segment_bits);
    uint cell = find_segment_near(cell_offsets, cells, 0, begin);
    segment_cell[segment] = cell;
    for (uint p = begin; p < end;) {
        const uint piece_end = min(end, cell_offsets[cell + 1]);
        real total[SUM_COUNT];
        sum_consecutive(list, count, p, piece_end, total);
        store_sums(sums, places, segment + cell, total);
        p = piece_end;
        if (p < end)
            cell = find_segment_near(cell_offsets, cells, cell + 1, p);
    }
}

/* One item per segment, each in a group of its own. The stride is spelled out so that the compiler knows it
 * in the inner loop. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
deposit_item_per_segment(global const uint *restrict cell_offsets, LIST_ARGUMENTS, uint cells, uint count,
                         uint segment_bits, global real *restrict sums, uint places,
                         global uint *restrict segment_cell)
{
    const struct list soa = LIST(1), aos = LIST(2);
    if (stride == 1)
        sum_segment(cell_offsets, &soa, cells, count, segment_bits, sums, places, segment_cell);
    else
        sum_segment(cell_offsets, &aos, cells, count, segment_bits, sums, places, segment_cell);
}

#endif

/* ---- cells of many pieces ---- */

/* One group for every `most` segments: if the first of them is also the first such one that starts in a cell
 * of more than `most` pieces, the group adds them all into the place of the cell's first piece. So each long
 * cell has one group, found without a search, and deposit_nodes need not add more than `most` pieces. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
deposit_long_cells(global const uint *restrict cell_offsets, global const uint *restrict segment_cell,
                   uint segment_bits, uint most, global real *restrict sums, uint places)
{
    local real shared[SUM_SHARED];
    const uint segment = (uint)get_group_id(0) * most, item = (uint)get_local_id(0);
    const uint cell = segment_cell[segment];
    const uint2 ends = segments_of(cell_offsets, segment_bits, cell);
    const uint first_started = ends.x + (ends.x << segment_bits < cell_offsets[cell]);
    const bool mine = ends.y - ends.x >= most && segment - first_started < most;
    real total[SUM_COUNT] = {(real)0}, excess[SUM_COUNT] = {(real)0};
    for (uint s = ends.x + item; mine && s <= ends.y; s += GROUP_ITEMS) {
        real piece[SUM_COUNT];
        for (uint n = 0; n < SUM_COUNT; n++)
            piece[n] = sums[SUM_PLACE(places, s + cell, n)];
        sum_add_block(total, excess, piece);
    }
    sum_over_group(total, shared);
    if (mine && item == 0)
        store_sums(sums, places, ends.x + cell, total);
}

#endif
