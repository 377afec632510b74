/* Tiled layout: how the tiled step makes digits of the cells that particles go to, and how it cuts the
 * list into chunks for that. */
#ifndef RADIXPIC_PUSH_TILED_LAYOUT_H
#define RADIXPIC_PUSH_TILED_LAYOUT_H

#include "device/tile_plan.h"
#include "step/stepper.h"

/* Digits are cells, or places in windows (kernels/shared/windows.h) where the move ranks by direction. */
struct tiled_layout {
    struct tile_plan tiles;
    bool by_direction;
    /* The members below are for moves by direction. */
    bool stages_field;    /* the move has the field in a tile's cells in local memory */
    uint32_t count_cells; /* the count has the field in so many of these cells */
    uint32_t span;        /* columns of a window */
};

/* Cells are digits on small grids, and where windows do not fit. False, and `why`, where neither does. */
bool tiled_layout_make(const struct device_info *info, const struct stepper_setup *setup,
                       struct tiled_layout *layout, const char **why);

/* Chunks that a species of `count` particles is cut into. */
uint32_t tiled_layout_chunks(const struct tiled_layout *layout, uint32_t count);

/* Groups that go over all cells of the grid, a block of tiles.items cells each. */
uint32_t tiled_layout_blocks(const struct tiled_layout *layout, const struct grid *grid);

#endif
