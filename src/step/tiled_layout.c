/* Tiled layout: windows and directions that fit, or cells as digits. */
#include "step/tiled_layout.h"

#include "base/integers.h"
#include "shared/shape.h"
#include "step/stepper_internal.h"

enum {
    BANDS = 3, /* of kernels/shared/windows.h, as MARGIN */
    MARGIN = 4,
    MOST_CELL_BITS = 10, /* of cells as digits, where windows fit: longer rows leave room to few groups */
    WINDOW_BITS = 10,    /* of the digits that windows are first tried with */
    MOST_REACH = 2, /* cells: where particles go further, strays make a step slower than the radix step */
    MOST_BY_DIRECTION = 1 << 30 /* particles: DENSE of kernels/tiled_scan.cl stands above places */
};

/* The move by directions (kernels/shared/directions.h) fits the local memory, with the field in a tile's
 * cells where field_bytes is not 0, and the rows of a tile fit `staged`, each of 5 words and 3 halfwords. */
static bool fits_directions(const struct device_info *info, const struct tiled_layout *layout,
                            size_t field_bytes)
{
    const size_t items = layout->tiles.items, tile = tile_length(&layout->tiles), span = layout->span;
    const size_t bytes = 4 * (tile + tile / 32) + 4 * 5 * (items + items / 8 + 1) + 4 * items +
                         (4 * 3 + 2 * 9 + 2 + field_bytes) * span + 640;
    return bytes <= info->local_memory && 13 * span <= 2 * tile;
}

/* Cells of a tile that find room beside a counting group's counts and sums, with field and starts. */
static uint32_t count_cells(const struct device_info *info, const struct stepper_setup *setup,
                            const struct tiled_layout *layout, size_t field_bytes)
{
    const size_t sums = sizeof(float) * push_sum_count(setup, 3) * layout->tiles.items;
    const size_t others = (sizeof(uint32_t) << layout->tiles.digit_bits) + sums + 640;
    const size_t left = info->local_memory > others ? info->local_memory - others : 0;
    return at_most((uint32_t)(left / (field_bytes + sizeof(uint32_t))), layout->span - 1 - MARGIN);
}

/* Windows of digits of up to `bits` bits, with columns for `slack` times the cells of a mean tile, since
 * density varies. False where they do not fit. */
static bool make_windows(const struct device_info *info, const struct stepper_setup *setup, uint32_t bits,
                         double slack, struct tiled_layout *layout)
{
    *layout = (struct tiled_layout){.by_direction = true};
    if (!tile_plan_make(info, bits, NULL, &layout->tiles))
        return false;
    const uint32_t tiles = tile_count(&layout->tiles, setup->fewest);
    const double cells_of_tile = slack * setup->own_rows * setup->grid.ny / tiles;
    const double span = floor(cells_of_tile) + 2 * MARGIN;
    if (BANDS * span >= UINT32_C(1) << bits)
        return false;
    layout->span = (uint32_t)span;
    /* No more bits than these columns take: the rows of the table get shorter. */
    for (uint32_t fewer = bits - 1; fewer > 0 && BANDS * layout->span < UINT32_C(1) << fewer; fewer--) {
        struct tile_plan shorter;
        if (!tile_plan_make(info, fewer, NULL, &shorter) || shorter.items != layout->tiles.items)
            break; /* a longer tile would have more cells */
        layout->tiles = shorter;
    }
    const size_t nodes = 4; /* kernels/shared/interpolate.h */
    const size_t field_bytes = setup->felt * nodes * sizeof(float);
    const bool stages = SHAPE_NODES_OF((int)setup->shape) == 2 && setup->precision == PRECISION_SINGLE;
    layout->stages_field = stages && fits_directions(info, layout, field_bytes);
    layout->count_cells = stages ? count_cells(info, setup, layout, field_bytes) : 0;
    return fits_directions(info, layout, 0);
}

/* The roomiest windows that fit. */
static bool find_windows(const struct device_info *info, const struct stepper_setup *setup,
                         struct tiled_layout *layout)
{
    for (double slack = 2; slack > 1; slack -= 0.75)
        for (uint32_t bits = WINDOW_BITS; bits <= TILE_MAX_DIGIT_BITS; bits++)
            if (make_windows(info, setup, bits, slack, layout))
                return true;
    return false;
}

bool tiled_layout_make(const struct device_info *info, const struct stepper_setup *setup,
                       struct tiled_layout *layout, const char **why)
{
    const uint32_t key_bits = grid_key_bits(&setup->grid);
    const bool near = setup->reach[0] <= MOST_REACH && setup->reach[1] <= MOST_REACH;
    const bool fits_places = setup->capacity <= MOST_BY_DIRECTION;
    if (key_bits > MOST_CELL_BITS && fits_places && near && find_windows(info, setup, layout))
        return true;
    *why = near || key_bits <= TILE_MAX_DIGIT_BITS
               ? "its local memory or group size is too small for tiles with that many cells"
               : "particles cross more than two cells in a step";
    if (!fits_places)
        *why = "a list has more than 2^30 particles";
    *layout = (struct tiled_layout){.by_direction = false};
    /* Where a group would have at most one tile, tiles of half the length. */
    const uint64_t few = (uint64_t)TILE_GROUPS_PER_UNIT * info->compute_units * TILE_MOST_ITEMS * TILE_KEYS;
    const struct tile_request request = {.keys = setup->fewest <= few ? TILE_KEYS / 2 : TILE_KEYS};
    return tile_plan_make(info, key_bits, &request, &layout->tiles);
}

uint32_t tiled_layout_chunks(const struct tiled_layout *layout, uint32_t count)
{
    return layout->by_direction ? tile_count(&layout->tiles, count) : tile_chunks(&layout->tiles, count);
}

uint32_t tiled_layout_blocks(const struct tiled_layout *layout, const struct grid *grid)
{
    return divide_up(grid_cells(grid), layout->tiles.items);
}
