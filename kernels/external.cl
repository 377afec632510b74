/* External: fields of the config, added on the nodes to those that particles feel.
 *
 * One item per node.
 */
#include "shared/real.h"

/* The values of formulas. Fields are so many components `stride` apart, of which `field` has the first `own`.
 * out <- external + field. */
kernel void external_add(global const real *restrict field, uint own, global const real *restrict external,
                         uint stride, uint components, uint nodes, global real *restrict out)
{
    const uint node = (uint)get_global_id(0);
    if (node >= nodes)
        return;
    for (uint c = 0; c < components; c++) {
        const uint n = c * stride + node;
        out[n] = external[n] + (c < own ? field[n] : (real)0);
    }
}

/* The electric field of a wave along one axis, which is that of the field too. Node i of n nodes along it has
 * the phase 2 pi mode i/n, of which whole turns are taken off in integers.
 * Of a local grid of nx x ny nodes (src/domain/slab.h) row i is row first_row + i of the box of box_rows
 * rows, or from rows_upward on row first_row + i - nx. out <- `field`, of so many components `stride` apart,
 * with a cos(phase) + b sin(phase) added to component `axis`; out may be `field`. */
kernel void external_add_wave(global const real *field, uint stride, uint components, uint nx, uint ny,
                              uint box_rows, uint first_row, uint rows_upward, uint axis, uint mode, real a,
                              real b, global real *out)
{
    const uint node = (uint)get_global_id(0);
    if (node >= nx * ny)
        return;
    const uint i = node / ny, j = node % ny;
    const uint row = (first_row + i + (i < rows_upward ? 0 : box_rows - nx)) % box_rows;
    const uint n = axis > 0 ? ny : box_rows;
    const real turns = (real)(mode * (axis > 0 ? j : row) % n) / (real)n;
    /* NVIDIA's compiler 580 breaks down over these within the loop. */
    const real cosine = cospi((real)2 * turns), sine = sinpi((real)2 * turns);
    for (uint c = 0; c < components; c++) {
        const real here = field[c * stride + node];
        out[c * stride + node] = c == axis ? here + a * cosine + b * sine : here;
    }
}
