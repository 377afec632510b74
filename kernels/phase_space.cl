/* Phase space: particles counted in bins over some of x, y, u, v and w, from their sorted list.
 *
 * Bins of x and y are whole cells, so the list has the particles of a row of a bin's cells in one piece: a
 * segment, whose place in the volume is known before the first particle is read. Only velocities are read.
 * Counts are integers: atomic functions give the same bits in any order.
 */
#include "shared/cell.h"
#include "shared/real.h"

/* The bin of a velocity, of `bins` from `low` on, `scale` to one velocity; `bins` where it is outside. What
 * is no number is outside, too. */
static inline uint velocity_bin(real velocity, real low, real scale, uint bins)
{
    const real place = (velocity - low) * scale;
    return place >= (real)0 && place < (real)bins ? (uint)place : bins;
}

/* The bins along x are of rows_per_bin rows of cells, those along y of columns_per_bin cells from column
 * first_column on. In the volume of f bins along an axis are a stride apart. An axis that f is no function of
 * has stride 0: x and y then have one bin, the whole box, and u, v and w have 0 bins. */
typedef struct {
    uint rows_per_bin, x_stride;
    uint first_column, columns_per_bin, y_bins, y_stride;
    uint velocity_bins[3], velocity_strides[3]; /* of u, v, w */
} axes_of_f;

/* velocity_bin() of u, v, w */
typedef struct {
    real low[3], scale[3];
} velocity_ranges;

/* A group takes one of `parts` equal parts of a segment, its items stride through it side by side. Segments
 * are numbered row by row, from local row first_row on, each row with y_bins of them. Local row first_row + r
 * belongs to the bin (rows_before + r) / rows_per_bin along x.
 *
 * state: velocity pairs, that of particle p at p * state_stride + state_shift (domain/particles.h);
 * third_velocity: w, where it has bins. counts[]: atomic, for several rows and parts share bins. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
phase_space_count(global const real2 *restrict state, uint state_stride, uint state_shift,
                  global const real *restrict third_velocity, global const uint *restrict cell_offsets,
                  uint ny, uint parts, uint first_row, uint rows_before, axes_of_f axes,
                  velocity_ranges ranges, global uint *restrict counts)
{
    const uint group = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint part = group % parts, segment = group / parts;
    const uint row = segment / axes.y_bins, y_bin = segment % axes.y_bins;
    const uint cell = cell_index(first_row + row, axes.first_column + y_bin * axes.columns_per_bin, ny);
    const uint begin = cell_offsets[cell], size = cell_offsets[cell + axes.columns_per_bin] - begin;
    const uint share = size / parts + (size % parts != 0 ? 1 : 0);
    const uint from = min(part * share, size), to = min(from + share, size);
    const uint base = (rows_before + row) / axes.rows_per_bin * axes.x_stride + y_bin * axes.y_stride;
    if (axes.velocity_bins[0] == 0 && axes.velocity_bins[1] == 0 && axes.velocity_bins[2] == 0) {
        if (item == 0 && to > from) /* the cell offsets say it all */
            atomic_add(&counts[base], to - from);
        return;
    }
    for (uint n = from + item; n < to; n += GROUP_ITEMS) {
        const real2 pair = state[(begin + n) * (ulong)state_stride + state_shift];
        const real velocity[3] = {pair.x, pair.y,
                                  axes.velocity_bins[2] > 0 ? third_velocity[begin + n] : (real)0};
        uint place = base;
        bool is_inside = true;
        for (uint axis = 0; axis < 3; axis++) {
            const uint bins = axes.velocity_bins[axis];
            const uint bin = velocity_bin(velocity[axis], ranges.low[axis], ranges.scale[axis], bins);
            is_inside &= bins == 0 || bin < bins;
            place += bin * axes.velocity_strides[axis];
        }
        if (is_inside)
            atomic_inc(&counts[place]);
    }
}
