/* Many ranks: a whole simulation shared by ranks against the same on one of them alone.
 *
 * Every rank builds kernels of its own, and each run takes them again for another precision, shape, method or
 * number of ghost rows: so what one number of ranks shows, others leave out. Single precision is on two
 * ranks by radix, and on three by chunked.
 */
#include "support/mpi_support.h"

#include "support/field_support.h"
#include "support/physics_support.h"

/* A damped wave with drifting ions, so that particles cross the ranks' ends all the time, in both directions.
 */
static const char waves[] =
    "{title: ranks, grid: {cells: [12, 10], length: [12.6, 9.4]}, time: {step: 0.1, steps: 40},"
    " precision: double, species: ["
    "{name: electrons, charge: -1, mass: 1, density: 1, particles: 6000, ids: true,"
    " positions: {kind: van_der_corput}, velocities: {kind: maxwellian, thermal: [1, 1]},"
    " perturb: {density: [{axis: x, mode: 1, amplitude: 0.2}, {axis: y, mode: 2, amplitude: 0.1}]}},"
    "{name: ions, charge: 1, mass: 50, density: 1, particles: 2500,"
    " positions: {kind: van_der_corput, bases: [11, 13]},"
    " velocities: {kind: cold, drift: [-1.5, 0.3]}}],"
    " output: {history: {modes: [[1, 0], [0, 2], [1, -1]]}}}";

/* fused is one of the last two. */
static const enum step_method methods[] = {STEP_RADIX, STEP_TILED, STEP_CHUNKED};
enum { METHODS = sizeof methods / sizeof methods[0] };

/* The methods [first_method(), end_method()) are tried on this many ranks: all on two, chunked on three,
 * radix and tiled on four. A rank of three or four has two different neighbours, one of two the same twice.
 */
static int first_method(void)
{
    return ranks.size == 3 ? METHODS - 1 : 0;
}

static int end_method(void)
{
    return ranks.size == 4 ? METHODS - 1 : METHODS;
}

/* For tests that take one of these: radix on two, chunked on three, tiled on four. */
static enum step_method one_method(void)
{
    return methods[ranks.size == 4 ? end_method() - 1 : first_method()];
}

/* ---- whole runs ---- */

/* One rank alone, which takes the radix step, whatever all of them take. */
static const struct history_row *run_alone(const struct config *config)
{
    struct config one_rank = *config;
    one_rank.step.method = STEP_RADIX;
    one_rank.fields.decomposition =
        DECOMPOSITION_REPLICATED; /* slabs are shared by all ranks of the mpirun */
    return physics_run_alone(&ranks, &one_rank);
}

static void compare(const struct config *config, const struct history_row *one, double tolerance)
{
    physics_compare(config, 0, physics_run_on(&ranks, config), one, tolerance, 10 * tolerance);
}

static void compare_with_one(const struct config *config, double tolerance)
{
    compare(config, run_alone(config), tolerance);
}

static void compare_methods_with_one(struct config config, double tolerance)
{
    const struct history_row *one = run_alone(&config);
    for (int m = first_method(); m < end_method(); m++) {
        config.step.method = methods[m];
        compare(&config, one, tolerance);
    }
}

/* With three, B is not along z, and not uniform. */
static void set_dimensions(struct config *config, uint32_t dimensions)
{
    for (int s = 0; s < 2; s++)
        config->species[s].velocities.dimensions = dimensions;
    config->fields.magnetic[0] = dimensions == 3 ? 0.5 : 0;
    config->fields.magnetic[1] = dimensions == 3 ? -0.2 : 0;
    strcpy(config->fields.external[1][1], dimensions == 3 ? "0.4*cos(2*pi*x/lx)" : "0");
}

/* In double precision and the radix step velocities have three dimensions, else two; test_step_gaps.c has
 * three in every step. */
TEST(a_run_on_many_ranks_is_that_on_one)
{
    struct config config = physics_config(waves);
    config.species[0].velocities.bases[2] = 7;
    config.species[0].velocities.thermal[2] = 1;
    config.species[1].velocities.drift[2] = 0.5;
    for (int m = first_method(); m < end_method(); m++) {
        config.step.method = methods[m];
        set_dimensions(&config, methods[m] == STEP_RADIX ? 3 : 2);
        config.fields.decomposition =
            methods[m] == STEP_CHUNKED ? DECOMPOSITION_REPLICATED : DECOMPOSITION_SLABS;
        compare_with_one(&config, 1e-10);
    }
    if (ranks.size == 4)
        return;
    config.precision = PRECISION_SINGLE;
    config.step.method = one_method();
    config.fields.decomposition = ranks.size == 2 ? DECOMPOSITION_REPLICATED : DECOMPOSITION_SLABS;
    compare_with_one(&config, 1e-5);
}

/* Three dimensions, a wave of light to begin with, and rows that change hands. */
TEST(electromagnetic_waves_on_many_ranks)
{
    struct config config = physics_config(
        "{grid: {cells: [12, 10], length: [12.6, 9.4]}, time: {step: 0.05, steps: 20}, precision: double,"
        " fields: {solver: electromagnetic, speed_of_light: 8, initial: {E: [0, 0, \"0.3*cos(2*pi*x/lx)\"]}},"
        " species: [{name: electrons, charge: -1, mass: 1, density: 1, particles: 6000,"
        " velocities: {kind: maxwellian, dimensions: 3, thermal: [1, 1, 1]},"
        " perturb: {density: [{axis: x, mode: 1, amplitude: 0.2}]}}],"
        " parallel: {balance_every: 7, threshold: 1},"
        " output: {history: {modes: [[1, 0], [0, 2], [1, -1]]}}}");
    for (enum decomposition_kind way = DECOMPOSITION_REPLICATED; way <= DECOMPOSITION_SLABS; way++) {
        config.fields.decomposition = way;
        config.deposit.filter_passes = way == DECOMPOSITION_SLABS;
        compare_with_one(&config, 1e-10);
    }
    if (ranks.size != 2)
        return;
    config.precision = PRECISION_SINGLE;
    compare_with_one(&config, 1e-5);
}

/* Each shape in one way of the field on an even number of ranks, in the other on three. */
TEST(every_shape_and_filter_reaches_over_the_ends_of_a_rank)
{
    struct config config = physics_config(waves);
    config.time.steps = 5;
    strcpy(config.fields.external[0][0], "0.4*sin(2*pi*x/lx + 2*pi*y/ly)*cos(t)");
    for (enum shape_kind shape = SHAPE_NGP; shape <= SHAPE_CUBIC; shape++) {
        config.deposit.shape = shape;
        config.deposit.filter_passes = shape; /* 0 to 3 */
        config.fields.gradient = shape == SHAPE_CIC ? GRADIENT_CENTRED : GRADIENT_SPECTRAL;
        config.fields.decomposition =
            ((int)shape + ranks.size) % 2 ? DECOMPOSITION_SLABS : DECOMPOSITION_REPLICATED;
        compare_with_one(&config, 1e-10);
    }
}

/* More cells than a digit has: the tiled step takes windows, and some particles outrun them. On two ranks
 * both neighbours of a rank are the same one, on three they are not. Every rank has as much on either number,
 * which makes the windows and so their kernels the same. */
TEST(a_large_grid_takes_windows)
{
    struct config config = physics_config(waves);
    if (ranks.size < 2 || ranks.size == 4) /* four: left out for their time */
        return;
    const uint32_t size = (uint32_t)ranks.size;
    config.grid = (struct grid_config){.cells = {34 * size, 60}, .length = {4.5 * size, 9.4}};
    config.species[0].particles = 30000 * size;
    config.species[1].particles = 25000 * size;
    config.time.step = 0.02;
    config.time.steps = 12;
    config.step.method = STEP_TILED;
    compare_with_one(&config, 1e-10);
    config.species[1].velocities.drift[0] = -9; /* ions: up to 2 rows, as strays */
    config.parallel.ghost_rows = 2;
    compare_with_one(&config, 1e-10);
}

/* As few rows as ranks: every rank is a neighbour of every other, and of itself. */
TEST(a_rank_may_have_a_single_row)
{
    struct config config = physics_config(waves);
    config.time.steps = 20;
    config.grid.cells[0] = (uint32_t)(ranks.size < 2 ? 2 : ranks.size);
    config.output.history.mode_count = 1;
    compare_with_one(&config, 1e-10);
    config.deposit.shape = SHAPE_TSC;
    config.fields.decomposition = DECOMPOSITION_SLABS;
    compare_with_one(&config, 1e-10);
}

/* One electron: every other rank has none, and it goes from rank to rank. */
TEST(a_rank_may_be_empty)
{
    struct config config = physics_config(waves);
    config.species_count = 1;
    config.species[0].particles = 1;
    config.species[0].perturb.density.count = 0;
    config.species[0].velocities = (struct velocities_config){.kind = VELOCITIES_COLD, .drift = {7, 1}};
    compare_methods_with_one(config, 1e-10);
}

/* phi follows from rho of the last solve, also after the density of a species, here 0, was summed. */
TEST(a_sum_leaves_the_potential_as_it_was)
{
    static const enum transform_library ways[] = {TRANSFORMS_NONE, TRANSFORMS_FFTW};
    for (int n = 0; n < 2; n++) {
        struct config config = physics_config(waves);
        struct simulation simulation;
        struct buffer *density;
        config.output.history.mode_count = 0;
        config.fields.transforms = ways[n];
        config.fields.gradient = n == 0 ? GRADIENT_SPECTRAL : GRADIENT_CENTRED;
        config.fields.decomposition = DECOMPOSITION_REPLICATED;
        assert_ok(simulation_create_on(&ranks, &config, device, NULL, &simulation));
        const struct buffer *phi = field_component(&simulation.fields, FIELD_PHI, 0);
        const size_t cells = slab_own_cells(&simulation.slab);
        assert_ok(simulation_solve(&simulation));
        assert_ok(field_solver_potential(simulation.field_solver, &simulation.fields));
        const double *const before = field_read(phi, config.precision, cells);
        assert_ok(buffer_create_zeroed(device, buffer_bytes(phi), "a density", &density));
        assert_ok(field_solver_sum(simulation.field_solver, density));
        assert_ok(field_solver_potential(simulation.field_solver, &simulation.fields));
        assert_memory_equal(field_read(phi, config.precision, cells), before, cells * sizeof *before);
        simulation_destroy(&simulation);
    }
}

TEST(two_runs_give_the_same_bits)
{
    struct config config = physics_config(waves);
    config.parallel.balance_every = 10;
    config.parallel.threshold = 1;
    for (int m = first_method(); m < end_method(); m++) {
        config.step.method = methods[m];
        struct history_row *first = physics_run_on(&ranks, &config),
                           *second = physics_run_on(&ranks, &config);
        assert_memory_equal(first, second, (config.time.steps + 1) * sizeof *first);
    }
}

/* ---- particles that go far ---- */

/* Particles that cross the whole box in one step, and more, upwards and downwards: with all other rows as
 * ghost rows, for which one method builds its kernels anew. */
TEST(any_distance_finds_its_rank)
{
    struct config config = physics_config(waves);
    config.time.steps = 5;
    config.species[0].velocities = (struct velocities_config){.kind = VELOCITIES_FORMULA,
                                                              .bases = {5, 7},
                                                              .thermal = {100, 100},
                                                              .range = {{-300, 300}, {-200, 200}}};
    config.step.method = one_method();
    compare_with_one(&config, 1e-9);
}

/* A few ghost rows, and particles that go beyond them. */
TEST(particles_beyond_the_ghost_rows_are_found)
{
    struct config config = physics_config(waves);
    config.grid.cells[0] =
        16; /* with 8 along y keys have 7 bits as in most tests, whose kernels serve here */
    config.grid.cells[1] = 8;
    config.parallel.ghost_rows = 2;
    config.species[0].velocities = (struct velocities_config){
        .kind = VELOCITIES_FORMULA, .bases = {5, 7}, .range = {{-30, 30}, {-20, 20}}};
    config.time.steps = 5;
    compare_methods_with_one(config, 1e-9);
    if (ranks.size != 2)
        return;
    config.precision = PRECISION_SINGLE;
    config.step.method = STEP_RADIX;
    config.time.steps = 1;
    compare_with_one(&config, 2e-5);
}

/* ---- balance ---- */

/* cos^8(pi x/L): nearly all within a fifth of the box around x = 0. */
static void cluster(struct config *config)
{
    struct perturbation_list *density = &config->species[0].perturb.density;
    density->count = 4;
    for (uint32_t n = 0; n < density->count; n++)
        density->items[n] = (struct perturbation){.axis = AXIS_X, .mode = 1, .amplitude = 1};
    config->species_count = 1;
}

static double imbalance(const struct simulation *simulation)
{
    double most = (double)simulation_own_particles(simulation);
    communicator_max(&ranks, 1, &most);
    return most * ranks.size / (double)simulation_particles(simulation->config);
}

/* By the radix step, whose kernels are the same for any number of rows. */
TEST(balance_spreads_a_cluster)
{
    struct config config = physics_config(waves);
    cluster(&config);
    config.grid.cells[0] = 24;
    config.parallel.ghost_rows = 2;
    config.time.step = 0.02;
    config.parallel.balance_every = 2;
    config.parallel.threshold = 1.05;
    config.step.method = STEP_RADIX;
    struct simulation simulation;
    assert_ok(simulation_create_on(&ranks, &config, device, NULL, &simulation));
    if (ranks.size > 2)
        assert_true(imbalance(&simulation) > 1.4);
    for (int n = 0; n < 6; n++)
        assert_ok(simulation_step(&simulation));
    assert_true(imbalance(&simulation) < 1.2);
    simulation_destroy(&simulation);
}

/* Rows that change hands change nothing else. Keys have 7 bits with one row of a rank's own, and with six. */
TEST(balance_changes_no_physics)
{
    struct config config = physics_config(waves);
    cluster(&config);
    config.grid.cells[1] = 11;
    config.time.steps = 30;
    config.parallel.balance_every = 3;
    config.parallel.threshold = 1;
    compare_methods_with_one(config, 1e-10);
}

/* ---- lists that are too short ---- */

/* A cluster flies along x, 1.5 rows a step, into ranks that have next to nobody, and room for no more than a
 * few thousand. */
TEST(a_cluster_for_whom_there_is_no_room_is_taken_in)
{
    struct config config = physics_config(waves);
    cluster(&config);
    config.grid = (struct grid_config){.cells = {24, 5}, .length = {24, 5}}; /* keys of 7 bits */
    config.time.step = 0.05;
    config.time.steps = 12;
    config.step.method = STEP_TILED;
    config.species[0].particles = 20000;
    config.species[0].velocities.drift[0] = 30;
    compare_with_one(&config, 1e-10);
    struct simulation simulation;
    assert_ok(simulation_create_on(&ranks, &config, device, NULL, &simulation));
    assert_int_equal(simulation.exchange != NULL, ranks.size > 1);
    const uint32_t capacity = simulation.particles[0].capacity;
    while (!simulation_done(&simulation))
        assert_ok(simulation_step(&simulation));
    uint64_t grown = simulation.particles[0].capacity > capacity;
    communicator_sum_counts(&ranks, 1, &grown);
    assert_int_equal(grown > 0, ranks.size > 1);
    simulation_destroy(&simulation);
}

MPI_TEST_MAIN(open_device, close_device)
