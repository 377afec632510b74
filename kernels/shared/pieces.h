/* Pieces: the sorted list of particles cut both by cells and by segments, so that no cell is too much work
 * for one item or group however many particles it holds.
 *
 * A segment is 2^segment_bits consecutive particles; the piece (segment, cell) is what a cell has of its
 * particles in a segment. What belongs to a piece lies at its place, segment + cell: going through the list,
 * each new piece is of a later segment, a later cell or both, so no two pieces share a place. There are fewer
 * places than segments and cells together. segment_bits of 32: one segment, and a cell's place is its number.
 *
 * cell_offsets[cells + 1]: where each cell's particles start (domain/particles.h).
 */
#ifndef SHARED_PIECES_H
#define SHARED_PIECES_H

/* The segment of particle p, below 2^(32 - segment_bits). */
static inline uint segment_of(uint p, uint segment_bits)
{
    return (uint)((ulong)p >> segment_bits);
}

/* The place of a cell's first piece, when the cell starts at particle `start`. Places up to the next cell's
 * first one are the cell's own; the last may stay empty, where a segment ends with the cell. */
static inline uint first_place(uint cell, uint start, uint segment_bits)
{
    return cell + segment_of(start, segment_bits);
}

/* The cell that holds particle p, searched in growing steps from a cell that starts at or before p. */
static inline uint cell_holding(global const uint *restrict cell_offsets, uint cells, uint from, uint p)
{
    uint cell = from, step = 1;
    for (; cell + step < cells && cell_offsets[cell + step] <= p; step *= 2)
        cell += step;
    for (step /= 2; step > 0; step /= 2)
        if (cell + step < cells && cell_offsets[cell + step] <= p)
            cell += step;
    return cell;
}

/* What a group searches the cells by. */
#define BY_PARTICLE 0 /* the cell that holds particle `target` */
#define BY_PLACE    1 /* the cell whose places include `target` */

/* Whether a cell, or one after it, is the one that is searched. */
static inline bool search_reaches(global const uint *restrict cell_offsets, uint segment_bits, int by,
                                  uint target, uint cell)
{
    const uint start = cell_offsets[cell];
    return (by == BY_PLACE ? first_place(cell, start, segment_bits) : start) <= target;
}

/* A cell searched by all items of a group together. First each looks at one cell around where the target
 * would be if all cells were as full; the one that finds it tells the others. Else, in each further round
 * every item looks at one part of the cells left. Every item must call it, from uniform control flow; `found`
 * is one word of local memory. size: of what `target` counts, all particles or all places. */
static inline uint cell_found_by_group(global const uint *restrict cell_offsets, uint cells,
                                       uint segment_bits, int by, uint target, uint size, local uint *found)
{
    const uint items = (uint)get_local_size(0), item = (uint)get_local_id(0);
    const uint near = (uint)((ulong)target * cells / size) + item - items / 2; /* cells or more: outside */
    if (item == 0)
        *found = cells;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (near < cells && search_reaches(cell_offsets, segment_bits, by, target, near) &&
        (near + 1 == cells || !search_reaches(cell_offsets, segment_bits, by, target, near + 1)))
        *found = near;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint begin = *found, end = cells;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (begin < cells) /* for all items, or for none */
        return begin;
    begin = 0;
    for (uint left = cells; left > 1;) {
        const uint part = (left + items - 1) / items;
        const uint low = begin + item * part, high = low + part;
        if (low < end && search_reaches(cell_offsets, segment_bits, by, target, low) &&
            (high >= end || !search_reaches(cell_offsets, segment_bits, by, target, high)))
            *found = low;
        barrier(CLK_LOCAL_MEM_FENCE);
        begin = *found;
        end = min(begin + part, end);
        left = part;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return begin;
}

#endif
