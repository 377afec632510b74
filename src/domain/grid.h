/* Grid: the geometry of the periodic box. Cells and nodes are numbered in kernels/shared/cell.h. */
#ifndef RADIXPIC_DOMAIN_GRID_H
#define RADIXPIC_DOMAIN_GRID_H

#include "config/config.h"

struct grid {
    uint32_t nx, ny; /* cells along x and y; as many nodes */
    double lx, ly;   /* lengths of the box */
    double dx, dy;   /* lx/nx, ly/ny */
};

struct grid grid_make(const struct grid_config *config);

/* nx * ny: the number of cells, and of nodes. */
uint32_t grid_cells(const struct grid *grid);

/* Which of `count` ranges holds place n: the last that begins at or before it; range r begins at begins[r],
 * and begins[0] is 0. */
uint32_t range_at(const uint32_t *begins, uint32_t count, uint64_t n);

/* b = ceil(log2(cells)), at least 1: the bits of the short key. */
uint32_t grid_key_bits(const struct grid *grid);

#endif
