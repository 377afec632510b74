/* Grid: derived lengths and counts. */
#include "domain/grid.h"

#include "base/integers.h"

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

uint32_t range_at(const uint32_t *begins, uint32_t count, uint64_t n)
{
    uint32_t low = 0, high = count; /* the range is in [low, high) */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (begins[middle] <= n)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t grid_key_bits(const struct grid *grid)
{
    return at_least(bits_below(grid_cells(grid)), 1);
}
