/* NDPA: permutes the axes of an N-dimensional array of words in place, cell by cell (see
 * src/experiments/permutation/ndpa_shape.h for what lies where).
 *
 *   ndpa_cells    TEAM items take a cell of p^N elements; with TEAM 1 each item has one of its own
 *   ndpa_bars     a group takes a bar, consecutive cells along the last axis, whose rows are long
 *   ndpa_tables   the same, and divides by nothing that is not known to the compiler: tables hold the rest
 *
 * They read all that a group owns into local memory and write it back permuted; no other group
 * touches it. Local memory is read with strides, which costs up to p items a bank; global memory in rows.
 */
#define CELL_ROWS (CELL_ELEMENTS / CELL_SIDE)

/* ---- index maps, computed ---- */

/* uint[DIMENSIONS] each, one after the other. */
#define COUNTS  0                /* cells along each axis; of the last axis bars, for bars */
#define STEPS   (DIMENSIONS)     /* from one of them to the next, in elements of the volume */
#define STRIDES (2 * DIMENSIONS) /* from one element to the next along each axis of the volume */
#define INSIDE  (3 * DIMENSIONS) /* along axis k of the permuted cell: from one element to the next before */

/* The place in the volume of the first element of cell or bar `number`. */
static inline uint first_place(constant const uint *map, uint number)
{
    uint place = 0;
    for (int axis = DIMENSIONS - 1; axis >= 0; axis--) {
        place += number % map[COUNTS + axis] * map[STEPS + axis];
        number /= map[COUNTS + axis];
    }
    return place;
}

/* The place of element e of a cell, by the strides of the axes. */
static inline uint place_by(constant const uint *strides, uint e)
{
    uint place = 0;
    for (int axis = DIMENSIONS - 1; axis >= 0; axis--, e /= CELL_SIDE)
        place += e % CELL_SIDE * strides[axis];
    return place;
}

/* In the volume, from the place of the cell's first element on. */
#define PLACE_IN_VOLUME(map, e) place_by((map) + STRIDES, (e))
/* The place in its cell where element e of the permuted cell stood. */
#define PLACE_BEFORE(map, e) place_by((map) + INSIDE, (e))

/* ---- cell by cell ---- */

#define SLOTS ((uint)get_local_size(0) / TEAM)

/* Where element e of a group's cell lies in local memory: side by side for items that read it at once. */
static inline uint held_place(uint slot, uint e)
{
    return TEAM == 1 ? e * SLOTS + slot : slot * CELL_ELEMENTS + e;
}

/* `held` holds SLOTS cells. A group past the last cell keeps its items until the barrier. */
kernel void ndpa_cells(global uint *volume, constant const uint *map, uint cells, local uint *held)
{
    const uint slot = (uint)get_local_id(0) / TEAM, first = (uint)get_local_id(0) % TEAM;
    const uint cell = (uint)get_group_id(0) * SLOTS + slot;
    const uint end = cell < cells ? CELL_ELEMENTS : 0;
    const uint begin = first_place(map, cell);
    for (uint e = first; e < end; e += TEAM)
        held[held_place(slot, e)] = volume[begin + PLACE_IN_VOLUME(map, e)];
#if TEAM > 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint e = first; e < end; e += TEAM)
        volume[begin + PLACE_IN_VOLUME(map, e)] = held[held_place(slot, PLACE_BEFORE(map, e))];
}

/* ---- bar by bar ---- */

/* A bar has CELL_ROWS rows of `width` elements, the last one of a row of bars maybe fewer; in `held` each row
 * takes `width`. `side` is the volume's along the last axis. */
kernel void ndpa_bars(global uint *volume, constant const uint *map, uint width, uint side, local uint *held)
{
    const uint bar = (uint)get_group_id(0), begin = first_place(map, bar);
    const uint columns = min(width, side - bar % map[COUNTS + DIMENSIONS - 1] * width);
    for (uint t = (uint)get_local_id(0); t < CELL_ROWS * columns; t += (uint)get_local_size(0)) {
        const uint row = t / columns, column = t % columns;
        held[row * width + column] = volume[begin + PLACE_IN_VOLUME(map, row * CELL_SIDE) + column];
    }
#if !ALONE
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint t = (uint)get_local_id(0); t < CELL_ROWS * columns; t += (uint)get_local_size(0)) {
        const uint row = t / columns, column = t % columns, in_cell = column % CELL_SIDE;
        const uint before = PLACE_BEFORE(map, row * CELL_SIDE + in_cell);
        volume[begin + PLACE_IN_VOLUME(map, row * CELL_SIDE) + column] =
            held[before / CELL_SIDE * width + column - in_cell + before % CELL_SIDE];
    }
}

/* A bar's number is high * low_count + low. The tables are in global memory: the items of a group look up
 * different entries, which constant memory would serve one after the other.
 *
 *   high, low   place of the bar's first element, as the sum of both; low.y: the columns of the bar
 *   rows        uint[CELL_ROWS]: place of each row from that of the first
 *   inside      uint[CELL_ELEMENTS]: where in `held` an element of the first permuted cell stands
 *
 * reciprocal_whole and reciprocal_last are 2^32 / columns, rounded up, of a whole bar and of a row's last
 * one: mul_hi() by them divides exactly as long as a bar's elements times its columns are below 2^32. */
kernel void ndpa_tables(global uint *volume, global const uint *restrict high,
                        global const uint2 *restrict low, global const uint *restrict rows,
                        global const uint *restrict inside, uint low_count, uint width, uint reciprocal_whole,
                        uint reciprocal_last, local uint *held)
{
    const uint bar = (uint)get_group_id(0);
    const uint2 of_low = low[bar % low_count];
    const uint begin = high[bar / low_count] + of_low.x, columns = of_low.y;
#if ALONE /* with a bar for itself, as on a CPU: row after row, which needs no division at all */
    for (uint row = 0; row < CELL_ROWS; row++)
        for (uint column = 0; column < columns; column++)
            held[row * width + column] = volume[begin + rows[row] + column];
    for (uint row = 0; row < CELL_ROWS; row++) {
        global uint *to = volume + begin + rows[row];
        uint before[CELL_SIDE];
        for (uint n = 0; n < CELL_SIDE; n++)
            before[n] = inside[row * CELL_SIDE + n];
        for (uint cell = 0; cell < columns; cell += CELL_SIDE)
            for (uint n = 0; n < CELL_SIDE; n++)
                to[cell + n] = held[before[n] + cell];
    }
#else
    const uint reciprocal = columns == width ? reciprocal_whole : reciprocal_last;
    for (uint t = (uint)get_local_id(0); t < CELL_ROWS * columns; t += (uint)get_local_size(0)) {
        const uint row = mul_hi(t, reciprocal), column = t - row * columns;
        held[row * width + column] = volume[begin + rows[row] + column];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint t = (uint)get_local_id(0); t < CELL_ROWS * columns; t += (uint)get_local_size(0)) {
        const uint row = mul_hi(t, reciprocal), column = t - row * columns, in_cell = column % CELL_SIDE;
        volume[begin + rows[row] + column] = held[inside[row * CELL_SIDE + in_cell] + column - in_cell];
    }
#endif
}
