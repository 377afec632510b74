/* Phase space: particles counted in bins over some of x, y, u, v and w, from their sorted list.
 *
 * Bins of x and y are whole cells, so the list has the particles of a row of a bin's cells in one piece: a
 * segment, whose place in the volume is known before the first particle is read. Only velocities are read.
 * Counts are integers, and integers may be added in any order: atomic functions give the same bits every
 * time.
 *
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h) and
 *   GROUP_ITEMS  items of a group.
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

/* A group takes one of `parts` equal parts of a segment, its items stride through it side by side. Segments
 * are numbered row by row, from local row first_row on, each row with y_bins of them: columns_per_bin cells
 * each, from column first_column on. Local row first_row + r belongs to the bin (rows_before + r) /
 * rows_per_bin along x.
 *
 * state: velocity pairs, that of particle p at p * state_stride + state_shift (domain/particles.h);
 * third_velocity: w, where w_bins is not 0. An axis that f is no function of has stride 0: x and y then have
 * one bin, the whole box, and u, v and w have 0 bins. counts[]: atomic, for several rows and parts share
 * bins. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
phase_space_count(global const real2 *restrict state, uint state_stride, uint state_shift,
                  global const real *restrict third_velocity, global const uint *restrict cell_offsets,
                  uint ny, uint parts, uint first_row, uint rows_before, uint rows_per_bin, uint x_stride,
                  uint first_column, uint columns_per_bin, uint y_bins, uint y_stride, real u_low,
                  real u_scale, uint u_bins, uint u_stride, real v_low, real v_scale, uint v_bins,
                  uint v_stride, real w_low, real w_scale, uint w_bins, uint w_stride,
                  global uint *restrict counts)
{
    const uint group = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint part = group % parts, segment = group / parts;
    const uint row = segment / y_bins, y_bin = segment % y_bins;
    const uint cell = cell_index(first_row + row, first_column + y_bin * columns_per_bin, ny);
    const uint begin = cell_offsets[cell], size = cell_offsets[cell + columns_per_bin] - begin;
    const uint share = size / parts + (size % parts != 0 ? 1 : 0);
    const uint from = min(part * share, size), to = min(from + share, size);
    const uint base = (rows_before + row) / rows_per_bin * x_stride + y_bin * y_stride;
    if (u_bins == 0 && v_bins == 0 && w_bins == 0) { /* the cell offsets say it all */
        if (item == 0 && to > from)
            atomic_add(&counts[base], to - from);
        return;
    }
    for (uint n = from + item; n < to; n += GROUP_ITEMS) {
        const real2 velocity = state[(begin + n) * (ulong)state_stride + state_shift];
        const uint u_bin = u_bins > 0 ? velocity_bin(velocity.x, u_low, u_scale, u_bins) : 0;
        const uint v_bin = v_bins > 0 ? velocity_bin(velocity.y, v_low, v_scale, v_bins) : 0;
        const uint w_bin = w_bins > 0 ? velocity_bin(third_velocity[begin + n], w_low, w_scale, w_bins) : 0;
        if ((u_bins == 0 || u_bin < u_bins) && (v_bins == 0 || v_bin < v_bins) &&
            (w_bins == 0 || w_bin < w_bins))
            atomic_inc(&counts[base + u_bin * u_stride + v_bin * v_stride + w_bin * w_stride]);
    }
}
