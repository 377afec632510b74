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
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h), SHAPE_ORDER (shared/shape.h), GHOST_ROWS
 * (shared/cell.h) and
 *   MAGNETIC     1 where there is a magnetic field, else 0
 *   CARRIES      whether particles have further attributes, which follow by `origin`, the old place of each
 *                new one
 *   LEAVES_ROOM  whether particles come from other ranks, behind those of their cell (shared/arrivals.h).
 */
#pragma OPENCL FP_CONTRACT OFF

#define SUM_COUNT   3 /* |v|^2, u, v */
#define GROUP_ITEMS 1

#include "shared/arrivals.h"
#include "shared/vector_push.h"

/* ---- sixteen particles ---- */

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
            WILL_READ(states + begin + READ_AHEAD + n);
        return state_of_quads(four[0], four[1], four[2], four[3]);
    }
    real16 copy[4];
    real4 *one = (real4 *)copy;
    for (uint n = 0; n < LANES; n++)
        one[n] = n >= first && n < last ? states[begin + n] : (real4)((real)0);
    return state_of_quads(copy[0], copy[1], copy[2], copy[3]);
}

/* ---- staging ---- */

/* Pushed particles wait until there are a hundred: counting and storing wait for memory, one particle
 * after the other, and would keep the arithmetic of the next vectors from going on meanwhile. */
#define STAGED 8u /* vectors */

typedef struct {
    uint16 cell[STAGED]; /* where they go */
    real16 quad[STAGED][4];
    uint begin[STAGED];               /* number of the first particle of a vector */
    uint first[STAGED], last[STAGED]; /* of its particles: those that count */
    uint place[STAGED * LANES];
    uint vectors; /* staged */
} staged_particles;

/* ---- counting and measuring ---- */

/* Pushes sixteen particles to stage where they go, and adds up the sums at n of numbers `first` to before
 * `last` of them. */
static inline void survey_vector(const species_motion *motion, const vector_cell *from, struct state16 state,
                                 uint first, uint last, staged_particles *staged, vector_sums *measured,
                                 const bool counting, const bool measuring)
{
    struct velocity_step16 step;
    const uint16 cells = step_state(motion, from, &state, &step);
    if (counting) {
        const uint v = staged->vectors++;
        staged->cell[v] = IN_ORDER(cells);
        staged->first[v] = first;
        staged->last[v] = last;
    }
    if (measuring) {
        const int16 particle =
            (int16)(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15); /* of each lane */
        vector_sums_add(measured, &step, particle >= (int)first & particle < (int)last);
    }
}

/* Counts where the staged particles go. */
static inline void count_staged(staged_particles *staged, global uint *counts)
{
    for (uint v = 0; v < staged->vectors; v++) {
        const uint *cell = (const uint *)&staged->cell[v];
        for (uint n = staged->first[v]; n < staged->last[v]; n++)
            counts[cell[n]]++;
    }
    staged->vectors = 0;
}

/* Walks the own chunk, counting its particles in counts[cell they go to] and leaving the sums over them in
 * sums[0..2]. `counting` and `measuring` are constants of each kernel. */
static inline void survey_chunk(const species_motion *motion, uint count, uint chunk,
                                global const uint *offsets, global const real4 *states, global uint *counts,
                                global real *sums, const bool counting, const bool measuring)
{
    chunk_walk walk = chunk_walk_begin(offsets, motion->nx, motion->ny, count, chunk);
    vector_sums measured = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0};
    staged_particles staged;
    staged.vectors = 0;
    if (counting)
        for (uint c = 0; c < motion->nx * motion->ny; c++)
            counts[c] = 0;
    for (uint p = walk.begin; p < walk.end; chunk_walk_next_cell(&walk, motion->ny)) {
        const uint cell_end = min(walk.end, offsets[walk.cell + 1]);
        if (p == cell_end)
            continue;
        const vector_cell from = vector_cell_make(motion, &walk);
        for (uint begin = first_vector(p, cell_end); begin < cell_end; begin += LANES) {
            const uint first = max(begin, p) - begin, last = min(LANES, cell_end - begin);
            const struct state16 state = load_state(states, begin, first, last);
            survey_vector(motion, &from, state, first, last, &staged, &measured, counting, measuring);
            if (counting && staged.vectors == STAGED)
                count_staged(&staged, counts);
        }
        p = cell_end;
    }
    if (counting)
        count_staged(&staged, counts);
    if (measuring)
        vector_sums_end(&measured, sums);
}

#define MOTION_ARGUMENTS                                                                                     \
    global const real *ex, global const real *ey, uint nx, uint ny, real half_kick, real tangent, real sine, \
        real step_x, real step_y
/* clang-format off */
#define MOTION                                                                                               \
    {ex, ey, nx, ny, half_kick, tangent, sine, step_x, step_y, REAL_IS_DOUBLE || nx * ny <= 1u << 24}
/* clang-format on */

/* table[chunk][cell] = particles of the chunk that go to the cell. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void step_count(MOTION_ARGUMENTS, uint count,
                                                                      uint chunk, global const uint *offsets,
                                                                      global const real4 *states,
                                                                      global uint *table)
{
    const species_motion motion = MOTION;
    global uint *counts = table + (size_t)get_global_id(0) * (nx * ny);
    survey_chunk(&motion, count, chunk, offsets, states, counts, 0, true, false);
}

/* The same, and sums[first_sum + 3 chunk ...] = the sums of |v|^2, u and v at n over the chunk. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
step_count_and_measure(MOTION_ARGUMENTS, uint count, uint chunk, global const uint *offsets,
                       global const real4 *states, global uint *table, uint first_sum, global real *sums)
{
    const species_motion motion = MOTION;
    const size_t item = get_global_id(0);
    survey_chunk(&motion, count, chunk, offsets, states, table + item * (nx * ny),
                 sums + first_sum + SUM_COUNT * item, true, true);
}

/* Only the sums. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
step_measure(MOTION_ARGUMENTS, uint count, uint chunk, global const uint *offsets, global const real4 *states,
             uint first_sum, global real *sums)
{
    const species_motion motion = MOTION;
    survey_chunk(&motion, count, chunk, offsets, states, 0, sums + first_sum + SUM_COUNT * get_global_id(0),
                 false, true);
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

/* The arrivals of a cell. */
static inline uint room_of(global const uint *arrival_rows, global const uint *arrival_counts, uint cell,
                           uint ny)
{
#if LEAVES_ROOM
    return arrivals_of(arrival_rows, arrival_counts, cell, ny);
#else
    return 0;
#endif
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
        total += room_of(arrival_rows, arrival_counts, c, ny);
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
            const uint particles = first[k] + room_of(arrival_rows, arrival_counts, c + k, ny);
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
        place += room_of(arrival_rows, arrival_counts, c, ny);
    }
    if (end == cells)
        offsets[cells] = place;
}

/* ---- moving ---- */

/* Where particles come from, where they go, and next[cell], the next place in a cell. */
typedef struct {
    global const real4 *states;
    global real4 *moved;
    global uint *origin; /* of CARRIES */
    global uint *next;
} chunk_lists;

/* Pushes sixteen particles, of which `begin` is the number of the first, to stage them. */
static inline void move_vector(const species_motion *motion, const vector_cell *from, struct state16 state,
                               uint begin, uint first, uint last, staged_particles *staged)
{
    struct velocity_step16 step;
    const uint16 cells = step_state(motion, from, &state, &step);
    const struct state16 states = state_of_quads(state.x, state.y, state.u, state.v); /* and back */
    const uint v = staged->vectors++;
    staged->cell[v] = IN_ORDER(cells);
    staged->quad[v][0] = states.x;
    staged->quad[v][1] = states.y;
    staged->quad[v][2] = states.u;
    staged->quad[v][3] = states.v;
    staged->begin[v] = begin;
    staged->first[v] = first;
    staged->last[v] = last;
}

/* Stores the staged particles at their places. All places are found first: a processor that has to guess
 * whether a store with an address it does not know yet hits what it reads next goes slowly. */
static inline void store_staged(staged_particles *staged, const chunk_lists *lists)
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

/* Walks the own chunk as survey_chunk() did. */
static inline void move_chunk(const species_motion *motion, uint count, uint chunk,
                              global const uint *offsets, const chunk_lists *lists)
{
    chunk_walk walk = chunk_walk_begin(offsets, motion->nx, motion->ny, count, chunk);
    staged_particles staged;
    staged.vectors = 0;
    for (uint p = walk.begin; p < walk.end; chunk_walk_next_cell(&walk, motion->ny)) {
        const uint cell_end = min(walk.end, offsets[walk.cell + 1]);
        if (p == cell_end)
            continue;
        const vector_cell from = vector_cell_make(motion, &walk);
        for (uint begin = first_vector(p, cell_end); begin < cell_end; begin += LANES) {
            const uint first = max(begin, p) - begin, last = min(LANES, cell_end - begin);
            const struct state16 state = load_state(lists->states, begin, first, last);
            move_vector(motion, &from, state, begin, first, last, &staged);
            if (staged.vectors == STAGED)
                store_staged(&staged, lists);
        }
        p = cell_end;
    }
    store_staged(&staged, lists);
}

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
step_move(MOTION_ARGUMENTS, uint count, uint chunk, global const uint *offsets, global const real4 *states,
          global uint *table, global real4 *moved, global uint *origin)
{
    const species_motion motion = MOTION;
    const chunk_lists lists = {states, moved, origin, table + get_global_id(0) * (nx * ny)};
    move_chunk(&motion, count, chunk, offsets, &lists);
}
