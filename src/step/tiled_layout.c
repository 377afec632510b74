/* Tiled layout: windows that fit, or cells as digits. */
#include "step/tiled_layout.h"

#include "base/integers.h"
#include "shared/shape.h"

#include <math.h>

enum {
    MOST_CELL_BITS = 10,  /* of cells as digits, where windows fit: longer rows leave room to few groups */
    LEAST_MARGIN = 3,     /* columns before and behind a chunk's cells, beside those that particles reach */
    WINDOW_BITS = 10,     /* of the digits that windows are first tried with: two rounds of ranking */
    GROUPS_PER_UNIT = 32, /* of a compute unit of a large GPU, where chunks may be cut at will */
    MOST_WINDOWED = 1 << 30, /* particles: places beyond are those of strays */
};

/* Whether the move by directions (kernels/shared/directions.h) finds room, with the field in a tile's cells
 * or without, in bytes of local memory and rows of a tile, each of which has 5 words and 3 halfwords in
 * `staged`.
 */
static bool fits_directions(const struct device_info *info, const struct tiled_layout *layout,
                            bool stages_field)
{
    const size_t items = layout->tiles.items, tile = tile_length(&layout->tiles), span = layout->span;
    const size_t bytes = 4 * (tile + tile / 32) + 4 * 5 * (items + items / 8 + 1) + 4 * items +
                         (4 * 3 + 2 * 9 + 2) * span + (stages_field ? 32 : 0) * span + 640;
    return bytes <= info->local_memory && 13 * span <= 2 * tile;
}

/* Windows of digits of up to `bits` bits, with columns for `room` times the cells of a mean chunk, since
 * density varies: as many tiles a chunk as that leaves, but chunks enough to keep the device busy. False
 * where not one tile fits. */
static bool make_windows(const struct device_info *info, const struct stepper_setup *setup, uint32_t bits,
                         double room, struct tiled_layout *layout)
{
    *layout = (struct tiled_layout){.windowed = true,
                                    .reach = at_least(at_most(setup->reach[0], setup->grid.nx), 1)};
    const double bands = 2.0 * layout->reach + 1;
    layout->margin = LEAST_MARGIN + at_least(setup->reach[1], 1);
    const bool near = setup->reach[0] <= 1 && setup->reach[1] <= 1;
    if (!tile_plan_make(info, bits, NULL, &layout->tiles))
        return false;
    const uint32_t tiles = tile_count(&layout->tiles, setup->fewest);
    const double cells_of_tile = room * setup->own_rows * setup->grid.ny / tiles;
    const double fitting =
        (floor(((UINT32_C(1) << bits) - 1) / bands) - 2.0 * layout->margin) / cells_of_tile;
    if (fitting < 1)
        return false;
    const uint32_t busy = GROUPS_PER_UNIT * info->compute_units;
    const uint32_t most_tiles =
        near ? 1 : at_least(tiles / busy, 1); /* narrow windows leave room to groups */
    layout->chunk_tiles = fitting < most_tiles ? (uint32_t)fitting : most_tiles;
    layout->span = (uint32_t)(layout->chunk_tiles * cells_of_tile) + 2 * layout->margin;
    /* No more bits than these columns take: the rows of the table get shorter. */
    for (uint32_t fewer = bits - 1; fewer > 0 && bands * layout->span < UINT32_C(1) << fewer; fewer--) {
        struct tile_plan shorter;
        if (!tile_plan_make(info, fewer, NULL, &shorter) || shorter.items != layout->tiles.items)
            break; /* a longer tile would have more cells */
        layout->tiles = shorter;
    }
    const bool may_stage = SHAPE_NODES_OF((int)setup->shape) == 2 && setup->precision == PRECISION_SINGLE;
    layout->stages_field = near && may_stage && fits_directions(info, layout, true);
    layout->by_direction = near && fits_directions(info, layout, false);
    return true;
}

/* The roomiest windows that fit. */
static bool find_windows(const struct device_info *info, const struct stepper_setup *setup,
                         struct tiled_layout *layout)
{
    for (double room = 2; room > 1; room -= 0.75)
        for (uint32_t bits = WINDOW_BITS; bits <= TILE_MAX_DIGIT_BITS; bits++)
            if (make_windows(info, setup, bits, room, layout))
                return true;
    return false;
}

bool tiled_layout_make(const struct device_info *info, const struct stepper_setup *setup,
                       struct tiled_layout *layout)
{
    const uint32_t key_bits = grid_key_bits(&setup->grid);
    if (key_bits > MOST_CELL_BITS && setup->capacity <= MOST_WINDOWED && find_windows(info, setup, layout))
        return true;
    *layout = (struct tiled_layout){.windowed = false};
    return tile_plan_make(info, key_bits, NULL, &layout->tiles);
}

uint32_t tiled_layout_chunks(const struct tiled_layout *layout, uint32_t count)
{
    return layout->windowed ? divide_up(tile_count(&layout->tiles, count), layout->chunk_tiles)
                            : tile_chunks(&layout->tiles, count);
}

uint32_t tiled_layout_blocks(const struct tiled_layout *layout, const struct grid *grid)
{
    return divide_up(grid_cells(grid), layout->tiles.items);
}
