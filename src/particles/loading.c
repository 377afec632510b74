/* Loading: fill the particles of a species, by a kernel or, without fp64, by the host, and sort them. */
#include "particles/loading.h"

#include "particles/permute.h"
#include "particles/recipe.h"

#include <stdlib.h>

/* ---- by a kernel ---- */

/* On a branch of the device, which lasts for this launch. */
static enum status launch_kernel(struct device *branch, const struct recipe_table *table, uint64_t first,
                                 const struct particles *particles, struct buffer *keys)
{
    const uint32_t count = particles->count;
    const size_t terms_bytes = table->term_count * sizeof *table->terms;
    const uint64_t bytes = count * (4 * (uint64_t)precision_bytes(particles->precision) + sizeof(uint32_t));
    struct buffer *recipe = NULL, *terms = NULL, *tables = NULL;
    struct buffer *ids = particles->attribute[ATTRIBUTE_ID], *w = particles->attribute[ATTRIBUTE_W],
                  *weights = particles->attribute[ATTRIBUTE_WEIGHT];
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    TRY(program_build(branch, "loading.cl", particles->precision, &program, "%s", ""));
    TRY(kernel_create(program, "load_particles", &kernel));
    TRY(buffer_create_with(branch, sizeof table->recipe, "the recipe of a species", &table->recipe, &recipe));
    TRY(buffer_create_with(branch, terms_bytes, "the profile of a species", table->terms, &terms));
    TRY(buffer_create_with(branch, table->length * sizeof *table->tables, "the formulas of a species",
                           table->tables, &tables));
    TRY(KERNEL_LAUNCH(kernel, launch_flat(count, STAGE_LOAD, bytes), first, count, recipe, terms, tables,
                      particles->attribute[ATTRIBUTE_OFFSET], particles->attribute[ATTRIBUTE_VELOCITY],
                      particles_stride(particles, ATTRIBUTE_VELOCITY),
                      particles_first(particles, ATTRIBUTE_VELOCITY), (uint32_t)(w != NULL), w ? w : keys,
                      keys, (uint32_t)(ids != NULL), ids ? ids : keys, (uint32_t)(weights != NULL),
                      weights ? weights : keys));
    return device_finish(branch);
}

/* ---- by the host ---- */

/* Particles made at a time. */
enum { PIECE = 1 << 16 };

struct piece {
    double offset[2 * PIECE], velocity[2 * PIECE], w[PIECE],
        weight[PIECE]; /* as reals of the list's precision */
    uint64_t id[PIECE];
    uint32_t key[PIECE];
};

/* Particle n of a piece, as load_particles() of kernels/loading.cl; `read`: from a file, or NULL. */
static void make_particle(const struct recipe_table *table, uint64_t index, enum precision precision,
                          const struct loaded_particle *read, size_t n, struct piece *piece)
{
    struct loaded_particle particle = recipe_particle(&table->recipe, table->terms, table->tables, index);
    const uint32_t *cells = table->recipe.cells;
    uint32_t cell[2];
    for (size_t axis = 0; axis < 3 && read; axis++) /* a drift, or else 0 in the file's place */
        particle.velocity[axis] += read->velocity[axis];
    const struct loaded_particle *place = read ? read : &particle;
    for (size_t axis = 0; axis < 2; axis++) {
        const double offset = place->offset[axis];
        const double stored = precision == PRECISION_SINGLE ? (float)offset : offset;
        const struct site site = site_rounded(place->cell[axis], stored, cells[axis]);
        cell[axis] = site.cell;
        store_real(precision, piece->offset, 2 * n + axis, site.offset);
        store_real(precision, piece->velocity, 2 * n + axis, particle.velocity[axis]);
    }
    store_real(precision, piece->w, n, particle.velocity[2]);
    store_real(precision, piece->weight, n, place->weight);
    piece->key[n] = cell_index(cell[0], cell[1], cells[1]);
    piece->id[n] = index;
}

enum status loading_fill_by_host(const struct grid *grid, uint64_t first, struct particles *particles,
                                 struct buffer *keys)
{
    const struct loaded_particle *read = particles->species->read.particles;
    struct recipe_table table;
    enum status status = STATUS_OK;
    TRY(recipe_table_create(grid, particles->species, &table));
    struct piece *piece = malloc(sizeof *piece);
    if (!piece)
        status = status_fail(STATUS_FAILED, "species %s: no memory to load it", particles->species->name);
    for (uint32_t begin = 0, count = 0; begin < particles->count && status == STATUS_OK; begin += count) {
        const uint32_t rest = particles->count - begin;
        count = rest < PIECE ? rest : PIECE;
        for (uint32_t n = 0; n < count; n++)
            make_particle(&table, first + begin + n, particles->precision, read ? read + begin + n : NULL, n,
                          piece);
        const void *const values[ATTRIBUTES] = {piece->offset, piece->velocity, piece->w, piece->weight,
                                                piece->id};
        for (enum attribute a = 0; a < ATTRIBUTES && status == STATUS_OK; a++)
            if (particles->attribute[a])
                status = particles_write(particles, a, begin, count, values[a]);
        TRY_IF_OK(buffer_write(keys, begin * sizeof *piece->key, count * sizeof *piece->key, piece->key));
    }
    free(piece);
    recipe_table_destroy(&table);
    return status;
}

enum status loading_fill(const struct grid *grid, uint64_t first, struct particles *particles,
                         struct buffer *keys)
{
    struct recipe_table table;
    struct device *branch = NULL;
    const bool by_host = !device_info(particles->device)->has_fp64 || particles->species->read.particles;
    if (by_host && !device_is_counting(particles->device))
        return loading_fill_by_host(grid, first, particles, keys);
    TRY(recipe_table_create(grid, particles->species, &table));
    enum status status = device_branch(particles->device, &branch);
    TRY_IF_OK(launch_kernel(branch, &table, first, particles, keys));
    device_close(&branch);
    recipe_table_destroy(&table);
    return status;
}

/* ---- and sort ---- */

/* A clock that stands still while kernels are built, which is a stage of its own. */
static double clock_of_loading(struct device *device)
{
    return timer_now() - device_timers(device)->stages[STAGE_START_KERNELS].seconds;
}

/* Sorts the list with buffers of `device`, a branch, which die with it. */
static enum status sort(struct device *device, const struct slab *slab, const struct sorter_plan *plan,
                        struct buffer *keys, struct particles *list)
{
    struct radix_lists lists = {
        .keys = keys, .cell_offsets = list->cell_offsets, .cells = grid_cells(&slab->local)};
    struct sorter *sorter = NULL;
    struct permute *permute = NULL;
    TRY(buffer_create(device, list->count * sizeof(uint32_t), "the sort's permutation", &lists.permutation));
    TRY(sorter_create(device, plan, list->count, &sorter));
    TRY(permute_create(device, &permute));
    const double start = clock_of_loading(device);
    device_weigh_times(device, 0); /* this sort is not one of the steps': it is timed as loading */
    enum status status = sorter_run(sorter, list->count, &lists);
    TRY_IF_OK(permute_apply(permute, lists.permutation, list->count, list));
    TRY_IF_OK(device_finish(device));
    device_weigh_times(device, 1);
    device_add_time(device, STAGE_LOAD, clock_of_loading(device) - start, 0);
    return status;
}

static enum status fill_and_sort(struct device *device, const struct slab *slab,
                                 const struct sorter_plan *plan, const uint32_t *own_keys, uint64_t first,
                                 struct particles *list)
{
    const size_t bytes = list->count * sizeof *own_keys;
    struct buffer *keys = NULL;
    TRY(buffer_create(device, bytes, "particle keys", &keys));
    TRY(own_keys ? buffer_write(keys, 0, bytes, own_keys) : loading_fill(&slab->box, first, list, keys));
    TRY(device_finish(device));
    return sort(device, slab, plan, keys, list);
}

enum status load_sorted(const struct slab *slab, const struct sorter_plan *plan, const uint32_t *keys,
                        uint64_t first, struct particles *list)
{
    struct device *branch = NULL;
    if (list->count == 0)
        return STATUS_OK;
    TRY(device_branch(list->device, &branch));
    return device_close_after(&branch, fill_and_sort(branch, slab, plan, keys, first, list));
}
