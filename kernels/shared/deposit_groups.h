/* Deposit by groups: the sums of all pieces of a segment (kernels/deposit.cl), for GPUs: by a group, with
 * the particles in local memory. */
#ifndef SHARED_DEPOSIT_GROUPS_H
#define SHARED_DEPOSIT_GROUPS_H

#include "shared/deposit_sums.h"
#if BESIDE
#include "shared/deposit_beside.h"
#endif

/* Each run of ITEM_PARTICLES in a segment is summed by SHARES items, each for some of the rows of nodes. A
 * run is no longer than SUM_BLOCK, so that it needs no compensation. */
#define SEGMENT_RUNS (SEGMENT_ITEMS / SHARES)
#define SEGMENT_SIZE (SEGMENT_RUNS * ITEM_PARTICLES)
#define ITEM_STAGES  ((ITEM_PARTICLES + SHARES - 1) / SHARES) /* particles that an item stages */
#define SHARE_ROWS   (DEPOSIT_NODES / SHARES)
#define NO_CELL      0xffffffffu

/* The sums of an item are stored four at once: one takes the cache as long. */
#define SHARE_QUADS (COMPONENTS * SHARE_ROWS * DEPOSIT_NODES / 4)

/* A segment in local memory, with a gap behind each run, so that items side by side use different banks.
 * Afterwards it holds the items' sums. */
#define STAGED_REALS   (SEGMENT_RUNS * (ITEM_PARTICLES + 1) * ((CURRENT ? 5 : 2) + WEIGHTS))
#define STAGED_QUADS   ((STAGED_REALS * sizeof(real) + sizeof(real4) - 1) / sizeof(real4))
#define SHARED_QUADS   (STAGED_QUADS < SHARE_QUADS * SEGMENT_ITEMS ? SHARE_QUADS * SEGMENT_ITEMS : STAGED_QUADS)
#define STAGE_PLACE(n) ((n) + (n) / ITEM_PARTICLES)

static inline struct samples sample(const struct list *list, uint p)
{
    const real2 place = list->offset[(size_t)p * list->stride];
#if CURRENT
    const real2 pair = list->velocity[(size_t)p * list->stride];
    const struct velocity u = {pair.x, pair.y, list->w[p]};
    struct samples samples = sample_velocity(list, place.x, place.y, u);
#else
    struct samples samples = {place.x, place.y};
#endif
#if WEIGHTS
    samples.weight = list->weight[p];
#endif
    return samples;
}

/* Copies `size` particles from `begin` on to local memory, and the last one to what is left of it: reads that
 * depend on no branch are all under way at once. */
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
        if ((k + 1) * SEGMENT_ITEMS <= SEGMENT_SIZE || n < SEGMENT_SIZE)
            staged[STAGE_PLACE(n)] = ahead[k];
    }
}

/* Adds the totals of consecutive runs that end in the same cell, each to the ones after it (Hillis & Steele,
 * Commun. ACM 29, 1170, 1986): the last run of a row is left with the sum over all, also in `shared`. Every
 * item must call it, from uniform control flow. shared: SHARE_QUADS * SEGMENT_ITEMS. */
static inline void sum_along_runs(uint cell, local uint *last_cells, real4 total[SHARE_QUADS],
                                  local real4 *shared)
{
    const uint item = (uint)get_local_id(0), run = item / SHARES;
    if (item % SHARES == 0)
        last_cells[run] = cell;
    for (uint distance = 1;; distance *= 2) {
#pragma unroll
        for (uint n = 0; n < SHARE_QUADS; n++)
            shared[n * SEGMENT_ITEMS + item] = total[n];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (distance >= SEGMENT_RUNS)
            return;
        if (run >= distance && last_cells[run - distance] == cell)
#pragma unroll
            for (uint n = 0; n < SHARE_QUADS; n++)
                total[n] += shared[n * SEGMENT_ITEMS + item - distance * SHARES];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* What an item has of the cells that its run meets. */
struct item_sums {
    uint first_cell, last_cell; /* NO_CELL without particles */
    real4 first[SHARE_QUADS];   /* of the first cell where that is not the last */
    real4 last[SHARE_QUADS];
    uint beside; /* bit n: the run's particle n was beside its cell, BESIDE */
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

/* Returns whether the particle was beside its cell, BESIDE, where its current is left out. */
static inline bool add_share(const struct list *list, const struct samples *sample, uint share,
                             real4 total[SHARE_QUADS])
{
    real *const sums = (real *)total;
    real along_x[SHARE_ROWS], along_y[DEPOSIT_NODES];
    share_weights(sample->x, share, along_x);
    shape_weights(sample->y, along_y);
#if WEIGHTS
    for (uint a = 0; a < SHARE_ROWS; a++)
        along_x[a] *= sample->weight;
#endif
#pragma unroll
    for (uint n = 0; n < SHARE_ROWS * SHAPE_NODES; n++) {
        const uint node = n / SHAPE_NODES * DEPOSIT_NODES + n % SHAPE_NODES + SHAPE_FIRST - DEPOSIT_FIRST;
        sums[node * COMPONENTS] += along_x[n / SHAPE_NODES] * along_y[n % SHAPE_NODES];
    }
#if CURRENT
    struct samples before = half_step_before(sample, list->back);
#if BESIDE
    const bool is_beside = was_beside(&before);
    for (uint c = 0; is_beside && c < 3; c++)
        before.velocity[c] = (real)0;
#else
    const bool is_beside = false;
#endif
    share_weights(before.x, share, along_x);
    deposit_weights(before.y, along_y);
#pragma unroll
    for (uint n = 0; n < 3 * SHARE_ROWS; n++) {
        const real amount = before.velocity[n / SHARE_ROWS] * along_x[n % SHARE_ROWS];
#pragma unroll
        for (uint b = 0; b < DEPOSIT_NODES; b++)
            sums[(n % SHARE_ROWS * DEPOSIT_NODES + b) * COMPONENTS + 1 + n / SHARE_ROWS] +=
                amount * along_y[b];
    }
    return is_beside;
#else
    return false;
#endif
}

static inline amounts load_amounts(global const real *restrict sums, uint places, uint place, uint node)
{
    return *(global const amounts *)(sums + SUM_PLACE(places, place, node * COMPONENTS));
}

static inline void store_share(global real *restrict sums, uint places, uint place, uint share,
                               const real4 total[SHARE_QUADS])
{
    global real4 *const to = (global real4 *)(sums + SUM_PLACE(places, place, 0)) + share * SHARE_QUADS;
#pragma unroll
    for (uint n = 0; n < SHARE_QUADS; n++)
        to[n] = total[n];
}

/* Sums the staged particles from..to of a segment that begins with `begin` in first_cell or behind it. A cell
 * between the run's first and last one is all the run's own: its piece is done. */
static inline struct item_sums sum_run(global const uint *restrict cell_offsets, uint cells,
                                       const struct list *list, local const struct samples *staged,
                                       uint begin, uint from, uint to, uint first_cell, uint share,
                                       uint segment, global real *restrict sums, uint places)
{
    struct item_sums own = {NO_CELL, NO_CELL, {(real4)0}, {(real4)0}, 0};
    if (from >= to)
        return own;
    local const struct samples *const of_run = staged + STAGE_PLACE(from) - from;
    uint cell = find_segment_near(cell_offsets, cells, first_cell, begin + from);
    uint cell_end = cell_offsets[cell + 1], next_end = cell_offsets[min(cell + 2, cells)];
    own.first_cell = cell;
    for (uint n = from; n < to; n++) {
        if (begin + n == cell_end) {
            if (cell != own.first_cell)
                store_share(sums, places, segment + cell, share, own.last);
#pragma unroll
            for (uint m = 0; m < SHARE_QUADS; m++) {
                own.first[m] = cell == own.first_cell ? own.last[m] : own.first[m];
                own.last[m] = (real4)0;
            }
            cell++;
            cell_end = next_end;
            if (cell_end == begin + n) { /* an empty cell */
                cell = find_segment_near(cell_offsets, cells, cell, begin + n);
                cell_end = cell_offsets[cell + 1];
            }
            next_end = cell_offsets[min(cell + 2, cells)]; /* is waited for at the end of the cell */
        }
        const struct samples sample = of_run[n];
        own.beside |= (uint)add_share(list, &sample, share, own.last) << (n - from);
    }
    own.last_cell = cell;
    return own;
}

/* A group stages its segment in local memory, with reads that coalesce, then sums its runs, and pieces that
 * several runs share are added along them. The search begins where the segment was at the last deposit. */
kernel __attribute__((reqd_work_group_size(SEGMENT_ITEMS, 1, 1))) void
deposit_group_per_segment(global const uint *restrict cell_offsets, LIST_ARGUMENTS, uint cells, uint count,
                          uint segment_bits, global real *restrict sums, uint places,
                          global uint *restrict segment_cell WEIGHT_ARGUMENT)
{
    local real4 shared[SHARED_QUADS];
    local uint first_cells[SEGMENT_RUNS], last_cells[SEGMENT_RUNS], found;
#if BESIDE
    local ushort list_beside[SEGMENT_SIZE];
    local uint number_beside;
    if (get_local_id(0) == 0)
        number_beside = 0; /* the search has barriers */
#endif
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
    struct item_sums own = sum_run(cell_offsets, cells, &list, staged, begin, from, to, first_cell, share,
                                   segment, sums, places);
    if (share == 0)
        first_cells[run] = own.first_cell;
#if BESIDE
    for (uint left = share == 0 ? own.beside : 0; left != 0; left &= left - 1)
        list_beside[atomic_inc(&number_beside)] = (ushort)(from + popcount(~left & (left - 1)));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint n = item; n < number_beside; n += SEGMENT_ITEMS) {
        const uint place = list_beside[n];
        const struct samples sample = staged[STAGE_PLACE(place)];
        add_beside(half_step_before(&sample, back),
                   find_segment_near(cell_offsets, cells, first_cells[place / ITEM_PARTICLES], begin + place),
                   nx, ny, scale, beside + 3 * (size_t)(segment & (copies - 1)) * nx * ny);
    }
#endif
    /* The staged particles are done with, and every item has read the segment's cell. */
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (item == 0)
        segment_cell[segment] = own.first_cell;
    sum_along_runs(own.last_cell, last_cells, own.last, shared);

    if (own.first_cell != own.last_cell) {
        if (run > 0 && last_cells[run - 1] == own.first_cell)
            for (uint n = 0; n < SHARE_QUADS; n++)
                own.first[n] += shared[n * SEGMENT_ITEMS + item - SHARES];
        store_share(sums, places, segment + own.first_cell, share, own.first);
    }
    const bool goes_on = run + 1 < SEGMENT_RUNS && first_cells[run + 1] == own.last_cell;
    if (own.last_cell != NO_CELL && !goes_on)
        store_share(sums, places, segment + own.last_cell, share, own.last);
}

#endif
