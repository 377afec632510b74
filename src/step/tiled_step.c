/* Tiled step: its arrays, and the launches of kernels/tiled_step.cl and tiled_scan.cl. */
#include "base/integers.h"
#include "step/stepper_internal.h"
#include "step/tiled_layout.h"

enum { STRAY_GROUPS_PER_UNIT = 4, MOST_COMPARED = 128 /* strays of a cell (kernels/shared/strays.h) */ };

/* How many particles stand before the rows that no particle can leave but as a stray, how many up to their
 * end, and how many in all own rows. */
enum { EDGE_LOW, EDGE_HIGH, EDGE_END, EDGES };

struct tiled_step {
    struct tiled_layout layout;
    struct push {
        struct kernel *count, *measure_and_count, *move;
        struct kernel *order_strays, *move_strays; /* where the move is by direction */
    } push[2];                                     /* of species without w, and with it */
    struct kernel *find_tiles, *count_leavers;
    struct kernel *add_arrivals, *scan;         /* where cells are digits */
    struct kernel *total, *scan_blocks, *place; /* where the move is by direction */
    struct buffer *digits; /* the digit, or direction, of each particle's cell at n+1: digit_bytes() */
    struct buffer *tile_cells[CONFIG_MAX_SPECIES]; /* uint[tiles + 1]: the cell in which each tile begins */
    struct buffer *new_tile_cells;                 /* tile_cells at n+1, which are swapped in */
    struct buffer *table;                          /* uint[chunks][row] */
    struct buffer *lists;                          /* uint[chunks][TILE_LIST_WORDS] */
    struct buffer *totals;          /* uint[row], zero between steps; by direction: uint[blocks] */
    struct buffer *stray_number[2]; /* uint[2]: the strays of this step, and 0 for the next one */
    struct buffer *stray_list;      /* uint[capacity] */
    struct buffer *stray_counts;    /* uint[cells]; zero between steps */
    struct buffer *stray_begins;    /* uint[cells] */
    struct buffer *stray_order;     /* uint[capacity] */
    struct buffer *dense;           /* uint[]: cells of more than MOST_COMPARED strays */
    struct buffer *leavers;         /* uint[stepper_cells_beside()]: step_count_leavers() */

    /* By direction: edges of each species, uint[][EDGES], and on the host, where the setup leaves gaps. */
    struct buffer *edges;
    uint32_t (*edges_host)[EDGES];
};

/* Chunks of a count or move: those below `split`, and from split + skip on. */
struct chunk_set {
    uint32_t groups, split, skip;
};

/* Bytes of a digit, or of a direction. */
static size_t digit_bytes(const struct tiled_step *step)
{
    return step->layout.by_direction ? sizeof(uint8_t) : sizeof(uint16_t);
}

/* ---- creation ---- */

static bool fits(const struct device_info *info, const struct stepper_setup *setup, const char **why)
{
    struct tiled_layout layout;
    return tiled_layout_make(info, setup, &layout, why);
}

/* What both programs take of the layout. */
#define LAYOUT_OPTIONS                                                                                       \
    "-D KEYS=%u -D ITEMS=%u -D SCAN_ITEMS=%u -D DIGIT_BITS=%u -D BY_DIRECTION=%d -D SPAN=%u"
#define LAYOUT_VALUES(layout)                                                                                \
    (layout)->tiles.keys, (layout)->tiles.items, (layout)->tiles.scan_items, (layout)->tiles.digit_bits,     \
        (layout)->by_direction, (layout)->span

/* NVIDIA's compiler takes seconds for the file, so a GPU has a program for each kernel:
 * device_start_builders() has them built side by side. */
static enum status create_push(struct device *device, const struct stepper_setup *setup, bool has_w,
                               struct tiled_step *step)
{
    const struct tiled_layout *layout = &step->layout;
    struct push *push = &step->push[has_w];
    const struct {
        const char *name;
        struct kernel **kernel;
    } kernels[] = {{"step_count", &push->count},
                   {"step_measure_and_count", &push->measure_and_count},
                   {"step_move", &push->move},
                   {"step_order_strays", &push->order_strays},
                   {"step_move_strays", &push->move_strays}};
    const uint32_t count = layout->by_direction ? 5 : 3;
    struct program *program = NULL;
    for (uint32_t n = 0; n < count; n++) {
        TRY(program_build(device, "tiled_step.cl", setup->precision, &program,
                          LAYOUT_OPTIONS " -D FUSE_PRODUCTS=%d -D SHAPE_ORDER=%d -D VELOCITIES=%d "
                                         "-D STAGES_FIELD=%d -D COUNT_CELLS=%u -D MOST_COMPARED=%d "
                                         "-D FELT=%u -D ELECTROMAGNETIC=%d -D MAGNETIC=%d -D DITHERS=%d "
                                         "-D HAS_GHOST_ROWS=%d -D WEIGHTS=%d -D WORK=%d -D PUSHER=%d "
                                         "-D KERNEL=%u",
                          LAYOUT_VALUES(layout), device_info(device)->has_fma, (int)setup->shape, 2 + has_w,
                          layout->stages_field, layout->count_cells, MOST_COMPARED, setup->felt,
                          is_electromagnetic(setup), is_magnetic(setup), dithers(setup),
                          setup->ghost_rows > 0, setup->weighs, setup->sums_work, (int)setup->pusher,
                          device_info(device)->is_cpu ? 0 : n + 1));
        TRY(kernel_create(program, kernels[n].name, kernels[n].kernel));
    }
    return STATUS_OK;
}

static enum status create_scan(struct device *device, struct tiled_step *step)
{
    const struct tiled_layout *layout = &step->layout;
    struct program *program = NULL;
    TRY(program_build(device, "tiled_scan.cl", PRECISION_SINGLE, &program, LAYOUT_OPTIONS,
                      LAYOUT_VALUES(layout)));
    TRY(kernel_create(program, "step_find_tiles", &step->find_tiles));
    TRY(kernel_create(program, "step_count_leavers", &step->count_leavers));
    if (!layout->by_direction) {
        TRY(kernel_create(program, "step_add_arrivals", &step->add_arrivals));
        return kernel_create(program, "step_scan", &step->scan);
    }
    TRY(kernel_create(program, "step_total", &step->total));
    TRY(kernel_create(program, "step_scan_blocks", &step->scan_blocks));
    return kernel_create(program, "step_place", &step->place);
}

static enum status create_strays(struct device *device, const struct stepper_setup *setup,
                                 struct tiled_step *step)
{
    const size_t word = sizeof(uint32_t), capacity = setup->capacity * word,
                 cells = grid_cells(&setup->grid) * word;
    for (int n = 0; n < 2; n++)
        TRY(buffer_create_zeroed(device, 2 * word, "the number of strays", &step->stray_number[n]));
    TRY(buffer_create(device, capacity, "the list of strays", &step->stray_list));
    TRY(buffer_create(device, capacity, "the order of strays", &step->stray_order));
    TRY(buffer_create(device, (setup->capacity / MOST_COMPARED + 1) * word, "the cells of many strays",
                      &step->dense));
    TRY(buffer_create(device, cells, "the places of strays", &step->stray_begins));
    return buffer_create_zeroed(device, cells, "the strays of cells", &step->stray_counts);
}

/* Any buffer stands in for one that is not needed. */
static enum status create_buffers(struct device *device, const struct stepper_setup *setup, size_t chunks,
                                  struct tiled_step *step)
{
    const struct tile_plan *tiles = &step->layout.tiles;
    const size_t word = sizeof(uint32_t), row = tile_row(tiles->digit_bits);
    const size_t tile_cells = (tile_count(tiles, setup->capacity) + (size_t)1) * word;
    const size_t totals = step->layout.by_direction ? tiled_layout_blocks(&step->layout, &setup->grid) : row;
    TRY(buffer_create(device, divide_up(setup->capacity * digit_bytes(step), word) * word,
                      "the cells at the end of the step", &step->digits));
    for (uint32_t s = 0; s < setup->species_count; s++)
        TRY(buffer_create(device, tile_cells, "the cells of tiles", &step->tile_cells[s]));
    TRY(buffer_create(device, tile_cells, "spare cells of tiles", &step->new_tile_cells));
    TRY(buffer_create(device, chunks * row * word, "the table of counts", &step->table));
    TRY(buffer_create_zeroed(device, totals * word, "the totals of cells", &step->totals));
    step->stray_number[0] = step->stray_list = step->stray_counts = step->lists = step->totals;
    if (!step->layout.by_direction)
        TRY(buffer_create(device, chunks * TILE_LIST_WORDS * word, "the lists of distinct cells",
                          &step->lists));
    if (step->layout.by_direction)
        TRY(create_strays(device, setup, step));
    TRY(buffer_create(device, CONFIG_MAX_SPECIES * sizeof *step->edges_host,
                      "the ends of rows that particles leave", &step->edges));
    if (!setup->leaves_gaps)
        return STATUS_OK;
    TRY(buffer_create(device, stepper_cells_beside(setup) * word, "the numbers of leaving particles",
                      &step->leavers));
    if (!step->layout.by_direction)
        return STATUS_OK;
    void *memory = NULL;
    TRY(host_memory_create(device, CONFIG_MAX_SPECIES * sizeof *step->edges_host, &memory));
    step->edges_host = memory;
    return STATUS_OK;
}

static enum status create(struct stepper *stepper)
{
    struct device *device = stepper->device;
    const struct stepper_setup *setup = &stepper->setup;
    struct tiled_step *step = NULL;
    TRY(DEVICE_NEW(device, step));
    stepper->own = step;
    const char *why = "";
    if (!tiled_layout_make(device_info(device), setup, &step->layout, &why))
        return status_fail(STATUS_USAGE, "step.method: %s cannot take the tiled step: %s",
                           device_info(device)->name, why);
    const uint32_t chunks = tiled_layout_chunks(&step->layout, setup->capacity);
    for (int has_w = 0; has_w < 2; has_w++)
        if (setup->sorts[has_w])
            TRY(create_push(device, setup, has_w, step));
    TRY(create_scan(device, step));
    TRY(create_buffers(device, setup, chunks, step));
    for (uint32_t s = 0; s < setup->species_count && step->edges_host; s++)
        stepper->leaving_begins[s] = &step->edges_host[s][EDGE_END];
    TRY(stepper_create_sums(stepper, chunks));
    return stepper_create_origin(stepper, step->totals);
}

/* The cells where the edges lie: from two rows at either end particles may leave that are no strays, from the
 * second over the end of a row (kernels/shared/windows.h). */
static uint32_t edge_cell(const struct stepper *stepper, int edge)
{
    const uint32_t own = stepper->setup.own_rows, low = at_most(2, own);
    return (edge == EDGE_LOW ? low : edge == EDGE_HIGH ? own - low : own) * stepper->setup.grid.ny;
}

static enum status list_changed(struct stepper *stepper, uint32_t species, struct particles *list)
{
    struct tiled_step *step = stepper->own;
    for (int edge = 0; edge < EDGES && step->edges_host; edge++)
        TRY(buffer_read(list->cell_offsets, edge_cell(stepper, edge) * sizeof(uint32_t), sizeof(uint32_t),
                        &step->edges_host[species][edge]));
    const uint64_t tiles = tile_count(&step->layout.tiles, list->count);
    return KERNEL_LAUNCH(
        step->find_tiles, launch_flat(tiles + 1, STAGE_SORT_OFFSETS, tiles * sizeof(uint32_t)),
        list->cell_offsets, step->tile_cells[species], grid_cells(&stepper->setup.grid), list->count);
}

/* MOTION_, LIST_ and NEW_LIST_ARGUMENTS of the kernels, and those of a scan by directions. */
#define PUSH_ARGUMENTS                                                                                       \
    MOTION_ARGUMENTS(stepper, fields, &pusher), list->cell_offsets, list->attribute[ATTRIBUTE_OFFSET],       \
        list->attribute[ATTRIBUTE_VELOCITY], particles_w(list)
#define NEW_LIST_ARGUMENTS                                                                                   \
    list->spare[ATTRIBUTE_OFFSET], list->spare[ATTRIBUTE_VELOCITY], spare_w(list), stepper->origin,          \
        stepper->setup.carries
#define COUNTS_ARGUMENTS step->table, list->cell_offsets, step->tile_cells[species], step->stray_counts

static uint64_t table_bytes(const struct tiled_step *step, const struct particles *list)
{
    return (uint64_t)tiled_layout_chunks(&step->layout, list->count) *
           tile_row(step->layout.tiles.digit_bits) * sizeof(uint32_t);
}

/* ---- count ---- */

static struct chunk_set all_chunks(const struct tiled_step *step, const struct particles *list)
{
    return (struct chunk_set){tiled_layout_chunks(&step->layout, list->count), 0, 0};
}

/* The chunks that hold particles of the rows at either end, and those between them. */
static void cut_edges(const struct tiled_step *step, uint32_t species, const struct particles *list,
                      struct chunk_set *edges, struct chunk_set *inner)
{
    const uint32_t length = tile_length(&step->layout.tiles); /* of a chunk */
    const uint32_t chunks = all_chunks(step, list).groups;
    const uint32_t low = divide_up(step->edges_host[species][EDGE_LOW], length),
                   high = step->edges_host[species][EDGE_HIGH] / length;
    const uint32_t between = high > low ? high - low : 0;
    *edges = (struct chunk_set){chunks - between, between > 0 ? low : chunks, between};
    *inner = (struct chunk_set){between, 0, low};
}

/* Bytes of a launch that moves `each` a particle; chunks are alike. */
static uint64_t chunk_bytes(const struct tiled_step *step, const struct particles *list,
                            const struct chunk_set *chunks, uint64_t each)
{
    const uint32_t all = all_chunks(step, list).groups;
    return all > 0 ? each * list->count * chunks->groups / all : 0;
}

static enum status count_chunks(struct stepper *stepper, const struct fields *fields, uint32_t species,
                                bool measured, struct particles *list, struct chunk_set chunks)
{
    struct tiled_step *step = stepper->own;
    const struct pusher pusher = species_pusher(list->species, &stepper->setup);
    const bool has_w = species_has_w(list->species);
    const uint64_t each = state_bytes(list) + digit_bytes(step),
                   row = tile_row(step->layout.tiles.digit_bits) * sizeof(uint32_t);
    return KERNEL_LAUNCH(
        measured ? step->push[has_w].measure_and_count : step->push[has_w].count,
        ((struct launch){chunks.groups, 2 * (size_t)step->layout.tiles.items, STAGE_COUNT_CELLS,
                         chunk_bytes(step, list, &chunks, each) + chunks.groups * row}),
        PUSH_ARGUMENTS, step->tile_cells[species], step->digits, step->table, step->lists, step->totals,
        list->count, step->stray_number[0], step->stray_list, step->stray_counts, stepper->sums,
        stepper_first_sum(stepper, stepper->slot, species), chunks.split, chunks.skip,
        SUM_ARGUMENTS(fields, list));
}

/* Sends the numbers of leavers to the host, where they are once the mark is reached. */
static enum status send_leavers(struct stepper *stepper, uint32_t species, const struct particles *list)
{
    struct tiled_step *step = stepper->own;
    const struct stepper_setup *setup = &stepper->setup;
    const uint32_t own = setup->own_rows * setup->grid.ny, cells = grid_cells(&setup->grid);
    const struct launch launch = launch_flat(stepper_cells_beside(setup), STAGE_EXCHANGE, 0);
    TRY(step->layout.by_direction
            ? KERNEL_LAUNCH(step->count_leavers, launch, COUNTS_ARGUMENTS, own, cells, setup->grid.ny,
                            list->count, step->leavers)
            : KERNEL_LAUNCH(step->count_leavers, launch, step->totals, own, cells, step->leavers));
    TRY(host_memory_read(step->leavers, 0, buffer_bytes(step->leavers), stepper->leavers, STAGE_EXCHANGE));
    return device_mark(stepper->device);
}

/* By direction and with gaps to leave first the chunks that leavers come from, but for strays: their numbers
 * go to other ranks while the others are counted. */
static enum status count(struct stepper *stepper, const struct fields *fields, uint32_t species,
                         bool measured, struct particles *list)
{
    struct tiled_step *step = stepper->own;
    struct chunk_set first = all_chunks(step, list), then = {0};
    if (measured)
        stepper->groups[stepper->slot][species] = first.groups;
    if (step->edges_host)
        cut_edges(step, species, list, &first, &then);
    TRY(count_chunks(stepper, fields, species, measured, list, first));
    if (stepper->setup.leaves_gaps)
        TRY(send_leavers(stepper, species, list));
    return count_chunks(stepper, fields, species, measured, list, then);
}

/* Measures by a count, and clears again what must be zero between steps. */
static enum status measure(struct stepper *stepper, const struct fields *fields, uint32_t species,
                           struct particles *list)
{
    struct tiled_step *step = stepper->own;
    TRY(count(stepper, fields, species, true, list));
    TRY(buffer_fill(step->totals, 0));
    TRY(buffer_fill(step->stray_number[0], 0));
    return buffer_fill(step->stray_counts, 0);
}

static enum status leavers(struct stepper *stepper, uint32_t species, const struct particles *list)
{
    (void)species;
    (void)list;
    return device_finish_mark(stepper->device);
}

/* ---- scan ---- */

static enum status scan(struct stepper *stepper, const struct particles *list,
                        const struct arrival_gaps *gaps)
{
    struct tiled_step *step = stepper->own;
    const struct tile_plan *tiles = &step->layout.tiles;
    const struct grid *grid = &stepper->setup.grid;
    const uint32_t cells = grid_cells(grid);
    const struct launch flat = launch_flat(cells, STAGE_SORT_SCAN, 0);
    if (gaps->count > 0)
        TRY(KERNEL_LAUNCH(step->add_arrivals, flat, gaps->count, gaps->rows, gaps->counts, cells, grid->ny,
                          step->totals));
    return KERNEL_LAUNCH(step->scan,
                         ((struct launch){tile_row(tiles->digit_bits) / TILE_SCAN_BINS, tiles->scan_items,
                                          STAGE_SORT_SCAN, 2 * table_bytes(step, list)}),
                         step->table, step->totals, stepper->new_offsets, step->new_tile_cells,
                         tiled_layout_chunks(&step->layout, list->count), cells, list->count + gaps->count);
}

static enum status scan_windows(struct stepper *stepper, uint32_t species, const struct particles *list,
                                const struct arrival_gaps *gaps)
{
    struct tiled_step *step = stepper->own;
    const struct grid *grid = &stepper->setup.grid;
    const uint32_t blocks = tiled_layout_blocks(&step->layout, grid);
    const struct launch launch = {blocks, step->layout.tiles.items, STAGE_SORT_SCAN, table_bytes(step, list)};
#define SCAN_ARGUMENTS                                                                                       \
    COUNTS_ARGUMENTS, gaps->count, gaps->rows, gaps->counts, grid_cells(grid), grid->ny, list->count
    TRY(KERNEL_LAUNCH(step->total, launch, SCAN_ARGUMENTS, stepper->new_offsets, step->totals));
    TRY(KERNEL_LAUNCH(step->scan_blocks,
                      ((struct launch){1, step->layout.tiles.scan_items, STAGE_SORT_SCAN, 0}), step->totals,
                      blocks, step->stray_number[1]));
    return KERNEL_LAUNCH(step->place, launch, SCAN_ARGUMENTS, list->count + gaps->count, stepper->new_offsets,
                         step->totals, step->stray_begins, step->new_tile_cells, edge_cell(stepper, EDGE_LOW),
                         edge_cell(stepper, EDGE_HIGH), edge_cell(stepper, EDGE_END), EDGES * species,
                         step->edges);
}

/* ---- move ---- */

static enum status move_chunks(struct stepper *stepper, const struct fields *fields, uint32_t species,
                               struct particles *list, struct chunk_set chunks)
{
    struct tiled_step *step = stepper->own;
    const struct pusher pusher = species_pusher(list->species, &stepper->setup);
    const uint64_t each = 2 * state_bytes(list) + digit_bytes(step);
    return KERNEL_LAUNCH(step->push[species_has_w(list->species)].move,
                         ((struct launch){chunks.groups, step->layout.tiles.items, STAGE_PUSH,
                                          chunk_bytes(step, list, &chunks, each)}),
                         PUSH_ARGUMENTS, step->tile_cells[species], step->digits, step->table, step->lists,
                         NEW_LIST_ARGUMENTS, list->count, chunks.split, chunks.skip, step->totals);
}

static enum status move_strays(struct stepper *stepper, const struct fields *fields, struct particles *list,
                               const struct arrival_gaps *gaps)
{
    struct tiled_step *step = stepper->own;
    const struct pusher pusher = species_pusher(list->species, &stepper->setup);
    const bool has_w = species_has_w(list->species);
    const struct launch launch = {(size_t)STRAY_GROUPS_PER_UNIT * device_info(stepper->device)->compute_units,
                                  device_group_items(stepper->device, FLAT_ITEMS), STAGE_PUSH, 0};
    TRY(KERNEL_LAUNCH(step->push[has_w].order_strays, launch, PUSH_ARGUMENTS, step->stray_number[0],
                      step->stray_list, step->stray_counts, step->stray_begins, step->stray_order,
                      step->dense));
    return KERNEL_LAUNCH(step->push[has_w].move_strays, launch, PUSH_ARGUMENTS, step->stray_number[0],
                         step->stray_list, step->stray_begins, step->stray_order, step->dense, gaps->count,
                         gaps->rows, gaps->counts, stepper->new_offsets, NEW_LIST_ARGUMENTS);
}

/* Where gaps are left, leaving particles are in place when the side queue is through, whose work can go on
 * while the main queue moves the others; the edges of the new list are on the host by then. */
static enum status move_all(struct stepper *stepper, const struct fields *fields, uint32_t species,
                            struct particles *list, uint32_t new_count)
{
    const struct tiled_step *step = stepper->own;
    struct device *device = stepper->device;
    struct chunk_set edges = {0}, inner = all_chunks(step, list);
    const bool apart = step->edges_host && !stepper->setup.carries;
    if (apart)
        cut_edges(step, species, list, &edges, &inner);
    else
        TRY(move_chunks(stepper, fields, species, list, inner));
    TRY(stepper_move_carried(stepper, new_count, list));
    if (!stepper->setup.leaves_gaps)
        return STATUS_OK;
    TRY(device_fork(device));
    TRY(device_use(device, QUEUE_SIDE));
    enum status status = move_chunks(stepper, fields, species, list, edges);
    if (step->edges_host && status == STATUS_OK)
        status = host_memory_read(step->edges, species * sizeof *step->edges_host, sizeof *step->edges_host,
                                  step->edges_host[species], STAGE_EXCHANGE);
    TRY(device_use(device, QUEUE_MAIN));
    TRY(status);
    return apart ? move_chunks(stepper, fields, species, list, inner) : STATUS_OK;
}

static enum status move(struct stepper *stepper, const struct fields *fields, uint32_t species,
                        const struct arrival_gaps *gaps, struct particles *list)
{
    struct tiled_step *step = stepper->own;
    TRY(step->layout.by_direction ? scan_windows(stepper, species, list, gaps) : scan(stepper, list, gaps));
    if (step->layout.by_direction)
        TRY(move_strays(stepper, fields, list, gaps));
    TRY(move_all(stepper, fields, species, list, list->count + gaps->count));
    if (list->count == 0) /* and no chunk cleared them */
        TRY(buffer_fill(step->totals, 0));
    if (step->layout.by_direction)
        buffer_swap(step->stray_number[0], step->stray_number[1]);
    particles_swap(list);
    buffer_swap(step->tile_cells[species], step->new_tile_cells);
    return STATUS_OK;
}

const struct stepper_kind tiled_step = {
    .name = "tiled",
    .summary = "tiled: push and sort at once; particles are pushed twice, keys are never stored",
    .layout = {LAYOUT_SOA, LAYOUT_SOA},
    .fits = fits,
    .create = create,
    .list_changed = list_changed,
    .count = count,
    .leavers = leavers,
    .move = move,
    .forks = true,
    .measure = measure,
};
