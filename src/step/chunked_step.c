/* Chunked step: launches of kernels/chunked_step.cl. */
#include "base/integers.h"
#include "step/stepper_internal.h"

enum {
    CHUNKS_PER_UNIT = 4, /* more than one, so that a late thread does not keep all waiting */
    BLOCK_CELLS = 4096,  /* cells an item brings from counts to places, at least */
    BLOCKS_PER_UNIT = 4,
    TABLE_WORDS = 1 << 24, /* of the table that any run may take ... */
    TABLE_SHARE = 2        /* ... or this many words a particle, if that is more */
};

struct chunked_step {
    uint32_t most_chunks;
    uint32_t block, blocks; /* rows an item brings from counts to places, and how many such items */
    struct {
        struct kernel *count, *count_and_measure, *move;
    } push[2]; /* without w, and with it */
    struct kernel *count_leavers, *places;
    struct buffer *table;   /* uint[most_chunks][cells]: counts, then places */
    struct buffer *touched; /* uchar[most_chunks][nx]: whether a row has them */
    struct buffer *totals;  /* uint[most_chunks][blocks]: counts of all rows of a block */
    struct buffer *leavers; /* uint[cells that are not own], where the setup leaves gaps */
};

/* ---- creation ---- */

/* Several chunks a compute unit, unless the grid is so large that a row of the table each takes too much. */
static uint32_t most_chunks_of(const struct device_info *info, const struct stepper_setup *setup)
{
    const uint64_t share = (uint64_t)TABLE_SHARE * setup->capacity;
    const uint64_t words = share > TABLE_WORDS ? share : TABLE_WORDS;
    const uint64_t rows = words / grid_cells(&setup->grid);
    return at_least(at_most(rows, (uint64_t)CHUNKS_PER_UNIT * info->compute_units), 1);
}

static uint32_t block_of(const struct device_info *info, const struct stepper_setup *setup)
{
    const uint64_t blocks = (uint64_t)BLOCKS_PER_UNIT * info->compute_units;
    return at_least(divide_up(setup->grid.nx, blocks), divide_up(BLOCK_CELLS, setup->grid.ny));
}

static enum status create_kernels(struct device *device, const struct stepper_setup *setup, bool has_w,
                                  struct chunked_step *step)
{
    struct program *program = NULL;
    TRY(program_build(device, "chunked_step.cl", setup->precision, &program,
                      "-D SHAPE_ORDER=%d -D VELOCITIES=%d -D MAGNETIC=%d -D LANES=%d -D FELT=%u -D "
                      "ELECTROMAGNETIC=%d -D DITHERS=%d -D WEIGHTS=%d -D WORK=%d -D PUSHER=%d",
                      (int)setup->shape, 2 + has_w, is_magnetic(setup), CPU_LANES, setup->felt,
                      is_electromagnetic(setup), dithers(setup), setup->weighs, setup->sums_work,
                      (int)setup->pusher));
    TRY(kernel_create(program, "step_count", &step->push[has_w].count));
    TRY(kernel_create(program, "step_count_and_measure", &step->push[has_w].count_and_measure));
    TRY(kernel_create(program, "step_move", &step->push[has_w].move));
    if (step->places) /* as in the other program */
        return STATUS_OK;
    TRY(kernel_create(program, "step_count_leavers", &step->count_leavers));
    return kernel_create(program, "step_places", &step->places);
}

static enum status create(struct stepper *stepper)
{
    struct device *device = stepper->device;
    const struct stepper_setup *setup = &stepper->setup;
    const size_t word = sizeof(uint32_t), cells = grid_cells(&setup->grid);
    struct chunked_step *step = NULL;
    TRY(DEVICE_NEW(device, step));
    stepper->own = step;
    step->most_chunks = most_chunks_of(device_info(device), setup);
    step->block = block_of(device_info(device), setup);
    step->blocks = divide_up(setup->grid.nx, step->block);
    for (int has_w = 0; has_w < 2; has_w++)
        if (setup->sorts[has_w])
            TRY(create_kernels(device, setup, has_w, step));
    TRY(stepper_create_sums(stepper, step->most_chunks));
    TRY(buffer_create(device, step->most_chunks * cells * word, "the table of counts", &step->table));
    TRY(buffer_create(device, step->most_chunks * (size_t)setup->grid.nx, "the rows that have counts",
                      &step->touched));
    TRY(buffer_create(device, (size_t)step->most_chunks * step->blocks * word, "the totals of blocks",
                      &step->totals));
    if (setup->leaves_gaps)
        TRY(buffer_create(device, stepper_cells_beside(setup) * word, "the numbers of leaving particles",
                          &step->leavers));
    return stepper_create_origin(stepper, step->totals);
}

/* ---- what launches take ---- */

/* How the particles are dealt out. It depends on the device and their number only, so sums run in the same
 * order every time. */
struct chunks {
    uint32_t count, length; /* chunk t owns particles [t length, (t + 1) length) */
};

static struct chunks deal_out(const struct chunked_step *step, uint32_t count)
{
    const uint32_t length = round_up(divide_up(count, step->most_chunks), CPU_LANES);
    return (struct chunks){length > 0 ? divide_up(count, length) : 0, length};
}

/* Bytes of the numbers of so many chunks, where particles go to cells beside theirs: each row of the grid is
 * in one chunk, and in each chunk are three rows more. */
static uint64_t table_bytes(const struct stepper *stepper, uint32_t chunks)
{
    const struct grid *grid = &stepper->setup.grid;
    const uint64_t rows = grid->nx + 3 * (uint64_t)chunks, all = (uint64_t)grid->nx * chunks;
    return (rows < all ? rows : all) * grid->ny * sizeof(uint32_t);
}

/* Bytes of `passes` runs through the particles' states, of the field and the offsets of cells once, and of
 * `runs` through the table. */
static uint64_t bytes_of(const struct stepper *stepper, const struct particles *list, uint64_t passes,
                         uint64_t runs, uint32_t chunks)
{
    const uint64_t real_bytes = precision_bytes(stepper->setup.precision),
                   cells = grid_cells(&stepper->setup.grid);
    return passes * state_bytes(list) * list->count + (2 * real_bytes + sizeof(uint32_t)) * cells +
           runs * table_bytes(stepper, chunks);
}

/* MOTION_ARGUMENTS of the kernels, the number of particles, the length of a chunk and what it reads. */
#define STATE_ARGUMENTS(stepper, fields, pusher, list, chunks)                                               \
    MOTION_ARGUMENTS(stepper, fields, pusher), (list)->count, (chunks).length, (list)->cell_offsets,         \
        (list)->attribute[ATTRIBUTE_OFFSET], particles_w(list)

/* ---- one step ---- */

static enum status count(struct stepper *stepper, const struct fields *fields, uint32_t species,
                         bool measured, struct particles *list)
{
    const struct chunked_step *step = stepper->own;
    const struct pusher pusher = species_pusher(list->species, &stepper->setup);
    const struct chunks chunks = deal_out(step, list->count);
    const bool has_w = species_has_w(list->species);
    const struct launch launch = {chunks.count, 1, STAGE_COUNT_CELLS,
                                  bytes_of(stepper, list, 1, 1, chunks.count)};
    if (!measured)
        return KERNEL_LAUNCH(step->push[has_w].count, launch,
                             STATE_ARGUMENTS(stepper, fields, &pusher, list, chunks), step->table,
                             step->touched, step->block, step->totals);
    stepper->groups[stepper->slot][species] = chunks.count;
    return KERNEL_LAUNCH(step->push[has_w].count_and_measure, launch,
                         STATE_ARGUMENTS(stepper, fields, &pusher, list, chunks), step->table, step->touched,
                         step->block, step->totals, stepper_first_sum(stepper, stepper->slot, species),
                         stepper->sums, SUM_ARGUMENTS(fields, list));
}

/* By a count, which moves nothing. */
static enum status measure(struct stepper *stepper, const struct fields *fields, uint32_t species,
                           struct particles *list)
{
    return count(stepper, fields, species, true, list);
}

static enum status leavers(struct stepper *stepper, uint32_t species, const struct particles *list)
{
    const struct chunked_step *step = stepper->own;
    const struct grid *grid = &stepper->setup.grid;
    const uint32_t beside = stepper_cells_beside(&stepper->setup);
    (void)species;
    TRY(KERNEL_LAUNCH(step->count_leavers, launch_flat(beside, STAGE_EXCHANGE, 0), step->table, step->touched,
                      grid_cells(grid) - beside, grid->nx, grid->ny, deal_out(step, list->count).count,
                      step->leavers));
    return buffer_read(step->leavers, 0, buffer_bytes(step->leavers), stepper->leavers);
}

static enum status find_places(struct stepper *stepper, uint32_t chunks, const struct arrival_gaps *gaps)
{
    const struct chunked_step *step = stepper->own;
    const struct grid *grid = &stepper->setup.grid;
    const uint64_t bytes = table_bytes(stepper, chunks);
    const struct launch launch = {step->blocks, 1, STAGE_SORT_SCAN,
                                  3 * bytes + grid_cells(grid) * sizeof(uint32_t)};
    return KERNEL_LAUNCH(step->places, launch, step->table, step->touched, gaps->count, gaps->rows,
                         gaps->counts, grid->nx, grid->ny, chunks, step->block, step->totals,
                         stepper->new_offsets);
}

static enum status move(struct stepper *stepper, const struct fields *fields, uint32_t species,
                        const struct arrival_gaps *gaps, struct particles *list)
{
    const struct chunked_step *step = stepper->own;
    const struct pusher pusher = species_pusher(list->species, &stepper->setup);
    const struct chunks chunks = deal_out(step, list->count);
    const struct launch launch = {chunks.count, 1, STAGE_PUSH, bytes_of(stepper, list, 2, 2, chunks.count)};
    (void)species;
    TRY(find_places(stepper, chunks.count, gaps));
    TRY(KERNEL_LAUNCH(step->push[species_has_w(list->species)].move, launch,
                      STATE_ARGUMENTS(stepper, fields, &pusher, list, chunks), step->table, step->touched,
                      list->spare[ATTRIBUTE_OFFSET], spare_w(list), stepper->origin, stepper->setup.carries));
    TRY(stepper_move_carried(stepper, list->count + gaps->count, list));
    particles_swap(list);
    return STATUS_OK;
}

const struct stepper_kind chunked_step = {
    .name = "chunked",
    .summary = "chunked: push and sort at once; particles are pushed twice, keys are never stored",
    .layout = {LAYOUT_AOS, LAYOUT_AOS},
    .create = create,
    .count = count,
    .leavers = leavers,
    .move = move,
    .measure = measure,
};
