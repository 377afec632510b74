/* Finite: a number that is none, planted in each array, is found and named with its place in the box. */
#include "output/finite.h"
#include "support/device_fixture.h"

#include <string.h>

enum { NX = 12, NY = 7, ROWS = 5, FIRST_ROW = 10, GHOST = 2, PARTICLES = 10000, GUESTS = 300 };

/* All finite: two species and their guests on a slab whose rows go around the end of the box. */
struct scene {
    struct slab slab;
    enum precision precision;
    struct species_config species[2];
    struct particles particles[2], guests[2];
    struct fields fields;
    struct config config;
    struct view view;
};

static const struct communicator alone = {.size = 1, .local_size = 1};

static void write_reals(const struct scene *scene, struct buffer *buffer, size_t first, size_t count,
                        double value)
{
    for (size_t n = first; n < first + count; n++)
        assert_ok(buffer_write_reals(buffer, scene->precision, n, 1, &value));
}

static void fill_reals(const struct scene *scene, struct buffer *buffer)
{
    static double values[4 * PARTICLES];
    const size_t count = buffer_bytes(buffer) / precision_bytes(scene->precision);
    assert_in_range(count, 1, 4 * PARTICLES);
    for (size_t n = 0; n < count; n++)
        values[n] = 0.5;
    assert_ok(buffer_write_reals(buffer, scene->precision, 0, count, values));
}

/* The cell of particle p of `count` sorted ones: cell c has about c times as many as the first; cell 0 and
 * the last have none. */
static uint32_t cell_of(const struct scene *scene, uint32_t p, uint32_t count)
{
    const uint32_t cells = grid_cells(&scene->slab.local);
    return 1 + (uint32_t)(sqrt((double)p / count) * (cells - 2));
}

static void create_list(struct scene *scene, uint32_t species, uint32_t count, struct particles *particles)
{
    static uint32_t keys[PARTICLES];
    const uint32_t cells = grid_cells(&scene->slab.local);
    uint32_t *starts = calloc(cells + (size_t)1, sizeof *starts);
    assert_non_null(starts);
    assert_ok(particles_create_list(device, &scene->slab, scene->precision, &scene->species[species], count,
                                    particles));
    particles->count = count;
    for (uint32_t p = 0; p < count; p++) {
        keys[p] = cell_of(scene, p, count);
        starts[keys[p] + 1]++;
    }
    for (uint32_t c = 0; c < cells; c++)
        starts[c + 1] += starts[c];
    assert_ok(buffer_write(particles->key, 0, count * sizeof *keys, keys));
    assert_ok(buffer_write(particles->cell_offsets, 0, (cells + (size_t)1) * sizeof *starts, starts));
    fill_reals(scene, particles->offset);
    fill_reals(scene, particles->velocity);
    free(starts);
}

/* The layout of quads, without keys: what the fused step of a CPU leaves. */
static void to_quads(const struct scene *scene, struct particles *particles)
{
    assert_ok(buffer_create(device, 2 * buffer_bytes(particles->offset), "quads", &particles->quad));
    fill_reals(scene, particles->quad);
    buffer_destroy(&particles->offset);
    buffer_destroy(&particles->velocity);
    buffer_destroy(&particles->key);
}

static void create_scene(struct scene *scene, enum precision precision, bool quads)
{
    const struct grid box = grid_make(&(struct grid_config){.cells = {NX, NY}, .length = {NX, NY}});
    *scene = (struct scene){.precision = precision, .slab = slab_make(&box, FIRST_ROW, ROWS, GHOST)};
    assert_false(slab_is_whole(&scene->slab));
    for (uint32_t s = 0; s < 2; s++) {
        scene->species[s] = (struct species_config){.density = 1, .particles = PARTICLES};
        strcpy(scene->species[s].name, s == 0 ? "electrons" : "ions");
        create_list(scene, s, PARTICLES, &scene->particles[s]);
        create_list(scene, s, GUESTS, &scene->guests[s]);
        if (quads)
            to_quads(scene, &scene->particles[s]);
    }
    assert_ok(fields_create(device, &scene->slab.local, precision, &scene->fields));
    struct buffer *const nodes[] = {scene->fields.rho, scene->fields.ex, scene->fields.ey};
    for (size_t n = 0; n < 3; n++)
        fill_reals(scene, nodes[n]);
    scene->config = (struct config){.precision = precision, .species_count = 2};
    scene->view = (struct view){.config = &scene->config,
                                .communicator = &alone,
                                .slab = &scene->slab,
                                .particles = scene->particles,
                                .guests = scene->guests,
                                .fields = &scene->fields,
                                .step = 12,
                                .time = 1.5};
}

static void destroy_scene(struct scene *scene)
{
    for (uint32_t s = 0; s < 2; s++) {
        particles_destroy(&scene->particles[s]);
        particles_destroy(&scene->guests[s]);
    }
}

/* The sentence holds the step, then `what` and `where`. */
static void assert_found(const struct scene *scene, const char *what, const char *where)
{
    char begin[160];
    assert_int_equal(finite_find(&scene->view), STATUS_FAILED);
    const char *sentence = status_message();
    snprintf(begin, sizeof begin, "step 12 (t = 1.5): %s %s is not a finite number; ", what, where);
    if (strncmp(sentence, begin, strlen(begin)) != 0)
        fail_msg("%s\nbegins not with\n%s", sentence, begin);
    assert_non_null(strstr(sentence, "Try a smaller time.step"));
}

/* One real of particle p becomes `value`: 0 and 1 of its offset, 2 and 3 of its velocity. */
static void plant(const struct scene *scene, const struct particles *particles, uint32_t p, unsigned part,
                  double value)
{
    if (particles->quad)
        write_reals(scene, particles->quad, 4 * (size_t)p + part, 1, value);
    else
        write_reals(scene, part < 2 ? particles->offset : particles->velocity, 2 * (size_t)p + part % 2, 1,
                    value);
}

/* Where the box has a cell of the local grid, by hand: own rows and the ghosts above, then the lost row, then
 * the ghosts below. */
static void describe_cell(uint32_t cell, char *text, size_t size)
{
    static const uint32_t box_rows[ROWS + 2 * GHOST + 1] = {10, 11, 0, 1, 2, 3, 4, NX, 8, 9};
    const uint32_t row = box_rows[cell / NY];
    if (row == NX)
        snprintf(text, size, "in no cell of this rank");
    else
        snprintf(text, size, "in cell (%u, %u)", row, cell % NY);
}

static void check_particle(const struct scene *scene, uint32_t species, bool guest, uint32_t p)
{
    static const double bad[] = {-NAN, INFINITY, -INFINITY, NAN};
    const struct particles *particles = guest ? &scene->guests[species] : &scene->particles[species];
    for (unsigned part = 0; part < 4; part++) {
        char what[128], where[64];
        plant(scene, particles, p, part, bad[part]);
        const double shown = isnan(bad[part]) ? (double)NAN : bad[part];
        const double pair[2] = {part % 2 == 0 ? shown : 0.5, part % 2 == 1 ? shown : 0.5};
        snprintf(what, sizeof what, "the %s (%g, %g) of a particle of species %s",
                 part < 2 ? "offset" : "velocity", pair[0], pair[1], scene->species[species].name);
        describe_cell(cell_of(scene, p, particles->count), where, sizeof where);
        assert_found(scene, what, where);
        plant(scene, particles, p, part, 0.5);
    }
    assert_ok(finite_find(&scene->view));
}

static void check_particles(enum precision precision, bool quads)
{
    if (precision == PRECISION_DOUBLE && !device_info(device)->has_fp64)
        skip();
    struct scene scene;
    create_scene(&scene, precision, quads);
    assert_ok(finite_find(&scene.view));
    /* the first and the last, and those at the ends of the pieces that are read at a time */
    static const uint32_t some[] = {0, 1, 4095, 4096, 6000, 8191, 8192, PARTICLES - 1};
    for (size_t n = 0; n < sizeof some / sizeof some[0]; n++)
        check_particle(&scene, n % 2, false, some[n]);
    check_particle(&scene, 0, true, 0);
    check_particle(&scene, 1, true, GUESTS - 1);
    scene.view.guests = NULL;
    plant(&scene, &scene.guests[0], 3, 0, NAN);
    assert_ok(finite_find(&scene.view));
    destroy_scene(&scene);
}

static void finds_particles_in_pairs_single(void **state)
{
    (void)state;
    check_particles(PRECISION_SINGLE, false);
}

static void finds_particles_in_pairs_double(void **state)
{
    (void)state;
    check_particles(PRECISION_DOUBLE, false);
}

static void finds_particles_in_quads_single(void **state)
{
    (void)state;
    check_particles(PRECISION_SINGLE, true);
}

static void finds_particles_in_quads_double(void **state)
{
    (void)state;
    check_particles(PRECISION_DOUBLE, true);
}

/* A key goes before the place in the list, which says nothing where the list is not sorted. */
static void a_key_names_the_cell(void **state)
{
    (void)state;
    struct scene scene;
    create_scene(&scene, PRECISION_SINGLE, false);
    const uint32_t key = 3 * NY + 2, nowhere = UINT32_MAX;
    plant(&scene, &scene.particles[0], 5, 2, NAN);
    assert_ok(buffer_write(scene.particles[0].key, 5 * sizeof key, sizeof key, &key));
    assert_found(&scene, "the velocity (nan, 0.5) of a particle of species electrons", "in cell (1, 2)");
    assert_ok(buffer_write(scene.particles[0].key, 5 * sizeof nowhere, sizeof nowhere, &nowhere));
    assert_found(&scene, "the velocity (nan, 0.5) of a particle of species electrons",
                 "in no cell of this rank");
    destroy_scene(&scene);
}

static void check_node(const struct scene *scene, struct buffer *nodes, const char *name)
{
    char what[64];
    write_reals(scene, nodes, (size_t)ROWS * NY - 1, 1, INFINITY); /* the last own one */
    snprintf(what, sizeof what, "%s, inf,", name);
    assert_found(scene, what, "at node (2, 6)");
    write_reals(scene, nodes, NY + 3, 1, -NAN);
    snprintf(what, sizeof what, "%s, nan,", name);
    assert_found(scene, what, "at node (11, 3)");
    write_reals(scene, nodes, NY + 3, 1, 0.5);
    write_reals(scene, nodes, (size_t)ROWS * NY - 1, 1, 0.5);
    write_reals(scene, nodes, (size_t)ROWS * NY, 1, NAN); /* in a row of another rank */
    assert_ok(finite_find(&scene->view));
}

static void check_fields(enum precision precision)
{
    if (precision == PRECISION_DOUBLE && !device_info(device)->has_fp64)
        skip();
    struct scene scene;
    create_scene(&scene, precision, false);
    check_node(&scene, scene.fields.rho, "the charge density");
    check_node(&scene, scene.fields.ex, "the field Ex");
    check_node(&scene, scene.fields.ey, "the field Ey");
    destroy_scene(&scene);
}

static void finds_nodes_single(void **state)
{
    (void)state;
    check_fields(PRECISION_SINGLE);
}

static void finds_nodes_double(void **state)
{
    (void)state;
    check_fields(PRECISION_DOUBLE);
}

/* A bad velocity makes bad offsets, and both a bad field. */
static void causes_come_before_what_follows(void **state)
{
    (void)state;
    struct scene scene;
    create_scene(&scene, PRECISION_SINGLE, false);
    write_reals(&scene, scene.fields.ex, 0, 1, NAN);
    assert_found(&scene, "the field Ex, nan,", "at node (10, 0)");
    write_reals(&scene, scene.fields.rho, 1, 1, NAN);
    assert_found(&scene, "the charge density, nan,", "at node (10, 1)");
    plant(&scene, &scene.particles[1], 5, 1, NAN);
    assert_int_equal(finite_find(&scene.view), STATUS_FAILED);
    assert_non_null(strstr(status_message(), "the offset (0.5, nan) of a particle of species ions"));
    plant(&scene, &scene.particles[1], 9, 2, INFINITY);
    assert_int_equal(finite_find(&scene.view), STATUS_FAILED);
    assert_non_null(strstr(status_message(), "the velocity (inf, 0.5) of a particle of species ions"));
    destroy_scene(&scene);
}

/* One rank has the whole box, of more nodes than are read at a time; lists may be empty. */
static void a_whole_box_without_particles_is_finite(void **state)
{
    (void)state;
    struct scene scene;
    create_scene(&scene, PRECISION_SINGLE, false);
    const struct grid box = grid_make(&(struct grid_config){.cells = {100, 50}, .length = {1, 1}});
    scene.slab = slab_whole_box(&box);
    assert_ok(fields_create(device, &scene.slab.box, PRECISION_SINGLE, &scene.fields));
    fill_reals(&scene, scene.fields.rho);
    fill_reals(&scene, scene.fields.e);
    scene.particles[0].count = scene.particles[1].count = 0;
    scene.view.guests = NULL;
    assert_ok(finite_find(&scene.view));
    write_reals(&scene, scene.fields.ey, 4999, 1, -INFINITY);
    assert_found(&scene, "the field Ey, -inf,", "at node (99, 49)");
    write_reals(&scene, scene.fields.ey, 4100, 1, -INFINITY);
    assert_found(&scene, "the field Ey, -inf,", "at node (82, 0)");
    destroy_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_particles_in_pairs_single),
        cmocka_unit_test(finds_particles_in_pairs_double),
        cmocka_unit_test(finds_particles_in_quads_single),
        cmocka_unit_test(finds_particles_in_quads_double),
        cmocka_unit_test(a_key_names_the_cell),
        cmocka_unit_test(finds_nodes_single),
        cmocka_unit_test(finds_nodes_double),
        cmocka_unit_test(causes_come_before_what_follows),
        cmocka_unit_test(a_whole_box_without_particles_is_finite),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
