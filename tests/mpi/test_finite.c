/* Finite: a non-finite value planted in an array of one rank is found and named with its place in the box, on
 * all ranks. */
#include "support/mpi_support.h"

#include "output/outputs.h"
#include "support/list_support.h"

enum { NX = 12, NY = 7, ROWS = 5, FIRST_ROW = 10, GHOST = 2, PARTICLES = 10000 };

/* All finite: two species on a slab whose rows go around the end of the box, the same on all ranks. */
struct scene {
    struct slab slab;
    struct species_config species[2];
    struct config config;
    struct particles particles[2];
    struct fields fields;
    struct view view;
};

static double halves[2 * PARTICLES];

/* On the last rank alone. */
static void write_real(const struct scene *scene, struct buffer *buffer, size_t n, double value)
{
    if (ranks.rank == ranks.size - 1)
        assert_ok(buffer_write_reals(buffer, scene->config.precision, n, 1, &value));
}

static void fill_fields(struct scene *scene, const struct grid *grid)
{
    const enum precision precision = scene->config.precision;
    assert_ok(fields_create(device, grid, precision, SOLVER_ELECTROSTATIC, &scene->fields));
    assert_ok(buffer_write_reals(field_component(&scene->fields, FIELD_RHO, 0), precision, 0,
                                 grid_cells(grid), halves));
    assert_ok(buffer_write_reals(field_component(&scene->fields, FIELD_E, 0), precision, 0, grid_cells(grid),
                                 halves));
    assert_ok(buffer_write_reals(field_component(&scene->fields, FIELD_E, 1), precision, 0, grid_cells(grid),
                                 halves));
}

/* The cell of particle p: cell c has about c times as many as the first; cell 0 and the last have none. */
static uint32_t cell_of(uint32_t p)
{
    return 1 + (uint32_t)(sqrt((double)p / PARTICLES) * (ROWS * NY - 2));
}

static void create_scene(struct scene *scene, enum precision precision, bool aos)
{
    const struct grid box = grid_make(&(struct grid_config){.cells = {NX, NY}, .length = {NX, NY}});
    *scene =
        (struct scene){.slab = slab_make(&box, FIRST_ROW, ROWS, GHOST),
                       .species = {{.name = "electrons", .density = 1, .particles = PARTICLES},
                                   {.name = "ions", .density = 1, .particles = PARTICLES}},
                       .config = {.precision = precision, .species_count = 2, .species = scene->species}};
    const uint32_t cells = grid_cells(&scene->slab.local);
    uint32_t starts[NX * NY + 1] = {0};
    for (size_t n = 0; n < 2 * PARTICLES; n++)
        halves[n] = 0.5;
    for (uint32_t p = 0; p < PARTICLES; p++)
        starts[cell_of(p) + 1]++;
    for (uint32_t c = 0; c < cells; c++)
        starts[c + 1] += starts[c];
    for (uint32_t s = 0; s < 2; s++) {
        struct particles *list = &scene->particles[s];
        list_create(&scene->slab, precision, &scene->config.species[s], aos, PARTICLES, list);
        list_write(list, ATTRIBUTE_OFFSET, halves);
        list_write(list, ATTRIBUTE_VELOCITY, halves);
        list_write_starts(list, cells, starts);
    }
    fill_fields(scene, &scene->slab.local);
    scene->view = (struct view){.config = &scene->config,
                                .communicator = &ranks,
                                .slab = &scene->slab,
                                .particles = scene->particles,
                                .fields = &scene->fields,
                                .step = 12,
                                .time = 1.5};
}

/* The sentence holds the step, then `what`. */
static void assert_found(const struct scene *scene, const char *what)
{
    char begin[160];
    assert_int_equal(finite_find(&scene->view), STATUS_FAILED);
    snprintf(begin, sizeof begin, "step 12 (t = 1.5): %s is non-finite; ", what);
    if (strncmp(status_message(), begin, strlen(begin)) != 0)
        fail_msg("%s\nbegins not with\n%s", status_message(), begin);
    assert_sentence_holds("Try a smaller time.step");
}

/* One real of particle p of the last rank becomes `value`: 0 and 1 of its offset, 2 and 3 of its velocity. */
static void plant(const struct scene *scene, uint32_t species, uint32_t p, unsigned part, double value)
{
    if (ranks.rank == ranks.size - 1)
        list_write_one(&scene->particles[species], part < 2 ? ATTRIBUTE_OFFSET : ATTRIBUTE_VELOCITY, p,
                       part % 2, value);
}

static void check_particle(const struct scene *scene, uint32_t species, uint32_t p)
{
    static const double bad[] = {-NAN, INFINITY, -INFINITY, NAN};
    static const uint32_t box_rows[ROWS] = {10, 11, 0, 1, 2};
    for (unsigned part = 0; part < 4; part++) {
        char what[128];
        plant(scene, species, p, part, bad[part]);
        const double shown = isnan(bad[part]) ? (double)NAN : bad[part];
        snprintf(what, sizeof what, "the %s (%g, %g) of a particle of species %s in cell (%u, %u)",
                 part < 2 ? "offset" : "velocity", part % 2 == 0 ? shown : 0.5, part % 2 == 1 ? shown : 0.5,
                 species == 0 ? "electrons" : "ions", box_rows[cell_of(p) / NY], cell_of(p) % NY);
        assert_found(scene, what);
        plant(scene, species, p, part, 0.5);
    }
    assert_ok(finite_find(&scene->view));
}

static void check_node(const struct scene *scene, struct buffer *nodes, const char *name)
{
    char what[64];
    write_real(scene, nodes, ROWS * NY - 1, INFINITY); /* the last own one */
    snprintf(what, sizeof what, "%s, inf, at node (2, 6)", name);
    assert_found(scene, what);
    write_real(scene, nodes, NY + 3, -NAN);
    snprintf(what, sizeof what, "%s, nan, at node (11, 3)", name);
    assert_found(scene, what);
    write_real(scene, nodes, NY + 3, 0.5);
    write_real(scene, nodes, ROWS * NY - 1, 0.5);
    write_real(scene, nodes, ROWS * NY, NAN); /* in a row of another rank */
    assert_ok(finite_find(&scene->view));
}

TEST(finds_particles_and_nodes_in_either_layout_and_precision)
{
    /* the first and the last, and those at the ends of the pieces that are read at a time */
    static const uint32_t some[] = {0, 1, 4095, 4096, 6000, 8191, 8192, PARTICLES - 1};
    for (unsigned kind = 0; kind < 4; kind++) {
        struct scene scene;
        const enum precision precision = kind & 1 ? PRECISION_DOUBLE : PRECISION_SINGLE;
        if (!has_precision(precision))
            continue;
        create_scene(&scene, precision, kind & 2);
        assert_ok(finite_find(&scene.view));
        for (size_t n = 0; n < sizeof some / sizeof some[0]; n++)
            check_particle(&scene, n % 2, some[n]);
        check_node(&scene, field_component(&scene.fields, FIELD_RHO, 0), "the charge density");
        check_node(&scene, field_component(&scene.fields, FIELD_E, 0), "the field Ex");
        check_node(&scene, field_component(&scene.fields, FIELD_E, 1), "the field Ey");
    }
}

/* A bad velocity makes bad offsets, and both a bad field: that of all ranks, before which the particle of one
 * is named. */
TEST(causes_come_before_what_follows)
{
    struct scene scene;
    const double bad = NAN;
    create_scene(&scene, PRECISION_SINGLE, false);
    assert_ok(buffer_write_reals(field_component(&scene.fields, FIELD_E, 0), PRECISION_SINGLE, 0, 1,
                                 &bad)); /* on all ranks */
    assert_found(&scene, "the field Ex, nan, at node (10, 0)");
    assert_ok(buffer_write_reals(field_component(&scene.fields, FIELD_RHO, 0), PRECISION_SINGLE, 1, 1, &bad));
    assert_found(&scene, "the charge density, nan, at node (10, 1)");
    plant(&scene, 1, 5, 1, NAN);
    assert_fails(finite_find(&scene.view), "the offset (0.5, nan) of a particle of species ions");
    plant(&scene, 1, 9, 2, INFINITY);
    assert_fails(finite_find(&scene.view), "the velocity (inf, 0.5) of a particle of species ions");
}

/* A rank has the whole box, of more nodes than are read at a time; lists may be empty. */
TEST(a_whole_box_without_particles_is_finite)
{
    struct scene scene;
    create_scene(&scene, PRECISION_SINGLE, false);
    const struct grid box = grid_make(&(struct grid_config){.cells = {100, 50}, .length = {1, 1}});
    scene.slab = slab_whole_box(&box);
    fill_fields(&scene, &box);
    scene.particles[0].count = scene.particles[1].count = 0;
    assert_ok(finite_find(&scene.view));
    write_real(&scene, field_component(&scene.fields, FIELD_E, 1), 4999, -INFINITY);
    assert_found(&scene, "the field Ey, -inf, at node (99, 49)");
    write_real(&scene, field_component(&scene.fields, FIELD_E, 1), 4100, -INFINITY);
    assert_found(&scene, "the field Ey, -inf, at node (82, 0)");
}

/* A non-finite sum is named by itself only where every number is finite. */
TEST(a_sum_is_told_of_last)
{
    struct scene scene;
    create_scene(&scene, PRECISION_SINGLE, false);
    assert_ok(finite_require(&scene.view, "charge", 1));
    assert_fails(finite_require(&scene.view, "charge", INFINITY),
                 "the charge is non-finite, though all numbers in it are finite;");
    plant(&scene, 0, 7, 3, NAN);
    assert_fails(finite_require(&scene.view, "charge", NAN),
                 "the velocity (0.5, nan) of a particle of species electrons");
}

MPI_TEST_MAIN(open_device, close_device)
