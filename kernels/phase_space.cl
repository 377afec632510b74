/* Phase space: particles counted in bins over x, y and up to three values, u, v and w or formulas, from their
 * sorted list.
 *
 * Bins of x and y are whole cells, so the list has the particles of a row of a bin's cells in one piece: a
 * segment, whose place in the volume is known before the first particle is read. Only velocities are read,
 * and offsets where a formula has x or y. Counts are integers: atomic functions give the same bits in any
 * order. Where particles have weights these are summed as integers, too, in units of a power of two. The unit
 * follows from the largest weight, which a count before finds, so that the sum of all stays within 63 bits.
 *
 * The host defines before this file GROUP_ITEMS and VALUES, three terms: u, v, w, or what
 * src/config/formula_source.c makes of formulas of what shared/particle_values.h has; and where particles
 * have weights WEIGHT, another one.
 */
#include "shared/cell.h"
#include "shared/particle_values.h"
#include "shared/search.h"

/* Of particle p in a row of cells of a segment */
#define OFFSET offsets[p * (ulong)offset_stride + offset_shift]
#define ROW    (box_row + row)
#define COLUMN (find_segment(cell_offsets, cell, cell + axes.columns_per_bin - 1, p) % ny)

/* The bin of a value, of `bins` from `low` on, `scale` to one unit; `bins` where it is outside. What is no
 * number is outside, too. */
static inline uint value_bin(real value, real low, real scale, uint bins)
{
    const real place = (value - low) * scale;
    return place >= (real)0 && place < (real)bins ? (uint)place : bins;
}

#ifdef WEIGHT
#define LEAST_EXPONENT (-2000) /* as in src/output/phase_space.c; below that of any number */

/* sum[2] += value, modulo 2^64, by words of 32 bits: the carry goes with the low one, in whatever order. */
static inline void add_wide(volatile global uint *sum, ulong value)
{
    const uint low = (uint)value, before = atomic_add(&sum[0], low);
    const uint high = (uint)(value >> 32) + (before + low < low ? 1u : 0u);
    if (high != 0)
        atomic_add(&sum[1], high);
}
#endif

/* The bins along x are of rows_per_bin rows of cells, those along y of columns_per_bin cells from column
 * first_column on. In the volume of f bins along an axis are a stride apart. An axis that f is no function of
 * has stride 0: x and y then have one bin, the whole box, and values have 0 bins. */
typedef struct {
    uint rows_per_bin, x_stride;
    uint first_column, columns_per_bin, y_bins, y_stride;
    uint value_bins[3], value_strides[3];
} axes_of_f;

/* Of value_bin() */
typedef struct {
    real low[3], scale[3];
} value_ranges;

/* A group takes one of `parts` equal parts of a segment, its items stride through it side by side. Segments
 * are numbered row by row, from local row first_row on, each row with y_bins of them. Local row first_row + r
 * belongs to the bin (rows_before + r) / rows_per_bin along x.
 *
 * state: velocity pairs, that of particle p at p * state_stride + state_shift (domain/particles.h), offsets
 * likewise; third_velocity: w, where has_w. counts[]: atomic, for several rows and parts share bins. Of the
 * first row, box_row is its row of the box.
 *
 * With WEIGHT a launch with is_sum 0 counts, and leaves in *most at least the exponent of the largest weight,
 * above LEAST_EXPONENT; one with is_sum 1 adds weights times 2^shift to counts[], a pair for each bin. A
 * particle whose weight is not finite is in no bin. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
phase_space_count(global const real2 *restrict state, uint state_stride, uint state_shift,
                  global const real *restrict third_velocity, uint has_w,
                  global const real2 *restrict offsets, uint offset_stride, uint offset_shift,
                  struct value_factors factors, global const uint *restrict cell_offsets, uint ny, uint parts,
                  uint first_row, uint box_row, uint rows_before, axes_of_f axes, value_ranges ranges,
                  global uint *restrict counts
#ifdef WEIGHT
                  ,
                  volatile global uint *restrict most, uint is_sum, int shift
#endif
)
{
    const uint group = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint part = group % parts, segment = group / parts;
    const uint row = segment / axes.y_bins, y_bin = segment % axes.y_bins;
    const uint cell = cell_index(first_row + row, axes.first_column + y_bin * axes.columns_per_bin, ny);
    const uint begin = cell_offsets[cell], size = cell_offsets[cell + axes.columns_per_bin] - begin;
    const uint share = size / parts + (size % parts != 0 ? 1 : 0);
    const uint from = min(part * share, size), to = min(from + share, size);
    const uint base = (rows_before + row) / axes.rows_per_bin * axes.x_stride + y_bin * axes.y_stride;
#ifndef WEIGHT
    if (axes.value_bins[0] == 0 && axes.value_bins[1] == 0 && axes.value_bins[2] == 0) {
        if (item == 0 && to > from) /* the cell offsets say it all */
            atomic_add(&counts[base], to - from);
        return;
    }
#endif
    for (uint n = from + item; n < to; n += GROUP_ITEMS) {
        const uint p = begin + n;
        const real2 pair = state[p * (ulong)state_stride + state_shift];
        const real u = pair.x, v = pair.y, w = has_w ? third_velocity[p] : (real)0;
        const real values[3] = {VALUES};
        uint place = base;
        bool is_inside = true;
        for (uint axis = 0; axis < 3; axis++) {
            const uint bins = axes.value_bins[axis];
            const uint bin = value_bin(values[axis], ranges.low[axis], ranges.scale[axis], bins);
            is_inside &= bins == 0 || bin < bins;
            place += bin * axes.value_strides[axis];
        }
#ifdef WEIGHT
        const formula_real weight = WEIGHT;
        if (!is_inside || !isfinite(weight))
            continue;
        if (is_sum) {
            add_wide(&counts[2 * (size_t)place], (ulong)(long)rint(ldexp(weight, shift)));
            continue;
        }
        const uint exponent = weight != 0 ? (uint)(ilogb(weight) - LEAST_EXPONENT) : 0;
        if (exponent > *most) /* few are, after the first ones */
            atomic_max(most, exponent);
#endif
        if (is_inside)
            atomic_inc(&counts[place]);
    }
}
