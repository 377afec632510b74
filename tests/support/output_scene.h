/* Output scene: a state that is a pure function of species, cell and number in the cell, so that any rank
 * makes its own part of it, and any rank can tell whether what it reads of any rows is right. Includes the
 * device fixture. */
#ifndef RADIXPIC_TEST_OUTPUT_SCENE_H
#define RADIXPIC_TEST_OUTPUT_SCENE_H

#include "support/list_support.h"
#include "support/test_folder.h"
#include "support/write_now.h"

#include "config/config_reader.h"
#include "domain/fields.h"
#include "input/checkpoint.h"
#include "output/outputs.h"

enum { SCENE_SPECIES = 2, SCENE_NX = 13, SCENE_NY = 5, SCENE_GHOST = 2 };

/* What of a scene is not fixed. */
struct scene_kind {
    enum precision precision;
    bool ids;          /* of the second species; the first is of the other sort */
    bool aos;          /* the layout of the device's arrays */
    uint32_t cluster;  /* times as many particles; 0: one of each species */
    uint32_t cells[2]; /* of the box; 0: SCENE_NX x SCENE_NY */
};

struct scene {
    struct scene_kind kind;
    const struct communicator *communicator;
    struct species_config species[SCENE_SPECIES]; /* the config's */
    struct config config;
    struct grid grid;
    struct partition partition;
    struct slab slab;
    struct device *owner; /* of the rest */
    struct fields fields;
    struct particles lists[SCENE_SPECIES];
    uint32_t capacity[SCENE_SPECIES];
};

/* ---- the state ---- */

static inline uint32_t scene_cells(const struct scene_kind *kind, int axis)
{
    return kind->cells[axis] ? kind->cells[axis] : axis == 0 ? SCENE_NX : SCENE_NY;
}

/* Some cells are empty, all of row 4, and the last two rows. */
static inline uint32_t scene_count(const struct scene_kind *kind, uint32_t species, uint32_t cell)
{
    const uint32_t row = cell / scene_cells(kind, 1);
    if (row == 4 || row + 2 >= scene_cells(kind, 0))
        return 0;
    return kind->cluster ? kind->cluster * ((7 * cell + 3 * species) % 6) : cell == 7;
}

/* In the cells [first, end). */
static inline uint32_t scene_count_in(const struct scene_kind *kind, uint32_t species, uint32_t first,
                                      uint32_t end)
{
    uint32_t count = 0;
    for (uint32_t cell = first; cell < end; cell++)
        count += scene_count(kind, species, cell);
    return count;
}

static inline uint64_t scene_bits(uint32_t species, uint32_t cell, uint32_t n, unsigned what)
{
    uint64_t x = ((uint64_t)n << 32 | cell << 8 | species << 4 | what) + 1;
    for (unsigned round = 0; round < 3; round++)
        x = (x ^ x >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    return x ^ x >> 32;
}

/* dx, dy, u, v for `what` from 0 to 3, w for 5, with all the bits that the precision has; some offsets are as
 * near to 1 as it can say. */
static inline double scene_value(enum precision precision, uint32_t species, uint32_t cell, uint32_t n,
                                 unsigned what)
{
    const bool is_single = precision == PRECISION_SINGLE;
    const uint64_t bits = scene_bits(species, cell, n, what);
    const double unit = is_single ? (double)(bits >> 40) * 0x1p-24 : (double)(bits >> 11) * 0x1p-53;
    if (what < 2)
        return bits % 32 > 0 ? unit : is_single ? 1 - 0x1p-24 : 1 - 0x1p-53;
    return (unit - 0.5) * (what == 2 ? 0x1p10 : 0x1p-30);
}

/* Of the box. */
static inline double scene_node(uint32_t component, uint32_t node)
{
    return (component + 1) * 1000.0 + node;
}

/* The scene's kind is set. */
static inline void scene_configure(struct scene *scene)
{
    const struct scene_kind *kind = &scene->kind;
    static const struct species_config species[SCENE_SPECIES] = {
        {.name = "electrons",
         .charge = -1,
         .mass = 1,
         .density = 1,
         .push = true,
         .velocities.dimensions = 3},
        {.name = "ions", .charge = 2, .mass = 1836, .density = 0.5, .velocities.dimensions = 2}};
    const uint32_t nx = scene_cells(kind, 0), ny = scene_cells(kind, 1);
    scene->config = (struct config){
        .title = "by hand: \"quoted\"",
        .grid = {{nx, ny}, {6.1, 4.7}},
        .time = {.step = 0.1, .steps = 1000, .check_every = 10},
        .precision = kind->precision,
        .species_count = SCENE_SPECIES,
        .species = scene->species,
        .fields = {.drive_count = 1, .drive = {{AXIS_Y, 2, 0.1, -0.5, 0, 3, 20}}},
        .deposit = {.shape = SHAPE_TSC, .filter_passes = 2},
        .sort = {.passes = 2},
        .device = "auto",
        .parallel = {.threshold = 1.1},
        .output =
            {.directory = "output/x",
             .history = {.every = 1, .species = {1, {"all"}}, .work = true, .mode_fields = {1, {FIELD_RHO}}},
             .snapshots = {.every = 1,
                           .mesh_stride = {1, 1},
                           .average = 1,
                           .fields = {3, {FIELD_E, FIELD_PHI, FIELD_RHO}},
                           .species = {1, {"all"}},
                           .compression = 4},
             .moments = {.average = 1},
             .checkpoints = {.every = 10, .keep = 2},
             .tracks = {.species = "none"}},
        .units = {1.0e18, 100},
    };
    for (uint32_t s = 0; s < SCENE_SPECIES; s++) {
        scene->species[s] = species[s];
        scene->species[s].ids = kind->ids == (s > 0);
        scene->species[s].positions.bases[0] = 2;
        scene->species[s].positions.bases[1] = 3;
        scene->species[s].particles = scene_count_in(kind, s, 0, nx * ny);
    }
}

/* ---- on the device ---- */

static inline void scene_fill_list(struct scene *scene, uint32_t species)
{
    struct particles *list = &scene->lists[species];
    const enum precision precision = scene->kind.precision;
    const uint32_t cells = grid_cells(&scene->slab.local), own = slab_own_cells(&scene->slab);
    const uint32_t first = scene->slab.first_row * scene->grid.ny;
    const size_t room = list->count + (size_t)1;
    double *offset = test_array(2 * room, sizeof *offset), *velocity = test_array(2 * room, sizeof *velocity);
    double *w = test_array(room, sizeof *w);
    uint64_t *ids = test_array(room, sizeof *ids);
    uint32_t *starts = test_array(cells + (size_t)1, sizeof *starts);
    uint32_t j = 0;
    for (uint32_t cell = 0; cell < cells; cell++) {
        const uint32_t count = cell < own ? scene_count(&scene->kind, species, first + cell) : 0;
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

/* Rows that are not the rank's own hold NaN. */
static inline void scene_fill_fields(const struct scene *scene)
{
    const uint32_t cells = grid_cells(&scene->slab.local), first = scene->slab.first_row * scene->grid.ny;
    double *nodes = test_array(cells, sizeof *nodes);
    for (uint32_t c = 0; c < field_first(scene->fields.solver, FIELDS); c++) {
        for (uint32_t n = 0; n < cells; n++)
            nodes[n] = n < slab_own_cells(&scene->slab) ? scene_node(c, first + n) : (double)NAN;
        assert_ok(buffer_write_reals(scene->fields.component[c], scene->kind.precision, 0, cells, nodes));
    }
}

/* The rank's rows between the given ends, or even ones for NULL. */
static inline void scene_create(const struct communicator *communicator, const struct scene_kind *kind,
                                const uint32_t *first_rows, struct scene *scene)
{
    const int rank = communicator->rank, size = communicator->size;
    *scene = (struct scene){.kind = *kind, .communicator = communicator};
    scene_configure(scene);
    scene->grid = grid_make(&scene->config.grid);
    assert_ok(partition_even(size, scene->grid.nx, &scene->partition));
    if (first_rows)
        memcpy(scene->partition.first, first_rows, ((size_t)size + 1) * sizeof *first_rows);
    scene->slab = slab_make(&scene->grid, scene->partition.first[rank],
                            partition_rows(&scene->partition, rank), SCENE_GHOST);
    assert_ok(device_branch(device, &scene->owner));
    assert_ok(fields_create(scene->owner, &scene->slab.local, kind->precision, SOLVER_ELECTROSTATIC,
                            &scene->fields));
    scene_fill_fields(scene);
    for (uint32_t s = 0; s < SCENE_SPECIES; s++) {
        const uint32_t first = scene->slab.first_row * scene->grid.ny;
        const uint32_t count = scene_count_in(kind, s, first, first + slab_own_cells(&scene->slab));
        scene->capacity[s] = count + 1;
        assert_ok(particles_create(scene->owner, &scene->slab, kind->precision,
                                   kind->aos ? LAYOUT_AOS : LAYOUT_SOA, &scene->config.species[s], count + 1,
                                   &scene->lists[s]));
        scene->lists[s].count = count;
        scene_fill_list(scene, s);
    }
}

static inline void scene_destroy(struct scene *scene)
{
    device_close(&scene->owner);
    partition_destroy(&scene->partition);
}

static inline struct view scene_view(const struct scene *scene, uint64_t step)
{
    return (struct view){.config = &scene->config,
                         .communicator = scene->communicator,
                         .slab = &scene->slab,
                         .partition = &scene->partition,
                         .fields = &scene->fields,
                         .particles = scene->lists,
                         .step = step,
                         .time = (double)step * scene->config.time.step,
                         .first_energy = 1 / 3.0,
                         .drive_work = -2 / 7.0,
                         .work = {3 / 7.0, -1e-9 / 7},
                         .ghost = SCENE_GHOST};
}

/* ---- checkpoints ---- */

static const struct communicator alone = {.size = 1, .local_size = 1};
static const struct scene_kind plain = {.precision = PRECISION_DOUBLE, .ids = true, .cluster = 1};

/* Setup and teardown of tests on one rank: a folder, and the plain scene for checkpoints in it. */
static struct scene plain_scene;
static struct folder folder;

static inline int begin_folder(void **state)
{
    (void)state;
    scene_create(&alone, &plain, NULL, &plain_scene);
    folder = folder_make();
    return 0;
}

static inline int end_folder(void **state)
{
    scene_destroy(&plain_scene);
    folder_remove(&folder);
    return free_arrays(state);
}

#define TEST_IN_FOLDER(name) TEST_WITH(name, begin_folder, end_folder)

static inline enum status scene_write(const struct scene *scene, const char *path, uint64_t step)
{
    const struct view view = scene_view(scene, step);
    uint64_t bytes = 0;
    struct hdf5_file *file = NULL;
    const enum status recorded = outputs_record(&checkpoint_output, NULL, path, &view, &file);
    return write_now(recorded, file, scene->communicator, &bytes);
}

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
    const void *const w = list.attribute[ATTRIBUTE_W];
    assert_true((ids != NULL) == (species == 0 ? !kind->ids : kind->ids));
    assert_true((w != NULL) == (species == 0));
    uint64_t j = 0;
    for (uint32_t cell = 0; cell < rows * SCENE_NY; cell++) {
        const uint32_t global = first_row * SCENE_NY + cell;
        assert_int_equal(list.cell_counts[cell], scene_count(kind, species, global));
        for (uint32_t n = 0; n < list.cell_counts[cell]; n++, j++) {
            for (unsigned what = 0; what < 4; what++)
                assert_true(scene_real(kind->precision,
                                       list.attribute[what < 2 ? ATTRIBUTE_OFFSET : ATTRIBUTE_VELOCITY],
                                       2 * j + what % 2) ==
                            scene_value(kind->precision, species, global, n, what));
            if (w)
                assert_true(scene_real(kind->precision, w, j) ==
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
    assert_true(checkpoint->work[0] == 3 / 7.0 && checkpoint->work[1] == -1e-9 / 7);
    assert_int_equal(checkpoint->ghost, SCENE_GHOST);
    for (int s = 0; s < SCENE_SPECIES; s++)
        assert_int_equal(checkpoint->capacities[rank * SCENE_SPECIES + s], scene->capacity[s]);
}

/* The file at `path`, or the newest of that folder, holds the whole scene, of one rank. */
static inline void check_all(const struct scene *scene, const char *path, uint64_t step)
{
    struct checkpoint *checkpoint;
    assert_ok(checkpoint_find(&alone, path, &checkpoint));
    assert_null(checkpoint->warnings);
    scene_check_frame(scene, checkpoint, step);
    scene_check_rows(&scene->kind, checkpoint, 0, SCENE_NX);
    checkpoint_close(&checkpoint);
    assert_null(checkpoint);
}

#endif
