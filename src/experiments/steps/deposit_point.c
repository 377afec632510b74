/* Deposit point: the particles, the host's density, the timing and the verdict. */
#include "experiments/steps/deposit.h"

#include "field/deposit.h"
#include "particles/permute.h"
#include "sort/sorter.h"

#include <math.h>
#include <string.h>

enum { WARM_UPS = 2, BLOCK = 1 << 16 /* particles that are made and written at a time */ };

/* What a point has on device and host. */
struct scene {
    const struct options *options;
    struct deposit_point *point;
    enum deposit_column column; /* that is timed */
    struct grid grid;
    struct species_config species;
    struct particles ordered, shuffled; /* the same arrays: the spare ones of one are those of the other */
    struct sorter *sorter;
    struct permute *permute;
    struct buffer *keys, *sorted_keys; /* of the shuffled and the ordered list */
    struct buffer *permutation, *rho;
    struct deposit *sorted;
    struct deposit_atomic *atomic;
    double *weights;         /* [cells]: the host's sums */
    double *found, *earlier; /* [cells]: the density last read; that of the atomic additions in order */
};

/* ---- particles ---- */

/* splitmix64 (Steele, Lea & Flood 2014): the same particles in every run. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The weight for the node `steps` above the cell's lower one, by its distance (Hockney & Eastwood 1988,
 * section 5-3). */
static double weight_of(enum shape_kind shape, double offset, int steps)
{
    const double distance = fabs(offset - steps);
    if (shape == SHAPE_NGP)
        return steps == (offset < 0.5 ? 0 : 1) ? 1 : 0;
    if (shape == SHAPE_CIC)
        return fmax(1 - distance, 0);
    return distance < 0.5 ? 0.75 - distance * distance : 0.5 * pow(fmax(1.5 - distance, 0), 2);
}

static void deposit_on_host(struct scene *scene, uint32_t cell, const double offset[2])
{
    const uint32_t nx = scene->grid.nx, ny = scene->grid.ny, i = cell / ny, j = cell % ny;
    for (int a = -1; a <= 2; a++) {
        const double along_x = weight_of(scene->point->shape, offset[0], a);
        for (int b = -1; b <= 2 && along_x > 0; b++)
            scene->weights[(i + nx + (uint32_t)a) % nx * ny + (j + ny + (uint32_t)b) % ny] +=
                along_x * weight_of(scene->point->shape, offset[1], b);
    }
}

/* Any cell, any offset of 24 bits, which both precisions have. */
static enum status fill(struct scene *scene, struct device *device)
{
    struct particles *list = &scene->ordered;
    uint64_t seed = 1;
    uint32_t *cell = NULL;
    double *offset = NULL;
    TRY(DEVICE_NEW_ARRAY(device, cell, BLOCK));
    TRY(DEVICE_NEW_ARRAY(device, offset, 2 * BLOCK));
    for (uint32_t first = 0, count; first < list->count; first += count) {
        count = list->count - first < BLOCK ? list->count - first : BLOCK;
        for (uint32_t n = 0; n < count; n++) {
            cell[n] = (uint32_t)((next_random(&seed) >> 32) * grid_cells(&scene->grid) >> 32);
            for (int axis = 0; axis < 2; axis++)
                offset[2 * n + (uint32_t)axis] = (double)(next_random(&seed) >> 40) * 0x1p-24;
            deposit_on_host(scene, cell[n], &offset[2 * n]);
        }
        TRY(buffer_write(scene->keys, first * sizeof *cell, count * sizeof *cell, cell));
        TRY(buffer_write_reals(list->attribute[ATTRIBUTE_OFFSET], scene->options->precision,
                               2 * (size_t)first, 2 * (size_t)count, offset));
    }
    return buffer_fill(list->attribute[ATTRIBUTE_VELOCITY], 0);
}

/* The list, which is shuffled, in order; the shuffled one stays in the spare arrays. */
static enum status sort(struct scene *scene)
{
    struct particles *list = &scene->ordered;
    const struct radix_lists lists = {.keys = scene->keys,
                                      .sorted_keys = scene->sorted_keys,
                                      .permutation = scene->permutation,
                                      .cell_offsets = list->cell_offsets,
                                      .cells = grid_cells(&scene->grid)};
    TRY(sorter_run(scene->sorter, list->count, &lists));
    return permute_apply(scene->permute, scene->permutation, list->count, list);
}

static enum status create_sort(struct scene *scene, struct device *device)
{
    const struct sort_config left_open = {.method = SORT_METHOD_AUTO};
    const uint32_t particles = scene->options->particles;
    struct sorter_plan plan;
    TRY(sorter_plan_make(device_info(device), &left_open, grid_key_bits(&scene->grid), particles, &plan));
    TRY(sorter_create(device, &plan, particles, &scene->sorter));
    TRY(permute_create(device, &scene->permute));
    return buffer_create(device, particles * sizeof(uint32_t), "permutation", &scene->permutation);
}

static enum status create(struct scene *scene, struct device *device)
{
    const struct options *options = scene->options;
    const uint32_t *side = scene->point->cells, cells = side[0] * side[1];
    scene->grid = grid_make(&(struct grid_config){.cells = {side[0], side[1]}, .length = {side[0], side[1]}});
    scene->species = (struct species_config){
        .name = "particles", .charge = -1, .mass = 1, .density = 1, .particles = options->particles};
    TRY(DEVICE_NEW_ARRAY(device, scene->weights, cells));
    TRY(DEVICE_NEW_ARRAY(device, scene->found, cells));
    TRY(DEVICE_NEW_ARRAY(device, scene->earlier, cells));
    const struct slab slab = slab_whole_box(&scene->grid);
    TRY(particles_create(device, &slab, options->precision, LAYOUT_SOA, &scene->species, options->particles,
                         &scene->ordered));
    scene->ordered.count = options->particles;
    TRY(buffer_create(device, options->particles * sizeof(uint32_t), "keys", &scene->keys));
    TRY(buffer_create(device, options->particles * sizeof(uint32_t), "sorted keys", &scene->sorted_keys));
    TRY(create_sort(scene, device));
    TRY(buffer_create(device, cells * precision_bytes(options->precision), "rho", &scene->rho));
    TRY(deposit_create(device, &scene->grid, options->precision,
                       &(struct deposit_config){.shape = scene->point->shape}, options->particles,
                       &scene->sorted));
    TRY(deposit_atomic_create(device, &scene->grid, options->precision, scene->point->shape, options->way,
                              &scene->atomic));
    scene->point->way = deposit_atomic_way(scene->atomic);
    TRY(fill(scene, device));
    TRY(sort(scene));
    scene->shuffled = scene->ordered;
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        scene->shuffled.attribute[a] = scene->ordered.spare[a];
    return STATUS_OK;
}

/* ---- the verdict ---- */

static const char *const names[COLUMNS] = {"sorted", "sort+", "atomic, in order", "atomic, shuffled"};

/* Of a node's weights: 40 roundings of them and 1 by sums of at most 32 terms before a compensated total and
 * the terms' own; and half a unit of the integers a particle. */
static double tolerance(const struct options *options, double weights)
{
    const double epsilon = options->precision == PRECISION_SINGLE ? 0x1p-23 : 0x1p-52;
    const uint32_t bits = deposit_atomic_fraction_bits(options->particles);
    return 40 * epsilon * (weights + 1) + options->particles * ldexp(0.5, -(int)bits);
}

static enum status verify(void *context, bool *right)
{
    struct scene *scene = context;
    struct deposit_point *point = scene->point;
    const struct particles *list = &scene->ordered;
    const uint32_t cells = grid_cells(&scene->grid);
    const double scale = list->species->charge * list->weight / (scene->grid.dx * scene->grid.dy);
    *right = true;
    TRY(buffer_read_reals(scene->rho, scene->options->precision, 0, cells, scene->found));
    for (uint32_t node = 0; node < cells && *right; node++) {
        const double weights = scene->found[node] / scale, expected = scene->weights[node];
        *right = fabs(weights - expected) <= tolerance(scene->options, expected);
        if (!*right && point->verified)
            snprintf(point->verdict, sizeof point->verdict,
                     "%s: node %u has %.17g particles, the host finds %.17g", names[scene->column], node,
                     weights, expected);
    }
    if (*right && scene->column == ATOMIC_SHUFFLED) {
        *right = memcmp(scene->earlier, scene->found, cells * sizeof *scene->found) == 0;
        if (!*right && point->verified)
            snprintf(point->verdict, sizeof point->verdict,
                     "the atomic sums depend on the order of the particles");
    }
    memcpy(scene->earlier, scene->found, cells * sizeof *scene->found);
    point->verified = point->verified && *right;
    return STATUS_OK;
}

/* ---- timing ---- */

/* No result of the one before. */
static enum status clear(void *context)
{
    struct scene *scene = context;
    if (scene->column == SORT_AND_SORTED)
        particles_swap(&scene->ordered);
    return buffer_fill(scene->rho, UINT32_MAX);
}

static enum status deposit(void *context)
{
    struct scene *scene = context;
    if (scene->column == ATOMIC_ORDERED || scene->column == ATOMIC_SHUFFLED)
        return deposit_atomic_species(scene->atomic,
                                      scene->column == ATOMIC_ORDERED ? &scene->ordered : &scene->shuffled,
                                      scene->column == ATOMIC_ORDERED ? scene->sorted_keys : scene->keys,
                                      grid_cells(&scene->grid), true, scene->rho);
    if (scene->column == SORT_AND_SORTED)
        TRY(sort(scene));
    return deposit_species(scene->sorted, &scene->ordered, true, scene->rho);
}

enum status deposit_point_time(struct bench *bench, void *deposit_point)
{
    struct deposit_point *point = deposit_point;
    struct scene all = {.options = point->options, .point = point}, *scene = &all;
    const struct subject subject = {.context = scene,
                                    .prepare = clear,
                                    .run = deposit,
                                    .verify = verify,
                                    .warm_ups = WARM_UPS,
                                    .repeats = scene->options->common.repeats,
                                    .in_one_piece = true};
    TRY(create(scene, bench->part));
    for (int column = 0; column < COLUMNS; column++) {
        scene->column = (enum deposit_column)column;
        TRY(bench_time(bench, &subject, 1, &point->times[column]));
    }
    return STATUS_OK;
}
