/* Methods: the plain step, a kernel a stage, and the fused ones take the same particles to the same places,
 * up to round-off, and so do the deposit cell by cell and the one by atomic additions. */
#include "support/physics_support.h"

#include "step/stepper.h"

static struct config plasma(enum precision precision, uint64_t steps)
{
    struct config config = physics_config(physics_warm_plasma);
    config.precision = precision;
    config.step.method = STEP_RADIX;
    config.time.steps = steps;
    config.species[1].ids = true;
    return config;
}

/* What a run ends with: its history, and where each particle is, by id. */
struct outcome {
    struct history_row *rows;
    double (*position)[2]; /* in cells */
    double (*velocity)[3]; /* without w 0 in its place */
    uint64_t particles;
};

/* Particle by id into outcome->position and ->velocity, from `first` on. */
static void read_species(const struct simulation *simulation, uint32_t species, uint64_t first,
                         struct outcome *outcome)
{
    const struct particles *particles = &simulation->particles[species];
    const struct grid *grid = &simulation->slab.box;
    const uint32_t count = particles->count, cells = grid_cells(grid);
    uint64_t *id = test_array(1, count * sizeof *id);
    uint32_t *cell_offsets = test_array(1, (cells + (size_t)1) * sizeof *cell_offsets);
    double *pairs = test_array(1, 2 * (size_t)count * sizeof *pairs);
    assert_ok(buffer_read(particles->attribute[ATTRIBUTE_ID], 0, count * sizeof *id, id));
    assert_ok(
        buffer_read(particles->cell_offsets, 0, (cells + (size_t)1) * sizeof *cell_offsets, cell_offsets));
    assert_int_equal(cell_offsets[0], 0);
    assert_int_equal(cell_offsets[cells], count);
    assert_ok(particles_read(particles, ATTRIBUTE_OFFSET, 0, count, pairs));
    for (uint32_t cell = 0; cell < cells; cell++)
        for (uint32_t j = cell_offsets[cell]; j < cell_offsets[cell + 1]; j++) {
            outcome->position[first + id[j]][0] = cell / grid->ny + pairs[2 * (size_t)j];
            outcome->position[first + id[j]][1] = cell % grid->ny + pairs[2 * (size_t)j + 1];
        }
    assert_ok(particles_read(particles, ATTRIBUTE_VELOCITY, 0, count, pairs));
    for (uint32_t j = 0; j < count; j++)
        memcpy(outcome->velocity[first + id[j]], &pairs[2 * (size_t)j], 2 * sizeof *pairs);
    if (!species_has_w(particles->species))
        return;
    assert_ok(particles_read(particles, ATTRIBUTE_W, 0, count, pairs));
    for (uint32_t j = 0; j < count; j++)
        outcome->velocity[first + id[j]][2] = pairs[j];
}

static struct outcome run(const struct config *config)
{
    struct outcome outcome = {.particles = simulation_particles(config)};
    struct simulation simulation;
    outcome.rows = test_array(config->time.steps + 1, sizeof *outcome.rows);
    outcome.position = test_array(outcome.particles, sizeof *outcome.position);
    outcome.velocity = test_array(outcome.particles, sizeof *outcome.velocity);
    assert_ok(simulation_create(config, device, &simulation));
    assert_int_equal(simulation.stepper.kind != &radix_step, config->step.method != STEP_RADIX);
    while (!simulation_done(&simulation)) {
        struct history_row *row = &outcome.rows[simulation.step];
        assert_ok(simulation_step(&simulation));
        *row = simulation.row;
    }
    for (uint64_t s = 0, first = 0; s < config->species_count; first += config->species[s++].particles)
        read_species(&simulation, (uint32_t)s, first, &outcome);
    simulation_destroy(&simulation);
    return outcome;
}

/* Along the shorter way around the box. */
static double distance(double a, double b, double length)
{
    return fabs(remainder(a - b, length));
}

static void assert_agree(const struct config *config, const struct outcome *expected, double tolerance)
{
    const struct outcome found = run(config);
    for (uint64_t n = 0; n <= config->time.steps; n++) {
        const struct history_row *a = &expected->rows[n], *b = &found.rows[n];
        const double energy = a->kinetic_energy + a->field_energy, mass = physics_total_mass(config);
        assert_near(b->field_energy, a->field_energy, tolerance * energy);
        assert_near(b->kinetic_energy, a->kinetic_energy, tolerance * energy);
        for (int axis = 0; axis < 3; axis++)
            assert_near(b->momentum[axis], a->momentum[axis], tolerance * mass);
        for (uint32_t mode = 0; mode < config->output.history.mode_count; mode++)
            for (int part = 0; part < 2; part++)
                assert_near(b->modes[mode][part], a->modes[mode][part], tolerance);
    }
    for (uint64_t p = 0; p < found.particles; p++)
        for (int axis = 0; axis < 3; axis++) {
            if (axis < 2)
                assert_true(distance(expected->position[p][axis], found.position[p][axis],
                                     config->grid.cells[axis]) <= 100 * tolerance);
            assert_near(found.velocity[p][axis], expected->velocity[p][axis], 100 * tolerance);
        }
}

/* Gives velocities of a species a third component. */
static void add_w(struct species_config *species)
{
    species->velocities.dimensions = 3;
    species->velocities.bases[2] = 11;
    species->velocities.thermal[2] = 0.5;
    species->velocities.drift[2] = 0.3;
}

/* In two dimensions without B, in three with any B, and of either sort with B along z. A particle at the edge
 * between two nodes goes to one or the other by its last bit: the lowest order, which gives all to one,
 * multiplies round-off. */
TEST(all_methods_agree_to_round_off)
{
    struct config config;
    for (int shape = SHAPE_NGP; shape < SHAPE_COUNT; shape++) {
        config = plasma(PRECISION_DOUBLE, 15);
        config.deposit.shape = (enum shape_kind)shape;
        if (shape != SHAPE_NGP) {
            config.fields.magnetic[2] = 0.7;
            add_w(&config.species[0]);
        }
        if (shape == SHAPE_CIC) {
            config.fields.magnetic[0] = 0.4;
            config.fields.magnetic[1] = -0.5;
            add_w(&config.species[1]);
        }
        const struct outcome expected = run(&config);
        for (int method = STEP_RADIX; method <= STEP_CHUNKED; method++)
            for (int deposit = DEPOSIT_METHOD_SORTED; deposit <= DEPOSIT_METHOD_ATOMIC; deposit++) {
                struct config other = config;
                other.step.method = (enum step_method)method;
                other.deposit.method = (enum deposit_method)deposit;
                assert_agree(&other, &expected, shape == SHAPE_NGP ? 1e-9 : 1e-12);
            }
    }
}

TEST(methods_agree_in_single_precision)
{
    struct config config = plasma(PRECISION_SINGLE, 5);
    const struct outcome expected = run(&config);
    config.step.method = STEP_FUSED;
    assert_agree(&config, &expected, 1e-5); /* roundings of 2^-24, with and without fused multiply-adds */
    config.deposit.method = DEPOSIT_METHOD_ATOMIC;
    assert_agree(&config, &expected, 1e-5);
}

/* Atomic is not sorted under another name: some last bit of some row differs. */
TEST(the_deposits_are_two)
{
    struct config config = plasma(PRECISION_SINGLE, 12);
    struct history_row *sorted = physics_run(&config);
    config.deposit.method = DEPOSIT_METHOD_ATOMIC;
    struct history_row *atomic = physics_run(&config);
    assert_int_not_equal(memcmp(sorted, atomic, (config.time.steps + 1) * sizeof *sorted), 0);
}

TEST_MAIN(open_device, close_device)
