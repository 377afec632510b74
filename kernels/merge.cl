/* Merge: one sorted list of particles into another, cell by cell. In a cell of the merged list those of
 * `into` stand first, then those of `from`.
 *
 *   merge_offsets                 where the cells of the merged list start
 *   merge_pairs, merge_quads,     the arrays
 *   merge_ids, merge_keys
 *
 * A group owns a block of the merged list, GROUP_ITEMS * ITEM_PARTICLES places that its items take side by
 * side; a CPU has one item a group, which copies run after run.
 *
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h), GROUP_ITEMS, ITEM_PARTICLES.
 */
#include "shared/real.h"
#include "shared/search.h"

#define GROUP_PARTICLES (GROUP_ITEMS * ITEM_PARTICLES)

/* One item per cell, and one more. */
kernel void merge_offsets(global const uint *restrict into_offsets, global const uint *restrict from_offsets,
                          uint cells, global uint *restrict merged_offsets)
{
    const uint cell = (uint)get_global_id(0);
    if (cell <= cells)
        merged_offsets[cell] = into_offsets[cell] + from_offsets[cell];
}

/* ---- where a particle of the merged list comes from ---- */

/* uint[cells + 1] each: where each cell's particles start in the three lists. */
typedef struct {
    global const uint *into, *from, *merged;
    uint cells, count; /* of the merged list */
} merge_lists;

/* The places of an item, begin, begin + GROUP_ITEMS, ... before `end`, and among them a run: those of one
 * cell that come from one of the lists. */
typedef struct {
    uint begin, end;
    uint last_cell; /* of the group */
    uint cell;
    uint run_end;  /* the first place past the run, or past those of the item */
    uint back;     /* from a place to that in the list it comes from */
    int from_from; /* which is `from` */
} merge_walk;

/* All items of a group look for the same two cells at first, and read few words for it. */
static inline merge_walk walk_begin(const merge_lists *lists)
{
    const uint first = (uint)get_group_id(0) * GROUP_PARTICLES;
    merge_walk walk;
    walk.begin = first + (uint)get_local_id(0);
    walk.end = first + min((uint)GROUP_PARTICLES, lists->count - first);
    walk.cell = find_segment(lists->merged, 0, lists->cells - 1, first);
    walk.last_cell = find_segment(lists->merged, walk.cell, lists->cells - 1, walk.end - 1);
    return walk;
}

/* To the run of place p, which lies in the run before or behind it. */
static inline void walk_to(const merge_lists *lists, merge_walk *walk, uint p)
{
    if (lists->merged[walk->cell + 1] <= p)
        walk->cell = find_segment(lists->merged, walk->cell + 1, walk->last_cell, p);
    const uint into_end = lists->into[walk->cell + 1], from_begin = lists->from[walk->cell];
    const uint split = into_end + from_begin;
    walk->from_from = p >= split;
    walk->back = walk->from_from ? into_end : from_begin;
    walk->run_end = min(walk->from_from ? lists->merged[walk->cell + 1] : split, walk->end);
}

#define LIST_ARGUMENTS                                                                                       \
    global const uint *restrict into_offsets, global const uint *restrict from_offsets,                      \
        global const uint *restrict merged_offsets, uint cells, uint count

/* Takes each own place p: one of the two statements, where q is the place in the list that p comes from. */
#define FOR_PLACES(IF_FROM_INTO, IF_FROM_FROM)                                                               \
    const merge_lists lists = {into_offsets, from_offsets, merged_offsets, cells, count};                    \
    merge_walk walk = walk_begin(&lists);                                                                    \
    for (uint p = walk.begin; p < walk.end;) {                                                               \
        walk_to(&lists, &walk, p);                                                                           \
        const uint run_end = walk.run_end, back = walk.back;                                                 \
        if (walk.from_from)                                                                                  \
            for (; p < run_end; p += GROUP_ITEMS) {                                                          \
                const uint q = p - back;                                                                     \
                IF_FROM_FROM;                                                                                \
            }                                                                                                \
        else                                                                                                 \
            for (; p < run_end; p += GROUP_ITEMS) {                                                          \
                const uint q = p - back;                                                                     \
                IF_FROM_INTO;                                                                                \
            }                                                                                                \
    }

/* ---- the arrays ---- */

kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
merge_pairs(LIST_ARGUMENTS, global const real2 *restrict into_offset,
            global const real2 *restrict into_velocity, global const real2 *restrict from_offset,
            global const real2 *restrict from_velocity, global real2 *restrict offset,
            global real2 *restrict velocity)
{
    FOR_PLACES(offset[p] = into_offset[q]; velocity[p] = into_velocity[q], offset[p] = from_offset[q];
               velocity[p] = from_velocity[q]);
}

/* Number by number: oclgrind 21.10 dies at a vector made of shorter ones. */
static inline real4 quad_of(real2 offset, real2 velocity)
{
    return (real4)(offset.x, offset.y, velocity.x, velocity.y);
}

kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
merge_quads(LIST_ARGUMENTS, global const real4 *restrict into_quad, global const real2 *restrict from_offset,
            global const real2 *restrict from_velocity, global real4 *restrict quad)
{
    FOR_PLACES(quad[p] = into_quad[q], quad[p] = quad_of(from_offset[q], from_velocity[q]));
}

kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
merge_ids(LIST_ARGUMENTS, global const ulong *restrict into_id, global const ulong *restrict from_id,
          global ulong *restrict id)
{
    FOR_PLACES(id[p] = into_id[q], id[p] = from_id[q]);
}

/* The cells, whatever keys the lists have. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void merge_keys(LIST_ARGUMENTS,
                                                                                global uint *restrict key)
{
    FOR_PLACES((void)q; key[p] = walk.cell, (void)q; key[p] = walk.cell);
}
