/* Chunked step: push and sort at once, for CPU devices. A step is
 *
 *   step_count          each item pushes its chunk of the sorted list to count how many go to each cell
 *   step_count_leavers  how many go to each cell beside a rank's own
 *   step_places         the counts become the places where each chunk's particles of each cell begin
 *   step_move           each item pushes its chunk again and stores every particle at its place, once
 *
 * A chunk is a range of particles, whatever cells they are in, so a full cell is shared. Its particles are
 * pushed sixteen at a time, those of one cell together: the field of the cell stays in registers.
 *
 * Counting and moving must agree in every bit on where a particle goes, and a compiler may fuse products and
 * sums in one kernel and not in the other. Hence FP_CONTRACT OFF.
 *
 * Compile-time parameters: those of shared/push.h, LEAVES_ROOM (shared/arrivals.h) and
 *   CARRIES  whether particles have further attributes, which follow by `origin`, the old place of each new
 * one.
 */
#pragma OPENCL FP_CONTRACT OFF

#define GROUP_ITEMS 1

#include "shared/arrivals.h"
#include "shared/push.h"

/* ---- quads: (dx, dy, u, v) of a particle side by side ---- */

/* In a state particle p of sixteen has lane p % 4 * 4 + p / 4: quads become a state by moves within blocks of
 * four lanes, which are fast. This brings one number of each into the order of the particles. */
static inline uint16 in_order(uint16 v)
{
    return (uint16)(v.s0, v.s4, v.s8, v.sc, v.s1, v.s5, v.s9, v.sd, v.s2, v.s6, v.sa, v.se, v.s3, v.s7, v.sb,
                    v.sf);
}

/* Four particles in each of a, b, c and d to their state: the 4 x 4 matrices whose rows are the same four
 * lanes of a, b, c and d are transposed, so the same brings a state back to quads. Written with two sources a
 * move; with more of them compilers generate slower code. Of each four lanes:
 *
 *   first_pairs, last_pairs      a0 b0 a1 b1, and a2 b2 a3 b3
 *   first_halves, last_halves    a0 a1 b0 b1, and a2 a3 b2 b3 */
DEFINE_MOVE(first_pairs,
            (a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5, a.s8, b.s8, a.s9, b.s9, a.sc, b.sc, a.sd, b.sd))
DEFINE_MOVE(last_pairs,
            (a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7, a.sa, b.sa, a.sb, b.sb, a.se, b.se, a.sf, b.sf))
DEFINE_MOVE(first_halves,
            (a.s0, a.s1, b.s0, b.s1, a.s4, a.s5, b.s4, b.s5, a.s8, a.s9, b.s8, b.s9, a.sc, a.sd, b.sc, b.sd))
DEFINE_MOVE(last_halves,
            (a.s2, a.s3, b.s2, b.s3, a.s6, a.s7, b.s6, b.s7, a.sa, a.sb, b.sa, b.sb, a.se, a.sf, b.se, b.sf))
static inline struct state16 state_of_quads(real16 a, real16 b, real16 c, real16 d)
{
    const real16 x_y_ab = first_pairs(a, b), u_v_ab = last_pairs(a, b);
    const real16 x_y_cd = first_pairs(c, d), u_v_cd = last_pairs(c, d);
    const struct state16 state = {first_halves(x_y_ab, x_y_cd), last_halves(x_y_ab, x_y_cd),
                                  first_halves(u_v_ab, u_v_cd), last_halves(u_v_ab, u_v_cd)};
    return state;
}

/* Vectors begin at every fourth particle, where sixteen states can be read as they lie. In cells of few
 * particles they begin with the cell: going back for those before it would cost more. */
#define ALIGNED_FROM (4 * LANES)

static inline uint first_vector(uint p, uint cell_end)
{
    return cell_end - p >= ALIGNED_FROM ? p & ~3u : p;
}

/* Numbers `first` to before `last` of the sixteen particles that begin here; the other lanes may hold
 * anything. No more is read where that matters. */
static inline struct state16 load_state(global const real4 *states, uint begin, uint first, uint last)
{
    if (begin % 4 == 0 && first == 0 && last == LANES) {
        global const real16 *four = (global const real16 *)(states + begin);
        for (uint n = 0; n < LANES; n += 64 / sizeof(real4)) /* every line of the caches */
            WILL_READ(states + begin + PREFETCH_AHEAD + n);
        return state_of_quads(four[0], four[1], four[2], four[3]);
    }
    real16 copy[4];
    real4 *one = (real4 *)copy;
    for (uint n = 0; n < LANES; n++)
        one[n] = n >= first && n < last ? states[begin + n] : (real4)((real)0);
    return state_of_quads(copy[0], copy[1], copy[2], copy[3]);
}

/* ---- a chunk ---- */

/* Pushed particles wait until there are a hundred: counting and storing wait for memory, one particle
 * after the other, and would keep the arithmetic of the next vectors from going on meanwhile. */
#define STAGED 8u /* vectors */

struct staged_particles {
    uint16 cell[STAGED]; /* where they go */
    real16 quad[STAGED][4];
    uint begin[STAGED];               /* number of the first particle of a vector */
    uint first[STAGED], last[STAGED]; /* of its particles: those that count */
    uint place[STAGED * LANES];
    uint vectors; /* staged */
};

/* Where particles come from, where they go, and next[cell]: how many go there, or the next place in it. */
struct chunk_lists {
    global const real4 *states;
    global uint *next;
    global real4 *moved;
    global uint *origin; /* of CARRIES */
};

/* Counts where the staged particles go. */
static inline void count_staged(struct staged_particles *staged, const struct chunk_lists *lists)
{
    for (uint v = 0; v < staged->vectors; v++) {
        const uint *cell = (const uint *)&staged->cell[v];
        for (uint n = staged->first[v]; n < staged->last[v]; n++)
            lists->next[cell[n]]++;
    }
    staged->vectors = 0;
}

/* Stores the staged particles at their places. All places are found first: loads that follow a
 * store whose address is not known yet would wait for it. */
static inline void store_staged(struct staged_particles *staged, const struct chunk_lists *lists)
{
    for (uint v = 0; v < staged->vectors; v++) {
        const uint *cell = (const uint *)&staged->cell[v];
        for (uint n = staged->first[v]; n < staged->last[v]; n++) {
            const uint place = lists->next[cell[n]]++;
            staged->place[v * LANES + n] = place;
            WILL_WRITE(lists->moved + place);
        }
    }
    for (uint v = 0; v < staged->vectors; v++) {
        const real4 *quad = (const real4 *)staged->quad[v];
        for (uint n = staged->first[v]; n < staged->last[v]; n++) {
            const uint place = staged->place[v * LANES + n];
            lists->moved[place] = quad[n];
            if (CARRIES)
                lists->origin[place] = staged->begin[v] + n;
        }
    }
    staged->vectors = 0;
}

static inline void end_staged(struct staged_particles *staged, const struct chunk_lists *lists,
                              const bool moving)
{
    if (moving)
        store_staged(staged, lists);
    else
        count_staged(staged, lists);
}

/* Walks the own chunk, and either counts where its particles go or moves them there; leaves the sums at n in
 * sums[0..2]. `moving` and `measuring` are constants of each kernel. */
static inline void step_chunk(const struct motion *motion, uint count, uint chunk, global const uint *offsets,
                              const struct chunk_lists *lists, global real *sums, const bool moving,
                              const bool measuring)
{
    struct chunk_walk walk = chunk_walk_begin(motion, offsets, count, chunk);
    struct sums16 measured = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0};
    struct staged_particles staged;
    staged.vectors = 0;
    for (uint p = walk.begin; p < walk.end; chunk_walk_next_cell(&walk, motion)) {
        const uint cell_end = min(walk.end, offsets[walk.cell + 1]);
        if (p == cell_end)
            continue;
        const struct vector_cell from = vector_cell_make(motion, &walk);
        for (uint begin = first_vector(p, cell_end); begin < cell_end; begin += LANES) {
            const uint first = max(begin, p) - begin, last = min(LANES, cell_end - begin);
            struct state16 state = load_state(lists->states, begin, first, last);
            struct velocity_step16 step;
            const uint v = staged.vectors++;
            staged.cell[v] = in_order(push16(motion, &from, &state, &step));
            staged.begin[v] = begin;
            staged.first[v] = first;
            staged.last[v] = last;
            if (moving) {
                const struct state16 quads =
                    state_of_quads(state.x, state.y, state.u, state.v); /* and back */
                staged.quad[v][0] = quads.x;
                staged.quad[v][1] = quads.y;
                staged.quad[v][2] = quads.u;
                staged.quad[v][3] = quads.v;
            }
            if (measuring) {
                const int16 particle =
                    (int16)(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15); /* of each lane */
                push_add_sums16(&measured, &step, particle >= (int)first & particle < (int)last);
            }
            if (staged.vectors == STAGED)
                end_staged(&staged, lists, moving);
        }
        p = cell_end;
    }
    end_staged(&staged, lists, moving);
    if (measuring)
        sums16_store(&measured, sums);
}

/* The item's row of a table[chunk][cell]. */
static inline global uint *own_row(global uint *table, uint cells)
{
    return table + get_global_id(0) * (size_t)cells;
}

static inline global uint *cleared_row(global uint *table, uint cells)
{
    global uint *const row = own_row(table, cells);
    for (uint c = 0; c < cells; c++)
        row[c] = 0;
    return row;
}

/* table[chunk][cell] = particles of the chunk that go to the cell. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void step_count(MOTION_ARGUMENTS, uint count,
                                                                      uint chunk, global const uint *offsets,
                                                                      global const real4 *states,
                                                                      global uint *table)
{
    const struct motion motion = MOTION;
    const struct chunk_lists lists = {states, cleared_row(table, nx * ny), 0, 0};
    step_chunk(&motion, count, chunk, offsets, &lists, 0, false, false);
}

/* The same, and sums[first_sum + 3 chunk ...] = the sums of |v|^2, u and v at n over the chunk. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
step_count_and_measure(MOTION_ARGUMENTS, uint count, uint chunk, global const uint *offsets,
                       global const real4 *states, global uint *table, uint first_sum, global real *sums)
{
    const struct motion motion = MOTION;
    const struct chunk_lists lists = {states, cleared_row(table, nx * ny), 0, 0};
    step_chunk(&motion, count, chunk, offsets, &lists, sums + first_sum + SUM_COUNT * get_global_id(0), false,
               true);
}

/* Every particle to its place, where table[chunk][cell] is the first of the chunk's in the cell. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
step_move(MOTION_ARGUMENTS, uint count, uint chunk, global const uint *offsets, global const real4 *states,
          global uint *table, global real4 *moved, global uint *origin)
{
    const struct motion motion = MOTION;
    const struct chunk_lists lists = {states, own_row(table, nx * ny), moved, origin};
    step_chunk(&motion, count, chunk, offsets, &lists, 0, true, false);
}

/* ---- places ---- */

/* leavers[n] = particles that go to cell own + n; an item per cell. */
kernel void step_count_leavers(global const uint *table, uint own, uint cells, uint chunks,
                               global uint *leavers)
{
    const uint cell = own + (uint)get_global_id(0);
    uint total = 0;
    if (cell >= cells)
        return;
    for (uint t = 0; t < chunks; t++)
        total += table[(size_t)t * cells + cell];
    leavers[cell - own] = total;
}

/* totals[s] = particles of block s, the cells [s block, (s + 1) block), with the arrivals. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
step_totals(global uint *table, global const uint *arrival_rows, global const uint *arrival_counts,
            uint cells, uint ny, uint chunks, uint block, global uint *totals)
{
    const uint s = (uint)get_global_id(0);
    const uint begin = s * block, end = begin + min(block, cells - begin);
    uint total = 0;
    for (uint t = 0; t < chunks; t++)
        for (uint c = begin; c < end; c++)
            total += table[(size_t)t * cells + c];
    for (uint c = begin; LEAVES_ROOM && c < end; c++)
        total += arrivals_of(arrival_rows, arrival_counts, c, ny);
    totals[s] = total;
}

/* offsets[cell] = the first place of the cell, and table[chunk][cell] that of the chunk's particles in it. An
 * item has a block of cells. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
step_places(global uint *table, global const uint *arrival_rows, global const uint *arrival_counts,
            uint cells, uint ny, uint chunks, uint block, global const uint *totals, global uint *offsets)
{
    const uint s = (uint)get_global_id(0);
    const uint begin = s * block, end = begin + min(block, cells - begin);
    uint place = 0;
    for (uint before = 0; before < s; before++)
        place += totals[before];
    uint c = begin;
    for (; end - c >= 16; c += 16) {
        uint16 column = 0;
        for (uint t = 0; t < chunks; t++)
            column += vload16(0, table + (size_t)t * cells + c);
        uint first[16];
        vstore16(column, 0, first);
        for (uint k = 0; k < 16; k++) {
            const uint particles = first[k] + arrivals_of(arrival_rows, arrival_counts, c + k, ny);
            first[k] = place;
            place += particles;
        }
        uint16 places = vload16(0, first);
        vstore16(places, 0, offsets + c);
        for (uint t = 0; t < chunks; t++) {
            global uint *row = table + (size_t)t * cells + c;
            const uint16 particles = vload16(0, row);
            vstore16(places, 0, row);
            places += particles;
        }
    }
    for (; c < end; c++) {
        offsets[c] = place;
        for (uint t = 0; t < chunks; t++) {
            const uint particles = table[(size_t)t * cells + c];
            table[(size_t)t * cells + c] = place;
            place += particles;
        }
        place += arrivals_of(arrival_rows, arrival_counts, c, ny);
    }
    if (end == cells)
        offsets[cells] = place;
}
