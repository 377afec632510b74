/* Step methods: the plain step, a kernel a stage, and the fused one take the same particles to the same
 * places, up to round-off. */
#include "support/physics_support.h"

#include "step/stepper.h"

static const char plasma[] =
    "grid: {cells: [24, 16], length: [9, 7]}\n"
    "time: {step: 0.2, steps: 15}\n"
    "precision: double\n"
    "species:\n"
    "  - {name: electrons, charge: -1, mass: 1, density: 1, particles: 20011, ids: true,\n"
    "     velocities: {kind: maxwellian, drift: [1, -1]},\n"
    "     perturb: {density: [{axis: x, mode: 1, amplitude: 0.3}, {axis: y, mode: 1, amplitude: 0.3}]}}\n"
    "  - {name: ions, charge: 1, mass: 30, density: 1, particles: 9973, ids: true,\n"
    "     velocities: {kind: maxwellian, thermal: [0.2, 0.2]}}\n"
    "output: {history: {modes: [[1, 0], [0, 1], [2, -1]]}}\n";

/* What a run ends with: its history, and where each particle is, by id. */
struct outcome {
    struct history_row *rows;
    double (*position)[2]; /* in cells */
    double (*velocity)[2];
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
        memcpy(outcome->velocity[first + id[j]], &pairs[2 * (size_t)j], sizeof *outcome->velocity);
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

static void assert_agree(const struct config *config, enum step_method method, double tolerance)
{
    struct config radix = *config, fused = *config;
    radix.step.method = STEP_RADIX;
    fused.step.method = method;
    struct outcome expected = run(&radix), found = run(&fused);
    for (uint64_t n = 0; n <= config->time.steps; n++) {
        const struct history_row *a = &expected.rows[n], *b = &found.rows[n];
        const double energy = a->kinetic_energy + a->field_energy, mass = physics_total_mass(config);
        assert_true(fabs(a->field_energy - b->field_energy) <= tolerance * energy);
        assert_true(fabs(a->kinetic_energy - b->kinetic_energy) <= tolerance * energy);
        for (int axis = 0; axis < 2; axis++)
            assert_true(fabs(a->momentum[axis] - b->momentum[axis]) <= tolerance * mass);
        for (uint32_t mode = 0; mode < config->output.history.mode_count; mode++)
            assert_true(hypot(a->modes[mode][0] - b->modes[mode][0], a->modes[mode][1] - b->modes[mode][1]) <=
                        tolerance);
    }
    for (uint64_t p = 0; p < expected.particles; p++)
        for (int axis = 0; axis < 2; axis++) {
            assert_true(distance(expected.position[p][axis], found.position[p][axis],
                                 config->grid.cells[axis]) <= 100 * tolerance);
            assert_true(fabs(expected.velocity[p][axis] - found.velocity[p][axis]) <= 100 * tolerance);
        }
}

TEST(radix_and_fused_agree_to_round_off)
{
    struct config config = physics_config(plasma);
    for (int shape = SHAPE_NGP; shape <= SHAPE_TSC; shape++) {
        config.deposit.shape = (enum shape_kind)shape;
        config.fields.magnetic = shape == SHAPE_CIC ? 0.7 : 0;
        for (int method = STEP_FUSED; method <= STEP_CHUNKED; method++)
            assert_agree(&config, (enum step_method)method, shape == SHAPE_NGP ? 1e-9 : 1e-12);
    }
}

TEST(radix_and_fused_agree_in_single_precision)
{
    struct config config = physics_config(plasma);
    config.precision = PRECISION_SINGLE;
    config.time.steps = 5;
    struct config radix = config, fused = config;
    radix.step.method = STEP_RADIX;
    fused.step.method = STEP_FUSED;
    struct history_row *a = physics_run(&radix), *b = physics_run(&fused);
    for (uint64_t n = 0; n <= config.time.steps; n++) {
        assert_near(b[n].kinetic_energy / a[n].kinetic_energy, 1, 1e-6);
        assert_near(b[n].field_energy / a[n].field_energy, 1, 1e-4);
    }
}

TEST_MAIN(open_device, close_device)
