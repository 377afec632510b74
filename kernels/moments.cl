/* Moments: density, temperature, mean velocity, current, pressure tensor and heat flux of every cell, from
 * the sorted list; and those of the particles of several states together.
 *
 * With u = gamma v, the kinetic energy m e, and c = u - <u>, d = v - <v>, a cell of density n has
 *
 *     the pressure     p_ij = m n <c_i d_j + c_j d_i>/2,
 *     the heat flux    q_i = m n <(e - <e>) d_i> - <v_j> p_ij,
 *     the temperature  gamma(<v>) p_ii/(dimensions n).
 *
 * So p is the flux of momentum about the mean flow, q that of energy less the flow's work, and T that of the
 * plasma at rest. Where c is infinite c = d, e = u^2/2, and q_i = m n <|c|^2 c_i>/2. */
#define SUM_COUNT 10

#define LANES         1
#define FUSE_PRODUCTS 0
#define VELOCITIES    3
#define MAGNETIC      0
#define PUSHER        0
#define FELT          2
#define DITHERS       0
#include "shared/moments.h"
#include "shared/motion.h"
#include "shared/sum.h"
#include "shared/weight.h"

/* Of a species. All are reals, since a kernel takes the struct as one argument. */
struct moment_factors {
    real density;      /* of one particle in a cell */
    real charge, mass; /* of a real particle; the charge is not 0 */
    real dimensions;   /* of velocities */
    real per_c_squared;
};

/* Components x, y and z; the last is 0. */
static inline real gamma_of(real4 u, real per_c_squared)
{
    const struct pusher pusher = {.per_c_squared = per_c_squared};
    const struct velocity velocity = {u.x, u.y, u.z};
    return lorentz_factor(velocity, &pusher);
}

/* p_ii is `trace`, <v> is v. In single precision to 1 % up to gamma of 300. */
static inline real temperature(const struct moment_factors *factors, real density, real trace, real4 v)
{
    const real least = REAL_IS_DOUBLE ? (real)1e-15 : (real)1e-7;
    const real per_gamma = sqrt(fmax(1 - dot(v, v) * factors->per_c_squared, least));
    return density > 0 ? trace / (factors->dimensions * density * per_gamma) : (real)0;
}

static inline real4 load_velocity(global const real2 *state, global const real *w, ulong p, uint stride,
                                  uint has_w)
{
    const real2 pair = state[p * stride];
    return (real4)(pair, has_w ? w[p] : (real)0, 0);
}

/* v of u + c less v of u, without the difference of two large numbers. */
static inline real4 velocity_difference(real4 u, real4 c, real per_c_squared)
{
    const real gamma = gamma_of(u, per_c_squared), other = gamma_of(u + c, per_c_squared);
    return (c - u * (per_c_squared * dot(2 * u + c, c) / (gamma * (gamma + other)))) / other;
}

/* Adds the products of `weight` particles, or of a group of them. Their means of u and v are by c and d off
 * those of all, u and v; energy: moment ENERGY of the group. Those of the tensor come in the order of the
 * moments. */
static inline void add_products(real weight, real energy, real4 c, real4 d, real4 u, real4 v,
                                real per_c_squared, real sums[SUM_COUNT])
{
    const real of_c[3] = {c.x, c.y, c.z}, of_d[3] = {d.x, d.y, d.z};
    const real4 e = d - c; /* 0 without relativity, however fast v is */
    const real gammas = gamma_of(u, per_c_squared) + gamma_of(u + c, per_c_squared);
    const real heat = energy + dot(c, c) / gammas + dot(2 * u / gammas - v, c);
    const real4 flux = heat * d + (dot(v, c) * e - dot(v, e) * c) / 2;
    for (int a = 0, n = 0; a < 3; a++)
        for (int b = 0; b <= a; b++, n++)
            sums[n] += weight * (of_c[a] * of_d[b] + of_c[b] * of_d[a]) / 2;
    sums[6] += weight * flux.x, sums[7] += weight * flux.y, sums[8] += weight * flux.z;
    sums[9] += weight * heat;
}

/* size: of the particles, by their weights. u, v: the means; sums: of add_products(). */
static inline void store_moments(const struct moment_factors *factors, real size, real4 u, real4 v,
                                 const real sums[SUM_COUNT], global real *result, uint stride)
{
    const real density = factors->density * size, pressure = factors->mass * factors->density;
    const real of_u[3] = {u.x, u.y, u.z}, of_v[3] = {v.x, v.y, v.z};
    result[DENSITY * stride] = density;
    result[TEMPERATURE * stride] = temperature(factors, density, pressure * (sums[0] + sums[2] + sums[5]), v);
    for (uint n = 0; n < 3; n++) {
        result[(VELOCITY + n) * stride] = of_u[n];
        result[(CURRENT + n) * stride] = factors->charge * density * of_v[n];
        result[(HEAT_FLUX + n) * stride] = pressure * sums[6 + n];
    }
    for (uint n = 0; n < 6; n++)
        result[(PRESSURE + n) * stride] = pressure * sums[n];
    result[ENERGY * stride] = sums[9] / (size > 0 ? size : 1);
}

/* Group g owns cell first_cell + g and leaves moment m in result[m * stride + g]; its items stride through
 * the cell's particles side by side, twice: for the means, and for the products of what differs from them.
 * state: velocity pairs, that of particle p at p * state_stride + state_first; w: the third component, where
 * has_w.
 *
 * Velocities count from that of the cell's first particle: where a beam is fast and cold, rounding the mean
 * would take the spread away otherwise. All items reach the barriers. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
moments(global const real2 *restrict state, uint state_stride, uint state_first,
        global const real *restrict w, uint has_w, global const uint *restrict cell_offsets, uint first_cell,
        struct moment_factors factors, uint stride, global real *restrict result WEIGHT_ARGUMENT)
{
    local real shared[SUM_SHARED], held[SUM_COUNT];
    const uint group = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint begin = cell_offsets[first_cell + group], end = cell_offsets[first_cell + group + 1];
    const real per_c_squared = factors.per_c_squared;
    real size = (real)(end - begin);
    real4 first = (real4)(0), mean_c = (real4)(0), mean_d = (real4)(0);
    real total[SUM_COUNT];
    if (begin < end)
        first = load_velocity(state + state_first, w, begin, state_stride, has_w);
    const real4 first_v = first / gamma_of(first, per_c_squared);
    for (uint round = 0; round < 2; round++) {
        real excess[SUM_COUNT] = {(real)0};
        for (uint n = 0; n < SUM_COUNT; n++)
            total[n] = (real)0;
        for (uint p = begin + item; p < end;) {
            const uint block_end = end - p > SUM_BLOCK * GROUP_ITEMS ? p + SUM_BLOCK * GROUP_ITEMS : end;
            real block[SUM_COUNT] = {(real)0};
            for (; p < block_end; p += GROUP_ITEMS) {
                const real4 c = load_velocity(state + state_first, w, p, state_stride, has_w) - first;
                const real4 d = velocity_difference(first, c, per_c_squared);
                if (round == 0) {
                    const real4 of_c = WEIGHT_AT(p) * c, of_d = WEIGHT_AT(p) * d;
                    block[0] += of_c.x, block[1] += of_c.y, block[2] += of_c.z;
                    block[3] += of_d.x, block[4] += of_d.y, block[5] += of_d.z;
                    block[6] += WEIGHTS ? WEIGHT_AT(p) : 0;
                } else {
                    add_products(WEIGHT_AT(p), 0, c - mean_c, d - mean_d, first + mean_c, first_v + mean_d,
                                 per_c_squared, block);
                }
            }
            sum_add_block(total, excess, block);
        }
        sum_over_group(total, shared);
        for (uint n = 0; n < SUM_COUNT && item == 0; n++)
            held[n] = total[n];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (round == 0) {
            size = WEIGHTS ? held[6] : size;
            mean_c = (real4)(held[0], held[1], held[2], 0) / (size > 0 ? size : 1);
            mean_d = (real4)(held[3], held[4], held[5], 0) / (size > 0 ? size : 1);
        }
    }
    if (item == 0)
        store_moments(&factors, size, first + mean_c, first_v + mean_d, total, result + group, stride);
}

/* ---- of several states ---- */

/* of <- u or, where v is asked for, the mean of v. */
static inline real4 mean_of(const real of[MOMENTS], bool is_v, const struct moment_factors *factors)
{
    const uint first = is_v && factors->per_c_squared > 0 ? CURRENT : VELOCITY;
    const real4 mean = (real4)(of[first], of[first + 1], of[first + 2], 0);
    return first == VELOCITY ? mean : of[DENSITY] > 0 ? mean / (factors->charge * of[DENSITY]) : (real4)(0);
}

/* change <- by what moments `of[0]`, of all particles of states - 1 states, change where those of one more
 * come, `of[1]`. Mean velocities weigh by the numbers of particles, and the two groups' distance from the
 * mean of both is a part of the spread (T. F. Chan et al., Stanford STAN-CS-79-773, 1979). */
static inline void pool(const struct moment_factors *factors, real of[2][MOMENTS], real states,
                        real change[MOMENTS])
{
    const real before = (states - 1) * of[0][DENSITY], all = before + of[1][DENSITY];
    const real part = all > 0 ? of[1][DENSITY] / all : (real)0;
    const real4 c = mean_of(of[1], false, factors) - mean_of(of[0], false, factors),
                d = mean_of(of[1], true, factors) - mean_of(of[0], true, factors);
    const real4 u = mean_of(of[0], false, factors) + part * c, v = mean_of(of[0], true, factors) + part * d;
    real sums[SUM_COUNT] = {(real)0};
    for (uint m = 0; m < MOMENTS; m++)
        change[m] = (of[1][m] - of[0][m]) / states;
    change[VELOCITY] = part * c.x, change[VELOCITY + 1] = part * c.y, change[VELOCITY + 2] = part * c.z;
    for (uint g = 0; g < 2; g++) {
        const real off = g == 0 ? -part : 1 - part, share = (g == 0 ? states - 1 : (real)1) / states;
        const real *const p = of[g] + PRESSURE;
        const real4 shift = share * off * d;
        add_products(share * of[g][DENSITY], of[g][ENERGY], off * c, off * d, u, v, factors->per_c_squared,
                     sums);
        change[HEAT_FLUX] += p[0] * shift.x + p[1] * shift.y + p[3] * shift.z;
        change[HEAT_FLUX + 1] += p[1] * shift.x + p[2] * shift.y + p[4] * shift.z;
        change[HEAT_FLUX + 2] += p[3] * shift.x + p[4] * shift.y + p[5] * shift.z;
    }
    for (uint n = 0; n < 9; n++)
        change[PRESSURE + n] += factors->mass * sums[n];
    change[ENERGY] = all > 0 ? sums[9] * states / all - of[0][ENERGY] : (real)0;
    const uint xx = PRESSURE, yy = PRESSURE + 2, zz = PRESSURE + 5;
    const real trace = of[0][xx] + of[0][yy] + of[0][zz] + (change[xx] + change[yy] + change[zz]);
    change[TEMPERATURE] = temperature(factors, all / states, trace, v) - of[0][TEMPERATURE];
}

/* Item n adds the moments of a state, moment m at cells[m * cell_stride + n], to those of all particles of
 * `states` states, this one counted: of moment m at means[place + n + 2 m plane], and `plane` further on what
 * that holds too much. */
kernel void moments_pool(global const real *restrict cells, uint cell_stride, uint count,
                         struct moment_factors factors, ulong states, ulong place, uint plane,
                         global real *restrict means)
{
    const uint n = (uint)get_global_id(0);
    real of[2][MOMENTS], change[MOMENTS];
    if (n >= count)
        return;
    for (uint m = 0; m < MOMENTS; m++) {
        global const real *const mean = means + place + n + 2 * (size_t)m * plane;
        of[0][m] = states > 1 ? mean[0] - mean[plane] : (real)0;
        of[1][m] = cells[m * cell_stride + n];
    }
    pool(&factors, of, (real)states, change);
    for (uint m = 0; m < MOMENTS; m++) {
        global real *const mean = means + place + n + 2 * (size_t)m * plane;
        real total = states > 1 ? mean[0] : (real)0, excess = states > 1 ? mean[plane] : (real)0;
        sum_add(&total, &excess, change[m]);
        mean[0] = total, mean[plane] = excess;
    }
}
