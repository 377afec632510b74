/* Chunked step: push and sort at once, for CPU devices. A step is
 *
 *   step_count          each item pushes its chunk of the sorted list to count how many go to each cell
 *   step_count_leavers  how many go to each cell beside a rank's own
 *   step_places         the counts become the places where each chunk's particles of each cell begin
 *   step_move           each item pushes its chunk again and stores every particle at its place, once
 *
 * A chunk is a range of particles, whatever cells they are in, so a full cell is shared. Its particles are
 * pushed LANES at a time, whether in one cell or in several.
 *
 * Counting and moving must agree in every bit on where a particle goes, and a compiler may fuse products and
 * sums in one kernel and not in the other. Hence FP_CONTRACT OFF.
 */
#pragma OPENCL FP_CONTRACT OFF

#define GROUP_ITEMS    1
#define FUSE_PRODUCTS  0
#define HAS_GHOST_ROWS 1 /* or may have: of a grid that is the whole box all rows are in range */
#include "shared/arrivals.h"
#include "shared/push.h"
#include "shared/quads.h"

/* ---- a chunk ---- */

/* Where particles come from, where they go, and next[cell]: how many go there, or the next place in it. A
 * chunk's particles come to few rows of the grid, next to its own ones, and only these have numbers: those
 * where touched[row] is set. So the work on all of them hardly grows with the number of chunks. */
struct chunk_lists {
    global const real4 *states;
    global const real *w;
    global uint *next;
    global uchar *touched;
    global real4 *moved;
    global real *moved_w;
    global uint *origin; /* with `carries`: the old place of each new one */
    bool carries;
};

static inline void touch_row(const struct chunk_lists *lists, uint row, uint ny)
{
    if (lists->touched[row])
        return;
    lists->touched[row] = 1;
    for (uint j = 0; j < ny; j++)
        lists->next[row * (size_t)ny + j] = 0;
}

/* The rows that particles of row i come to, where they cross one row at most. */
static inline void touch_around(const struct motion *motion, const struct chunk_lists *lists, uint i)
{
    for (int row = (int)i - 1; row <= (int)i + 1; row++) {
        const uints rows = wrap_row(motion->rows, (ints)row, motion->nx);
        touch_row(lists, ((const uint *)&rows)[0], motion->ny);
    }
}

/* Most particles go to cells next to those where they were. So a vector has a window of twelve cells: three
 * rows of four, from a row and a column before the cell of its first particle. The digit of a particle is the
 * number of its cell in the window, and five bits of a word are enough to count sixteen particles of one
 * digit: sums of such words are the numbers of all digits at once, where counting in memory would wait, one
 * particle after the other, for the count before. Strays, which go elsewhere, are counted in the four bits
 * above the window's. */
#define WINDOW_ROWS    3
#define WINDOW_COLUMNS 4
#define DIGIT_BITS     5
#define NO_DIGIT       (WINDOW_ROWS * WINDOW_COLUMNS) /* a stray's */

/* The digits of `number` particles, the first of which is in the cell (i, j), and the sum of their words: 0
 * where there is no window, or sixteen strays. */
static inline ulong find_digits(const struct motion *motion, uint i, uint j, struct pushed *near, uint number,
                                ints *digits)
{
    *digits = (ints)NO_DIGIT;
    if (number < LANES || i < 1 || (int)i + WINDOW_ROWS - 1 > rows_upwards(motion->rows, motion->nx) ||
        j < 1 || j + WINDOW_COLUMNS - 1 > motion->ny)
        return 0;
    const ints is_near = push_place_near(near);
    /* Outside of the window, by row or by column, the number is NO_DIGIT or greater. */
    const uints row = TO_UINTS(near->i - (int)(i - 1)), column = TO_UINTS(near->j - (int)(j - 1));
    const uints digit = (min(row, (uints)WINDOW_ROWS) * WINDOW_COLUMNS + column) |
                        (column & ~(WINDOW_COLUMNS - 1u)) * WINDOW_COLUMNS;
    *digits = is_near ? TO_INTS(min(digit, (uints)NO_DIGIT)) : (ints)NO_DIGIT;
    return sum_of_words((ulong16)1 << convert_ulong16(TO_UINTS(*digits * DIGIT_BITS)));
}
#define HAS_NO_STRAYS(sum) ((sum) != 0 && (sum) >> DIGIT_BITS * NO_DIGIT == 0)

/* next[cell] += the particles that go there, around the cell (i, j). Returns what was there, by digit. */
static inline uints count_window(ulong sum, uint i, uint j, uint ny, global uint *next)
{
    uints before = (uints)0;
    uint4 *const rows = (uint4 *)&before;
    global uint *at = next + cell_index(i - 1, j - 1, ny);
#pragma unroll
    for (uint row = 0; row < WINDOW_ROWS; row++, at += ny) {
        const ulong4 shift = DIGIT_BITS * (WINDOW_COLUMNS * (ulong)row + (ulong4)(0, 1, 2, 3));
        const uint4 numbers = convert_uint4((ulong4)sum >> shift & (1ul << DIGIT_BITS) - 1);
        rows[row] = vload4(0, at);
        vstore4(rows[row] + numbers, 0, at);
    }
    return before;
}

/* Counts where `number` particles go, the first of which is in the cell (i, j); the other lanes are not
 * looked at. */
static inline void count_vector(const struct motion *motion, uint i, uint j, struct pushed *pushed,
                                uint number, const struct chunk_lists *lists)
{
    global uint *const next = lists->next;
    struct pushed near = *pushed;
    ints digits;
    const ulong sum = find_digits(motion, i, j, &near, number, &digits);
    if (sum != 0)
        count_window(sum, i, j, motion->ny, next);
    if (HAS_NO_STRAYS(sum))
        return;
    const uints cells = push_find_cells(motion, pushed);
    const ints particles = PARTICLE_OF_LANE;
    const uint *cell = (const uint *)&cells;
    const int *digit = (const int *)&digits, *particle = (const int *)&particles;
    const int *row = (const int *)&pushed->i;
    for (uint l = 0; l < LANES; l++)
        if (digit[l] == NO_DIGIT && particle[l] < (int)number) {
            if (row[l] + 1u - i > 2)
                touch_row(lists, cell[l] / motion->ny, motion->ny);
            next[cell[l]]++;
        }
}

#if defined(__AVX512CD__) && defined(__has_builtin)
#if __has_builtin(__builtin_ia32_vpconflictsi_512) && __has_builtin(__builtin_ia32_permvarsi512)
#define HAS_CONFLICTS

/* How many lanes before each have the same digit: conflicts are bits of lanes, which are added up. */
static inline uints rank_digits(ints digits)
{
    const uints one = as_uint16(__builtin_ia32_vpconflictsi_512(digits));
    const uints two = one - (one >> 1 & 0x5555), four = (two & 0x3333) + (two >> 2 & 0x3333);
    const uints eight = (four + (four >> 4)) & 0x0f0f;
    return (eight + (eight >> 8)) & 0x1f;
}
#endif
#endif

/* The places of particles as in count_vector(), in their order; brings the particles to their cells. */
static inline uints find_places(const struct motion *motion, uint i, uint j, struct pushed *pushed,
                                uint number, global uint *next)
{
#ifdef HAS_CONFLICTS
    struct pushed near = *pushed;
    ints digits;
    const ulong sum = find_digits(motion, i, j, &near, number, &digits);
    if (HAS_NO_STRAYS(sum)) {
        *pushed = near;
        const ints before = as_int16(count_window(sum, i, j, motion->ny, next));
        const ints ordered = IN_ORDER(ints, digits);
        return as_uint16(__builtin_ia32_permvarsi512(before, ordered)) + rank_digits(ordered);
    }
#endif
    const uints cells = push_find_cells(motion, pushed);
    uints places = IN_ORDER(uints, cells);
    uint *place = (uint *)&places;
    for (uint l = 0; l < number; l++)
        place[l] = next[place[l]]++;
    return places;
}

/* Pushed particles wait until there are 16 vectors of 16: storing waits for memory, one particle after the
 * other, and would keep the arithmetic of the next vectors from going on meanwhile. */
#define STAGED 16u /* vectors, half of a block of sums */

struct staged_particles {
    ulong16 place[STAGED]; /* where they go, in bytes of `moved` */
    struct quads quads[STAGED];
    reals w[STAGED];
    uint begin, number; /* the first of them, and how many there are */
};
#define MOVED_AT(lists, place) ((global real4 *)((global char *)(lists)->moved + (place)))

/* Stores `number` particles of a vector at their places. */
static inline void store_vector(const struct staged_particles *staged, const struct chunk_lists *lists,
                                uint vector, uint number)
{
    const ulong *place = (const ulong *)(staged->place + vector);
    const real4 *quad = (const real4 *)(staged->quads + vector);
    const real *w = (const real *)(staged->w + vector);
#pragma unroll
    for (uint l = 0; l < LANES; l++)
        if (l < number) {
            *MOVED_AT(lists, place[l]) = quad[l];
            if (HAS_W)
                lists->moved_w[place[l] / sizeof(real4)] = w[l];
        }
    for (uint l = 0; lists->carries && l < number; l++) /* apart: above it would take a branch a particle */
        lists->origin[place[l] / sizeof(real4)] = staged->begin + vector * LANES + l;
}

static inline void store_staged(const struct staged_particles *staged, const struct chunk_lists *lists)
{
    uint v = 0;
    for (; (v + 1) * LANES <= staged->number; v++)
        store_vector(staged, lists, v, LANES);
    if (v * LANES < staged->number)
        store_vector(staged, lists, v, staged->number - v * LANES);
}

/* Pushes the particles of one vector, and either counts where they go or stages them there. *row: the one
 * around which rows were touched. */
static inline void step_vector(const struct motion *motion, struct walk *walk, global const uint *offsets,
                               const struct chunk_lists *lists, uint begin, uint number,
                               struct staged_particles *staged, uint vector, uint *row,
                               reals block[SUM_COUNT], const bool moving, const bool measuring)
{
    const ints particle = PARTICLE_OF_LANE;
    reals w;
    const struct quads state = load_quads(lists->states, lists->w, begin, number, &w);
    const struct surroundings around =
        walk_along(walk, motion, offsets, begin, begin + number, particle, state.a, state.b);
    const struct velocity velocity = {state.c, state.d, w};
    struct pushed pushed = push(motion, &around, begin, particle, state.a, state.b, velocity);
    if (measuring)
        push_add_sums(block, motion, &pushed, begin, number, particle);
    if (!moving) {
        if (around.i != *row)
            touch_around(motion, lists, *row = around.i);
        count_vector(motion, around.i, around.j, &pushed, number, lists);
        return;
    }
    const uints places = find_places(motion, around.i, around.j, &pushed, number, lists->next);
    staged->place[vector] = convert_ulong16(places) * sizeof(real4);
    const ulong *place = (const ulong *)(staged->place + vector);
#pragma unroll
    for (uint l = 0; l < LANES; l++) {
        WILL_WRITE(MOVED_AT(lists, place[l])); /* a hint: of lanes without a particle, too */
        if (HAS_W)
            WILL_WRITE(lists->moved_w + place[l] / sizeof(real4));
    }
    staged->quads[vector] =
        transpose_quads(pushed.x, pushed.y, pushed.velocity.u, pushed.velocity.v); /* and back */
    if (HAS_W)
        staged->w[vector] = IN_ORDER(reals, pushed.velocity.w);
}

/* Walks the own chunk, and either counts where its particles go or moves them there; leaves the sums at n in
 * sums[0 ... SUM_COUNT). `moving` and `measuring` are constants of each kernel. */
static inline void step_chunk(const struct motion *motion, uint count, uint chunk, global const uint *offsets,
                              const struct chunk_lists *lists, global real *sums, const bool moving,
                              const bool measuring)
{
    const uint begin = (uint)min(get_global_id(0) * chunk, (ulong)count),
               end = begin + min(chunk, count - begin);
    struct walk walk = walk_start();
    uint row = motion->nx;
    if (begin < end)
        walk_to(&walk, motion, offsets, begin, 0, motion->nx * motion->ny - 1);
    struct staged_particles staged = {.begin = begin};
    reals total[SUM_COUNT] = {0}, excess[SUM_COUNT] = {0};
    while (staged.begin < end) {
        const uint block_end = min(end, staged.begin + SUM_BLOCK * LANES);
        reals block[SUM_COUNT] = {0};
        for (; staged.begin < block_end; staged.begin += staged.number) {
            staged.number = min(STAGED * LANES, block_end - staged.begin);
            for (uint v = 0; v * LANES < staged.number; v++)
                step_vector(motion, &walk, offsets, lists, staged.begin + v * LANES,
                            min((uint)LANES, staged.number - v * LANES), &staged, v, &row, block, moving,
                            measuring);
            if (moving)
                store_staged(&staged, lists);
        }
        if (measuring)
            sum_add_block_of_lanes(total, excess, block);
    }
    for (uint n = 0; measuring && n < SUM_COUNT; n++)
        sums[n] = SUM_OF_LANES(total[n]);
}

#define TABLE_ARGUMENTS global uint *table, global uchar *touched
#define STATE_ARGUMENTS                                                                                      \
    uint count, uint chunk, global const uint *offsets, global const real4 *states, global const real *w

/* The lists of an item: its row of table[chunk][cell], and of touched[chunk][row of the grid]. */
static inline struct chunk_lists own_lists(const struct motion *motion, global const real4 *states,
                                           global const real *w, TABLE_ARGUMENTS)
{
    const size_t t = get_global_id(0);
    const struct chunk_lists lists = {
        states, w, table + t * motion->nx * motion->ny, touched + t * motion->nx, 0, 0, 0, false};
    return lists;
}

/* A block: the rows [s block, (s + 1) block) of the grid, as far as there are. */
#define BLOCK_ARGUMENTS uint block, global uint *totals

/* Many rows are looked at as one, in vectors. */
static inline bool any_touched(global const uchar *touched, uint begin, uint end)
{
    uchar any = 0;
    for (uint i = begin; i < end; i++)
        any |= touched[i];
    return any != 0;
}

/* totals[block] = particles of the chunk that go there. */
static inline void add_up_blocks(const struct motion *motion, const struct chunk_lists *lists, uint block,
                                 global uint *totals)
{
    const uint nx = motion->nx, ny = motion->ny;
    for (uint begin = 0; begin < nx; begin += min(block, nx - begin)) {
        const uint end = begin + min(block, nx - begin);
        uint total = 0;
        for (uint i = any_touched(lists->touched, begin, end) ? begin : end; i < end; i++)
            for (uint j = 0; j < ny && lists->touched[i]; j++)
                total += lists->next[i * (size_t)ny + j];
        totals[begin / block] = total;
    }
}

static inline void count_chunk(const struct motion *motion, uint count, uint chunk,
                               global const uint *offsets, const struct chunk_lists *lists, uint block,
                               global uint *totals, global real *sums, const bool measuring)
{
    const uint blocks = (motion->nx + block - 1) / block;
    for (uint i = 0; i < motion->nx; i++)
        lists->touched[i] = 0;
    step_chunk(motion, count, chunk, offsets, lists, sums, false, measuring);
    add_up_blocks(motion, lists, block, totals + blocks * get_global_id(0));
}

/* table[chunk][cell] = particles of the chunk that go to the cell, in rows that are touched, and
 * totals[chunk][block] those that go to the block. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void step_count(MOTION_ARGUMENTS, STATE_ARGUMENTS,
                                                                      TABLE_ARGUMENTS, BLOCK_ARGUMENTS)
{
    const struct motion motion = MOTION;
    const struct chunk_lists lists = own_lists(&motion, states, w, table, touched);
    count_chunk(&motion, count, chunk, offsets, &lists, block, totals, 0, false);
}

/* The same, and sums[first_sum + SUM_COUNT chunk ...] = the sums over the chunk. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
step_count_and_measure(MOTION_ARGUMENTS, STATE_ARGUMENTS, TABLE_ARGUMENTS, BLOCK_ARGUMENTS, uint first_sum,
                       global real *sums SUM_ARGUMENTS)
{
    const struct motion motion = MEASURED_MOTION;
    const struct chunk_lists lists = own_lists(&motion, states, w, table, touched);
    count_chunk(&motion, count, chunk, offsets, &lists, block, totals,
                sums + first_sum + SUM_COUNT * get_global_id(0), true);
}

/* Every particle to its place, where table[chunk][cell] is the first of the chunk's in the cell. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void step_move(MOTION_ARGUMENTS, STATE_ARGUMENTS,
                                                                     TABLE_ARGUMENTS, global real4 *moved,
                                                                     global real *moved_w,
                                                                     global uint *origin, uint carries)
{
    const struct motion motion = MOTION;
    struct chunk_lists lists = own_lists(&motion, states, w, table, touched);
    lists.moved = moved;
    lists.moved_w = moved_w;
    lists.origin = origin;
    lists.carries = carries != 0;
    step_chunk(&motion, count, chunk, offsets, &lists, 0, true, false);
}

/* ---- places ---- */

/* leavers[n] = particles that go to cell own + n; an item per cell. */
kernel void step_count_leavers(global const uint *table, global const uchar *touched, uint own, uint nx,
                               uint ny, uint chunks, global uint *leavers)
{
    const uint cell = own + (uint)get_global_id(0);
    uint total = 0;
    if (cell >= nx * ny)
        return;
    for (uint t = 0; t < chunks; t++)
        if (touched[t * nx + cell / ny])
            total += table[(size_t)t * nx * ny + cell];
    leavers[cell - own] = total;
}

/* The cells of a block are looked at SPAN at a time: whole rows, or parts of longer ones. */
#define SPAN 1024u

/* Where numbers of chunks stand for `rows` rows from `i` on, and `columns` columns from j on. */
struct span {
    uint i, rows, j, columns;
};
#define FOR_TOUCHED_ROWS(span, t, row)                                                                       \
    for (uint t = 0; t < chunks; t++)                                                                        \
        if (any_touched(touched + t * (size_t)nx, (span).i, (span).i + (span).rows))                         \
            for (uint row = 0; row < (span).rows; row++)                                                     \
                if (touched[t * (size_t)nx + (span).i + row])

/* How many particles go to the blocks before block s, with the arrivals. */
static inline uint count_before(ARRIVAL_ARGUMENTS, uint nx, uint ny, uint chunks, uint block,
                                global const uint *totals, uint s)
{
    const uint blocks = (nx + block - 1) / block;
    uint before = 0;
    for (uint t = 0; t < chunks; t++)
        for (uint b = 0; b < s; b++)
            before += totals[t * blocks + b];
    for (uint i = 0; arrivals > 0 && i < s * block; i++)
        for (uint j = 0; j < ny && arrival_rows[i] != NO_ARRIVALS; j++)
            before += arrival_counts[arrival_rows[i] * ny + j];
    return before;
}

/* The places of the cells of a span, the first of which is `place`. Returns that behind them. */
static inline uint place_span(global uint *table, global const uchar *touched, ARRIVAL_ARGUMENTS, uint nx,
                              uint ny, uint chunks, struct span span, uint place, global uint *offsets)
{
    const uint first = span.i * ny + span.j, number = span.rows * span.columns;
    uint next[SPAN];
    for (uint k = 0; k < number; k++)
        next[k] = arrivals_of(ARRIVALS, first + k, ny);
    FOR_TOUCHED_ROWS(span, t, row)
    {
        global const uint *const counts = table + t * (size_t)nx * ny + first + row * ny;
        for (uint k = 0; k < span.columns; k++)
            next[row * span.columns + k] += counts[k];
    }
    for (uint k = 0; k < number; k++) {
        const uint particles = next[k];
        offsets[first + k] = next[k] = place;
        place += particles;
    }
    FOR_TOUCHED_ROWS(span, t, row)
    {
        global uint *const places = table + t * (size_t)nx * ny + first + row * ny;
        for (uint k = 0; k < span.columns; k++) {
            const uint particles = places[k];
            places[k] = next[row * span.columns + k];
            next[row * span.columns + k] += particles;
        }
    }
    return place;
}

/* offsets[cell] = the first place of the cell, and table[chunk][cell] that of the chunk's particles in it, in
 * rows that are touched. An item has a block. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
step_places(global uint *table, global const uchar *touched, ARRIVAL_ARGUMENTS, uint nx, uint ny, uint chunks,
            uint block, global const uint *totals, global uint *offsets)
{
    const uint s = (uint)get_global_id(0), end = min((s + 1) * block, nx), most_rows = max(SPAN / ny, 1u);
    uint place = count_before(ARRIVALS, nx, ny, chunks, block, totals, s);
    for (uint i = s * block; i < end; i += min(most_rows, end - i))
        for (uint j = 0; j < ny; j += SPAN) {
            const struct span span = {i, min(most_rows, end - i), j, min(SPAN, ny - j)};
            place = place_span(table, touched, ARRIVALS, nx, ny, chunks, span, place, offsets);
        }
    if (end == nx)
        offsets[nx * ny] = place;
}
