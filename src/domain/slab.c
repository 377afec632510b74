/* Slab: rows of a rank as rows of the box, and back. */
#include "domain/slab.h"

struct slab slab_make(const struct grid *box, uint32_t first_row, uint32_t rows, uint32_t ghost)
{
    struct slab slab = {.box = *box, .local = *box, .first_row = first_row, .rows = rows, .ghost = ghost};
    const uint64_t local_rows = rows + 2 * (uint64_t)ghost + 1;
    if (ghost == 0 || local_rows >= box->nx) {
        slab.ghost = 0;
        return slab;
    }
    slab.local.nx = (uint32_t)local_rows;
    slab.local.lx = slab.local.nx * box->dx;
    return slab;
}

struct slab slab_whole_box(const struct grid *box)
{
    return slab_make(box, 0, box->nx, 0);
}

bool slab_is_whole(const struct slab *slab)
{
    return slab->ghost == 0;
}

uint32_t slab_own_cells(const struct slab *slab)
{
    return slab->rows * slab->box.ny;
}

uint32_t slab_global_row(const struct slab *slab, uint32_t local_row)
{
    const uint64_t nx = slab->box.nx;
    const bool below = !slab_is_whole(slab) && local_row > slab_lost_row(slab);
    /* Rows below count from the end of the local grid back to the first own row. */
    const uint64_t row =
        below ? slab->first_row + nx - (slab->local.nx - local_row) : (uint64_t)slab->first_row + local_row;
    return (uint32_t)(row % nx);
}

uint32_t slab_lost_row(const struct slab *slab)
{
    return slab->rows + slab->ghost;
}

bool slab_is_lost(const struct slab *slab, uint32_t local_row)
{
    return !slab_is_whole(slab) && local_row == slab_lost_row(slab);
}
