/* Deposit by vectors: the sums of all pieces of a segment (kernels/deposit.cl), for CPUs: by an item, with
 * LANES particles side by side. */
#ifndef SHARED_DEPOSIT_VECTORS_H
#define SHARED_DEPOSIT_VECTORS_H

#include "shared/deposit_sums.h"

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

/* Functions that have the sums of a block in registers: clang leaves some of them apart otherwise. */
#define INLINED static inline __attribute__((always_inline))

/* A block sums particles that are in their own cell lane by lane, for the nodes that they touch there. */
#define INNER_NODES (SHAPE_NODES * SHAPE_NODES)
#define INNER_SUMS  (COMPONENTS * INNER_NODES)

/* For the current it sums particles that were beside their cell half a step before one by one, with a lane
 * for each node: `sum` holds the last `count`, fewer than SUM_BLOCK, and `before` the earlier ones. Where
 * half a step is short beside a cell these are few. */
#define NODE_VECTORS ((NODE_COUNT + LANES - 1) / LANES)
struct beside_sums {
    reals sum[CURRENT ? 3 : 1][NODE_VECTORS], before[CURRENT ? 3 : 1][NODE_VECTORS];
    uint count;
};

/* Adds particles in their own cell to component 0: all lanes, or those where `counts` is set. */
INLINED void add_charge(const struct samples *samples, const bool all, masks counts, reals sums[INNER_NODES])
{
    reals along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights(samples->x, along_x);
    shape_weights(samples->y, along_y);
#if WEIGHTS
    for (uint a = 0; a < SHAPE_NODES; a++)
        along_x[a] *= samples->weight;
#endif
    /* Lanes that do not count may be non-finite, so both weights are set to 0. */
    for (uint a = 0; !all && a < SHAPE_NODES; a++) {
        along_x[a] = counts ? along_x[a] : (reals)0;
        along_y[a] = counts ? along_y[a] : (reals)0;
    }
#pragma unroll
    for (uint n = 0; n < INNER_NODES; n++)
        sums[n] += along_x[n / SHAPE_NODES] * along_y[n % SHAPE_NODES];
}

#if CURRENT

/* Adds the current of particles that were in their own cell, where `counts` is set. */
INLINED void add_current(const struct samples *before, masks counts, reals sums[3 * INNER_NODES])
{
    reals along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights(before->x, along_x);
    shape_weights(before->y, along_y);
    for (uint b = 0; b < SHAPE_NODES; b++)
        along_y[b] = counts ? along_y[b] : (reals)0;
#pragma unroll
    for (uint n = 0; n < 3 * SHAPE_NODES; n++) {
        const reals amount = counts ? before->velocity[n / SHAPE_NODES] * along_x[n % SHAPE_NODES] : (reals)0;
#pragma unroll
        for (uint b = 0; b < SHAPE_NODES; b++)
            sums[n * SHAPE_NODES + b] += amount * along_y[b];
    }
}

/* Adds one particle, of which lane n has node n: row n / DEPOSIT_NODES and column n % DEPOSIT_NODES. */
static inline void add_beside(real x, real y, const real velocity[3], struct beside_sums *beside)
{
    for (int k = 0; k < NODE_VECTORS; k++) {
        const ints node = LANE_NUMBERS + k * LANES;
        const reals row = TO_REALS(node / DEPOSIT_NODES + DEPOSIT_FIRST);
        const reals column = TO_REALS(node % DEPOSIT_NODES + DEPOSIT_FIRST);
        const reals weight = shape_at(SHAPE_ORDER, x - row) * shape_at(SHAPE_ORDER, y - column);
#pragma unroll
        for (uint c = 0; c < 3; c++)
            beside->sum[c][k] += velocity[c] * weight;
    }
    if (++beside->count < SUM_BLOCK)
        return;
    for (uint c = 0; c < 3; c++)
        for (int k = 0; k < NODE_VECTORS; k++) {
            beside->before[c][k] += beside->sum[c][k];
            beside->sum[c][k] = (reals)0;
        }
    beside->count = 0;
}

/* The lanes of `samples` that `which` names. */
static inline void add_lanes_beside(const struct samples *samples, ints which, struct beside_sums *beside)
{
    int is_beside[LANES];
    real x[LANES], y[LANES], velocity[3][LANES];
    STORE(which, is_beside);
    STORE(samples->x, x);
    STORE(samples->y, y);
    for (uint c = 0; c < 3; c++)
        STORE(samples->velocity[c], velocity[c]);
    for (uint l = 0; l < LANES; l++)
        if (is_beside[l]) {
            const real own[3] = {velocity[0][l], velocity[1][l], velocity[2][l]};
            add_beside(x[l], y[l], own, beside);
        }
}

#endif

INLINED void add_samples(const struct list *list, const struct samples *samples, const bool all, masks counts,
                         reals inner[INNER_SUMS], struct beside_sums *beside)
{
    add_charge(samples, all, counts, inner);
#if CURRENT
    const struct samples before = half_step_before(samples, list->back);
    const masks is_inner = are_fractions(before.x, before.y);
    const ints which = INT_MASK(counts & ~is_inner);
    add_current(&before, counts & is_inner, inner + INNER_NODES);
    if (!all_lanes(~which))
        add_lanes_beside(&before, which, beside);
#endif
}

/* Adds LANES particles from p on; those before `begin` and from `end` on are left out. `whole`: none is, and
 * p is a multiple of LANES. */
INLINED void add_vector(const struct list *list, uint p, const bool whole, uint begin, uint end,
                        reals inner[INNER_SUMS], struct beside_sums *beside)
{
    const ints lane = LANE_NUMBERS;
    const masks counts = REAL_MASK(lane >= (int)(begin - p) & lane < (int)(end - p));
    reals of[4]; /* x, y, u, v */
    load_reals(list->offset, list->stride, p, whole, of);
#if CURRENT
    if (list->stride == 1)
        load_reals(list->velocity, 1, p, false, of + 2);
    const struct velocity u = {of[2], of[3], LOAD(list->w + p)};
    struct samples samples = sample_velocity(list, of[0], of[1], u);
#else
    struct samples samples = {of[0], of[1]};
#endif
#if WEIGHTS
    samples.weight = LOAD(list->weight + p);
#endif
    add_samples(list, &samples, whole, counts, inner, beside);
}

/* Adds those of the particles from `begin` to before `end` of a list that is shorter than LANES. */
static inline void add_few(const struct list *list, uint begin, uint end, reals inner[INNER_SUMS],
                           struct beside_sums *beside)
{
    real x[LANES], y[LANES], u[LANES], v[LANES], w[LANES], weight[LANES];
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
#if WEIGHTS
        weight[n] = list->weight[p];
#endif
    }
    const ints lane = LANE_NUMBERS;
#if CURRENT
    const struct velocity velocity = {LOAD(u), LOAD(v), LOAD(w)};
    struct samples samples = sample_velocity(list, LOAD(x), LOAD(y), velocity);
#else
    struct samples samples = {LOAD(x), LOAD(y)};
#endif
#if WEIGHTS
    samples.weight = LOAD(weight);
#endif
    add_samples(list, &samples, false, REAL_MASK(lane >= (int)begin & lane < (int)end), inner, beside);
}

/* The lanes and nodes of a block added up for the NODE_COUNT nodes of each component. */
static inline void collect_sums(const reals inner[INNER_SUMS], const struct beside_sums *beside,
                                real block[SUM_COUNT])
{
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n += CURRENT ? COMPONENTS : 1)
        block[n] = (real)0;
#if CURRENT
#pragma unroll
    for (uint c = 0; c < 3; c++)
#pragma unroll
        for (uint k = 0; k < NODE_VECTORS; k++) {
            real nodes[LANES];
            STORE(beside->before[c][k] + beside->sum[c][k], nodes);
#pragma unroll
            for (uint n = 0; n < LANES && k * LANES + n < NODE_COUNT; n++)
                block[(k * LANES + n) * COMPONENTS + 1 + c] = nodes[n];
        }
#endif
#pragma unroll
    for (uint n = 0; n < INNER_SUMS; n += 4) {
        const reals four = sum_lanes(inner + n);
        const real values[4] = {four.s0, four.s1, four.s2, four.s3};
#pragma unroll
        for (uint l = 0; l < 4; l++) {
            const uint m = n + l, row = m % INNER_NODES / SHAPE_NODES + SHAPE_FIRST - DEPOSIT_FIRST;
            const uint column = m % SHAPE_NODES + SHAPE_FIRST - DEPOSIT_FIRST;
            block[(row * DEPOSIT_NODES + column) * COMPONENTS + m / INNER_NODES] += values[l];
        }
    }
}

/* A block: the particles from `begin` to `aligned`, a vector or fewer, up to SUM_BLOCK - 2 whole vectors from
 * there on, and the rest before `end`. A lane adds no more than SUM_BLOCK terms plainly. */
static inline void sum_block(const struct list *list, uint count, uint begin, uint aligned, uint end,
                             real block[SUM_COUNT])
{
    reals inner[INNER_SUMS] = {0};
    struct beside_sums beside = {{{0}}, {{0}}, 0};
    /* Of a part of a vector the other lanes hold neighbours in the list. */
    if (count < LANES)
        add_few(list, begin, end, inner, &beside);
    else if (begin < aligned)
        add_vector(list, min(begin, count - LANES), false, begin, min(aligned, end), inner, &beside);
    uint p = aligned;
    for (; p + LANES <= end; p += LANES)
        add_vector(list, p, true, p, end, inner, &beside);
    if (p < end)
        add_vector(list, min(p, count - LANES), false, p, end, inner, &beside);
    collect_sums(inner, &beside, block);
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

static inline amounts load_amounts(global const real *restrict sums, uint places, uint place, uint node)
{
    amounts loaded = (amounts)0;
    for (uint c = 0; c < COMPONENTS; c++)
        if (HAS_SUM(node * COMPONENTS + c))
            ((real *)&loaded)[c] = sums[SUM_PLACE(places, place, node * COMPONENTS + c)];
    return loaded;
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
                         global uint *restrict segment_cell WEIGHT_ARGUMENT)
{
    const struct list soa = LIST(1), aos = LIST(2);
    if (stride == 1)
        sum_segment(cell_offsets, &soa, cells, count, segment_bits, sums, places, segment_cell);
    else
        sum_segment(cell_offsets, &aos, cells, count, segment_bits, sums, places, segment_cell);
}

#endif
