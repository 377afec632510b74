/* Tiled advance: its arrays, and the launches of kernels/tiled_advance.cl. */
#include "push/tiled_advance.h"

#include "device/tile_plan.h"

#include <stdlib.h>

enum { FLAT_ITEMS = 64 };

struct tiled_advance {
    struct device *device; /* not owned */
    struct advance_setup setup;
    struct tile_plan plan;
    struct program *programs[2]; /* of particles without and with ids; made when first needed */
    struct kernel *move[2];
    struct kernel *find_tiles, *count, *scan, *measure;
    struct buffer *digits;                         /* ushort[capacity]: the cell that each particle goes to */
    struct buffer *tile_cells[CONFIG_MAX_SPECIES]; /* uint[tiles + 1]: the cell in which each tile begins */
    struct buffer *new_tile_cells, *new_offsets;   /* swapped with those of the species */
    struct buffer *table;                          /* uint[chunks][row] */
    struct buffer *lists;                          /* uint[chunks][TILE_LIST_WORDS] */
    struct buffer *totals;                         /* uint[row]; zero between steps */
    struct buffer *sums;                           /* real[species_count][chunks][PUSH_SUMS] */
};

/* ---- sizes ---- */

static bool make_plan(const struct device_info *info, const struct advance_setup *setup,
                      struct tile_plan *plan)
{
    return tile_plan_make(info, grid_key_bits(&setup->grid), 0, plan);
}

bool tiled_advance_supports(const struct device_info *info, const struct advance_setup *setup)
{
    struct tile_plan plan;
    return make_plan(info, setup, &plan);
}

struct sizes {
    size_t digits, tile_cells, offsets, table, lists, totals, sums;
};

static struct sizes sizes_of(const struct tile_plan *plan, const struct advance_setup *setup)
{
    const size_t word = sizeof(uint32_t), chunks = tile_chunks(plan, setup->capacity);
    return (struct sizes){
        .digits = (setup->capacity + (size_t)1) / 2 * word, /* ushorts */
        .tile_cells = (tile_count(plan, setup->capacity) + (size_t)1) * word,
        .offsets = (grid_cells(&setup->grid) + (size_t)1) * word,
        .table = chunks * tile_row(plan) * word,
        .lists = chunks * TILE_LIST_WORDS * word,
        .totals = tile_row(plan) * word,
        .sums = setup->species_count * plan->max_chunks * PUSH_SUMS * precision_bytes(setup->precision),
    };
}

uint64_t tiled_advance_bytes(const struct device_info *info, const struct advance_setup *setup)
{
    struct tile_plan plan;
    if (!make_plan(info, setup, &plan))
        return 0;
    const struct sizes sizes = sizes_of(&plan, setup);
    return (uint64_t)sizes.digits + (setup->species_count + UINT64_C(1)) * sizes.tile_cells + sizes.offsets +
           sizes.table + sizes.lists + sizes.totals + sizes.sums;
}

/* ---- birth and death ---- */

static enum status build(struct tiled_advance *advance, bool ids)
{
    struct program **program = &advance->programs[ids];
    if (*program)
        return STATUS_OK;
    TRY(program_build(advance->device, "tiled_advance.cl", advance->setup.precision, program,
                      "-D SHAPE_ORDER=%d -D ITEMS=%u -D SCAN_ITEMS=%u -D DIGIT_BITS=%u -D HAS_IDS=%d",
                      (int)advance->setup.shape, advance->plan.items, advance->plan.scan_items,
                      advance->plan.digit_bits, ids));
    return kernel_create(*program, "advance_move", &advance->move[ids]);
}

static enum status create_parts(struct tiled_advance *advance)
{
    TRY(build(advance, false));
    struct program *program = advance->programs[false];
    TRY(kernel_create(program, "advance_find_tiles", &advance->find_tiles));
    TRY(kernel_create(program, "advance_count", &advance->count));
    TRY(kernel_create(program, "advance_scan", &advance->scan));
    TRY(kernel_create(program, "advance_measure", &advance->measure));
    const struct sizes sizes = sizes_of(&advance->plan, &advance->setup);
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
    return buffer_fill(advance->totals, 0);
}

enum status tiled_advance_create(struct device *device, const struct advance_setup *setup,
                                 struct tiled_advance **advance)
{
    *advance = NULL;
    struct tile_plan plan;
    if (!make_plan(device_info(device), setup, &plan))
        return status_fail(STATUS_USAGE,
                           "step.method: %s has no fused step for %u cells; take the method plain",
                           device_info(device)->name, grid_cells(&setup->grid));
    struct tiled_advance *created = calloc(1, sizeof *created);
    if (!created)
        return status_fail(STATUS_FAILED, "no memory for the step");
    created->device = device;
    created->setup = *setup;
    created->plan = plan;
    const enum status status = create_parts(created);
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
    struct kernel **const kernels[] = {&old->move[0], &old->move[1], &old->find_tiles,
                                       &old->count,   &old->scan,    &old->measure};
    for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++)
        kernel_destroy(kernels[n]);
    program_destroy(&old->programs[0]);
    program_destroy(&old->programs[1]);
    struct buffer **const buffers[] = {&old->digits, &old->new_tile_cells, &old->new_offsets, &old->table,
                                       &old->lists,  &old->totals,         &old->sums};
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
    buffer_destroy(&particles->key);
    buffer_destroy(&particles->key_spare);
    TRY(build(advance, particles->id != NULL));
    const uint64_t tiles = tile_count(&advance->plan, particles->count);
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

static enum status count_and_scan(struct tiled_advance *advance, const struct fields *fields,
                                  uint32_t species, const struct particles *particles)
{
    const struct grid *grid = &advance->setup.grid;
    const struct species_motion motion = motion_of(advance, particles);
    const uint32_t count = particles->count, chunks = tile_chunks(&advance->plan, count);
    const uint64_t table_bytes = (uint64_t)chunks * tile_row(&advance->plan) * sizeof(uint32_t);
    const uint64_t bytes = state_bytes(advance, particles, 4) + count * sizeof(uint16_t) + table_bytes;
    TRY(KERNEL_LAUNCH(advance->count,
                      ((struct launch){chunks, 2 * (size_t)advance->plan.items, STAGE_SORT_HISTOGRAM, bytes}),
                      arg_buffer(fields->ex), arg_buffer(fields->ey), arg_uint(grid->nx), arg_uint(grid->ny),
                      arg_real(motion.half_kick), arg_real(motion.tangent), arg_real(motion.sine),
                      arg_real(advance->setup.time_step / grid->dx),
                      arg_real(advance->setup.time_step / grid->dy), arg_buffer(particles->cell_offsets),
                      arg_buffer(advance->tile_cells[species]), arg_buffer(particles->offset),
                      arg_buffer(particles->velocity), arg_buffer(advance->digits),
                      arg_buffer(advance->table), arg_buffer(advance->lists), arg_buffer(advance->totals),
                      arg_uint(count)));
    return KERNEL_LAUNCH(advance->scan,
                         ((struct launch){tile_row(&advance->plan) / TILE_SCAN_BINS, advance->plan.scan_items,
                                          STAGE_SORT_SCAN, 2 * table_bytes}),
                         arg_buffer(advance->table), arg_buffer(advance->totals),
                         arg_buffer(advance->new_offsets), arg_buffer(advance->new_tile_cells),
                         arg_uint(chunks), arg_uint(grid_cells(grid)), arg_uint(count));
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
                           (ids ? 2 * count * sizeof(uint64_t) : 0);
    return kernel_launch(
        advance->move[ids],
        (struct launch){tile_chunks(&advance->plan, count), advance->plan.items, STAGE_PUSH, bytes},
        arguments, sizeof arguments / sizeof arguments[0]);
}

enum status tiled_advance_step(struct tiled_advance *advance, const struct fields *fields, uint32_t species,
                               bool measure, struct particles *particles)
{
    if (measure)
        TRY(tiled_advance_measure(advance, fields, species, particles));
    TRY(count_and_scan(advance, fields, species, particles));
    TRY(move(advance, fields, species, particles));
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
    return species * advance->plan.max_chunks * PUSH_SUMS;
}

enum status tiled_advance_measure(struct tiled_advance *advance, const struct fields *fields,
                                  uint32_t species, const struct particles *particles)
{
    const struct grid *grid = &advance->setup.grid;
    const struct species_motion motion = motion_of(advance, particles);
    const uint32_t chunks = tile_chunks(&advance->plan, particles->count);
    return KERNEL_LAUNCH(advance->measure,
                         ((struct launch){chunks, 2 * (size_t)advance->plan.items, STAGE_PUSH,
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
                          tile_chunks(&advance->plan, particles->count), particles, &motion, sums);
}
