/* Deposit nodes: from the pieces of cells to the nodes (kernels/deposit.cl), for GPUs. */
#ifndef SHARED_DEPOSIT_NODES_H
#define SHARED_DEPOSIT_NODES_H

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
    if (!mine) /* the same for all items of the group */
        return;
    real total[SUM_COUNT] = {(real)0}, excess[SUM_COUNT] = {(real)0};
    for (uint s = ends.x + item; s <= ends.y; s += GROUP_ITEMS) {
        real piece[SUM_COUNT];
        for (uint n = 0; n < SUM_COUNT; n++)
            piece[n] = HAS_SUM(n) ? sums[SUM_PLACE(places, s + cell, n)] : (real)0;
        sum_add_block(total, excess, piece);
    }
    sum_over_group(total, shared);
    if (item == 0)
        store_sums(sums, places, ends.x + cell, total);
}

/* An item reads pieces of so many cells around a node at once. It waits once for the places of the pieces,
 * and once for the pieces. */
#define CELLS_AT_ONCE 4

/* The part that item `lane` of `lanes` adds of what the cells around a node hold for it: first their
 * NODE_COUNT sums are dealt out, then, to more items than sums, their pieces. nx and ny are at least 2, so a
 * cell two to the left is still within wrap_near(). */
static inline amounts sum_cells(global const uint *restrict cell_offsets, global const real *restrict sums,
                                uint places, uint nx, uint ny, uint segment_bits, uint most, uint node,
                                uint lane, uint lanes)
{
    const uint row_of_node = node / ny, turns = min(lanes, (uint)NODE_COUNT);
    const uint first = lane / turns, step = lanes / turns;
    const int i = (int)row_of_node, j = (int)(node - row_of_node * ny);
    amounts sum = (amounts)0;
    for (uint next = lane % turns; next < NODE_COUNT; next += CELLS_AT_ONCE * turns) {
        struct pieces pieces[CELLS_AT_ONCE];
        amounts loaded[CELLS_AT_ONCE];
#pragma unroll
        for (uint k = 0; k < CELLS_AT_ONCE; k++) {
            const uint n = next + k * turns;
            const int a = (int)(n / DEPOSIT_NODES), b = (int)(n % DEPOSIT_NODES);
            pieces[k].place = pieces[k].count = 0;
            if (n < NODE_COUNT)
                pieces[k] = pieces_of(cell_offsets, segment_bits, most,
                                      cell_index(wrap_near(i - DEPOSIT_FIRST - a, nx),
                                                 wrap_near(j - DEPOSIT_FIRST - b, ny), ny));
        }
#pragma unroll
        for (uint k = 0; k < CELLS_AT_ONCE; k++)
            loaded[k] = load_piece(sums, places, pieces[k], next + k * turns, first);
#pragma unroll
        for (uint k = 0; k < CELLS_AT_ONCE; k++)
            sum += sum_pieces(sums, places, pieces[k], next + k * turns, loaded[k], first, step);
    }
    return sum;
}

/* `lanes` items of a group per node, a power of two: the more, the fewer nodes there are, where a cell may
 * have many pieces. factor: charge per area of one macro-particle, q w/(dx dy). The density,
 * `stride` reals from one component to the next, is set where `set` is not 0, else added to. most: pieces of
 * a cell that are still apart. unit: of the sums beside. All that an item needs is read before the first of
 * it is waited for: a store to a place that is still being read holds up all that a multiprocessor reads. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void deposit_nodes(NODES_ARGUMENTS)
{
    local amounts shared[GROUP_ITEMS];
    const uint item = (uint)get_local_id(0), lane = item % lanes, cells = nx * ny;
    const uint node = (uint)(get_global_id(0) / lanes);
    const bool stores = node < cells && lane == 0;
    global real *const values = density + node;
    real before[COMPONENTS];
#pragma unroll
    for (uint c = 0; c < COMPONENTS; c++)
        before[c] = stores && !set ? values[(size_t)c * stride] : (real)0;
    amounts sum = (amounts)0;
#if BESIDE
    long counted[3] = {0};
    if (node < cells)
        read_beside(beside, copies, cells, node, lane, lanes, counted);
#endif
    if (node < cells)
        sum = sum_cells(cell_offsets, sums, places, nx, ny, segment_bits, most, node, lane, lanes);
#if BESIDE
    sum += (amounts)(0, (real)counted[0], (real)counted[1], (real)counted[2]) * unit;
    if (node < cells)
        clear_beside(beside, copies, cells, node, lane, lanes);
#endif
    for (uint width = lanes / 2; width > 0; width /= 2) {
        shared[item] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width)
            sum += shared[item + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint c = 0; c < COMPONENTS; c++) {
        const real change = factor * ((const real *)&sum)[c];
        if (stores)
            values[(size_t)c * stride] = set ? change : before[c] + change;
    }
}

#endif
