/* Checkpoint scene: a state whose particles are pure functions of species, cell and number in the cell, so
 * that any rank can make its own rows of it, and any rank can tell whether the rows that it reads are right.
 * Includes the device fixture. */
#ifndef RADIXPIC_TEST_CHECKPOINT_SCENE_H
#define RADIXPIC_TEST_CHECKPOINT_SCENE_H

#include "support/list_support.h"
#include "support/write_now.h"

#include "config/config_reader.h"
#include "output/checkpoint.h"
#include "output/outputs.h"

#include <string.h>

enum { SCENE_SPECIES = 2, SCENE_NX = 13, SCENE_NY = 5, SCENE_GHOST = 2 };

/* What of a scene is not fixed. */
struct scene_kind {
    enum precision precision;
    bool ids;         /* of the second species; the first is of the other sort */
    bool aos;         /* the layout of the device's arrays */
    uint32_t cluster; /* times as many particles */
};

struct scene {
    struct scene_kind kind;
    const struct communicator *communicator;
    struct config config;
    struct grid grid;
    struct partition partition;
    struct slab slab;
    struct particles lists[SCENE_SPECIES];
    uint32_t capacity[SCENE_SPECIES];
};

/* ---- the state ---- */

/* Some cells are empty, and all of row 4. */
static inline uint32_t scene_count(uint32_t cluster, uint32_t species, uint32_t cell)
{
    return cell / SCENE_NY == 4 ? 0 : cluster * ((7 * cell + 3 * species) % 6);
}

static inline uint64_t scene_bits(uint32_t species, uint32_t cell, uint32_t n, unsigned what)
{
    uint64_t x = ((uint64_t)n << 32 | cell << 8 | species << 4 | what) + 1;
    for (unsigned round = 0; round < 3; round++)
        x = (x ^ x >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    return x ^ x >> 32;
}

/* dx, dy, u, v for `what` from 0 to 3, w for 5, with all the bits that the precision has. */
static inline double scene_value(enum precision precision, uint32_t species, uint32_t cell, uint32_t n,
                                 unsigned what)
{
    const uint64_t bits = scene_bits(species, cell, n, what);
    const double unit =
        precision == PRECISION_SINGLE ? (double)(bits >> 40) * 0x1p-24 : (double)(bits >> 11) * 0x1p-53;
    return what < 2 ? unit : (unit - 0.5) * (what == 2 ? 0x1p10 : 0x1p-30);
}

static inline struct config scene_config(const struct scene_kind *kind)
{
    struct config config = {
        .title = "by hand: \"quoted\"",
        .grid = {{SCENE_NX, SCENE_NY}, {6.1, 4.7}},
        .time = {.step = 0.1, .steps = 1000, .check_every = 10},
        .precision = kind->precision,
        .species_count = SCENE_SPECIES,
        .species = {{.name = "electrons",
                     .charge = -1,
                     .mass = 1,
                     .density = 1,
                     .ids = !kind->ids,
                     .velocities.dimensions = 3},
                    {.name = "ions",
                     .charge = 2,
                     .mass = 1836,
                     .density = 0.5,
                     .ids = kind->ids,
                     .velocities.dimensions = 2}},
        .fields = {.drive_count = 1, .drive = {{AXIS_Y, 2, 0.1, -0.5, 0, 3, 20}}},
        .deposit = {.shape = SHAPE_TSC, .filter_passes = 2},
        .sort = {.passes = 2},
        .device = "auto",
        .parallel = {.threshold = 1.1},
        .output = {.directory = "output/x",
                   .history = {.every = 1},
                   .checkpoints = {.every = 10, .keep = 2},
                   .tracks = {.species = "none"}},
        .units = {1.0e18, 100},
    };
    for (uint32_t s = 0; s < SCENE_SPECIES; s++) {
        config.species[s].positions.bases[0] = 2;
        config.species[s].positions.bases[1] = 3;
        for (uint32_t cell = 0; cell < SCENE_NX * SCENE_NY; cell++)
            config.species[s].particles += scene_count(kind->cluster, s, cell);
    }
    return config;
}

/* ---- on the device ---- */

static inline void scene_fill_list(struct scene *scene, uint32_t species)
{
    struct particles *list = &scene->lists[species];
    const enum precision precision = scene->kind.precision;
    const uint32_t cells = grid_cells(&scene->slab.local), own = slab_own_cells(&scene->slab);
    const uint32_t first = scene->slab.first_row * SCENE_NY;
    const size_t room = list->count + (size_t)1;
    double *offset = test_array(2 * room, sizeof *offset), *velocity = test_array(2 * room, sizeof *velocity);
    double *w = test_array(room, sizeof *w);
    uint64_t *ids = test_array(room, sizeof *ids);
    uint32_t *starts = test_array(cells + (size_t)1, sizeof *starts);
    uint32_t j = 0;
    for (uint32_t cell = 0; cell < cells; cell++) {
        const uint32_t count = cell < own ? scene_count(scene->kind.cluster, species, first + cell) : 0;
        for (uint32_t n = 0; n < count; n++, j++) {
            for (unsigned axis = 0; axis < 2; axis++) {
                offset[2 * j + axis] = scene_value(precision, species, first + cell, n, axis);
                velocity[2 * j + axis] = scene_value(precision, species, first + cell, n, 2 + axis);
            }
            w[j] = scene_value(precision, species, first + cell, n, 5);
            ids[j] = scene_bits(species, first + cell, n, 4);
        }
        starts[cell + 1] = j;
    }
    list_write_all(list, cells, starts, offset, velocity, w, ids);
}

/* The rank's rows between the given ends, or even ones for NULL. */
static inline void scene_create(const struct communicator *communicator, const struct scene_kind *kind,
                                const uint32_t *first_rows, struct scene *scene)
{
    *scene = (struct scene){.kind = *kind, .communicator = communicator, .config = scene_config(kind)};
    scene->grid = grid_make(&scene->config.grid);
    assert_ok(partition_even(communicator->size, SCENE_NX, &scene->partition));
    if (first_rows)
        memcpy(scene->partition.first, first_rows, ((size_t)communicator->size + 1) * sizeof *first_rows);
    const int rank = communicator->rank;
    scene->slab = slab_make(&scene->grid, scene->partition.first[rank],
                            partition_rows(&scene->partition, rank), SCENE_GHOST);
    for (uint32_t s = 0; s < SCENE_SPECIES; s++) {
        uint32_t count = 0;
        for (uint32_t cell = 0; cell < slab_own_cells(&scene->slab); cell++)
            count += scene_count(kind->cluster, s, scene->slab.first_row * SCENE_NY + cell);
        list_create(&scene->slab, kind->precision, &scene->config.species[s], kind->aos, count,
                    &scene->lists[s]);
        scene_fill_list(scene, s);
        scene->capacity[s] = count + 1;
    }
}

static inline void scene_destroy(struct scene *scene)
{
    for (uint32_t s = 0; s < SCENE_SPECIES; s++)
        particles_destroy(&scene->lists[s]);
    partition_destroy(&scene->partition);
}

static inline struct view scene_view(const struct scene *scene, uint64_t step)
{
    return (struct view){.config = &scene->config,
                         .communicator = scene->communicator,
                         .slab = &scene->slab,
                         .partition = &scene->partition,
                         .particles = scene->lists,
                         .step = step,
                         .first_energy = 1 / 3.0,
                         .drive_work = -2 / 7.0,
                         .ghost = SCENE_GHOST};
}

static inline enum status scene_write(const struct scene *scene, const char *folder, uint64_t step)
{
    const struct view view = scene_view(scene, step);
    uint64_t bytes = 0;
    struct hdf5_file *file = NULL;
    const enum status recorded = outputs_record(&checkpoint_output, NULL, folder, &view, &file);
    return write_now(recorded, file, scene->communicator, &bytes);
}

/* ---- read back ---- */

static inline double scene_real(enum precision precision, const void *reals, uint64_t n)
{
    return precision == PRECISION_SINGLE ? (double)((const float *)reals)[n] : ((const double *)reals)[n];
}

struct host_list {
    uint64_t count;
    uint32_t *cell_counts;
    void *attribute[ATTRIBUTES];
};

/* Reads a list of some rows into memory that ends with the test. */
static inline enum status scene_read_list(const struct checkpoint *checkpoint, uint32_t species,
                                          uint32_t first_row, uint32_t rows, struct host_list *list)
{
    const struct config *config = &checkpoint->config;
    *list = (struct host_list){.count = checkpoint_row_start(checkpoint, species, first_row + rows) -
                                        checkpoint_row_start(checkpoint, species, first_row)};
    list->cell_counts = test_array((size_t)rows * config->grid.cells[1], sizeof *list->cell_counts);
    TRY(checkpoint_read_cells(checkpoint, species, first_row, rows, list->cell_counts));
    for (enum attribute a = 0; a < ATTRIBUTES; a++) {
        if (!attribute_present(&config->species[species], a))
            continue;
        list->attribute[a] = test_array(list->count, attribute_bytes(config->precision, a));
        TRY(checkpoint_read_attribute(checkpoint, species, a, first_row, rows, list->attribute[a]));
    }
    return STATUS_OK;
}

/* A list of some rows is what the scene says, bit for bit. */
static inline void scene_check_list(const struct scene_kind *kind, const struct checkpoint *checkpoint,
                                    uint32_t species, uint32_t first_row, uint32_t rows)
{
    struct host_list list;
    assert_ok(scene_read_list(checkpoint, species, first_row, rows, &list));
    const uint64_t *ids = list.attribute[ATTRIBUTE_ID];
    assert_true((ids != NULL) == (species == 0 ? !kind->ids : kind->ids));
    assert_true((list.attribute[ATTRIBUTE_W] != NULL) == (species == 0));
    uint64_t j = 0;
    for (uint32_t cell = 0; cell < rows * SCENE_NY; cell++) {
        const uint32_t global = first_row * SCENE_NY + cell;
        assert_int_equal(list.cell_counts[cell], scene_count(kind->cluster, species, global));
        for (uint32_t n = 0; n < list.cell_counts[cell]; n++, j++) {
            for (unsigned what = 0; what < 4; what++)
                assert_true(scene_real(kind->precision,
                                       list.attribute[what < 2 ? ATTRIBUTE_OFFSET : ATTRIBUTE_VELOCITY],
                                       2 * j + what % 2) ==
                            scene_value(kind->precision, species, global, n, what));
            if (species == 0)
                assert_true(scene_real(kind->precision, list.attribute[ATTRIBUTE_W], j) ==
                            scene_value(kind->precision, species, global, n, 5));
            if (ids)
                assert_true(ids[j] == scene_bits(species, global, n, 4));
        }
    }
    assert_true(j == list.count);
}

static inline void scene_check_rows(const struct scene_kind *kind, const struct checkpoint *checkpoint,
                                    uint32_t first_row, uint32_t rows)
{
    for (uint32_t s = 0; s < SCENE_SPECIES; s++)
        scene_check_list(kind, checkpoint, s, first_row, rows);
}

/* All but the particles, of a file that as many ranks wrote. */
static inline void scene_check_frame(const struct scene *scene, const struct checkpoint *checkpoint,
                                     uint64_t step)
{
    static const char *const nothing[] = {NULL};
    const int size = scene->communicator->size, rank = scene->communicator->rank;
    assert_ok(config_require_same((const struct config *const[]){&checkpoint->config, &scene->config},
                                  (const char *const[]){"the checkpoint", "the scene"}, nothing, "change"));
    assert_int_equal(checkpoint->partition.ranks, size);
    assert_memory_equal(checkpoint->partition.first, scene->partition.first,
                        ((size_t)size + 1) * sizeof *scene->partition.first);
    assert_int_equal(checkpoint->step, step);
    assert_true(checkpoint->first_energy == 1 / 3.0);
    assert_true(checkpoint->drive_work == -2 / 7.0);
    assert_int_equal(checkpoint->ghost, SCENE_GHOST);
    for (int s = 0; s < SCENE_SPECIES; s++)
        assert_int_equal(checkpoint->capacities[rank * SCENE_SPECIES + s], scene->capacity[s]);
}

#endif
