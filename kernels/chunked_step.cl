/* Chunked step: push and sort at once, for CPU devices. A step is
 *
 *   step_count          each item pushes its chunk of the sorted list to count how many go to each cell
 *   step_count_leavers  how many go to each cell beside a rank's own
 *   step_places         the counts become the places where each chunk's particles of each cell begin
 *   step_move           each item pushes its chunk again and stores every particle at its place, once
 *
 * A chunk is a range of particles, whatever cells they are in, so a crowded cell is shared. Its particles are
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
#include "shared/cell.h"
#include "shared/search.h"
#include "shared/sum.h"
#include "shared/vector_motion.h"

/* Hints that memory will be read, or written, soon: what a processor guesses by itself ends with the page,
 * and it does not guess where particles go. OpenCL's prefetch() does nothing on PoCL. Results do not depend
 * on it. */
#if defined(__x86_64__)
#define WILL_READ(address)  __builtin_prefetch((const void *)(size_t)(address), 0)
#define WILL_WRITE(address) __builtin_prefetch((const void *)(size_t)(address), 1)
#else
#define WILL_READ(address)  ((void)0)
#define WILL_WRITE(address) ((void)0)
#endif
#define READ_AHEAD 256u /* particles */

/* What moves the particles of a species. */
typedef struct {
    global const real *ex, *ey;
    uint nx, ny;
    real half_kick, tangent, sine;
    real step_x, step_y; /* dt/dx, dt/dy */
    int exact_cells;     /* whether a real holds the number of any cell */
} species_motion;

/* ---- the particles of a chunk, cell by cell ---- */

typedef struct {
    uint begin, end; /* particles of the chunk */
    uint cell, i, j; /* of the next particle */
} chunk_walk;

static inline chunk_walk chunk_walk_begin(global const uint *offsets, uint nx, uint ny, uint count,
                                          uint chunk)
{
    const uint item = (uint)get_global_id(0);
    chunk_walk walk;
    walk.begin = (uint)min((ulong)item * chunk, (ulong)count);
    walk.end = walk.begin + min(chunk, count - walk.begin);
    walk.cell = walk.begin < count ? find_segment(offsets, 0, nx * ny - 1, walk.begin) : 0;
    walk.i = walk.cell / ny;
    walk.j = walk.cell - walk.i * ny;
    return walk;
}

static inline void chunk_walk_next_cell(chunk_walk *walk, uint ny)
{
    walk->cell++;
    walk->j++;
    if (walk->j == ny) {
        walk->j = 0;
        walk->i++;
    }
}

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

/* The cell that a vector is in, and which of its neighbours are reached without leaving the grid on one side
 * and coming in on the other, or going to the lost row: those where left <= x < right and below <= y < above,
 * in cells from here. */
typedef struct {
    uint cell, i, j;
    real left, right, below, above;
    struct field16 field;
} vector_cell;

static inline vector_cell vector_cell_make(const species_motion *motion, const chunk_walk *walk)
{
    const struct cell_field nodes =
        cell_field_read(motion->ex, motion->ey, motion->nx, motion->ny, walk->cell);
    vector_cell made;
    made.cell = walk->cell;
    made.i = walk->i;
    made.j = walk->j;
    made.left = -(real)walk->i;
    made.right = motion->exact_cells ? (real)(rows_upwards(motion->nx) - (int)walk->i) : made.left;
    made.below = -(real)walk->j;
    made.above = (real)(motion->ny - walk->j);
    made.field = field16_make(&nodes);
    return made;
}

/* i + steps brought to [0, n). */
static inline int16 wrap16(int i, int16 steps, uint n)
{
    const int size = (int)n;
    int16 wrapped = i + steps;
    wrapped += select((int16)0, (int16)size, wrapped < 0);
    wrapped -= select((int16)0, (int16)size, wrapped >= size);
    int lane[LANES];
    vstore16(wrapped, 0, lane);
    int far = 0; /* further than the box is long */
    for (uint l = 0; l < LANES; l++)
        far |= lane[l] < 0 || lane[l] >= size;
    if (far) {
        vstore16(i + steps, 0, lane);
        for (uint l = 0; l < LANES; l++)
            lane[l] = (int)wrap_any(lane[l], n);
        wrapped = vload16(0, lane);
    }
    return wrapped;
}

/* The row i + steps as wrap_row() has it. */
static inline int16 wrap_row16(int i, int16 steps, uint nx)
{
#if GHOST_ROWS == 0
    return wrap16(i, steps, nx);
#else
    const int16 row = i + steps;
    const int16 wrapped = row + select((int16)0, (int16)(int)nx, row < 0);
    return select((int16)rows_upwards(nx), wrapped, row >= -GHOST_ROWS & row < rows_upwards(nx));
#endif
}

/* The offsets in row i as row_offset() has them. */
static inline real16 row_offset16(real16 offset, int16 i, uint nx)
{
#if GHOST_ROWS == 0
    return offset;
#else
    const real16 row = convert_real16(i);
    const mask16 has_row = row >= -(real)GHOST_ROWS & row < (real)rows_upwards(nx);
    return select(row + offset, offset, has_row);
#endif
}

/* The cells of particles whose offsets may be anything, and the offsets there. */
static inline uint16 find_any_cells(const species_motion *motion, const vector_cell *from, real16 *x,
                                    real16 *y)
{
    const struct placement16 along_x = offset_place16(*x), along_y = offset_place16(*y);
    *x = row_offset16(along_x.offset, (int)from->i + along_x.cells, motion->nx);
    *y = along_y.offset;
    return as_uint16(wrap_row16((int)from->i, along_x.cells, motion->nx) * (int)motion->ny +
                     wrap16((int)from->j, along_y.cells, motion->ny));
}

/* floor() by way of int: CPU devices do that faster. */
static inline real16 floor_in_reach(real16 x)
{
    const real16 towards_zero = convert_real16(convert_int16(x));
    return select(towards_zero, towards_zero - (real)1, x < towards_zero);
}

/* The same, fast where nobody leaves the box and no difference rounds up to 1. */
static inline uint16 find_cells(const species_motion *motion, const vector_cell *from, real16 *x, real16 *y)
{
    const real16 lower_x = floor_in_reach(*x), lower_y = floor_in_reach(*y);
    const real16 rest_x = *x - lower_x, rest_y = *y - lower_y;
    const mask16 plain = *x >= from->left & *x < from->right & *y >= from->below & *y < from->above &
                         rest_x < (real)1 & rest_y < (real)1;
    if (!all_lanes(plain))
        return find_any_cells(motion, from, x, y);
    *x = rest_x;
    *y = rest_y;
    return from->cell + as_uint16(convert_int16(MULTIPLY_ADD(lower_x, (real)motion->ny, lower_y)));
}

/* One step of sixteen particles. Returns the cells where they are then, and `state` as they are there. */
static inline uint16 step_state(const species_motion *motion, const vector_cell *from, struct state16 *state,
                                struct velocity_step16 *step)
{
    real16 ex, ey;
    interpolate16(&from->field, state->x, state->y, &ex, &ey);
    *step = velocity_push16(state->u, state->v, ex, ey, motion->half_kick, motion->tangent, motion->sine,
                            MAGNETIC);
    state->x = MULTIPLY_ADD(step->u, motion->step_x, state->x);
    state->y = MULTIPLY_ADD(step->v, motion->step_y, state->y);
    state->u = step->u;
    state->v = step->v;
    return find_cells(motion, from, &state->x, &state->y);
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

/* The sums of sum.h, lane by lane. */
typedef struct {
    real16 block[SUM_COUNT], total[SUM_COUNT], excess[SUM_COUNT];
    uint added; /* vectors in the block */
} vector_sums;

static inline void vector_sums_end_block(vector_sums *sums)
{
    for (int n = 0; n < SUM_COUNT; n++) {
        const real16 addend = sums->block[n] - sums->excess[n];
        const real16 sum = sums->total[n] + addend;
        sums->excess[n] = (sum - sums->total[n]) - addend;
        sums->total[n] = sum;
        sums->block[n] = (real16)((real)0);
    }
    sums->added = 0;
}

static inline void vector_sums_add(vector_sums *sums, const struct velocity_step16 *step, uint first,
                                   uint last)
{
    const int16 particle = (int16)(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15); /* of each lane */
#if REAL_IS_DOUBLE
    const mask16 counts = convert_long16(particle >= (int)first & particle < (int)last);
#else
    const mask16 counts = particle >= (int)first & particle < (int)last;
#endif
    const real16 nought = (real16)((real)0);
    sums->block[0] += select(nought, step->square, counts);
    sums->block[1] += select(nought, step->mean_u, counts);
    sums->block[2] += select(nought, step->mean_v, counts);
    if (++sums->added == SUM_BLOCK)
        vector_sums_end_block(sums);
}

static inline real sum_of_lanes(real16 lanes)
{
    const real4 four = (lanes.lo.lo + lanes.hi.lo) + (lanes.lo.hi + lanes.hi.hi);
    const real2 two = four.lo + four.hi;
    return two.x + two.y;
}

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
    if (measuring)
        vector_sums_add(measured, &step, first, last);
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
    if (measuring) {
        vector_sums_end_block(&measured);
        for (int n = 0; n < SUM_COUNT; n++)
            sums[n] = sum_of_lanes(measured.total[n]);
    }
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
