/* Chunked step: launches of kernels/chunked_step.cl. */
#include "step/chunked_step.h"

#include "particles/permute.h"

enum {
    LANES = 16,          /* LANES of kernels/shared/vector_motion.h */
    CHUNKS_PER_UNIT = 4, /* more than one, so that a late thread does not keep all waiting */
    BLOCK_CELLS = 8192,  /* cells an item brings from counts to places, at least; a multiple of LANES */
    BLOCKS_PER_UNIT = 4,
    TABLE_WORDS = 1 << 24, /* of the table that any run may take ... */
    TABLE_SHARE = 2,       /* ... or this many words a particle, if that is more */
    FLAT_ITEMS = 64
};

struct chunked_step {
    struct device *device; /* not owned */
    struct stepper_setup setup;
    uint32_t most_chunks;
    uint32_t block, blocks; /* cells an item brings from counts to places, and how many such items */
    uint32_t measured_chunks[CONFIG_MAX_SPECIES]; /* that have sums: the list may have changed since */
    struct kernel *count, *count_and_measure, *measure, *count_leavers, *totals, *places, *move;
    struct permute *permute;     /* of attributes beside offset and velocity */
    struct buffer *origin;       /* uint[capacity]: the old place of each new one, for that */
    struct buffer *table;        /* uint[most_chunks][cells]: counts, then places */
    struct buffer *block_totals; /* uint[blocks] */
    struct buffer *new_offsets;  /* uint[cells + 1]: those of n+1, until the list has them */
    struct buffer *sums;         /* real[species_count][most_chunks][PUSH_SUMS] */
    struct buffer *leavers;      /* uint[cells that are not own], where the setup leaves room */
    uint32_t *leavers_host;      /* the same */
};

/* ---- creation ---- */

static bool fits(const struct device_info *info, const struct stepper_setup *setup, const char **why)
{
    (void)info;
    (void)setup;
    (void)why;
    return true; /* it needs no local memory, and a table with a row at least */
}

static uint32_t units_of(const struct device_info *info)
{
    return info->compute_units > 0 ? info->compute_units : 1;
}

/* Several chunks a compute unit, unless the grid is so large that a row of the table each takes too much. */
static uint32_t most_chunks_of(const struct device_info *info, const struct stepper_setup *setup)
{
    const uint64_t share = (uint64_t)TABLE_SHARE * setup->capacity;
    const uint64_t words = share > TABLE_WORDS ? share : TABLE_WORDS;
    const uint64_t rows = words / grid_cells(&setup->grid);
    const uint64_t wanted = (uint64_t)CHUNKS_PER_UNIT * units_of(info);
    return rows == 0 ? 1 : (uint32_t)(rows < wanted ? rows : wanted);
}

static uint32_t block_of(const struct device_info *info, const struct stepper_setup *setup)
{
    const uint64_t blocks = (uint64_t)BLOCKS_PER_UNIT * units_of(info);
    const uint64_t share = (grid_cells(&setup->grid) + blocks - 1) / blocks;
    return share < BLOCK_CELLS ? BLOCK_CELLS : (uint32_t)((share + LANES - 1) / LANES * LANES);
}

static enum status create_kernels(struct chunked_step *step)
{
    const struct stepper_setup *setup = &step->setup;
    struct program *program = NULL;
    TRY(program_build(step->device, "chunked_step.cl", setup->precision, &program,
                      "-D SHAPE_ORDER=%d -D MAGNETIC=%d -D GHOST_ROWS=%u -D LEAVES_ROOM=%d -D CARRIES=%d",
                      (int)setup->shape, setup->magnetic != 0, setup->ghost_rows, setup->leaves_room,
                      setup->carries));
    const struct {
        const char *name;
        struct kernel **kernel;
    } kernels[] = {
        {"step_count", &step->count},     {"step_count_and_measure", &step->count_and_measure},
        {"step_measure", &step->measure}, {"step_count_leavers", &step->count_leavers},
        {"step_totals", &step->totals},   {"step_places", &step->places},
        {"step_move", &step->move},
    };
    for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++)
        TRY(kernel_create(program, kernels[n].name, kernels[n].kernel));
    return STATUS_OK;
}

/* Any buffer stands in for one that is not needed. */
static enum status create_buffers(struct chunked_step *step)
{
    struct device *device = step->device;
    const struct stepper_setup *setup = &step->setup;
    const size_t word = sizeof(uint32_t), cells = grid_cells(&setup->grid);
    TRY(buffer_create(device, step->most_chunks * cells * word, "the table of counts", &step->table));
    TRY(buffer_create(device, step->blocks * word, "the totals of blocks", &step->block_totals));
    TRY(buffer_create(device, (cells + 1) * word, "spare cell offsets", &step->new_offsets));
    TRY(buffer_create(device,
                      (size_t)setup->species_count * step->most_chunks * PUSH_SUMS *
                          precision_bytes(setup->precision),
                      "the push's sums", &step->sums));
    step->origin = step->block_totals;
    if (setup->carries) {
        TRY(buffer_create(device, setup->capacity * word, "the old places of particles", &step->origin));
        TRY(permute_create(device, &step->permute));
    }
    if (!setup->leaves_room)
        return STATUS_OK;
    TRY(DEVICE_NEW_ARRAY(device, step->leavers_host, stepper_cells_beside(setup)));
    return buffer_create(device, stepper_cells_beside(setup) * word, "the numbers of leaving particles",
                         &step->leavers);
}

static enum status create(struct device *device, const struct stepper_setup *setup, void **self)
{
    const struct device_info *info = device_info(device);
    struct chunked_step *step = NULL;
    TRY(DEVICE_NEW(device, step));
    *self = step;
    *step = (struct chunked_step){.device = device,
                                  .setup = *setup,
                                  .most_chunks = most_chunks_of(info, setup),
                                  .block = block_of(info, setup)};
    step->blocks = (uint32_t)(((uint64_t)grid_cells(&setup->grid) + step->block - 1) / step->block);
    TRY(create_kernels(step));
    return create_buffers(step);
}

/* ---- what launches take ---- */

/* How the particles are dealt out. It depends on the device and their number only, so sums run in the same
 * order every time. */
struct chunks {
    uint32_t count, length; /* chunk t owns particles [t length, (t + 1) length) */
};

static struct chunks deal_out(const struct chunked_step *step, uint32_t count)
{
    const uint32_t most = step->most_chunks;
    const uint32_t share = (uint32_t)(((uint64_t)count + most - 1) / most);
    const uint32_t length = (share + LANES - 1) / LANES * LANES;
    if (length == 0)
        return (struct chunks){0, 0};
    return (struct chunks){(uint32_t)(((uint64_t)count + length - 1) / length), length};
}

/* Bytes of `passes` runs through the particles' states, and of the field once. */
static uint64_t state_bytes(const struct chunked_step *step, uint32_t count, uint64_t passes)
{
    const uint64_t real_bytes = precision_bytes(step->setup.precision);
    return passes * 4 * real_bytes * count + 2 * real_bytes * grid_cells(&step->setup.grid);
}

static uint64_t row_bytes(const struct chunked_step *step)
{
    return grid_cells(&step->setup.grid) * sizeof(uint32_t);
}

/* MOTION_ARGUMENTS of the kernels, the number of particles, the length of a chunk and what it reads. */
#define STATE_ARGUMENTS(step, fields, motion, list, chunks)                                                  \
    arg_buffer((fields)->ex), arg_buffer((fields)->ey), arg_uint((step)->setup.grid.nx),                     \
        arg_uint((step)->setup.grid.ny), arg_real((motion).half_kick), arg_real((motion).tangent),           \
        arg_real((motion).sine), arg_real((step)->setup.time_step / (step)->setup.grid.dx),                  \
        arg_real((step)->setup.time_step / (step)->setup.grid.dy), arg_uint((list)->count),                  \
        arg_uint((chunks).length), arg_buffer((list)->cell_offsets),                                         \
        arg_buffer((list)->attribute[ATTRIBUTE_OFFSET])

static struct species_motion motion_of(const struct chunked_step *step, const struct particles *list)
{
    return species_motion_make(list->species, step->setup.time_step, step->setup.magnetic);
}

/* Where the sums of a species begin, in reals. */
static uint32_t first_sum(const struct chunked_step *step, uint32_t species)
{
    return species * step->most_chunks * PUSH_SUMS;
}

/* ---- one step ---- */

static enum status count(void *self, const struct fields *fields, uint32_t species, bool measured,
                         struct particles *list)
{
    struct chunked_step *step = self;
    const struct species_motion motion = motion_of(step, list);
    const struct chunks chunks = deal_out(step, list->count);
    const struct launch launch = {chunks.count, 1, STAGE_SORT_HISTOGRAM,
                                  state_bytes(step, list->count, 1) + (chunks.count + 1) * row_bytes(step)};
    if (!measured)
        return KERNEL_LAUNCH(step->count, launch, STATE_ARGUMENTS(step, fields, motion, list, chunks),
                             arg_buffer(step->table));
    step->measured_chunks[species] = chunks.count;
    return KERNEL_LAUNCH(step->count_and_measure, launch, STATE_ARGUMENTS(step, fields, motion, list, chunks),
                         arg_buffer(step->table), arg_uint(first_sum(step, species)), arg_buffer(step->sums));
}

static enum status leavers(void *self, uint32_t species, const struct particles *list,
                           const uint32_t **leavers)
{
    struct chunked_step *step = self;
    const struct stepper_setup *setup = &step->setup;
    const uint32_t beside = stepper_cells_beside(setup), cells = grid_cells(&setup->grid);
    (void)species;
    TRY(KERNEL_LAUNCH(
        step->count_leavers,
        launch_covering(beside, device_group_items(step->device, FLAT_ITEMS), STAGE_EXCHANGE, 0),
        arg_buffer(step->table), arg_uint(cells - beside), arg_uint(cells),
        arg_uint(deal_out(step, list->count).count), arg_buffer(step->leavers)));
    *leavers = step->leavers_host;
    return buffer_read(step->leavers, 0, buffer_bytes(step->leavers), step->leavers_host);
}

/* Without arrivals any buffers stand in. */
static enum status find_places(struct chunked_step *step, uint32_t chunks, const struct arrival_room *room)
{
    const uint32_t cells = grid_cells(&step->setup.grid);
    const uint64_t table = chunks * row_bytes(step);
    const struct buffer *rows = room ? room->rows : step->table, *counts = room ? room->counts : step->table;
#define PLACES_ARGUMENTS                                                                                     \
    arg_buffer(step->table), arg_buffer(rows), arg_buffer(counts), arg_uint(cells),                          \
        arg_uint(step->setup.grid.ny), arg_uint(chunks), arg_uint(step->block),                              \
        arg_buffer(step->block_totals)
    if (step->blocks > 1)
        TRY(KERNEL_LAUNCH(step->totals, ((struct launch){step->blocks, 1, STAGE_SORT_SCAN, table}),
                          PLACES_ARGUMENTS));
    return KERNEL_LAUNCH(
        step->places,
        ((struct launch){step->blocks, 1, STAGE_SORT_SCAN, 2 * table + cells * sizeof(uint32_t)}),
        PLACES_ARGUMENTS, arg_buffer(step->new_offsets));
#undef PLACES_ARGUMENTS
}

static enum status move(void *self, const struct fields *fields, uint32_t species,
                        const struct arrival_room *room, struct particles *list)
{
    struct chunked_step *step = self;
    const struct species_motion motion = motion_of(step, list);
    const struct chunks chunks = deal_out(step, list->count);
    const uint32_t arrivals = room ? room->count : 0;
    (void)species;
    if (step->setup.carries && arrivals > 0) /* their places have no old one */
        TRY(buffer_fill(step->origin, 0));
    TRY(find_places(step, chunks.count, room));
    TRY(KERNEL_LAUNCH(
        step->move,
        ((struct launch){chunks.count, 1, STAGE_PUSH,
                         state_bytes(step, list->count, 2) + (2 * chunks.count + 1) * row_bytes(step)}),
        STATE_ARGUMENTS(step, fields, motion, list, chunks), arg_buffer(step->table),
        arg_buffer(list->spare[ATTRIBUTE_OFFSET]), arg_buffer(step->origin)));
    if (step->setup.carries)
        TRY(permute_attributes(step->permute, step->origin, list->count + arrivals, ATTRIBUTE_VELOCITY + 1,
                               list));
    particles_swap(list);
    buffer_swap(list->cell_offsets, step->new_offsets);
    return step->setup.leaves_room ? device_fork(step->device) : STATUS_OK;
}

/* ---- the sums ---- */

static enum status measure(void *self, const struct fields *fields, uint32_t species,
                           const struct particles *list)
{
    struct chunked_step *step = self;
    const struct species_motion motion = motion_of(step, list);
    const struct chunks chunks = deal_out(step, list->count);
    step->measured_chunks[species] = chunks.count;
    return KERNEL_LAUNCH(step->measure,
                         ((struct launch){chunks.count, 1, STAGE_PUSH, state_bytes(step, list->count, 1)}),
                         STATE_ARGUMENTS(step, fields, motion, list, chunks),
                         arg_uint(first_sum(step, species)), arg_buffer(step->sums));
}

static enum status read_sums(void *self, uint32_t species, const struct particles *list,
                             struct push_sums *sums)
{
    struct chunked_step *step = self;
    const struct species_motion motion = motion_of(step, list);
    return push_sums_read(step->sums, step->setup.precision, first_sum(step, species),
                          step->measured_chunks[species], list, &motion, sums);
}

const struct stepper_kind chunked_step = {
    .name = "chunked",
    .summary = "chunked: push and sort at once; particles are pushed twice, keys are never stored",
    .layout = LAYOUT_AOS,
    .fits = fits,
    .create = create,
    .count = count,
    .leavers = leavers,
    .move = move,
    .measure = measure,
    .read_sums = read_sums,
};
