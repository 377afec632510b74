/* Tiled advance: its arrays, and the launches of kernels/tiled_advance.cl. */
#include "push/tiled_advance.h"

#include "device/tile_plan.h"

#include <math.h>
#include <stdlib.h>

enum {
    FLAT_ITEMS = 64,
    MOST_CELL_BITS = 10,  /* of cells as digits, where windows fit: longer rows leave room to few groups */
    LEAST_MARGIN = 3,     /* columns before and behind a chunk's cells, beside those that particles reach */
    WINDOW_BITS = 10,     /* of the digits that windows are first tried with: two rounds of ranking */
    GROUPS_PER_UNIT = 32, /* of a compute unit of a large GPU, where chunks may be cut at will */
    STRAY_GROUPS_PER_UNIT = 4,
    MOST_WINDOWED = 1 << 30, /* particles: places beyond are those of strays */
};

/* How the digits are made: cells, or places in windows (kernels/shared/windows.h). */
struct layout {
    struct tile_plan tiles;
    bool windowed;
    uint32_t chunk_tiles, span, margin, reach; /* windowed */
};

struct tiled_advance {
    struct device *device; /* not owned */
    struct advance_setup setup;
    struct layout layout;
    struct program *programs[2]; /* of particles without and with ids; made when first needed */
    struct kernel *move[2];
    struct kernel *find_tiles, *count, *measure;
    struct kernel *scan;                        /* not windowed */
    struct kernel *total, *scan_blocks, *place; /* windowed, and so are the rest */
    struct kernel *order_strays[2], *move_strays[2];
    struct buffer *digits; /* ushort[capacity]: of the cell that each particle goes to */
    struct buffer *tile_cells[CONFIG_MAX_SPECIES]; /* uint[tiles + 1]: the cell in which each tile begins */
    struct buffer *new_tile_cells, *new_offsets;   /* swapped with those of the species */
    struct buffer *table;                          /* uint[chunks][row] */
    struct buffer *lists;                          /* uint[chunks][TILE_LIST_WORDS] */
    struct buffer *totals;                         /* uint[row], zero between steps; windowed: uint[blocks] */
    struct buffer *stray_number[2];                /* uint: of this step, and of the next, which is 0 */
    struct buffer *stray_list;                     /* uint[capacity] */
    struct buffer *stray_counts;                   /* uint[cells]; zero between steps */
    struct buffer *stray_begins;                   /* uint[cells] */
    struct buffer *stray_order;                    /* uint[capacity] */
    struct buffer *sums;                           /* real[species_count][chunks][PUSH_SUMS] */
};

/* ---- sizes ---- */

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* Rows that particles come from. */
static uint32_t own_rows(const struct advance_setup *setup)
{
    return setup->guard_rows > 0 ? setup->grid.nx - 2 * setup->guard_rows - 1 : setup->grid.nx;
}

/* Windows of digits of up to `bits` bits, with columns for `room` times the cells of a mean chunk, since
 * density varies: as many tiles a chunk as that leaves, but chunks enough to keep the device busy. False
 * where not one tile fits. */
static bool make_windows(const struct device_info *info, const struct advance_setup *setup, uint32_t bits,
                         double room, struct layout *layout)
{
    const uint32_t most_reach = setup->reach[0] < setup->grid.nx ? setup->reach[0] : setup->grid.nx;
    *layout = (struct layout){.windowed = true, .reach = most_reach > 0 ? most_reach : 1};
    const double bands = 2.0 * layout->reach + 1;
    layout->margin = LEAST_MARGIN + setup->reach[1];
    if (!tile_plan_make(info, bits, NULL, &layout->tiles))
        return false;
    const uint32_t tiles = tile_count(&layout->tiles, setup->fewest);
    const double cells_of_tile = room * own_rows(setup) * setup->grid.ny / tiles;
    const double fitting =
        (floor(((UINT32_C(1) << bits) - 1) / bands) - 2.0 * layout->margin) / cells_of_tile;
    if (fitting < 1)
        return false;
    const uint32_t busy = GROUPS_PER_UNIT * info->compute_units;
    const uint32_t most_tiles = tiles / busy > 0 ? tiles / busy : 1;
    layout->chunk_tiles = fitting < most_tiles ? (uint32_t)fitting : most_tiles;
    layout->span = (uint32_t)(layout->chunk_tiles * cells_of_tile) + 2 * layout->margin;
    /* No more bits than these columns take: the rows of the table get shorter. */
    for (uint32_t fewer = bits - 1; fewer > 0 && bands * layout->span < UINT32_C(1) << fewer; fewer--) {
        struct tile_plan shorter;
        if (!tile_plan_make(info, fewer, NULL, &shorter) || shorter.items != layout->tiles.items)
            break; /* a longer tile would have more cells */
        layout->tiles = shorter;
    }
    return true;
}

/* The roomiest windows that fit. */
static bool find_windows(const struct device_info *info, const struct advance_setup *setup,
                         struct layout *layout)
{
    for (double room = 2; room > 1; room -= 0.75)
        for (uint32_t bits = WINDOW_BITS; bits <= TILE_MAX_DIGIT_BITS; bits++)
            if (make_windows(info, setup, bits, room, layout))
                return true;
    return false;
}

/* Cells are digits on small grids, and where windows do not fit. */
static bool make_layout(const struct device_info *info, const struct advance_setup *setup,
                        struct layout *layout)
{
    const uint32_t key_bits = grid_key_bits(&setup->grid);
    if (key_bits > MOST_CELL_BITS && setup->capacity <= MOST_WINDOWED && find_windows(info, setup, layout))
        return true;
    *layout = (struct layout){.windowed = false};
    return tile_plan_make(info, key_bits, NULL, &layout->tiles);
}

bool tiled_advance_supports(const struct device_info *info, const struct advance_setup *setup)
{
    struct layout layout;
    return make_layout(info, setup, &layout);
}

/* Chunks that a species is cut into. */
static uint32_t chunks_of(const struct layout *layout, uint32_t count)
{
    return layout->windowed ? divide_up(tile_count(&layout->tiles, count), layout->chunk_tiles)
                            : tile_chunks(&layout->tiles, count);
}

/* Groups that go over all cells, a block each. */
static uint32_t blocks_of(const struct layout *layout, const struct grid *grid)
{
    return divide_up(grid_cells(grid), layout->tiles.items);
}

struct sizes {
    size_t digits, tile_cells, offsets, table, lists, totals, sums;
    size_t stray_number, stray_list, stray_cells; /* windowed */
};

static struct sizes sizes_of(const struct layout *layout, const struct advance_setup *setup)
{
    const size_t word = sizeof(uint32_t), chunks = chunks_of(layout, setup->capacity);
    const uint32_t row = tile_row(layout->tiles.digit_bits);
    struct sizes sizes = {
        .digits = (setup->capacity + (size_t)1) / 2 * word, /* ushorts */
        .tile_cells = (tile_count(&layout->tiles, setup->capacity) + (size_t)1) * word,
        .offsets = (grid_cells(&setup->grid) + (size_t)1) * word,
        .table = chunks * row * word,
        .lists = chunks * TILE_LIST_WORDS * word,
        .totals = (layout->windowed ? blocks_of(layout, &setup->grid) : row) * word,
        .sums = setup->species_count * chunks * PUSH_SUMS * precision_bytes(setup->precision),
    };
    if (layout->windowed) {
        sizes.stray_number = word;
        sizes.stray_list = setup->capacity * word;
        sizes.stray_cells = grid_cells(&setup->grid) * word;
    }
    return sizes;
}

uint64_t tiled_advance_bytes(const struct device_info *info, const struct advance_setup *setup)
{
    struct layout layout;
    if (!make_layout(info, setup, &layout))
        return 0;
    const struct sizes sizes = sizes_of(&layout, setup);
    return (uint64_t)sizes.digits + (setup->species_count + UINT64_C(1)) * sizes.tile_cells + sizes.offsets +
           sizes.table + sizes.lists + sizes.totals + sizes.sums +
           2 * ((uint64_t)sizes.stray_number + sizes.stray_list + sizes.stray_cells);
}

/* ---- birth and death ---- */

static enum status build(struct tiled_advance *advance, bool ids)
{
    struct program **program = &advance->programs[ids];
    if (*program)
        return STATUS_OK;
    const struct layout *layout = &advance->layout;
    TRY(program_build(
        advance->device, "tiled_advance.cl", advance->setup.precision, program,
        "-D FUSE_PRODUCTS=%d -D SHAPE_ORDER=%d -D ITEMS=%u -D SCAN_ITEMS=%u -D DIGIT_BITS=%u -D HAS_IDS=%d "
        "-D GUARD_ROWS=%u -D WINDOWED=%d -D SPAN=%u -D MARGIN=%u -D REACH=%u -D CHUNK_TILES=%u",
        device_info(advance->device)->has_fma, (int)advance->setup.shape, layout->tiles.items,
        layout->tiles.scan_items, layout->tiles.digit_bits, ids, advance->setup.guard_rows, layout->windowed,
        layout->span, layout->margin, layout->reach, layout->chunk_tiles));
    TRY(kernel_create(*program, "advance_move", &advance->move[ids]));
    if (!layout->windowed)
        return STATUS_OK;
    TRY(kernel_create(*program, "advance_order_strays", &advance->order_strays[ids]));
    return kernel_create(*program, "advance_move_strays", &advance->move_strays[ids]);
}

static enum status create_kernels(struct tiled_advance *advance)
{
    TRY(build(advance, false));
    struct program *program = advance->programs[false];
    TRY(kernel_create(program, "advance_find_tiles", &advance->find_tiles));
    TRY(kernel_create(program, "advance_count", &advance->count));
    TRY(kernel_create(program, "advance_measure", &advance->measure));
    if (!advance->layout.windowed)
        return kernel_create(program, "advance_scan", &advance->scan);
    TRY(kernel_create(program, "advance_total", &advance->total));
    TRY(kernel_create(program, "advance_scan_blocks", &advance->scan_blocks));
    return kernel_create(program, "advance_place", &advance->place);
}

static enum status create_strays(struct tiled_advance *advance, const struct sizes *sizes)
{
    struct device *device = advance->device;
    for (int n = 0; n < 2; n++) {
        TRY(buffer_create(device, sizes->stray_number, "the number of strays", &advance->stray_number[n]));
        TRY(buffer_fill(advance->stray_number[n], 0));
    }
    TRY(buffer_create(device, sizes->stray_list, "the list of strays", &advance->stray_list));
    TRY(buffer_create(device, sizes->stray_list, "the order of strays", &advance->stray_order));
    TRY(buffer_create(device, sizes->stray_cells, "the strays of cells", &advance->stray_counts));
    TRY(buffer_create(device, sizes->stray_cells, "the places of strays", &advance->stray_begins));
    return buffer_fill(advance->stray_counts, 0);
}

static enum status create_buffers(struct tiled_advance *advance)
{
    const struct sizes sizes = sizes_of(&advance->layout, &advance->setup);
    struct device *device = advance->device;
    TRY(buffer_create(device, sizes.digits, "the cells that particles go to", &advance->digits));
    for (uint32_t s = 0; s < advance->setup.species_count; s++)
        TRY(buffer_create(device, sizes.tile_cells, "the cells of tiles", &advance->tile_cells[s]));
    TRY(buffer_create(device, sizes.tile_cells, "spare cells of tiles", &advance->new_tile_cells));
    TRY(buffer_create(device, sizes.offsets, "spare cell offsets", &advance->new_offsets));
    TRY(buffer_create(device, sizes.table, "the table of counts", &advance->table));
    TRY(buffer_create(device, sizes.lists, "the lists of distinct cells", &advance->lists));
    TRY(buffer_create(device, sizes.totals, "the totals of cells", &advance->totals));
    TRY(buffer_create(device, sizes.sums, "the push's sums", &advance->sums));
    TRY(buffer_fill(advance->totals, 0));
    return create_strays(advance, &sizes);
}

enum status tiled_advance_create(struct device *device, const struct advance_setup *setup,
                                 struct tiled_advance **advance)
{
    *advance = NULL;
    struct layout layout;
    if (!make_layout(device_info(device), setup, &layout))
        return status_fail(
            STATUS_USAGE,
            "step.method: %s has no fused step for %u cells with these particles and time step; take plain",
            device_info(device)->name, grid_cells(&setup->grid));
    struct tiled_advance *created = calloc(1, sizeof *created);
    if (!created)
        return status_fail(STATUS_FAILED, "no memory for the step");
    created->device = device;
    created->setup = *setup;
    created->layout = layout;
    const enum status status = create_kernels(created);
    if (status != STATUS_OK)
        tiled_advance_destroy(&created);
    *advance = created;
    return status;
}

void tiled_advance_destroy(struct tiled_advance **advance)
{
    if (!*advance)
        return;
    struct tiled_advance *old = *advance;
    struct kernel **const kernels[] = {
        &old->move[0],        &old->move[1],        &old->order_strays[0], &old->order_strays[1],
        &old->move_strays[0], &old->move_strays[1], &old->find_tiles,      &old->count,
        &old->measure,        &old->scan,           &old->total,           &old->scan_blocks,
        &old->place};
    for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++)
        kernel_destroy(kernels[n]);
    program_destroy(&old->programs[0]);
    program_destroy(&old->programs[1]);
    struct buffer **const buffers[] = {&old->digits,      &old->new_tile_cells,  &old->new_offsets,
                                       &old->table,       &old->lists,           &old->totals,
                                       &old->sums,        &old->stray_number[0], &old->stray_number[1],
                                       &old->stray_list,  &old->stray_order,     &old->stray_counts,
                                       &old->stray_begins};
    for (size_t n = 0; n < sizeof buffers / sizeof buffers[0]; n++)
        buffer_destroy(buffers[n]);
    for (uint32_t s = 0; s < CONFIG_MAX_SPECIES; s++)
        buffer_destroy(&old->tile_cells[s]);
    free(old);
    *advance = NULL;
}

enum status tiled_advance_take_over(struct tiled_advance *advance, uint32_t species,
                                    struct particles *particles)
{
    TRY(build(advance, particles->id != NULL));
    if (!advance->digits)
        TRY(create_buffers(advance));
    const uint64_t tiles = tile_count(&advance->layout.tiles, particles->count);
    return KERNEL_LAUNCH(advance->find_tiles,
                         launch_covering(tiles + 1, device_group_items(advance->device, FLAT_ITEMS),
                                         STAGE_SORT_OFFSETS, tiles * sizeof(uint32_t)),
                         arg_buffer(particles->cell_offsets), arg_buffer(advance->tile_cells[species]),
                         arg_uint(grid_cells(&advance->setup.grid)), arg_uint(particles->count));
}

/* ---- one step ---- */

static struct species_motion motion_of(const struct tiled_advance *advance, const struct particles *particles)
{
    return species_motion_make(particles->species, advance->setup.time_step, advance->setup.magnetic);
}

/* Bytes of `reals` reals of every particle. */
static uint64_t state_bytes(const struct tiled_advance *advance, const struct particles *particles,
                            uint64_t reals)
{
    return particles->count * reals * precision_bytes(advance->setup.precision);
}

static uint64_t table_bytes(const struct tiled_advance *advance, const struct particles *particles)
{
    return (uint64_t)chunks_of(&advance->layout, particles->count) *
           tile_row(advance->layout.tiles.digit_bits) * sizeof(uint32_t);
}

/* Counts into the table. */
static enum status count(struct tiled_advance *advance, const struct fields *fields, uint32_t species,
                         const struct particles *particles)
{
    const struct grid *grid = &advance->setup.grid;
    const struct species_motion motion = motion_of(advance, particles);
    const uint64_t bytes = state_bytes(advance, particles, 4) + particles->count * sizeof(uint16_t) +
                           table_bytes(advance, particles);
    const struct launch launch = {chunks_of(&advance->layout, particles->count),
                                  2 * (size_t)advance->layout.tiles.items, STAGE_SORT_HISTOGRAM, bytes};
    return KERNEL_LAUNCH(
        advance->count, launch, arg_buffer(fields->ex), arg_buffer(fields->ey), arg_uint(grid->nx),
        arg_uint(grid->ny), arg_real(motion.half_kick), arg_real(motion.tangent), arg_real(motion.sine),
        arg_real(advance->setup.time_step / grid->dx), arg_real(advance->setup.time_step / grid->dy),
        arg_buffer(particles->cell_offsets), arg_buffer(advance->tile_cells[species]),
        arg_buffer(particles->offset), arg_buffer(particles->velocity), arg_buffer(advance->digits),
        arg_buffer(advance->table), arg_buffer(advance->lists), arg_buffer(advance->totals),
        arg_uint(particles->count), arg_buffer(advance->stray_number[0]), arg_buffer(advance->stray_list),
        arg_buffer(advance->stray_counts));
}

static enum status scan(struct tiled_advance *advance, const struct particles *particles)
{
    const struct tile_plan *tiles = &advance->layout.tiles;
    return KERNEL_LAUNCH(advance->scan,
                         ((struct launch){tile_row(tiles->digit_bits) / TILE_SCAN_BINS, tiles->scan_items,
                                          STAGE_SORT_SCAN, 2 * table_bytes(advance, particles)}),
                         arg_buffer(advance->table), arg_buffer(advance->totals),
                         arg_buffer(advance->new_offsets), arg_buffer(advance->new_tile_cells),
                         arg_uint(chunks_of(&advance->layout, particles->count)),
                         arg_uint(grid_cells(&advance->setup.grid)), arg_uint(particles->count));
}

static enum status scan_windows(struct tiled_advance *advance, uint32_t species,
                                const struct particles *particles)
{
    const struct grid *grid = &advance->setup.grid;
    const uint32_t cells = grid_cells(grid), blocks = blocks_of(&advance->layout, grid);
    const struct launch launch = {blocks, advance->layout.tiles.items, STAGE_SORT_SCAN,
                                  table_bytes(advance, particles)};
    const struct buffer *old_offsets = particles->cell_offsets, *old_tiles = advance->tile_cells[species];
    TRY(KERNEL_LAUNCH(advance->total, launch, arg_buffer(advance->table), arg_buffer(old_offsets),
                      arg_buffer(old_tiles), arg_buffer(advance->stray_counts), arg_uint(cells),
                      arg_uint(grid->ny), arg_uint(particles->count), arg_buffer(advance->new_offsets),
                      arg_buffer(advance->totals)));
    TRY(KERNEL_LAUNCH(advance->scan_blocks,
                      ((struct launch){1, advance->layout.tiles.scan_items, STAGE_SORT_SCAN, 0}),
                      arg_buffer(advance->totals), arg_uint(blocks), arg_buffer(advance->stray_number[1])));
    return KERNEL_LAUNCH(advance->place, launch, arg_buffer(advance->table), arg_buffer(old_offsets),
                         arg_buffer(old_tiles), arg_buffer(advance->stray_counts), arg_uint(cells),
                         arg_uint(grid->ny), arg_uint(particles->count), arg_buffer(advance->new_offsets),
                         arg_buffer(advance->totals), arg_buffer(advance->stray_begins),
                         arg_buffer(advance->new_tile_cells));
}

static enum status move(struct tiled_advance *advance, const struct fields *fields, uint32_t species,
                        struct particles *particles)
{
    const struct grid *grid = &advance->setup.grid;
    const struct species_motion motion = motion_of(advance, particles);
    const bool ids = particles->id != NULL;
    const uint32_t count = particles->count;
    /* Where there are no ids, any buffer stands in for them. */
    const struct kernel_argument arguments[] = {
        arg_buffer(fields->ex),
        arg_buffer(fields->ey),
        arg_uint(grid->nx),
        arg_uint(grid->ny),
        arg_real(motion.half_kick),
        arg_real(motion.tangent),
        arg_real(motion.sine),
        arg_real(advance->setup.time_step / grid->dx),
        arg_real(advance->setup.time_step / grid->dy),
        arg_buffer(particles->cell_offsets),
        arg_buffer(advance->tile_cells[species]),
        arg_buffer(particles->offset),
        arg_buffer(particles->velocity),
        arg_buffer(ids ? particles->id : particles->offset),
        arg_buffer(advance->digits),
        arg_buffer(advance->table),
        arg_buffer(advance->lists),
        arg_buffer(particles->offset_spare),
        arg_buffer(particles->velocity_spare),
        arg_buffer(ids ? particles->id_spare : particles->offset_spare),
        arg_uint(count),
        arg_buffer(advance->totals),
    };
    const uint64_t bytes = state_bytes(advance, particles, 8) + count * sizeof(uint16_t) +
                           (ids ? 2 * sizeof(uint64_t) * count : 0);
    return kernel_launch(
        advance->move[ids],
        (struct launch){chunks_of(&advance->layout, count), advance->layout.tiles.items, STAGE_PUSH, bytes},
        arguments, sizeof arguments / sizeof arguments[0]);
}

static enum status move_strays(struct tiled_advance *advance, const struct fields *fields,
                               struct particles *particles)
{
    const struct grid *grid = &advance->setup.grid;
    const struct species_motion motion = motion_of(advance, particles);
    const bool ids = particles->id != NULL;
    const struct launch launch = {(size_t)STRAY_GROUPS_PER_UNIT * device_info(advance->device)->compute_units,
                                  device_group_items(advance->device, FLAT_ITEMS), STAGE_PUSH, 0};
    const double step_x = advance->setup.time_step / grid->dx, step_y = advance->setup.time_step / grid->dy;
    TRY(KERNEL_LAUNCH(advance->order_strays[ids], launch, arg_buffer(fields->ex), arg_buffer(fields->ey),
                      arg_uint(grid->nx), arg_uint(grid->ny), arg_real(motion.half_kick),
                      arg_real(motion.tangent), arg_real(motion.sine), arg_real(step_x), arg_real(step_y),
                      arg_buffer(particles->cell_offsets), arg_buffer(particles->offset),
                      arg_buffer(particles->velocity), arg_buffer(advance->stray_number[0]),
                      arg_buffer(advance->stray_list), arg_buffer(advance->stray_counts),
                      arg_buffer(advance->stray_begins), arg_buffer(advance->stray_order)));
    return KERNEL_LAUNCH(advance->move_strays[ids], launch, arg_buffer(fields->ex), arg_buffer(fields->ey),
                         arg_uint(grid->nx), arg_uint(grid->ny), arg_real(motion.half_kick),
                         arg_real(motion.tangent), arg_real(motion.sine), arg_real(step_x), arg_real(step_y),
                         arg_buffer(particles->cell_offsets), arg_buffer(particles->offset),
                         arg_buffer(particles->velocity), arg_buffer(ids ? particles->id : particles->offset),
                         arg_buffer(advance->stray_number[0]), arg_buffer(advance->stray_list),
                         arg_buffer(advance->stray_begins), arg_buffer(advance->stray_order),
                         arg_buffer(advance->new_offsets), arg_buffer(particles->offset_spare),
                         arg_buffer(particles->velocity_spare),
                         arg_buffer(ids ? particles->id_spare : particles->offset_spare));
}

enum status tiled_advance_step(struct tiled_advance *advance, const struct fields *fields, uint32_t species,
                               bool measure, struct particles *particles)
{
    if (measure)
        TRY(tiled_advance_measure(advance, fields, species, particles));
    TRY(count(advance, fields, species, particles));
    TRY(advance->layout.windowed ? scan_windows(advance, species, particles) : scan(advance, particles));
    TRY(move(advance, fields, species, particles));
    if (advance->layout.windowed) {
        TRY(move_strays(advance, fields, particles));
        buffer_swap(&advance->stray_number[0], &advance->stray_number[1]);
    }
    buffer_swap(&particles->offset, &particles->offset_spare);
    buffer_swap(&particles->velocity, &particles->velocity_spare);
    if (particles->id)
        buffer_swap(&particles->id, &particles->id_spare);
    buffer_swap(&particles->cell_offsets, &advance->new_offsets);
    buffer_swap(&advance->tile_cells[species], &advance->new_tile_cells);
    return STATUS_OK;
}

/* ---- the sums ---- */

/* Where the sums of a species begin, in reals. */
static uint32_t first_sum(const struct tiled_advance *advance, uint32_t species)
{
    return species * chunks_of(&advance->layout, advance->setup.capacity) * PUSH_SUMS;
}

enum status tiled_advance_measure(struct tiled_advance *advance, const struct fields *fields,
                                  uint32_t species, const struct particles *particles)
{
    const struct grid *grid = &advance->setup.grid;
    const struct species_motion motion = motion_of(advance, particles);
    const uint32_t chunks = chunks_of(&advance->layout, particles->count);
    return KERNEL_LAUNCH(advance->measure,
                         ((struct launch){chunks, 2 * (size_t)advance->layout.tiles.items, STAGE_PUSH,
                                          state_bytes(advance, particles, 4)}),
                         arg_buffer(fields->ex), arg_buffer(fields->ey), arg_uint(grid->nx),
                         arg_uint(grid->ny), arg_real(motion.half_kick), arg_real(motion.tangent),
                         arg_real(motion.sine), arg_buffer(particles->cell_offsets),
                         arg_buffer(advance->tile_cells[species]), arg_buffer(particles->offset),
                         arg_buffer(particles->velocity), arg_uint(particles->count),
                         arg_uint(first_sum(advance, species)), arg_buffer(advance->sums));
}

enum status tiled_advance_read_sums(struct tiled_advance *advance, uint32_t species,
                                    const struct particles *particles, struct push_sums *sums)
{
    const struct species_motion motion = motion_of(advance, particles);
    return push_sums_read(advance->sums, advance->setup.precision, first_sum(advance, species),
                          chunks_of(&advance->layout, particles->count), particles, &motion, sums);
}
