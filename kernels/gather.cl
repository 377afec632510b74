/* Gather: the densities of the box from what every rank deposited, and the rows of the box that a rank keeps.
 * A group takes the row of its number and its items share the nodes of the row.
 *
 * Blocks hold rows of ny nodes, those of all ranks one behind the other (src/parallel/gather.h).
 */
#include "shared/cell.h"
#include "shared/real.h"

/* One group per row of the box: each of the components is the sum of the rows sources[begins[i]] ...
 * sources[begins[i+1]-1], in this order. Each row has one or more. A source is (the row where its block
 * begins, with one component; the rows of a component there, or 0 for a row of the own local grid; the row).
 */
kernel void gather_sum(global const real *restrict blocks, global const uint *restrict begins,
                       global const uint4 *restrict sources, uint ny, uint components,
                       global const real *restrict own, uint own_stride, global real *restrict box,
                       uint box_stride)
{
    const uint i = (uint)get_group_id(0), begin = begins[i], end = begins[i + 1];
    for (uint c = 0; c < components; c++)
        for (uint j = (uint)get_local_id(0); j < ny; j += (uint)get_local_size(0)) {
            real sum = (real)0;
            for (uint n = begin; n < end; n++) {
                const uint4 at = sources[n];
                const real part = at.y == 0 ? own[c * own_stride + cell_index(at.z, j, ny)]
                                            : blocks[cell_index(at.x * components + c * at.y + at.z, j, ny)];
                sum = n == begin ? part : sum + part;
            }
            box[c * box_stride + cell_index(i, j, ny)] = sum;
        }
}

/* One group per row of the local grid that a rank keeps: kept[n] is (the local row, the row of the box). Of
 * the components with a bit in `which`, those of the box `box_stride` apart, the rank's `stride`. */
kernel void gather_keep(global const uint2 *restrict kept, uint ny, uint which,
                        global const real *restrict box, uint box_stride, global real *restrict own,
                        uint stride)
{
    const uint2 row = kept[get_group_id(0)];
    for (uint c = 0; which >> c > 0; c++)
        for (uint j = (uint)get_local_id(0); (which >> c & 1) && j < ny; j += (uint)get_local_size(0))
            own[c * stride + cell_index(row.x, j, ny)] = box[c * box_stride + cell_index(row.y, j, ny)];
}
