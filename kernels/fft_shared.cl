/* Transforms that ranks share: modes along y of a rank's rows, cut into blocks of the columns of each rank,
 * and the rows that ranks left for one another (src/field/fft_shared.c). */
#include "shared/real.h"

/* One group per row: in `rows` of the rows, or of those that the rank reaches, the columns of each other rank
 * go into its block, and the own ones into the modes; or back. A rank's share is (its first column, how many
 * it has, those of a row of the block, those in rows of the ranks before), and its block, behind those of the
 * ranks before it, is [components][rows][columns]. Components are `stride` or modes_stride apart. Row n is
 * row n of the local grid, those from `upward` on are its last ones; 0 is row first_row of the box. */
kernel void fft_shared_cut(global real2 *restrict along_y, uint stride, uint modes_y, uint local_rows,
                           uint rows, uint upward, global const uint4 *restrict shares, uint ranks, uint me,
                           uint components, uint is_back, global real2 *restrict modes, uint modes_stride,
                           uint first_row, uint nx, global real2 *restrict blocks)
{
    const uint n = (uint)get_group_id(0);
    const uint local_row = n < upward ? n : local_rows - rows + n;
    const uint row = (first_row + (n < upward ? n : nx - rows + n)) % nx;
    for (uint c = 0; c < components; c++)
        for (uint rank = 0; rank < ranks; rank++) {
            const uint4 share = shares[rank];
            global real2 *here = along_y + c * (size_t)stride + local_row * (size_t)modes_y + share.x;
            global real2 *there = rank == me ? modes + c * (size_t)modes_stride + row * (size_t)share.z
                                             : blocks + share.w * (size_t)(rows * components) +
                                                   (c * rows + n) * (size_t)share.z;
            for (uint j = (uint)get_local_id(0); j < share.z; j += (uint)get_local_size(0))
                if (!is_back)
                    there[j] = j < share.y ? here[j] : (real2)((real)0);
                else if (j < share.y)
                    here[j] = there[j];
        }
}

/* One group per row that another rank left, places[n] = (the own row that it is for, its number in a
 * component of `left`), in the order of own rows, then of ranks: the first for an own row adds all. */
kernel void fft_shared_add(global const real *restrict left, global const uint2 *restrict places, uint count,
                           uint ny, uint components, global real *restrict nodes, uint stride)
{
    const uint first = (uint)get_group_id(0), row = places[first].x;
    if (first > 0 && places[first - 1].x == row)
        return;
    for (uint c = 0; c < components; c++)
        for (uint j = (uint)get_local_id(0); j < ny; j += (uint)get_local_size(0)) {
            real sum = nodes[c * (size_t)stride + row * (size_t)ny + j];
            for (uint n = first; n < count && places[n].x == row; n++)
                sum += left[(c * count + places[n].y) * (size_t)ny + j];
            nodes[c * (size_t)stride + row * (size_t)ny + j] = sum;
        }
}
