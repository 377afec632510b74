/* Chunked advance: launches of kernels/chunked_advance.cl. */
#include "push/chunked_advance.h"

#include <stdlib.h>

enum {
    LANES = 16,          /* LANES of kernels/shared/vector_motion.h */
    CHUNKS_PER_UNIT = 4, /* more than one, so that a late thread does not keep all waiting */
    SLAB_CELLS = 8192,   /* cells an item brings from counts to places, at least; a multiple of LANES */
    SLABS_PER_UNIT = 4,
    TABLE_WORDS = 1 << 24, /* of the table that any run may take ... */
    TABLE_SHARE = 2        /* ... or this many words a particle, if that is more */
};

struct chunked_advance {
    struct device *device; /* not owned */
    struct advance_setup setup;
    uint32_t most_chunks;
    uint32_t slab, slabs; /* cells an item brings from counts to places, and how many such items */
    size_t flat_items;    /* of a group, where an item has one particle */
    struct program *program;
    struct kernel *count, *count_and_measure, *measure, *totals, *places, *move, *move_with_ids, *take_over;
    struct buffer *table;         /* uint[most_chunks][cells]: counts, then places */
    struct buffer *slab_totals;   /* uint[slabs] */
    struct buffer *offsets_spare; /* uint[cells + 1]: where the cell offsets of n+1 are made */
    struct buffer *sums;          /* real[species_count][most_chunks][PUSH_SUMS] */
};

/* ---- sizes ---- */

static uint32_t units_of(const struct device_info *info)
{
    return info->compute_units > 0 ? info->compute_units : 1;
}

/* Several chunks a compute unit, unless the grid is so large that a row of the table each takes too much. */
static uint32_t most_chunks_of(const struct device_info *info, const struct advance_setup *setup)
{
    const uint64_t share = (uint64_t)TABLE_SHARE * setup->capacity;
    const uint64_t words = share > TABLE_WORDS ? share : TABLE_WORDS;
    const uint64_t rows = words / grid_cells(&setup->grid);
    const uint64_t wanted = (uint64_t)CHUNKS_PER_UNIT * units_of(info);
    return rows == 0 ? 1 : (uint32_t)(rows < wanted ? rows : wanted);
}

static uint32_t slab_of(const struct device_info *info, const struct advance_setup *setup)
{
    const uint64_t slabs = (uint64_t)SLABS_PER_UNIT * units_of(info);
    const uint64_t share = (grid_cells(&setup->grid) + slabs - 1) / slabs;
    return share < SLAB_CELLS ? SLAB_CELLS : (uint32_t)((share + LANES - 1) / LANES * LANES);
}

static uint32_t slabs_of(const struct advance_setup *setup, uint32_t slab)
{
    return (uint32_t)(((uint64_t)grid_cells(&setup->grid) + slab - 1) / slab);
}

static size_t table_bytes(const struct advance_setup *setup, uint32_t most_chunks)
{
    return (size_t)most_chunks * grid_cells(&setup->grid) * sizeof(uint32_t);
}

static size_t offsets_bytes(const struct advance_setup *setup)
{
    return (grid_cells(&setup->grid) + (size_t)1) * sizeof(uint32_t);
}

static size_t sums_bytes(const struct advance_setup *setup, uint32_t most_chunks)
{
    return (size_t)setup->species_count * most_chunks * PUSH_SUMS * precision_bytes(setup->precision);
}

uint64_t chunked_advance_bytes(const struct device_info *info, const struct advance_setup *setup)
{
    const uint32_t most_chunks = most_chunks_of(info, setup);
    const uint32_t slabs = slabs_of(setup, slab_of(info, setup));
    return (uint64_t)table_bytes(setup, most_chunks) + slabs * sizeof(uint32_t) + offsets_bytes(setup) +
           sums_bytes(setup, most_chunks);
}

/* How the particles are dealt out. It depends on the device and their number only, so sums run in the same
 * order every time. */
struct chunks {
    uint32_t count, length; /* chunk t owns particles [t length, (t + 1) length) */
};

static struct chunks deal_out(const struct chunked_advance *advance, uint32_t count)
{
    const uint32_t most = advance->most_chunks;
    const uint32_t share = (uint32_t)(((uint64_t)count + most - 1) / most);
    const uint32_t length = (share + LANES - 1) / LANES * LANES;
    if (length == 0)
        return (struct chunks){0, 0};
    return (struct chunks){(uint32_t)(((uint64_t)count + length - 1) / length), length};
}

/* ---- birth and death ---- */

static enum status create_kernels(struct chunked_advance *advance)
{
    TRY(program_build(advance->device, "chunked_advance.cl", advance->setup.precision, &advance->program,
                      "-D SHAPE_ORDER=%d -D MAGNETIC=%d -D GHOST_ROWS=%u", (int)advance->setup.shape,
                      advance->setup.magnetic != 0, advance->setup.ghost_rows));
    const struct {
        const char *name;
        struct kernel **kernel;
    } kernels[] = {
        {"advance_count", &advance->count},
        {"advance_count_and_measure", &advance->count_and_measure},
        {"advance_measure", &advance->measure},
        {"advance_totals", &advance->totals},
        {"advance_places", &advance->places},
        {"advance_move", &advance->move},
        {"advance_move_with_ids", &advance->move_with_ids},
        {"advance_take_over", &advance->take_over},
    };
    for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++)
        TRY(kernel_create(advance->program, kernels[n].name, kernels[n].kernel));
    return STATUS_OK;
}

static enum status create_buffers(struct chunked_advance *advance)
{
    struct device *device = advance->device;
    const struct advance_setup *setup = &advance->setup;
    TRY(buffer_create(device, table_bytes(setup, advance->most_chunks), "the advance's table",
                      &advance->table));
    TRY(buffer_create(device, advance->slabs * sizeof(uint32_t), "the advance's totals",
                      &advance->slab_totals));
    TRY(buffer_create(device, offsets_bytes(setup), "spare cell offsets", &advance->offsets_spare));
    return buffer_create(device, sums_bytes(setup, advance->most_chunks), "the advance's sums",
                         &advance->sums);
}

enum status chunked_advance_create(struct device *device, const struct advance_setup *setup,
                                   struct chunked_advance **advance)
{
    *advance = NULL;
    struct chunked_advance *created = calloc(1, sizeof *created);
    if (!created)
        return status_fail(STATUS_FAILED, "no memory for the advance");
    const struct device_info *info = device_info(device);
    *created = (struct chunked_advance){.device = device,
                                        .setup = *setup,
                                        .most_chunks = most_chunks_of(info, setup),
                                        .slab = slab_of(info, setup),
                                        .flat_items = device_group_items(device, 64)};
    created->slabs = slabs_of(setup, created->slab);
    const enum status status = create_kernels(created);
    if (status != STATUS_OK)
        chunked_advance_destroy(&created);
    *advance = created;
    return status;
}

void chunked_advance_destroy(struct chunked_advance **advance)
{
    struct chunked_advance *old = *advance;
    if (!old)
        return;
    struct buffer **const buffers[] = {&old->sums, &old->offsets_spare, &old->slab_totals, &old->table};
    for (size_t n = 0; n < sizeof buffers / sizeof buffers[0]; n++)
        buffer_destroy(buffers[n]);
    struct kernel **const kernels[] = {
        &old->count, &old->count_and_measure, &old->measure,  &old->totals, &old->places,
        &old->move,  &old->move_with_ids,     &old->take_over};
    for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++)
        kernel_destroy(kernels[n]);
    program_destroy(&old->program);
    free(old);
    *advance = NULL;
}

/* ---- before the first step ---- */

/* Pairs to quads of `bytes`. */
static enum status make_quads(struct chunked_advance *advance, size_t bytes, struct particles *particles)
{
    buffer_destroy(&particles->offset_spare);
    buffer_destroy(&particles->velocity_spare);
    TRY(buffer_create(advance->device, bytes, "particle states", &particles->quad));
    TRY(KERNEL_LAUNCH(
        advance->take_over,
        launch_covering(particles->count, advance->flat_items, STAGE_OTHER, 2 * (uint64_t)bytes),
        arg_buffer(particles->offset), arg_buffer(particles->velocity), arg_uint(particles->count),
        arg_buffer(particles->quad)));
    TRY(device_finish(advance->device));
    buffer_destroy(&particles->offset);
    buffer_destroy(&particles->velocity);
    return STATUS_OK;
}

enum status chunked_advance_take_over(struct chunked_advance *advance, struct particles *particles)
{
    const size_t bytes = particles->capacity * 4 * precision_bytes(advance->setup.precision);
    if (!advance->table)
        TRY(create_buffers(advance));
    if (!particles->quad)
        TRY(make_quads(advance, bytes, particles));
    if (particles->quad_spare && buffer_bytes(particles->quad_spare) >= bytes)
        return STATUS_OK;
    buffer_destroy(&particles->quad_spare);
    return buffer_create(advance->device, bytes, "spare particle states", &particles->quad_spare);
}

/* ---- one step ---- */

/* Bytes of `passes` runs through the particles' states, and of the field once. */
static uint64_t state_bytes(const struct chunked_advance *advance, uint32_t count, uint64_t passes)
{
    const uint64_t real_bytes = precision_bytes(advance->setup.precision);
    return passes * 4 * real_bytes * count + 2 * real_bytes * grid_cells(&advance->setup.grid);
}

/* MOTION_ARGUMENTS of the kernels, the number of particles, the length of a chunk and what it reads. */
#define STATE_ARGUMENTS(advance, fields, motion, particles, chunks)                                          \
    arg_buffer((fields)->ex), arg_buffer((fields)->ey), arg_uint((advance)->setup.grid.nx),                  \
        arg_uint((advance)->setup.grid.ny), arg_real((motion).half_kick), arg_real((motion).tangent),        \
        arg_real((motion).sine), arg_real((advance)->setup.time_step / (advance)->setup.grid.dx),            \
        arg_real((advance)->setup.time_step / (advance)->setup.grid.dy), arg_uint((particles)->count),       \
        arg_uint((chunks).length), arg_buffer((particles)->cell_offsets), arg_buffer((particles)->quad)

static struct species_motion motion_of(const struct chunked_advance *advance,
                                       const struct particles *particles)
{
    return species_motion_make(particles->species, advance->setup.time_step, advance->setup.magnetic);
}

/* Where the sums of a species begin, in reals. */
static uint32_t first_sum(const struct chunked_advance *advance, uint32_t species)
{
    return species * advance->most_chunks * PUSH_SUMS;
}

static enum status count_targets(struct chunked_advance *advance, const struct fields *fields,
                                 uint32_t species, bool measure, const struct particles *particles)
{
    const struct species_motion motion = motion_of(advance, particles);
    const struct chunks chunks = deal_out(advance, particles->count);
    const uint64_t row = grid_cells(&advance->setup.grid) * sizeof(uint32_t);
    const struct launch launch = {chunks.count, 1, STAGE_SORT_HISTOGRAM,
                                  state_bytes(advance, particles->count, 1) + (chunks.count + 1) * row};
    if (measure)
        return KERNEL_LAUNCH(
            advance->count_and_measure, launch, STATE_ARGUMENTS(advance, fields, motion, particles, chunks),
            arg_buffer(advance->table), arg_uint(first_sum(advance, species)), arg_buffer(advance->sums));
    return KERNEL_LAUNCH(advance->count, launch, STATE_ARGUMENTS(advance, fields, motion, particles, chunks),
                         arg_buffer(advance->table));
}

static enum status find_places(struct chunked_advance *advance, uint32_t chunks)
{
    const uint32_t cells = grid_cells(&advance->setup.grid);
    const uint64_t table = (uint64_t)chunks * cells * sizeof(uint32_t);
    if (advance->slabs > 1)
        TRY(KERNEL_LAUNCH(advance->totals, ((struct launch){advance->slabs, 1, STAGE_SORT_SCAN, table}),
                          arg_buffer(advance->table), arg_uint(cells), arg_uint(chunks),
                          arg_uint(advance->slab), arg_buffer(advance->slab_totals)));
    return KERNEL_LAUNCH(
        advance->places,
        ((struct launch){advance->slabs, 1, STAGE_SORT_SCAN, 2 * table + cells * sizeof(uint32_t)}),
        arg_buffer(advance->table), arg_uint(cells), arg_uint(chunks), arg_uint(advance->slab),
        arg_buffer(advance->slab_totals), arg_buffer(advance->offsets_spare));
}

static enum status move_particles(struct chunked_advance *advance, const struct fields *fields,
                                  struct particles *particles)
{
    const struct species_motion motion = motion_of(advance, particles);
    const struct chunks chunks = deal_out(advance, particles->count);
    const uint64_t row = grid_cells(&advance->setup.grid) * sizeof(uint32_t);
    struct launch launch = {chunks.count, 1, STAGE_PUSH,
                            state_bytes(advance, particles->count, 2) + (2 * chunks.count + 1) * row};
    if (!particles->id)
        return KERNEL_LAUNCH(advance->move, launch,
                             STATE_ARGUMENTS(advance, fields, motion, particles, chunks),
                             arg_buffer(advance->table), arg_buffer(particles->quad_spare));
    launch.bytes += 2 * sizeof(uint64_t) * particles->count;
    TRY(KERNEL_LAUNCH(advance->move_with_ids, launch,
                      STATE_ARGUMENTS(advance, fields, motion, particles, chunks), arg_buffer(advance->table),
                      arg_buffer(particles->quad_spare), arg_buffer(particles->id),
                      arg_buffer(particles->id_spare)));
    buffer_swap(particles->id, particles->id_spare);
    return STATUS_OK;
}

enum status chunked_advance_step(struct chunked_advance *advance, const struct fields *fields,
                                 uint32_t species, bool measure, struct particles *particles)
{
    TRY(count_targets(advance, fields, species, measure, particles));
    TRY(find_places(advance, deal_out(advance, particles->count).count));
    TRY(move_particles(advance, fields, particles));
    buffer_swap(particles->quad, particles->quad_spare);
    buffer_swap(particles->cell_offsets, advance->offsets_spare);
    return STATUS_OK;
}

/* ---- the sums ---- */

enum status chunked_advance_measure(struct chunked_advance *advance, const struct fields *fields,
                                    uint32_t species, const struct particles *particles)
{
    const struct species_motion motion = motion_of(advance, particles);
    const struct chunks chunks = deal_out(advance, particles->count);
    return KERNEL_LAUNCH(
        advance->measure,
        ((struct launch){chunks.count, 1, STAGE_PUSH, state_bytes(advance, particles->count, 1)}),
        STATE_ARGUMENTS(advance, fields, motion, particles, chunks), arg_uint(first_sum(advance, species)),
        arg_buffer(advance->sums));
}

enum status chunked_advance_read_sums(struct chunked_advance *advance, uint32_t species,
                                      const struct particles *particles, struct push_sums *sums)
{
    const struct species_motion motion = motion_of(advance, particles);
    return push_sums_read(advance->sums, advance->setup.precision, first_sum(advance, species),
                          deal_out(advance, particles->count).count, particles, &motion, sums);
}
