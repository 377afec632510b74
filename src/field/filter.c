/* Filter: one kernel per pass, from one array into the other. */
#include "field/filter.h"

struct filter {
    struct grid grid;
    struct buffer *spare; /* real[cells]: where every other pass writes */
    size_t bytes;
    struct launch launch; /* of a pass */
    struct kernel *pass;
};

static size_t tile_items(struct filter_tile tile)
{
    return (size_t)(tile.rows / tile.item_rows) * tile.columns;
}

static bool tile_fits(const struct device_info *info, struct filter_tile tile, enum precision precision)
{
    const size_t held = ((size_t)tile.rows + 2) * (tile.columns + 2) * precision_bytes(precision);
    return held <= info->local_memory && tile_items(tile) <= info->group_limit;
}

struct filter_tile filter_tile_of(const struct device_info *info, enum precision precision)
{
    /* Rows as long as a warp read neighbouring words; a fourth of the items that there are nodes go down the
     * columns, so that the grid of a small box still makes groups for many compute units. */
    const struct filter_tile tile = {.rows = 16, .columns = 32, .item_rows = 4};
    return !info->is_cpu && tile_fits(info, tile, precision) ? tile : (struct filter_tile){0};
}

/* The launch of a pass: a group per tile, or an item per node. */
static struct launch pass_launch(const struct grid *grid, enum precision precision, struct filter_tile tile)
{
    const uint64_t cells = grid_cells(grid), bytes = 2 * cells * precision_bytes(precision);
    if (tile.rows == 0)
        return launch_flat(cells, STAGE_FIELD, bytes);
    const size_t along_x = (grid->nx + tile.rows - 1) / tile.rows;
    const size_t along_y = (grid->ny + tile.columns - 1) / tile.columns;
    return (struct launch){along_x * along_y, tile_items(tile), STAGE_FIELD, bytes};
}

enum status filter_create(struct device *device, const struct grid *grid, enum precision precision,
                          const struct filter_tile *wanted, struct filter **filter)
{
    const struct device_info *info = device_info(device);
    const struct filter_tile tile = wanted ? *wanted : filter_tile_of(info, precision);
    struct filter *created = NULL;
    if (tile.rows > 0 && !tile_fits(info, tile, precision))
        return status_fail(STATUS_FAILED, "%s has no room for the filter's tile of %u x %u nodes", info->name,
                           tile.rows, tile.columns);
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, created));
    created->grid = *grid;
    created->bytes = grid_cells(grid) * precision_bytes(precision);
    created->launch = pass_launch(grid, precision, tile);
    TRY(buffer_create(device, created->bytes, "filtered charge density", &created->spare));
    TRY(program_build(device, "filter.cl", precision, &program,
                      "-D TILE_ROWS=%u -D TILE_COLUMNS=%u -D ITEM_ROWS=%u", tile.rows, tile.columns,
                      tile.item_rows));
    *filter = created;
    return kernel_create(program, tile.rows > 0 ? "filter_pass_tiled" : "filter_pass", &created->pass);
}

enum status filter_apply(struct filter *filter, const struct deposit_config *deposit, struct buffer *rho)
{
    const struct grid *grid = &filter->grid;
    const uint32_t binomial = deposit->filter_passes;
    const uint32_t passes = binomial + (binomial > 0 && deposit->filter_compensator);
    struct buffer *const arrays[2] = {rho, filter->spare};
    for (uint32_t n = 0; n < passes; n++) {
        /* (1, middle, 1)/(middle + 2): 2 for a pass. Behind N, 1 + N sin^2(angle/2) is what this one leaves.
         */
        const double middle = n < binomial ? 2 : -2 - 4.0 / binomial;
        TRY(KERNEL_LAUNCH(filter->pass, filter->launch, arrays[n % 2], grid->nx, grid->ny, middle,
                          1 / ((middle + 2) * (middle + 2)), arrays[1 - n % 2]));
    }
    /* The result belongs in the memory of `rho`, which may be a view. */
    return passes % 2 == 0 ? STATUS_OK : buffer_copy(filter->spare, 0, rho, 0, filter->bytes, STAGE_FIELD);
}
