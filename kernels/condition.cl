/* Condition: leaves of the particles that selection.cl has marked those that fulfil a formula of the config.
 *
 * The host defines CONDITION before this file: what src/config/formula_source.c makes of a formula of what
 * shared/particle_values.h has. */
#include "shared/particle_values.h"
#include "shared/search.h"

#define WORD 32 /* as in selection.cl */

#define OFFSET offsets[p * (ulong)offset_stride + offset_shift]
#define CELL   find_segment(cell_offsets, 0, cells - 1, p)
#define ROW    (box_row + CELL / ny)
#define COLUMN (CELL % ny)

/* Bit k of marks[n] <- 0 where particle 32 n + k, below `count`, does not fulfil the condition; an item a
 * word. The arrays are as in phase_space.cl; row 0 of the `cells` is row box_row of the box. */
kernel void condition_mark(global const real2 *restrict state, uint state_stride, uint state_shift,
                           global const real *restrict third_velocity, uint has_w,
                           global const real2 *restrict offsets, uint offset_stride, uint offset_shift,
                           struct value_factors factors, global const uint *restrict cell_offsets, uint cells,
                           uint ny, uint box_row, uint count, global uint *restrict marks)
{
    const uint n = (uint)get_global_id(0), begin = WORD * n;
    if (n > (count - 1) / WORD)
        return;
    uint mark = marks[n];
    for (uint p = begin; p < min(begin + WORD, count); p++) {
        if ((mark >> (p - begin) & 1) == 0)
            continue;
        const real2 pair = state[p * (ulong)state_stride + state_shift];
        const real u = pair.x, v = pair.y, w = has_w ? third_velocity[p] : (real)0;
        const formula_real condition = (CONDITION);
        if (!(condition < 0 || condition > 0)) /* NaN, too */
            mark &= ~(1u << (p - begin));
    }
    marks[n] = mark;
}
