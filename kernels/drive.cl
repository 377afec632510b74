/* Drive: the external electric field of a wave along one axis, added on the nodes.
 *
 * Node i of n nodes along the axis has the phase 2 pi mode i/n, of which whole turns are taken off in
 * integers.
 */
#include "shared/real.h"

/* One item per node of a local grid of nx x ny nodes (src/domain/slab.h). Its row i is row first_row + i of
 * the box of box_rows rows, or from rows_upward on row first_row + i - nx.
 * out <- `field`, of so many components `stride` apart, with a cos(phase) + b sin(phase) added to component
 * `axis`, along which the wave runs; out may be `field`. */
kernel void drive_add(global const real *field, uint stride, uint components, uint nx, uint ny, uint box_rows,
                      uint first_row, uint rows_upward, uint axis, uint mode, real a, real b,
                      global real *out)
{
    const uint node = (uint)get_global_id(0);
    if (node >= nx * ny)
        return;
    const uint i = node / ny, j = node % ny;
    const uint row = (first_row + i + (i < rows_upward ? 0 : box_rows - nx)) % box_rows;
    const uint n = axis > 0 ? ny : box_rows;
    const real turns = (real)(mode * (axis > 0 ? j : row) % n) / (real)n;
    for (uint c = 0; c < components; c++) {
        const real here = field[c * stride + node];
        out[c * stride + node] =
            c == axis ? here + a * cospi((real)2 * turns) + b * sinpi((real)2 * turns) : here;
    }
}
