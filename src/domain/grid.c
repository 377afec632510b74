/* Grid: derived lengths and counts. */
#include "domain/grid.h"

struct grid grid_make(const struct grid_config *config)
{
    return (struct grid){
        .nx = config->cells[0],
        .ny = config->cells[1],
        .lx = config->length[0],
        .ly = config->length[1],
        .dx = config->length[0] / config->cells[0],
        .dy = config->length[1] / config->cells[1],
    };
}

uint32_t grid_cells(const struct grid *grid)
{
    return grid->nx * grid->ny;
}

uint32_t grid_key_bits(const struct grid *grid)
{
    uint32_t bits = 1;
    while (bits < 32 && (UINT64_C(1) << bits) < grid_cells(grid))
        bits++;
    return bits;
}
