/* Deposit bench point: the particles, the host's density, the timing and the verdict. */
#include "experiments/deposit_bench_point.h"

#include "field/deposit.h"
#include "sort/permute.h"
#include "sort/sorter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UPS = 2, BLOCK = 1 << 16 /* particles that are made and written at a time */ };

/* What one point has on device and host. */
struct scene {
    const struct deposit_setup *setup;
    struct device *device;
    struct grid grid;
    struct species_config species;
    struct particles shuffled; /* owns the arrays */
    struct particles ordered;  /* the same in order, in the spare arrays of `shuffled` */
    struct sorter *sorter;
    struct permute *permute;
    struct buffer *permutation, *rho;
    struct deposit *sorted;
    struct deposit_atomic *atomic;
    double *weights; /* [cells]: the host's sums */
    double *found;   /* [cells]: the density last read */
    double *ordered_density;
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
        const double along_x = weight_of(scene->setup->shape, offset[0], a);
        for (int b = -1; b <= 2 && along_x > 0; b++)
            scene->weights[(i + nx + (uint32_t)a) % nx * ny + (j + ny + (uint32_t)b) % ny] +=
                along_x * weight_of(scene->setup->shape, offset[1], b);
    }
}

/* Particles first .. first + count: any cell, any offset of 24 bits, which both precisions have. */
static enum status fill_block(struct scene *scene, uint32_t first, uint32_t count, uint64_t *seed,
                              uint32_t *cell, double (*offset)[2])
{
    const uint32_t cells = grid_cells(&scene->grid);
    for (uint32_t n = 0; n < count; n++) {
        cell[n] = (uint32_t)((next_random(seed) >> 32) * cells >> 32);
        for (int axis = 0; axis < 2; axis++)
            offset[n][axis] = (double)(next_random(seed) >> 40) * 0x1p-24;
        deposit_on_host(scene, cell[n], offset[n]);
    }
    TRY(buffer_write(scene->shuffled.key, first * sizeof *cell, count * sizeof *cell, cell));
    return buffer_write_reals(scene->shuffled.offset, scene->setup->precision, 2 * (size_t)first,
                              2 * (size_t)count, offset[0]);
}

static enum status fill(struct scene *scene)
{
    const uint32_t particles = scene->setup->particles;
    uint32_t *cell = calloc(BLOCK, sizeof *cell);
    double(*offset)[2] = calloc(BLOCK, sizeof *offset);
    uint64_t seed = 1;
    enum status status = cell && offset ? STATUS_OK : status_fail(STATUS_FAILED, "no memory for particles");
    for (uint32_t first = 0; status == STATUS_OK && first < particles;) {
        const uint32_t count = particles - first < BLOCK ? particles - first : BLOCK;
        status = fill_block(scene, first, count, &seed, cell, offset);
        first += count;
    }
    free(cell);
    free(offset);
    return status == STATUS_OK ? buffer_fill(scene->shuffled.velocity, 0) : status;
}

/* Keys, offsets and velocities into the spare arrays, in order. */
static enum status sort(struct scene *scene)
{
    const struct radix_lists lists = {.keys = scene->shuffled.key,
                                      .sorted_keys = scene->shuffled.key_spare,
                                      .permutation = scene->permutation,
                                      .cell_offsets = scene->shuffled.cell_offsets,
                                      .cells = grid_cells(&scene->grid)};
    TRY(sorter_run(scene->sorter, scene->shuffled.count, &lists));
    scene->ordered = scene->shuffled;
    buffer_swap(scene->ordered.key, scene->ordered.key_spare);
    return permute_apply(scene->permute, scene->permutation, &scene->ordered);
}

/* ---- birth and death ---- */

static enum status create_sort(struct scene *scene)
{
    const struct sort_config left_open = {.method = SORT_METHOD_AUTO};
    const uint32_t particles = scene->setup->particles;
    struct sorter_plan plan;
    TRY(sorter_plan_make(device_info(scene->device), &left_open, grid_key_bits(&scene->grid), particles,
                         &plan));
    TRY(sorter_create(scene->device, &plan, particles, &scene->sorter));
    TRY(permute_create(scene->device, scene->setup->precision, &scene->permute));
    return buffer_create(scene->device, particles * sizeof(uint32_t), "permutation", &scene->permutation);
}

static enum status create(struct scene *scene)
{
    const struct deposit_setup *setup = scene->setup;
    const uint32_t cells = setup->cells[0] * setup->cells[1];
    scene->grid = grid_make(&(struct grid_config){.cells = {setup->cells[0], setup->cells[1]},
                                                  .length = {setup->cells[0], setup->cells[1]}});
    scene->species = (struct species_config){
        .name = "particles", .charge = -1, .mass = 1, .density = 1, .particles = setup->particles};
    scene->weights = calloc(cells, sizeof *scene->weights);
    scene->found = calloc(cells, sizeof *scene->found);
    scene->ordered_density = calloc(cells, sizeof *scene->ordered_density);
    if (!scene->weights || !scene->found || !scene->ordered_density)
        return status_fail(STATUS_FAILED, "no memory for the densities of %u cells", cells);
    TRY(particles_create(scene->device, &scene->grid, setup->precision, &scene->species, &scene->shuffled));
    TRY(create_sort(scene));
    TRY(buffer_create(scene->device, cells * precision_bytes(setup->precision), "rho", &scene->rho));
    TRY(deposit_create(scene->device, &scene->grid, setup->precision,
                       &(struct deposit_config){.shape = setup->shape}, setup->particles, &scene->sorted));
    TRY(deposit_atomic_create(scene->device, &scene->grid, setup->precision, setup->shape, setup->way,
                              &scene->atomic));
    TRY(fill(scene));
    return sort(scene);
}

static void destroy(struct scene *scene)
{
    permute_destroy(&scene->permute);
    sorter_destroy(&scene->sorter);
    particles_destroy(&scene->shuffled);
    device_close(&scene->device);
    free(scene->weights);
    free(scene->found);
    free(scene->ordered_density);
}

/* ---- timing ---- */

static enum status deposit(struct scene *scene, enum deposit_column column)
{
    const uint32_t cells = grid_cells(&scene->grid);
    const bool is_ordered = column == COLUMN_ATOMIC_ORDERED;
    if (column == COLUMN_ATOMIC_ORDERED || column == COLUMN_ATOMIC_SHUFFLED)
        return deposit_atomic_species(scene->atomic, is_ordered ? &scene->ordered : &scene->shuffled, cells,
                                      true, scene->rho);
    if (column == COLUMN_SORT_AND_SORTED)
        TRY(sort(scene));
    return deposit_species(scene->sorted, &scene->ordered, true, scene->rho);
}

static enum status time_column(struct scene *scene, enum deposit_column column, struct deposit_point *point)
{
    struct device *device = scene->device;
    TRY(buffer_fill(scene->rho, UINT32_MAX)); /* no result of the one before */
    for (uint32_t n = 0; n < scene->setup->repeats + WARM_UPS; n++) {
        device_reset_timers(device);
        TRY(device_region_begin(device));
        TRY(deposit(scene, column));
        TRY(device_region_end(device, STAGE_OTHER, 0));
        TRY(device_finish(device));
        if (n < WARM_UPS)
            continue;
        const struct timers *timers = device_timers(device);
        samples_add(&point->seconds[column], timers->stages[STAGE_OTHER].seconds);
        point->bytes[column] = 0;
        for (int stage = 0; stage < STAGE_OTHER; stage++)
            point->bytes[column] += timers->stages[stage].bytes;
    }
    return STATUS_OK;
}

/* ---- the verdict ---- */

/* Of a node's weights: 40 roundings of them and 1 by sums of at most 32 terms before a compensated total and
 * the terms' own; and half a unit of the integers a particle. */
static double tolerance(const struct deposit_setup *setup, double weights)
{
    const double epsilon = setup->precision == PRECISION_SINGLE ? 0x1p-23 : 0x1p-52;
    const uint32_t bits = deposit_atomic_fraction_bits(setup->particles);
    return 40 * epsilon * (weights + 1) + setup->particles * ldexp(0.5, -(int)bits);
}

static void judge(struct scene *scene, const char *what, struct deposit_point *point)
{
    const struct particles *particles = &scene->shuffled;
    const double scale = particles->species->charge * particles->weight / (scene->grid.dx * scene->grid.dy);
    for (uint32_t node = 0; node < grid_cells(&scene->grid) && point->verified; node++) {
        const double weights = scene->found[node] / scale, expected = scene->weights[node];
        if (fabs(weights - expected) <= tolerance(scene->setup, expected))
            continue;
        point->verified = false;
        snprintf(point->verdict, sizeof point->verdict,
                 "%s: node %u has %.17g particles, the host finds %.17g", what, node, weights, expected);
    }
}

static enum status verify(struct scene *scene, enum deposit_column column, struct deposit_point *point)
{
    static const char *const names[DEPOSIT_COLUMNS] = {
        [COLUMN_SORTED] = "sorted",
        [COLUMN_SORT_AND_SORTED] = "sort+",
        [COLUMN_ATOMIC_ORDERED] = "atomic, in order",
        [COLUMN_ATOMIC_SHUFFLED] = "atomic, shuffled",
    };
    const size_t cells = grid_cells(&scene->grid);
    TRY(buffer_read_reals(scene->rho, scene->setup->precision, 0, cells, scene->found));
    judge(scene, names[column], point);
    if (column == COLUMN_ATOMIC_ORDERED)
        memcpy(scene->ordered_density, scene->found, cells * sizeof *scene->found);
    if (column != COLUMN_ATOMIC_SHUFFLED || !point->verified ||
        memcmp(scene->ordered_density, scene->found, cells * sizeof *scene->found) == 0)
        return STATUS_OK;
    point->verified = false;
    snprintf(point->verdict, sizeof point->verdict, "the atomic sums depend on the order of the particles");
    return STATUS_OK;
}

enum status deposit_point_run(const struct deposit_setup *setup, struct device *device,
                              struct deposit_point *point)
{
    struct scene scene = {.setup = setup};
    *point = (struct deposit_point){.verified = true};
    TRY(device_branch(device, &scene.device));
    enum status status = create(&scene);
    if (status == STATUS_OK)
        point->way = deposit_atomic_way(scene.atomic);
    for (int column = 0; column < DEPOSIT_COLUMNS && status == STATUS_OK; column++) {
        status = time_column(&scene, (enum deposit_column)column, point);
        if (status == STATUS_OK)
            status = verify(&scene, (enum deposit_column)column, point);
    }
    destroy(&scene);
    return status;
}
