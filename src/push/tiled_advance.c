/* Tiled advance: its arrays, and the launches of kernels/tiled_advance.cl. */
#include "push/tiled_advance.h"

#include "push/tiled_layout.h"

#include <stdlib.h>

enum { FLAT_ITEMS = 64, STRAY_GROUPS_PER_UNIT = 4 };

struct tiled_advance {
    struct device *device; /* not owned */
    struct advance_setup setup;
    struct tiled_layout layout;
    struct program *programs[2]; /* of particles without and with ids; made when first needed */
    struct kernel *move[2];
    struct kernel *find_tiles, *count, *measure;
    struct kernel *scan;                        /* not windowed */
    struct kernel *total, *scan_blocks, *place; /* windowed, and so are the rest */
    struct kernel *order_strays[2], *move_strays[2];
    struct kernel *count_leavers; /* where the setup leaves room */
    struct kernel *add_arrivals;  /* the same, not windowed */
    struct buffer *digits;        /* ushort[capacity]: of the cell that each particle goes to */
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
    uint32_t measured_chunks[CONFIG_MAX_SPECIES];  /* that have sums: particles may have left since */
    struct buffer *leavers;                        /* uint[beside_cells() + EDGES]: advance_count_leavers() */
    struct host_memory *leavers_host;              /* the same, as read last */
    uint32_t *read_leavers;                        /* there */
};

/* After the leavers of the cells: how many particles stand before the rows that none of whose particles can
 * leave but as a stray, and how many up to their end. */
enum { EDGE_LOW, EDGE_HIGH, EDGES };

/* ---- sizes ---- */

bool tiled_advance_supports(const struct device_info *info, const struct advance_setup *setup)
{
    struct tiled_layout layout;
    return tiled_layout_make(info, setup, &layout);
}

struct sizes {
    size_t digits, tile_cells, offsets, table, lists, totals, sums;
    size_t stray_number, stray_list, stray_cells; /* windowed */
    size_t leavers;                               /* where room is left */
};

/* Cells of the rows that are not a rank's own. */
static uint32_t beside_cells(const struct advance_setup *setup)
{
    return (setup->grid.nx - setup->own_rows) * setup->grid.ny;
}

static struct sizes sizes_of(const struct tiled_layout *layout, const struct advance_setup *setup)
{
    const size_t word = sizeof(uint32_t), chunks = tiled_layout_chunks(layout, setup->capacity);
    const uint32_t row = tile_row(layout->tiles.digit_bits);
    struct sizes sizes = {
        .digits = (setup->capacity + (size_t)1) / 2 * word, /* ushorts */
        .tile_cells = (tile_count(&layout->tiles, setup->capacity) + (size_t)1) * word,
        .offsets = (grid_cells(&setup->grid) + (size_t)1) * word,
        .table = chunks * row * word,
        .lists = chunks * TILE_LIST_WORDS * word,
        .totals = (layout->windowed ? tiled_layout_blocks(layout, &setup->grid) : row) * word,
        .sums = setup->species_count * chunks * PUSH_SUMS * precision_bytes(setup->precision),
    };
    if (setup->leaves_room)
        sizes.leavers = (beside_cells(setup) + (size_t)EDGES) * word;
    if (layout->windowed) {
        sizes.stray_number = word;
        sizes.stray_list = setup->capacity * word;
        sizes.stray_cells = grid_cells(&setup->grid) * word;
    }
    return sizes;
}

uint64_t tiled_advance_bytes(const struct device_info *info, const struct advance_setup *setup)
{
    struct tiled_layout layout;
    if (!tiled_layout_make(info, setup, &layout))
        return 0;
    const struct sizes sizes = sizes_of(&layout, setup);
    return (uint64_t)sizes.digits + (setup->species_count + UINT64_C(1)) * sizes.tile_cells + sizes.offsets +
           sizes.table + sizes.lists + sizes.totals + sizes.sums + sizes.leavers +
           2 * ((uint64_t)sizes.stray_number + sizes.stray_list + sizes.stray_cells);
}

/* ---- birth and death ---- */

static enum status build(struct tiled_advance *advance, bool ids)
{
    struct program **program = &advance->programs[ids];
    if (*program)
        return STATUS_OK;
    const struct tiled_layout *layout = &advance->layout;
    TRY(program_build(
        advance->device, "tiled_advance.cl", advance->setup.precision, program,
        "-D FUSE_PRODUCTS=%d -D SHAPE_ORDER=%d -D ITEMS=%u -D SCAN_ITEMS=%u -D DIGIT_BITS=%u -D HAS_IDS=%d "
        "-D GHOST_ROWS=%u -D LEAVES_ROOM=%d -D WINDOWED=%d -D SPAN=%u -D MARGIN=%u -D REACH=%u "
        "-D CHUNK_TILES=%u",
        device_info(advance->device)->has_fma, (int)advance->setup.shape, layout->tiles.items,
        layout->tiles.scan_items, layout->tiles.digit_bits, ids, advance->setup.ghost_rows,
        advance->setup.leaves_room, layout->windowed, layout->span, layout->margin, layout->reach,
        layout->chunk_tiles));
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
    if (advance->setup.leaves_room)
        TRY(kernel_create(program, "advance_count_leavers", &advance->count_leavers));
    if (advance->setup.leaves_room && !advance->layout.windowed)
        TRY(kernel_create(program, "advance_add_arrivals", &advance->add_arrivals));
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

static enum status create_leavers(struct tiled_advance *advance, const struct sizes *sizes)
{
    void *memory = NULL;
    TRY(buffer_create(advance->device, sizes->leavers, "the numbers of those who leave", &advance->leavers));
    TRY(host_memory_create(advance->device, sizes->leavers, &advance->leavers_host, &memory));
    advance->read_leavers = memory;
    return STATUS_OK;
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
    if (advance->setup.leaves_room)
        TRY(create_leavers(advance, &sizes));
    return create_strays(advance, &sizes);
}

enum status tiled_advance_create(struct device *device, const struct advance_setup *setup,
                                 struct tiled_advance **advance)
{
    *advance = NULL;
    struct tiled_layout layout;
    if (!tiled_layout_make(device_info(device), setup, &layout))
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
        &old->place,          &old->count_leavers,  &old->add_arrivals};
    for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++)
        kernel_destroy(kernels[n]);
    program_destroy(&old->programs[0]);
    program_destroy(&old->programs[1]);
    struct buffer **const buffers[] = {&old->digits,       &old->new_tile_cells,  &old->new_offsets,
                                       &old->table,        &old->lists,           &old->totals,
                                       &old->sums,         &old->stray_number[0], &old->stray_number[1],
                                       &old->stray_list,   &old->stray_order,     &old->stray_counts,
                                       &old->stray_begins, &old->leavers};
    for (size_t n = 0; n < sizeof buffers / sizeof buffers[0]; n++)
        buffer_destroy(buffers[n]);
    for (uint32_t s = 0; s < CONFIG_MAX_SPECIES; s++)
        buffer_destroy(&old->tile_cells[s]);
    host_memory_destroy(&old->leavers_host);
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

/* ---- the kernels of a step ---- */

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
    return (uint64_t)tiled_layout_chunks(&advance->layout, particles->count) *
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
    const struct launch launch = {tiled_layout_chunks(&advance->layout, particles->count),
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

/* The room to leave, and the count of particles with those who come. Without arrivals any buffers stand in.
 */
struct room {
    uint32_t new_count;
    const struct buffer *rows, *counts;
};

static struct room room_for(const struct tiled_advance *advance, const struct particles *particles,
                            const struct arrival_room *arrivals)
{
    if (!arrivals)
        return (struct room){particles->count, advance->totals, advance->totals};
    return (struct room){particles->count + arrivals->count, arrivals->rows, arrivals->counts};
}

static enum status scan(struct tiled_advance *advance, const struct particles *particles,
                        const struct room *room)
{
    const struct tile_plan *tiles = &advance->layout.tiles;
    const uint32_t cells = grid_cells(&advance->setup.grid);
    if (advance->setup.leaves_room)
        TRY(KERNEL_LAUNCH(
            advance->add_arrivals,
            launch_covering(cells, device_group_items(advance->device, FLAT_ITEMS), STAGE_SORT_SCAN, 0),
            arg_buffer(room->rows), arg_buffer(room->counts), arg_uint(cells),
            arg_uint(advance->setup.grid.ny), arg_buffer(advance->totals)));
    return KERNEL_LAUNCH(advance->scan,
                         ((struct launch){tile_row(tiles->digit_bits) / TILE_SCAN_BINS, tiles->scan_items,
                                          STAGE_SORT_SCAN, 2 * table_bytes(advance, particles)}),
                         arg_buffer(advance->table), arg_buffer(advance->totals),
                         arg_buffer(advance->new_offsets), arg_buffer(advance->new_tile_cells),
                         arg_uint(tiled_layout_chunks(&advance->layout, particles->count)), arg_uint(cells),
                         arg_uint(room->new_count));
}

static enum status scan_windows(struct tiled_advance *advance, uint32_t species,
                                const struct particles *particles, const struct room *room)
{
    const struct grid *grid = &advance->setup.grid;
    const uint32_t cells = grid_cells(grid), blocks = tiled_layout_blocks(&advance->layout, grid);
    const struct launch launch = {blocks, advance->layout.tiles.items, STAGE_SORT_SCAN,
                                  table_bytes(advance, particles)};
    const struct buffer *old_offsets = particles->cell_offsets, *old_tiles = advance->tile_cells[species];
    TRY(KERNEL_LAUNCH(advance->total, launch, arg_buffer(advance->table), arg_buffer(old_offsets),
                      arg_buffer(old_tiles), arg_buffer(advance->stray_counts), arg_buffer(room->rows),
                      arg_buffer(room->counts), arg_uint(cells), arg_uint(grid->ny),
                      arg_uint(particles->count), arg_buffer(advance->new_offsets),
                      arg_buffer(advance->totals)));
    TRY(KERNEL_LAUNCH(advance->scan_blocks,
                      ((struct launch){1, advance->layout.tiles.scan_items, STAGE_SORT_SCAN, 0}),
                      arg_buffer(advance->totals), arg_uint(blocks), arg_buffer(advance->stray_number[1])));
    return KERNEL_LAUNCH(advance->place, launch, arg_buffer(advance->table), arg_buffer(old_offsets),
                         arg_buffer(old_tiles), arg_buffer(advance->stray_counts), arg_buffer(room->rows),
                         arg_buffer(room->counts), arg_uint(cells), arg_uint(grid->ny),
                         arg_uint(particles->count), arg_uint(room->new_count),
                         arg_buffer(advance->new_offsets), arg_buffer(advance->totals),
                         arg_buffer(advance->stray_begins), arg_buffer(advance->new_tile_cells));
}

/* Chunks of a move: those below `split`, and from split + skip on. */
struct some_chunks {
    uint32_t groups, split, skip;
};

static enum status move(struct tiled_advance *advance, const struct fields *fields, uint32_t species,
                        struct particles *particles, uint32_t new_count, struct some_chunks chunks)
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
        arg_uint(new_count),
        arg_uint(chunks.split),
        arg_uint(chunks.skip),
        arg_buffer(advance->totals),
    };
    const uint64_t each =
        8 * precision_bytes(advance->setup.precision) + sizeof(uint16_t) + (ids ? 2 * sizeof(uint64_t) : 0);
    const uint32_t all = tiled_layout_chunks(&advance->layout, count);
    const uint64_t bytes = all > 0 ? each * count * chunks.groups / all : 0; /* chunks are alike */
    return kernel_launch(advance->move[ids],
                         (struct launch){chunks.groups, advance->layout.tiles.items, STAGE_PUSH, bytes},
                         arguments, sizeof arguments / sizeof arguments[0]);
}

static enum status move_strays(struct tiled_advance *advance, const struct fields *fields,
                               struct particles *particles, const struct room *room)
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
                         arg_buffer(room->rows), arg_buffer(room->counts), arg_buffer(advance->new_offsets),
                         arg_buffer(particles->offset_spare), arg_buffer(particles->velocity_spare),
                         arg_buffer(ids ? particles->id_spare : particles->offset_spare));
}

/* ---- one step ---- */

enum status tiled_advance_count(struct tiled_advance *advance, const struct fields *fields, uint32_t species,
                                bool measure, const struct particles *particles)
{
    if (measure)
        TRY(tiled_advance_measure(advance, fields, species, particles));
    return count(advance, fields, species, particles);
}

enum status tiled_advance_read_leavers(struct tiled_advance *advance, uint32_t species,
                                       const struct particles *particles, const uint32_t **leavers)
{
    const struct advance_setup *setup = &advance->setup;
    const uint32_t own = setup->own_rows * setup->grid.ny, cells = grid_cells(&setup->grid);
    const uint32_t edge = tiled_layout_edge_rows(&advance->layout);
    const uint32_t low_row = edge < setup->own_rows ? edge : setup->own_rows;
    const struct launch launch =
        launch_covering(beside_cells(setup) + (uint64_t)EDGES,
                        device_group_items(advance->device, FLAT_ITEMS), STAGE_EXCHANGE, 0);
    TRY(advance->layout.windowed
            ? KERNEL_LAUNCH(advance->count_leavers, launch, arg_buffer(advance->table),
                            arg_buffer(particles->cell_offsets), arg_buffer(advance->tile_cells[species]),
                            arg_buffer(advance->stray_counts), arg_uint(own), arg_uint(cells),
                            arg_uint(setup->grid.ny), arg_uint(particles->count), arg_uint(low_row),
                            arg_uint(setup->own_rows - low_row), arg_buffer(advance->leavers))
            : KERNEL_LAUNCH(advance->count_leavers, launch, arg_buffer(advance->totals), arg_uint(own),
                            arg_uint(cells), arg_buffer(advance->leavers)));
    *leavers = advance->read_leavers;
    return buffer_read(advance->leavers, 0, buffer_bytes(advance->leavers), advance->read_leavers);
}

/* The chunks that hold particles of the rows at either end, and those between them. */
static void cut_edges(const struct tiled_advance *advance, const struct particles *particles,
                      struct some_chunks *edges, struct some_chunks *inner)
{
    const uint32_t *before = advance->read_leavers + beside_cells(&advance->setup);
    const uint32_t length = tiled_layout_chunk_length(&advance->layout);
    const uint32_t chunks = tiled_layout_chunks(&advance->layout, particles->count);
    const uint32_t low = before[EDGE_LOW] / length + (before[EDGE_LOW] % length != 0);
    const uint32_t high = before[EDGE_HIGH] / length;
    const uint32_t between = high > low ? high - low : 0;
    *edges = (struct some_chunks){chunks - between, between > 0 ? low : chunks, between};
    *inner = (struct some_chunks){between, 0, low};
}

/* Moves everybody. Where room is left, those who leave are in place when the side queue is through, whose
 * work can go on while the main queue moves the others. */
static enum status move_all(struct tiled_advance *advance, const struct fields *fields, uint32_t species,
                            struct particles *particles, const struct room *room)
{
    struct device *device = advance->device;
    const struct some_chunks all = {tiled_layout_chunks(&advance->layout, particles->count), 0, 0};
    if (!advance->setup.leaves_room || !advance->layout.windowed) {
        TRY(move(advance, fields, species, particles, room->new_count, all));
        return advance->setup.leaves_room ? device_fork(device) : STATUS_OK;
    }
    struct some_chunks edges, inner;
    cut_edges(advance, particles, &edges, &inner);
    TRY(device_fork(device));
    TRY(device_use(device, QUEUE_SIDE));
    const enum status status = move(advance, fields, species, particles, room->new_count, edges);
    TRY(device_use(device, QUEUE_MAIN));
    TRY(status);
    return move(advance, fields, species, particles, room->new_count, inner);
}

/* The new order becomes that of the particles. */
static void take_new_order(struct tiled_advance *advance, uint32_t species, struct particles *particles)
{
    if (advance->layout.windowed)
        buffer_swap(advance->stray_number[0], advance->stray_number[1]);
    buffer_swap(particles->offset, particles->offset_spare);
    buffer_swap(particles->velocity, particles->velocity_spare);
    if (particles->id)
        buffer_swap(particles->id, particles->id_spare);
    buffer_swap(particles->cell_offsets, advance->new_offsets);
    buffer_swap(advance->tile_cells[species], advance->new_tile_cells);
}

enum status tiled_advance_move(struct tiled_advance *advance, const struct fields *fields, uint32_t species,
                               const struct arrival_room *arrivals, struct particles *particles)
{
    const struct room room = room_for(advance, particles, arrivals);
    if (advance->layout.windowed) {
        TRY(scan_windows(advance, species, particles, &room));
        TRY(move_strays(advance, fields, particles, &room));
    } else {
        TRY(scan(advance, particles, &room));
    }
    TRY(move_all(advance, fields, species, particles, &room));
    if (particles->count == 0) /* and nobody was there to clear them */
        TRY(buffer_fill(advance->totals, 0));
    take_new_order(advance, species, particles);
    return STATUS_OK;
}

/* ---- the sums ---- */

/* Where the sums of a species begin, in reals. */
static uint32_t first_sum(const struct tiled_advance *advance, uint32_t species)
{
    return species * tiled_layout_chunks(&advance->layout, advance->setup.capacity) * PUSH_SUMS;
}

enum status tiled_advance_measure(struct tiled_advance *advance, const struct fields *fields,
                                  uint32_t species, const struct particles *particles)
{
    const struct grid *grid = &advance->setup.grid;
    const struct species_motion motion = motion_of(advance, particles);
    const uint32_t chunks = tiled_layout_chunks(&advance->layout, particles->count);
    advance->measured_chunks[species] = chunks;
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
                          advance->measured_chunks[species], particles, &motion, sums);
}
