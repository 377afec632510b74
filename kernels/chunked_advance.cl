/* Chunked advance: push and sort at once, for CPU devices. A step is
 *
 *   advance_count   each item pushes its chunk of the sorted particles to count who goes to which cell
 *   advance_places  the counts become the places where each chunk's particles of each cell begin
 *   advance_move    each item pushes its chunk again and stores every particle at its place, once
 *
 * A chunk is a range of particles, whatever cells they are in, so a crowded cell is shared. Its particles are
 * pushed sixteen at a time, those of one cell together: the field of the cell stays in registers.
 *
 * Counting and moving must agree in every bit on where a particle goes, and the compiler may fuse products
 * and sums in one kernel and not in the other. Hence FP_CONTRACT OFF.
 *
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h) and SHAPE_ORDER (shared/shape.h).
 */
#pragma OPENCL FP_CONTRACT OFF

#define SUM_COUNT   3 /* |v|^2, u, v */
#define GROUP_ITEMS 1

#include "shared/cell.h"
#include "shared/sum.h"
#include "shared/vector_motion.h"

/* What moves the particles of a species. */
typedef struct {
    global const real *ex, *ey;
    uint nx, ny;
    real half_kick, tangent, sine;
    real step_x, step_y; /* dt/dx, dt/dy */
} species_motion;

/* ---- the particles of a chunk, cell by cell ---- */

typedef struct {
    uint begin, end; /* particles of the chunk */
    uint cell, i, j; /* of the next particle */
} chunk_walk;

/* The cell of particle p, the last that begins at p or before: by halving. */
static inline uint cell_of_particle(global const uint *offsets, uint cells, uint p)
{
    uint low = 0, high = cells; /* offsets[low] <= p < offsets[high] */
    while (high - low > 1) {
        const uint middle = low + (high - low) / 2;
        if (offsets[middle] <= p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static inline chunk_walk chunk_walk_begin(global const uint *offsets, uint nx, uint ny, uint count,
                                          uint chunk)
{
    const uint item = (uint)get_global_id(0);
    chunk_walk walk;
    walk.begin = (uint)min((ulong)item * chunk, (ulong)count);
    walk.end = walk.begin + min(chunk, count - walk.begin);
    walk.cell = walk.begin < count ? cell_of_particle(offsets, nx * ny, walk.begin) : 0;
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

/* Particles p..p+15, of which `lanes` matter; what comes after the last of all is not read. */
static inline struct state16 load_state(global const real4 *quads, uint p, uint lanes, uint count)
{
    if (p + LANES <= count) {
        global const real *first = (global const real *)(quads + p);
        return state_of_quads(vload16(0, first), vload16(1, first), vload16(2, first), vload16(3, first));
    }
    real4 last[LANES];
    for (uint lane = 0; lane < LANES; lane++)
        last[lane] = lane < lanes ? quads[p + lane] : (real4)((real)0);
    return state_of_quads(
        (real16)(last[0], last[1], last[2], last[3]), (real16)(last[4], last[5], last[6], last[7]),
        (real16)(last[8], last[9], last[10], last[11]), (real16)(last[12], last[13], last[14], last[15]));
}

static inline int any_lane(int16 nonzero)
{
    const int8 a = nonzero.lo | nonzero.hi;
    const int4 b = a.lo | a.hi;
    const int2 c = b.lo | b.hi;
    return (c.x | c.y) != 0;
}

/* i + steps brought to [0, n). */
static inline int16 wrap16(int i, int16 steps, uint n)
{
    const int size = (int)n;
    int16 wrapped = i + steps;
    wrapped += select((int16)0, (int16)size, wrapped < 0);
    wrapped -= select((int16)0, (int16)size, wrapped >= size);
    if (any_lane((wrapped < 0) | (wrapped >= size))) { /* further than the box is long */
        int far[LANES];
        vstore16(i + steps, 0, far);
        for (uint lane = 0; lane < LANES; lane++)
            far[lane] = (int)wrap_any(far[lane], n);
        wrapped = vload16(0, far);
    }
    return wrapped;
}

/* One step of sixteen particles of cell (i, j). Returns the cells where they are then, `state` what they are
 * there. */
static inline uint16 advance_state(const species_motion *motion, const struct cell_polynomial *field, uint i,
                                   uint j, struct state16 *state, struct velocity_step16 *step)
{
    real16 ex, ey;
    interpolate16(field, state->x, state->y, &ex, &ey);
    *step = velocity_push16(state->u, state->v, ex, ey, motion->half_kick, motion->tangent, motion->sine);
    const struct placement16 x = offset_place16(state->x + step->u * motion->step_x);
    const struct placement16 y = offset_place16(state->y + step->v * motion->step_y);
    state->x = x.offset;
    state->y = y.offset;
    state->u = step->u;
    state->v = step->v;
    return as_uint16(wrap16((int)i, x.cells, motion->nx) * (int)motion->ny +
                     wrap16((int)j, y.cells, motion->ny));
}

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

static inline void vector_sums_add(vector_sums *sums, const struct velocity_step16 *step, uint lanes)
{
    const int16 lane = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#if REAL_IS_DOUBLE
    const mask16 counts = convert_long16(lane < (int)lanes);
#else
    const mask16 counts = lane < (int)lanes;
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

/* Walks the own chunk, counting its particles in counts[cell they go to] and leaving the sums over them in
 * sums[0..2]. `counting` and `measuring` are constants of each kernel. */
static inline void survey_chunk(const species_motion *motion, uint count, uint chunk,
                                global const uint *offsets, global const real4 *quads, global uint *counts,
                                global real *sums, const bool counting, const bool measuring)
{
    chunk_walk walk = chunk_walk_begin(offsets, motion->nx, motion->ny, count, chunk);
    vector_sums measured = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0};
    if (counting)
        for (uint c = 0; c < motion->nx * motion->ny; c++)
            counts[c] = 0;
    for (uint p = walk.begin; p < walk.end; chunk_walk_next_cell(&walk, motion->ny)) {
        const uint cell_end = min(walk.end, offsets[walk.cell + 1]);
        if (p == cell_end)
            continue;
        const struct cell_field nodes =
            cell_field_read(motion->ex, motion->ey, motion->nx, motion->ny, walk.cell);
        const struct cell_polynomial field = cell_polynomial_make(&nodes);
        while (p < cell_end) {
            const uint lanes = min(LANES, cell_end - p);
            struct state16 state = load_state(quads, p, lanes, count);
            struct velocity_step16 step;
            const uint16 cells = advance_state(motion, &field, walk.i, walk.j, &state, &step);
            if (counting) {
                uint target[LANES];
                vstore16(cells, 0, target);
                for (uint lane = 0; lane < lanes; lane++)
                    counts[target[lane]]++;
            }
            if (measuring)
                vector_sums_add(&measured, &step, lanes);
            p += lanes;
        }
    }
    if (measuring) {
        vector_sums_end_block(&measured);
        for (int n = 0; n < SUM_COUNT; n++)
            sums[n] = sum_of_lanes(measured.total[n]);
    }
}

#define MOTION_ARGUMENTS                                                                                     \
    global const real *ex, global const real *ey, uint nx, uint ny, real half_kick, real tangent, real sine, \
        real step_x, real step_y
#define MOTION                                                                                               \
    {                                                                                                        \
        ex, ey, nx, ny, half_kick, tangent, sine, step_x, step_y                                             \
    }

/* table[chunk][cell] = particles of the chunk that go to the cell. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
advance_count(MOTION_ARGUMENTS, uint count, uint chunk, global const uint *offsets, global const real4 *quads,
              global uint *table)
{
    const species_motion motion = MOTION;
    global uint *counts = table + (size_t)get_global_id(0) * (nx * ny);
    survey_chunk(&motion, count, chunk, offsets, quads, counts, 0, true, false);
}

/* The same, and sums[first_sum + 3 chunk ...] = the sums of |v|^2, u and v at n over the chunk. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
advance_count_and_measure(MOTION_ARGUMENTS, uint count, uint chunk, global const uint *offsets,
                          global const real4 *quads, global uint *table, uint first_sum, global real *sums)
{
    const species_motion motion = MOTION;
    const size_t item = get_global_id(0);
    survey_chunk(&motion, count, chunk, offsets, quads, table + item * (nx * ny),
                 sums + first_sum + SUM_COUNT * item, true, true);
}

/* Only the sums. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
advance_measure(MOTION_ARGUMENTS, uint count, uint chunk, global const uint *offsets,
                global const real4 *quads, uint first_sum, global real *sums)
{
    const species_motion motion = MOTION;
    survey_chunk(&motion, count, chunk, offsets, quads, 0, sums + first_sum + SUM_COUNT * get_global_id(0),
                 false, true);
}

/* ---- places ---- */

/* totals[s] = particles that go to slab s, the cells [s slab, (s + 1) slab). */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
advance_totals(global const uint *table, uint cells, uint chunks, uint slab, global uint *totals)
{
    const uint s = (uint)get_global_id(0);
    const uint begin = s * slab, end = begin + min(slab, cells - begin);
    uint total = 0;
    for (uint t = 0; t < chunks; t++)
        for (uint c = begin; c < end; c++)
            total += table[(size_t)t * cells + c];
    totals[s] = total;
}

/* offsets[cell] = the first place of the cell, and table[chunk][cell] that of the chunk's particles in it. An
 * item has a slab. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void advance_places(global uint *table, uint cells,
                                                                          uint chunks, uint slab,
                                                                          global const uint *totals,
                                                                          global uint *offsets)
{
    const uint s = (uint)get_global_id(0);
    const uint begin = s * slab, end = begin + min(slab, cells - begin);
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
            const uint particles = first[k];
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
    }
    if (end == cells)
        offsets[cells] = place;
}

/* ---- moving ---- */

/* Walks the own chunk as survey_chunk() did; next[cell] is the next place in the cell. `with_ids` is a
 * constant of each kernel. */
static inline void move_chunk(const species_motion *motion, uint count, uint chunk,
                              global const uint *offsets, global const real4 *quads, global uint *next,
                              global real4 *moved, global const ulong *ids, global ulong *moved_ids,
                              const bool with_ids)
{
    chunk_walk walk = chunk_walk_begin(offsets, motion->nx, motion->ny, count, chunk);
    for (uint p = walk.begin; p < walk.end; chunk_walk_next_cell(&walk, motion->ny)) {
        const uint cell_end = min(walk.end, offsets[walk.cell + 1]);
        if (p == cell_end)
            continue;
        const struct cell_field nodes =
            cell_field_read(motion->ex, motion->ey, motion->nx, motion->ny, walk.cell);
        const struct cell_polynomial field = cell_polynomial_make(&nodes);
        while (p < cell_end) {
            const uint lanes = min(LANES, cell_end - p);
            struct state16 state = load_state(quads, p, lanes, count);
            struct velocity_step16 step;
            const uint16 cells = advance_state(motion, &field, walk.i, walk.j, &state, &step);
            uint target[LANES];
            real16 pieces[4];
            vstore16(cells, 0, target);
            quads_of_state(&state, pieces);
            const real4 *pushed = (const real4 *)pieces;
            for (uint lane = 0; lane < lanes; lane++) {
                const uint place = next[target[lane]]++;
                moved[place] = pushed[lane];
                if (with_ids)
                    moved_ids[place] = ids[p + lane];
            }
            p += lanes;
        }
    }
}

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
advance_move(MOTION_ARGUMENTS, uint count, uint chunk, global const uint *offsets, global const real4 *quads,
             global uint *table, global real4 *moved)
{
    const species_motion motion = MOTION;
    move_chunk(&motion, count, chunk, offsets, quads, table + get_global_id(0) * (nx * ny), moved, 0, 0,
               false);
}

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
advance_move_with_ids(MOTION_ARGUMENTS, uint count, uint chunk, global const uint *offsets,
                      global const real4 *quads, global uint *table, global real4 *moved,
                      global const ulong *ids, global ulong *moved_ids)
{
    const species_motion motion = MOTION;
    move_chunk(&motion, count, chunk, offsets, quads, table + get_global_id(0) * (nx * ny), moved, ids,
               moved_ids, true);
}

/* ---- before the first step ---- */

/* One item per particle: pairs to quads. */
kernel void advance_take_over(global const real2 *restrict offset, global const real2 *restrict velocity,
                              uint count, global real4 *restrict quads)
{
    const uint p = (uint)get_global_id(0);
    if (p < count)
        quads[p] = (real4)(offset[p], velocity[p]);
}
