/* Energy: sums of the fields over the nodes, group by group; the host adds the few group sums. Some modes of
 * the charge density come with them.
 *
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h) and
 *   GROUP_ITEMS  items of a group, a power of two.
 */
#define SUM_COUNT 2

#include "shared/sum.h"

/* A group owns the nodes [g chunk, (g + 1) chunk); its items stride through them side by side. Group g leaves
 * the sums of ex^2 + ey^2 and of rho in sums[first + 2 g ...]; behind those of all groups stand the modes
 * that `elements` names. The barriers stand in sum_store(),
 * which all items reach whatever the number of nodes. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
energy_sums(global const real *restrict ex, global const real *restrict ey, global const real *restrict rho,
            uint nodes, uint chunk, global const real2 *restrict modes, global const uint *restrict elements,
            uint mode_count, uint first, global real *restrict sums)
{
    local real shared[SUM_SHARED];
    const uint group = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint begin = group * chunk, end = begin + min(chunk, nodes - begin);
    real total[SUM_COUNT] = {(real)0, (real)0}, excess[SUM_COUNT] = {(real)0, (real)0};
    for (uint node = begin + item; node < end;) {
        const uint block_end = min(end, node + SUM_BLOCK * GROUP_ITEMS);
        real block[SUM_COUNT] = {(real)0, (real)0};
        for (; node < block_end; node += GROUP_ITEMS) {
            block[0] += ex[node] * ex[node] + ey[node] * ey[node];
            block[1] += rho[node];
        }
        sum_add_block(total, excess, block);
    }
    sum_store(total, shared, sums + first + SUM_COUNT * group);
    for (uint n = (uint)get_global_id(0); n < mode_count; n += (uint)get_global_size(0))
        vstore2(modes[elements[n]], n, sums + first + SUM_COUNT * (uint)get_num_groups(0));
}
