/* Moments: density, temperature, mean velocity, current, pressure tensor and heat flux of every cell, from
 * the sorted list. */
#define SUM_COUNT 9

#include "shared/moments.h"
#include "shared/motion.h"
#include "shared/sum.h"

/* Of a species. All are reals, since a kernel takes the struct as one argument. */
struct moment_factors {
    real density;      /* of one particle in a cell */
    real charge, mass; /* of a real particle */
    real dimensions;   /* of velocities */
    real per_c_squared;
};

/* u of particle p, and behind it v = u/gamma. */
static inline void load_velocity(global const real2 *state, global const real *w, ulong p, uint stride,
                                 uint has_w, real per_c_squared, real both[6])
{
    const struct pusher pusher = {.per_c_squared = per_c_squared};
    const real2 pair = state[p * stride];
    const struct velocity u = {pair.x, pair.y, has_w ? w[p] : (real)0}, v = velocity_of(u, &pusher);
    both[0] = u.u, both[1] = u.v, both[2] = u.w;
    both[3] = v.u, both[4] = v.v, both[5] = v.w;
}

/* c: a velocity about the mean. Those of the tensor come in the order of the moments. */
static inline void add_products(const real c[3], real sums[SUM_COUNT])
{
    for (int a = 0, n = 0; a < 3; a++) {
        for (int b = 0; b <= a; b++, n++)
            sums[n] += c[a] * c[b];
        sums[6 + a] += (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) * c[a];
    }
}

/* means: those of u, and of v = u/gamma; sums: of add_products(). */
static inline void store_moments(const struct moment_factors *factors, uint size, const real means[6],
                                 const real sums[SUM_COUNT], global real *result, uint stride)
{
    const real density = factors->density * (real)size, pressure = factors->mass * factors->density;
    result[DENSITY * stride] = density;
    result[TEMPERATURE * stride] =
        factors->mass * (sums[0] + sums[2] + sums[5]) / (factors->dimensions * (real)max(size, 1U));
    for (uint n = 0; n < 3; n++) {
        result[(VELOCITY + n) * stride] = means[n];
        result[(CURRENT + n) * stride] = factors->charge * density * means[3 + n];
        result[(HEAT_FLUX + n) * stride] = (real)0.5 * pressure * sums[6 + n];
    }
    for (uint n = 0; n < 6; n++)
        result[(PRESSURE + n) * stride] = pressure * sums[n];
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
        struct moment_factors factors, uint stride, global real *restrict result)
{
    local real shared[SUM_SHARED], held[SUM_COUNT];
    const uint group = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint begin = cell_offsets[first_cell + group], end = cell_offsets[first_cell + group + 1];
    const real count = (real)max(end - begin, 1U), per_c_squared = factors.per_c_squared;
    real first[6] = {(real)0}, mean[6] = {(real)0}, total[SUM_COUNT];
    if (begin < end)
        load_velocity(state + state_first, w, begin, state_stride, has_w, per_c_squared, first);
    for (uint round = 0; round < 2; round++) {
        real excess[SUM_COUNT] = {(real)0};
        for (uint n = 0; n < SUM_COUNT; n++)
            total[n] = (real)0;
        for (uint p = begin + item; p < end;) {
            const uint block_end = end - p > SUM_BLOCK * GROUP_ITEMS ? p + SUM_BLOCK * GROUP_ITEMS : end;
            real block[SUM_COUNT] = {(real)0}, c[6];
            for (; p < block_end; p += GROUP_ITEMS) {
                load_velocity(state + state_first, w, p, state_stride, has_w, per_c_squared, c);
                for (uint n = 0; n < 6; n++)
                    c[n] = (c[n] - first[n]) - mean[n];
                for (uint n = 0; n < 6 && round == 0; n++)
                    block[n] += c[n];
                if (round == 1)
                    add_products(c, block);
            }
            sum_add_block(total, excess, block);
        }
        sum_over_group(total, shared);
        for (uint n = 0; n < SUM_COUNT && item == 0; n++)
            held[n] = total[n];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint n = 0; n < 6 && round == 0; n++)
            mean[n] = held[n] / count;
    }
    for (uint n = 0; n < 6; n++)
        mean[n] += first[n];
    if (item == 0)
        store_moments(&factors, end - begin, mean, total, result + group, stride);
}
