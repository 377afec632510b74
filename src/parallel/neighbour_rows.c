/* Neighbour rows: from the slab of a rank. */
#include "parallel/neighbour_rows.h"

uint32_t neighbour_rows(const struct partition *partition, const struct grid *box, uint32_t ghost, int rank,
                        struct neighbour_row rows[ROWS_BESIDE])
{
    const struct slab slab = slab_make(box, partition->first[rank], partition_rows(partition, rank), ghost);
    uint32_t count = 0;
    uint32_t locals[ROWS_BESIDE];
    for (uint32_t above = 0; above < SLAB_NODES_ABOVE && slab.rows + above < slab.local.nx; above++)
        locals[count++] = slab.rows + above;
    const uint32_t below = slab.local.nx - SLAB_NODES_BELOW;
    if (below >= slab.rows + count)
        locals[count++] = below;
    for (uint32_t n = 0; n < count; n++) {
        const uint32_t row = slab_global_row(&slab, locals[n]);
        rows[n] = (struct neighbour_row){.reacher = rank,
                                         .owner = partition_owner(partition, row),
                                         .number = n,
                                         .local_row = locals[n],
                                         .row = row};
    }
    return count;
}
