/* External: fields of the config, added on the nodes to those that particles feel.
 *
 * One item per node.
 */
#include "shared/formula.h"
#include "shared/real.h"

/* Of a local grid of nx x ny nodes (src/domain/slab.h) row i is row first_row + i of the box of box_rows
 * rows, or from rows_upward on row first_row + i - nx. */
static inline uint row_of_box(uint i, uint nx, uint box_rows, uint first_row, uint rows_upward)
{
    return (first_row + i + (i < rows_upward ? 0 : box_rows - nx)) % box_rows;
}

/* What formulas are evaluated at, and what single precision leaves out of it. */
struct external_place {
    real dx, dy, t;
    real dx_rest, dy_rest, t_rest;
};

/* table <- FORMULAS at the nodes and at t: a term of x, y and t for each component, which the host defines
 * before this file. *first_infinite becomes the first node where one is not finite, if it is above that. */
kernel void external_tabulate(uint nx, uint ny, uint box_rows, uint first_row, uint rows_upward,
                              struct external_place place, uint stride, global real *restrict table,
                              global uint *restrict first_infinite)
{
    const uint node = (uint)get_global_id(0);
    if (node >= nx * ny)
        return;
    const formula_real row = row_of_box(node / ny, nx, box_rows, first_row, rows_upward), column = node % ny;
    const formula_real x = row * ((formula_real)place.dx + place.dx_rest);
    const formula_real y = column * ((formula_real)place.dy + place.dy_rest);
    const formula_real t = (formula_real)place.t + place.t_rest;
    const real values[] = {FORMULAS};
    for (uint c = 0; c < sizeof values / sizeof values[0]; c++) {
        table[c * stride + node] = values[c];
        if (!isfinite(values[c]))
            atomic_min(first_infinite, node);
    }
}

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
 * out <- `field`, of so many components `stride` apart, with a cos(phase) + b sin(phase) added to component
 * `axis`; out may be `field`. */
kernel void external_add_wave(global const real *field, uint stride, uint components, uint nx, uint ny,
                              uint box_rows, uint first_row, uint rows_upward, uint axis, uint mode, real a,
                              real b, global real *out)
{
    const uint node = (uint)get_global_id(0);
    if (node >= nx * ny)
        return;
    const uint i = node / ny, j = node % ny;
    const uint row = row_of_box(i, nx, box_rows, first_row, rows_upward);
    const uint n = axis > 0 ? ny : box_rows;
    const real turns = (real)(mode * (axis > 0 ? j : row) % n) / (real)n;
    /* NVIDIA's compiler 580 breaks down over these within the loop. */
    const real cosine = cospi((real)2 * turns), sine = sinpi((real)2 * turns);
    for (uint c = 0; c < components; c++) {
        const real here = field[c * stride + node];
        out[c * stride + node] = c == axis ? here + a * cosine + b * sine : here;
    }
}
