/* Deposit by groups: the sums of all pieces of a segment (kernels/deposit.cl), for GPUs: by a group, with
 * the particles in local memory.
 */
#ifndef SHARED_DEPOSIT_GROUPS_H
#define SHARED_DEPOSIT_GROUPS_H

#include "shared/deposit_sums.h"

/* Each run of ITEM_PARTICLES in a segment is summed by SHARES items, each for a share of the rows of nodes. A
 * run is no longer than SUM_BLOCK, so that it needs no compensation. */
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

#endif
