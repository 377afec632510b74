/* Collisions: Coulomb collisions of pairs of particles in the same cell, in place on sorted lists.
 *
 * The relative velocity u = v_a - v_b of a pair is turned by theta about any direction across it, by one of
 * two models, from the variance strength n / |u|^3, n the number of particles to collide with
 * (src/particles/collisions.h). v_a changes by part_a du, v_b by -part_b du, with part_a = m_ab/m_a and
 * part_b = m_ab/m_b: momentum and energy of the pair stay.
 *
 * A group brings the velocities of a cell of up to STAGED particles into local memory and back, since pairs
 * are at places by chance.
 */
#include "shared/random.h"

#define OWN_DRAWS 0x80000000u /* of the second word of a counter: cell_shuffle has it 0 */
#define TURN_DRAW 0xc0000000u
#define BACK      ((real)1e12) /* a delta^2 that turns velocities back; beyond it (1 + delta^2) - 1 is all */
#define LEAST_A   ((real)0.0075)

/* Velocities of a list: (u, v) of particle p is at stride * p + first; or those of a cell in local memory. */
typedef struct {
    global real2 *velocity;
    global real *w;
    uint stride, first;
#if STAGED > 0
    bool is_staged;
    uint start;         /* of the cell, in the list */
    local real *staged; /* of each of its particles u, v, w */
#endif
} list;

/* Lane `lane` of velocity[u, v, w], from the list and back to it. */
static inline void read_velocity(const list *of, uint p, real velocity[3][LANES], uint lane)
{
#if STAGED > 0
    if (of->is_staged) {
        for (uint axis = 0; axis < 3; axis++)
            velocity[axis][lane] = of->staged[3 * (p - of->start) + axis];
        return;
    }
#endif
    const real2 plane = of->velocity[(size_t)p * of->stride + of->first];
    velocity[0][lane] = plane.x;
    velocity[1][lane] = plane.y;
    velocity[2][lane] = of->w[p];
}

static inline void write_velocity(const list *of, uint p, real velocity[3][LANES], uint lane)
{
#if STAGED > 0
    if (of->is_staged) {
        for (uint axis = 0; axis < 3; axis++)
            of->staged[3 * (p - of->start) + axis] = velocity[axis][lane];
        return;
    }
#endif
    of->velocity[(size_t)p * of->stride + of->first] = (real2)(velocity[0][lane], velocity[1][lane]);
    of->w[p] = velocity[2][lane];
}

#if STAGED > 0
/* Copies the velocities of `count` particles of a cell, from the list to local memory or back. */
static inline void move_velocities(const list *from, const list *to, uint start, uint count)
{
    real velocity[3][LANES];
    for (uint p = start + (uint)get_local_id(0); p < start + count; p += GROUP_ITEMS) {
        read_velocity(from, p, velocity, 0);
        write_velocity(to, p, velocity, 0);
    }
}
#endif

/* What all pairs of a cell have in common, and what they draw by. */
typedef struct {
    uint cell, entry;
    ulong step, seed;
    uint alike, is_nanbu, count_a, count_b;
    uint start_a, start_b; /* in the lists */
    uint less; /* particles of the less numerous species; alike, pairs, the last perhaps three particles */
    uint turn; /* where species a begins: that no place has more collisions than others */
    real variance; /* times |u|^3 */
} cell_pairs;

static inline cell_pairs cell_pairs_of(global const uint *restrict offsets_a,
                                       global const uint *restrict offsets_b, uint cell, uint alike,
                                       uint is_nanbu, real strength, uint entry, ulong step, ulong seed)
{
    cell_pairs own = {.cell = cell,
                      .entry = entry,
                      .step = step,
                      .seed = seed,
                      .alike = alike,
                      .is_nanbu = is_nanbu,
                      .count_a = offsets_a[cell + 1] - offsets_a[cell],
                      .count_b = offsets_b[cell + 1] - offsets_b[cell],
                      .start_a = offsets_a[cell],
                      .start_b = offsets_b[cell]};
    own.less = alike ? own.count_a / 2 : min(own.count_a, own.count_b);
    if (own.less == 0)
        return own;
    own.variance = strength * (real)(alike ? own.count_a - 1 : own.less);
    if (!alike) {
        const random_words counter = {{cell, TURN_DRAW, (uint)step, (uint)(step >> 32) << 8 | entry}};
        own.turn = mul_hi(random_words_at(counter, seed).word[0], own.count_a);
    }
    return own;
}

/* Where the particles of pair number `pair` of two species are: of the less numerous they come in turn. */
static inline uint2 places_of(const cell_pairs *own, uint pair, uint in_turn,
                              global const uint *restrict permutation)
{
    const uint a = (own->count_a == own->less ? in_turn : pair) + own->turn;
    const uint b = own->count_b == own->less ? in_turn : pair;
    return (uint2)(own->start_a + (a < own->count_a ? a : a - own->count_a), permutation[own->start_b + b]);
}

/* Uniform in (0, 1], four for each pair from number `pair` of the cell on. */
static inline void draw(const cell_pairs *own, uint pair, reals *chance)
{
#if LANES == 1
    const random_words counter = {
        {own->cell, OWN_DRAWS | pair, (uint)own->step, (uint)(own->step >> 32) << 8 | own->entry}};
    const random_words drawn = random_words_at(counter, own->seed);
    const uint *const words = drawn.word;
#else
    uints words[4] = {(uints)own->cell, OWN_DRAWS | (pair + TO_UINTS(LANE_NUMBERS)), (uints)(uint)own->step,
                      (uints)((uint)(own->step >> 32) << 8 | own->entry)};
    random_lanes_at(words, own->seed);
#endif
    for (uint n = 0; n < 4; n++)
        chance[n] = (TO_REALS(words[n]) + (real)0.5) * (real)0x1p-32;
}

/* 1 - cos theta by T. Takizuka and H. Abe, J. Comput. Phys. 25, 205 (1977): delta = tan(theta/2) is Gaussian
 * with mean 0 and the variance. chance[] are uniform in (0, 1]. */
static inline reals takizuka_abe_versine(reals variance, const reals *chance)
{
    const reals gauss = cospi(2 * chance[1]);
    const reals square = fmin((reals)-2 * log(chance[0]) * gauss * gauss * variance, (reals)BACK);
    return (reals)2 / ((reals)1 + square) * square;
}

/* 1 - cos theta by K. Nanbu, Phys. Rev. E 55, 4642 (1997), what many small turns have added up to: with
 * s = 2 variance, cos theta = ln(exp(-A) + 2 U sinh A)/A (eq. 17), where coth A - 1/A = exp(-s) = y (eq. 13).
 * A is the inverse Langevin function of y, here to 0.3 % the one of M. Kroeger, J. Non-Newtonian Fluid Mech.
 * 223, 77 (2015), smooth where the pieces of F. Perez et al., Phys. Plasmas 19, 083104 (2012), meet. Small s
 * cancel in 1 - y^2. Turns are isotropic to 0.3 % at the least A, which stands for all s above 6. */
static inline reals nanbu_versine(reals variance, const reals *chance)
{
    const reals s = 2 * variance, y = exp(-s), square = y * y;
    const reals rest = s < (reals)0.05 ? s * (2 - s * (2 - s * (real)1.33333333)) : 1 - square;
    const reals numerator = y * (3 - square * (6 + square * (1 - 2 * square)) * (real)0.2);
    const reals a = fmax(numerator / rest, (reals)LEAST_A);
    return -log(chance[0] + (1 - chance[0]) * exp(-2 * a)) / a;
}

/* The change of relative velocities (*u, *v, *w), in their place. `variance` is that times |u|^3. */
static inline void scatter(reals *u, reals *v, reals *w, real variance, uint is_nanbu, const reals *chance)
{
    const reals across_squared = *u * *u + *v * *v, squared = across_squared + *w * *w;
    const reals across = sqrt(across_squared), speed = sqrt(squared), own = variance / (squared * speed);
    const reals turned = is_nanbu ? nanbu_versine(own, chance) : takizuka_abe_versine(own, chance);
    const reals versine = clamp(turned, (reals)0, (reals)2), sine = sqrt(versine * ((reals)2 - versine));
    const reals along = sine * cospi(2 * chance[2]), beside = speed * sine * sinpi(2 * chance[2]);
    /* The direction of u in the plane; any, where u is along z. */
    const reals cosine_of = across > (reals)0 ? *u / across : (reals)1;
    const reals sine_of = across > (reals)0 ? *v / across : (reals)0;
    const reals w_along = *w * along;
    *w = -across * along - *w * versine;
    *u = cosine_of * w_along - sine_of * beside - *u * versine;
    *v = sine_of * w_along + cosine_of * beside - *v * versine;
}

/* `count` pairs, up to LANES, at the places, which no two of them have in common; numbers of the cell from
 * `pair` on. keep: how likely a particle of species a, and b, takes its part; one of them is 1. */
static inline void collide(const cell_pairs *own, uint pair, uint count, uint2 *places, real variance, list a,
                           list b, real2 part, real2 keep)
{
    real velocity_a[3][LANES], velocity_b[3][LANES], chance_to_keep[LANES];
    reals chance[4], change[3];
    for (uint n = count; n < LANES; n++) /* lanes without a pair */
        places[n] = places[0];
    for (uint n = 0; n < LANES; n++) {
        read_velocity(&a, places[n].x, velocity_a, n);
        read_velocity(&b, places[n].y, velocity_b, n);
    }
    draw(own, pair, chance);
    for (uint axis = 0; axis < 3; axis++)
        change[axis] = LOAD(velocity_a[axis]) - LOAD(velocity_b[axis]);
    scatter(&change[0], &change[1], &change[2], variance, own->is_nanbu, chance);
    for (uint axis = 0; axis < 3; axis++) {
        STORE(LOAD(velocity_a[axis]) + part.x * change[axis], velocity_a[axis]);
        STORE(LOAD(velocity_b[axis]) - part.y * change[axis], velocity_b[axis]);
    }
    STORE(chance[3], chance_to_keep);
    for (uint n = 0; n < count; n++)
        if (chance_to_keep[n] <= keep.x)
            write_velocity(&a, places[n].x, velocity_a, n);
    for (uint n = 0; n < count; n++)
        if (chance_to_keep[n] <= keep.y)
            write_velocity(&b, places[n].y, velocity_b, n);
}

/* Where the next cell's particles are, as many as a vector has pairs: places in this cell are by chance. */
static inline void prefetch_next_cell(const list *of, uint p)
{
#if LANES > 1
    for (uint n = 0; n < 2 * LANES; n += 4)
        WILL_READ(&of->velocity[(size_t)(p + n) * of->stride]);
    for (uint n = 0; n < 2 * LANES; n += 16)
        WILL_READ(&of->w[p + n]);
#endif
}

/* The parts of species a and b in a change of the relative velocity, and how likely a particle takes its
 * part. */
typedef struct {
    real part_a, part_b, keep_a, keep_b;
} parts_of_two;

/* Group g has cells_of_group cells from g cells_of_group on. permutation: the random order of the particles
 * of species b in each cell. alike: both species are one, and so are the arrays. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
collide_pairs(global real2 *velocity_a, global real *w_a, uint stride_a, uint first_a,
              global const uint *offsets_a, global real2 *velocity_b, global real *w_b, uint stride_b,
              uint first_b, global const uint *offsets_b, global const uint *restrict permutation, uint alike,
              uint is_nanbu, uint cells, uint cells_of_group, real strength, parts_of_two parts, uint entry,
              ulong step, ulong seed)
{
    const list a = {velocity_a, w_a, stride_a, first_a}, b = {velocity_b, w_b, stride_b, first_b};
    const real2 part = (real2)(parts.part_a, parts.part_b), keep = (real2)(parts.keep_a, parts.keep_b);
    const uint begin = (uint)get_group_id(0) * cells_of_group, item = (uint)get_local_id(0);
    uint2 places[LANES];
#if STAGED > 0
    local real velocities[3 * STAGED];
#endif
    for (uint cell = begin; cell < min(begin + cells_of_group, cells); cell++) {
        list here = a, there = b; /* where their velocities are while they collide */
        const cell_pairs own =
            cell_pairs_of(offsets_a, offsets_b, cell, alike, is_nanbu, strength, entry, step, seed);
        const bool has_triple = alike && own.less > 0 && (own.count_a & 1) != 0;
        const uint alone = own.less - (has_triple ? 1 : 0);
        global const uint *const order = permutation + own.start_b;
#if STAGED > 0
        const uint others = alike ? 0 : own.count_b;
        const bool is_staged = own.less > 0 && own.count_a + others <= STAGED;
        here.is_staged = there.is_staged = is_staged;
        here.start = own.start_a;
        here.staged = velocities;
        there.start = own.start_b;
        there.staged = alike ? velocities : velocities + 3 * own.count_a;
        move_velocities(&a, &here, own.start_a, is_staged ? own.count_a : 0);
        move_velocities(&b, &there, own.start_b, is_staged ? others : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        for (uint first = item * LANES; first < alone; first += GROUP_ITEMS * LANES) {
            prefetch_next_cell(&a, own.start_a + own.count_a + (alike ? 2 : 1) * first);
            if (!alike)
                prefetch_next_cell(&b, own.start_b + own.count_b + first);
            const uint pairs = alike ? alone : max(own.count_a, own.count_b);
            for (uint pair = first; pair < pairs; pair += own.less) { /* alike, once */
                const uint count = min(min((uint)LANES, alone - first), pairs - pair);
                for (uint n = 0; n < count; n++)
                    places[n] =
                        alike ? vload2(pair + n, order) : places_of(&own, pair + n, first + n, permutation);
                collide(&own, pair, count, places, own.variance, here, there, part, keep);
            }
        }
        for (uint round = 0; has_triple && item == 0 && round < 3; round++) {
            places[0] = (uint2)(order[2 * alone + round], order[2 * alone + (round < 2 ? round + 1 : 0)]);
            collide(&own, alone + round, 1, places, own.variance / 2, here, there, part, keep);
        }
#if STAGED > 0
        barrier(CLK_LOCAL_MEM_FENCE);
        move_velocities(&here, &a, own.start_a, is_staged ? own.count_a : 0);
        move_velocities(&there, &b, own.start_b, is_staged ? others : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
}
