/* Loading: fill the particles of a species by a kernel, or by the host where the device has no fp64. */
#include "particles/loading.h"

#include "particles/recipe.h"

#include <stdlib.h>

/* ---- by a kernel ---- */

enum { GROUP_ITEMS = 64 };

/* What the kernels need on the device, beside the particles. */
struct loader {
    struct program *program;
    struct kernel *load_particles, *load_ids;
    struct buffer *recipe, *terms;
};

static enum status create_loader(struct device *device, enum precision precision,
                                 const struct recipe_table *table, struct loader *loader)
{
    const size_t terms_bytes = table->term_count * sizeof *table->terms;
    TRY(program_build(device, "loading.cl", precision, &loader->program, "%s", ""));
    TRY(kernel_create(loader->program, "load_particles", &loader->load_particles));
    TRY(kernel_create(loader->program, "load_ids", &loader->load_ids));
    TRY(buffer_create(device, sizeof table->recipe, "the recipe of a species", &loader->recipe));
    TRY(buffer_create(device, terms_bytes, "the profile of a species", &loader->terms));
    TRY(buffer_write(loader->recipe, 0, sizeof table->recipe, &table->recipe));
    return buffer_write(loader->terms, 0, terms_bytes, table->terms);
}

static enum status launch_loader(const struct device *device, const struct loader *loader, uint64_t first,
                                 const struct particles *particles, struct buffer *keys)
{
    const uint32_t count = particles->count;
    const size_t items = device_group_items(device, GROUP_ITEMS);
    const uint64_t bytes = count * (4 * (uint64_t)precision_bytes(particles->precision) + sizeof(uint32_t));
    TRY(KERNEL_LAUNCH(loader->load_particles, launch_covering(count, items, STAGE_LOAD, bytes),
                      arg_ulong(first), arg_uint(count), arg_buffer(loader->recipe),
                      arg_buffer(loader->terms), arg_buffer(particles->attribute[ATTRIBUTE_OFFSET]),
                      arg_buffer(particles->attribute[ATTRIBUTE_VELOCITY]),
                      arg_uint(particles_stride(particles, ATTRIBUTE_VELOCITY)),
                      arg_uint(particles_first(particles, ATTRIBUTE_VELOCITY)), arg_buffer(keys)));
    if (!particles->attribute[ATTRIBUTE_ID])
        return STATUS_OK;
    return KERNEL_LAUNCH(loader->load_ids,
                         launch_covering(count, items, STAGE_LOAD, count * sizeof(uint64_t)),
                         arg_ulong(first), arg_uint(count), arg_buffer(particles->attribute[ATTRIBUTE_ID]));
}

enum status loading_fill_by_kernel(const struct grid *grid, uint64_t first, struct particles *particles,
                                   struct buffer *keys)
{
    struct device *device = particles->device;
    struct recipe_table table;
    struct loader loader;
    struct device *owner;
    TRY(device_branch(device, &owner));
    TRY(recipe_table_create(grid, particles->species, &table));
    TRY(create_loader(owner, particles->precision, &table, &loader));
    TRY(launch_loader(device, &loader, first, particles, keys));
    TRY(device_finish(device)); /* before what the kernels read goes */
    device_close(&owner);
    return STATUS_OK;
}

/* ---- by the host ---- */

/* Particles made at a time. */
enum { PIECE = 1 << 16 };

struct piece {
    double offset[2 * PIECE], velocity[2 * PIECE], state[4 * PIECE];
    uint32_t key[PIECE];
    uint64_t id[PIECE];
};

static void make_particles(const struct recipe_table *table, uint64_t first, uint32_t count, double *offset,
                           double *velocity, uint32_t *key)
{
    for (size_t n = 0; n < count; n++) {
        const struct loaded_particle particle = recipe_particle(&table->recipe, table->terms, first + n);
        for (size_t axis = 0; axis < 2; axis++) {
            offset[2 * n + axis] = particle.offset[axis];
            velocity[2 * n + axis] = particle.velocity[axis];
        }
        key[n] = cell_index(particle.cell[0], particle.cell[1], table->recipe.cells[1]);
    }
}

enum status loading_fill_host(const struct grid *grid, const struct species_config *species, uint64_t first,
                              uint32_t count, double *offset, double *velocity, uint32_t *key)
{
    struct recipe_table table;
    TRY(recipe_table_create(grid, species, &table));
    make_particles(&table, first, count, offset, velocity, key);
    return STATUS_OK;
}

/* What storing as floats does to offsets and, at the upper border of a cell, to keys. */
static void round_to_single(const struct grid *grid, uint32_t count, double *offset, uint32_t *key)
{
    for (size_t n = 0; n < count; n++) {
        const struct site x = site_rounded(key[n] / grid->ny, (float)offset[2 * n], grid->nx);
        const struct site y = site_rounded(key[n] % grid->ny, (float)offset[2 * n + 1], grid->ny);
        offset[2 * n] = x.offset;
        offset[2 * n + 1] = y.offset;
        key[n] = cell_index(x.cell, y.cell, grid->ny);
    }
}

static enum status send_piece(struct piece *piece, size_t begin, uint32_t count, struct particles *particles,
                              struct buffer *keys)
{
    const enum precision precision = particles->precision;
    struct buffer *offset = particles->attribute[ATTRIBUTE_OFFSET];
    if (particles->layout == LAYOUT_AOS) {
        for (size_t n = 0; n < count; n++)
            for (size_t axis = 0; axis < 2; axis++) {
                piece->state[4 * n + axis] = piece->offset[2 * n + axis];
                piece->state[4 * n + 2 + axis] = piece->velocity[2 * n + axis];
            }
        TRY(buffer_write_reals(offset, precision, 4 * begin, 4 * (size_t)count, piece->state));
    } else {
        TRY(buffer_write_reals(offset, precision, 2 * begin, 2 * (size_t)count, piece->offset));
        TRY(buffer_write_reals(particles->attribute[ATTRIBUTE_VELOCITY], precision, 2 * begin,
                               2 * (size_t)count, piece->velocity));
    }
    TRY(buffer_write(keys, begin * sizeof *piece->key, count * sizeof *piece->key, piece->key));
    if (!particles->attribute[ATTRIBUTE_ID])
        return STATUS_OK;
    return buffer_write(particles->attribute[ATTRIBUTE_ID], begin * sizeof *piece->id,
                        count * sizeof *piece->id, piece->id);
}

enum status loading_fill_by_host(const struct grid *grid, uint64_t first, struct particles *particles,
                                 struct buffer *keys)
{
    struct recipe_table table;
    enum status status = STATUS_OK;
    TRY(recipe_table_create(grid, particles->species, &table));
    struct piece *piece = malloc(sizeof *piece);
    if (!piece)
        return status_fail(STATUS_FAILED, "species %s: no memory to load it", particles->species->name);
    for (uint32_t begin = 0, count = 0; begin < particles->count; begin += count) {
        const uint32_t rest = particles->count - begin;
        count = rest < PIECE ? rest : PIECE;
        make_particles(&table, first + begin, count, piece->offset, piece->velocity, piece->key);
        if (particles->precision == PRECISION_SINGLE)
            round_to_single(grid, count, piece->offset, piece->key);
        for (uint32_t n = 0; n < count; n++)
            piece->id[n] = first + begin + n;
        TRY_CLEANUP(send_piece(piece, begin, count, particles, keys));
    }
cleanup:
    free(piece);
    return status;
}

enum status loading_fill(const struct grid *grid, uint64_t first, struct particles *particles,
                         struct buffer *keys)
{
    const struct device *device = particles->device;
    if (device_info(device)->has_fp64 || device_is_counting(device))
        return loading_fill_by_kernel(grid, first, particles, keys);
    return loading_fill_by_host(grid, first, particles, keys);
}
