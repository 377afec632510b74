/* Poisson: from the modes of the charge density to those of the potential or the field, the field by centred
 * differences, and its energy.
 *
 * A group takes the row of its number and its items share the elements of the row: no divisions, and the
 * numbers of the row are read once.
 */
#define SUM_COUNT (ELECTROMAGNETIC ? 6 : 2) /* of energy_sums */

#define LANES 1
#include "shared/cell.h"
#include "shared/modes.h"
#include "shared/sum.h"

/* One group per mode along x. scale: 1/(nx ny), which the transforms leave out. */
kernel void poisson_potential(global const real2 *restrict rho, global const real2 *restrict wave_x,
                              global const real2 *restrict wave_y, uint modes_y, real scale,
                              global real2 *restrict phi)
{
    const uint m = (uint)get_group_id(0);
    const real2 x = wave_x[m];
    for (uint n = (uint)get_local_id(0); n < modes_y; n += (uint)get_local_size(0))
        phi[modes_y * m + n] = potential_mode(rho[modes_y * m + n], x.x + wave_y[n].x, scale);
}

/* The modes of the field from those of rho: of ex, and from element ey_begin on of ey. */
kernel void poisson_spectral_field(global const real2 *restrict rho, global const real2 *restrict wave_x,
                                   global const real2 *restrict wave_y, uint modes_y, real scale,
                                   uint ey_begin, global real2 *restrict e)
{
    const uint m = (uint)get_group_id(0);
    const real2 x = wave_x[m];
    for (uint n = (uint)get_local_id(0); n < modes_y; n += (uint)get_local_size(0)) {
        const uint element = modes_y * m + n;
        const real2 y = wave_y[n];
        const real2 phi = potential_mode(rho[element], x.x + y.x, scale);
        e[element] = field_mode(phi, x.y);
        e[ey_begin + element] = field_mode(phi, y.y);
    }
}

/* One group per mode along x: modes, from element `begin` on, become those after the filter, and `scaled`
 * `scale` times as much; it may be where the modes are. */
kernel void poisson_filter(global const real *filter_x, global const real *filter_y, uint modes_y, uint begin,
                           real scale, global real2 *modes, global real2 *scaled)
{
    const uint m = (uint)get_group_id(0);
    for (uint n = (uint)get_local_id(0); n < modes_y; n += (uint)get_local_size(0)) {
        const real2 left = modes[begin + modes_y * m + n] * (filter_x[m] * filter_y[n]);
        modes[begin + modes_y * m + n] = left;
        scaled[modes_y * m + n] = left * scale;
    }
}

/* A group per row of nodes: E = -(phi(i+1) - phi(i-1)) / (2 dx), and along y alike. half_per_dx: 1/(2 dx). */
kernel void poisson_centred_field(global const real *restrict phi, uint nx, uint ny, real half_per_dx,
                                  real half_per_dy, global real *restrict e, uint stride)
{
    const uint i = (uint)get_group_id(0);
    const uint i_left = wrap_near((int)i - 1, nx), i_right = wrap_near((int)i + 1, nx);
    for (uint j = (uint)get_local_id(0); j < ny; j += (uint)get_local_size(0)) {
        const real left = phi[cell_index(i_left, j, ny)];
        const real right = phi[cell_index(i_right, j, ny)];
        const real below = phi[cell_index(i, wrap_near((int)j - 1, ny), ny)];
        const real above = phi[cell_index(i, wrap_near((int)j + 1, ny), ny)];
        e[cell_index(i, j, ny)] = (left - right) * half_per_dx;
        e[stride + cell_index(i, j, ny)] = (below - above) * half_per_dy;
    }
}

/* One group per row of nodes: E(i, j) = sum over all nodes (i', j') of response(i - i', j - j') rho(i', j'),
 * where response is the field of rho = 1 at node (0, 0). Items beside each other have nodes beside each
 * other; where the group has items for the row several times, each time they add other rows i'. The
 * sum of the response is 0, so what all rho have in common adds round-off alone and is left out. All items
 * reach the barriers. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
poisson_direct_field(global const real *restrict rho, global const real2 *restrict response, uint nx, uint ny,
                     global real *restrict e, uint stride)
{
    local real2 shared[GROUP_ITEMS];
    const uint i = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint width = min(ny, (uint)GROUP_ITEMS), shares = GROUP_ITEMS / width, share = item / width;
    for (uint first = 0; first < ny; first += width) {
        const uint j = first + item % width;
        real2 total = (real2)((real)0);
        for (uint row = share < shares && j < ny ? share : nx; row < nx; row += shares) {
            global const real2 *const of_row = response + cell_index(wrap_near((int)i - (int)row, nx), 0, ny);
            real2 sum = (real2)((real)0);
            for (uint column = 0; column < ny; column++)
                sum += of_row[j < column ? j + ny - column : j - column] *
                       (rho[cell_index(row, column, ny)] - rho[0]);
            total += sum;
        }
        shared[item] = total;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width && j < ny) {
            for (uint other = 1; other < shares; other++)
                total += shared[other * width + item];
            e[cell_index(i, j, ny)] = total.x;
            e[stride + cell_index(i, j, ny)] = total.y;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* ---- energy ---- */

/* Sums of the fields over the nodes, group by group; the host adds the few group sums. Some modes of the
 * charge density, and of a state of `waves`, come with them.
 *
 * A group owns the nodes [g chunk, (g + 1) chunk); its items stride through them side by side. Group g leaves
 * the sums of |E|^2 and of rho, and of |B|^2 and E x B where there is B, in sums[first + SUM_COUNT g ...];
 * behind those of all groups stand the modes that `elements` names: `parts` of each, one of rho and those of
 * the waves, which are `wave_stride` modes apart. All items reach the barriers in sum_store().
 */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
energy_sums(global const real *restrict felt, uint stride, global const real *restrict rho, uint nodes,
            uint chunk, global const real2 *restrict modes, global const uint *restrict elements,
            uint mode_count, global const real2 *restrict waves, uint wave_stride, uint parts, uint first,
            global real *restrict sums)
{
    local real shared[SUM_SHARED];
    const uint group = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint begin = group * chunk, end = begin + min(chunk, nodes - begin);
    real total[SUM_COUNT] = {(real)0}, excess[SUM_COUNT] = {(real)0};
    for (uint node = begin + item; node < end;) {
        const uint block_end = min(end, node + SUM_BLOCK * GROUP_ITEMS);
        real block[SUM_COUNT] = {(real)0};
        for (; node < block_end; node += GROUP_ITEMS) {
            const real ex = felt[node], ey = felt[stride + node];
            block[0] += ex * ex + ey * ey;
            block[1] += rho[node];
#if ELECTROMAGNETIC
            const real ez = felt[2 * (size_t)stride + node], bx = felt[3 * (size_t)stride + node];
            const real by = felt[4 * (size_t)stride + node], bz = felt[5 * (size_t)stride + node];
            block[0] += ez * ez;
            block[2] += bx * bx + by * by + bz * bz;
            block[3] += ey * bz - ez * by;
            block[4] += ez * bx - ex * bz;
            block[5] += ex * by - ey * bx;
#endif
        }
        sum_add_block(total, excess, block);
    }
    sum_store(total, shared, sums + first + SUM_COUNT * group);
    for (uint n = (uint)get_global_id(0); n < mode_count * parts; n += (uint)get_global_size(0)) {
        const uint element = elements[n / parts], part = n % parts;
        vstore2(part == 0 ? modes[element] : waves[(part - 1) * (size_t)wave_stride + element], n,
                sums + first + SUM_COUNT * (uint)get_num_groups(0));
    }
}
