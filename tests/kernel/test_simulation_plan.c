/* Simulation plan: what simulation_plan() foretells is the most that a simulation holds on the device. */
#include "support/physics_support.h"

static const char plasma[] = "grid: {cells: [32, 32], length: [10, 10]}\n"
                             "time: {step: 0.1, steps: 1}\n"
                             "species:\n"
                             "  - {name: electrons, charge: -1, mass: 1, density: 1, particles: 100003,\n"
                             "     velocities: {kind: maxwellian}}\n"
                             "  - {name: ions, charge: 1, mass: 100, density: 1, particles: 50021}\n"
                             "  - {name: beam, charge: -1, mass: 1, density: 0.1, particles: 7}\n";

static void check_step(const struct config *config, uint64_t foretold)
{
    const size_t before = device_bytes_held(device);
    (void)device_most_bytes_held(device);
    struct simulation simulation;
    assert_ok(simulation_create(config, device, &simulation));
    while (!simulation_done(&simulation))
        assert_ok(simulation_step(&simulation));
    assert_int_equal(device_most_bytes_held(device) - before, foretold);
    simulation_destroy(&simulation);
    assert_int_equal(device_bytes_held(device), before);
}

static void check_bytes_of(struct config *config, enum step_method method)
{
    struct simulation_plan plan;
    config->step.method = method;
    if (simulation_plan(config, device_info(device), &plan) == STATUS_OK) /* or there is none such */
        check_step(config, plan.bytes);
}

static void check_bytes(struct config *config)
{
    for (int method = STEP_AUTO; method <= STEP_CHUNKED; method++)
        check_bytes_of(config, (enum step_method)method);
}

TEST(memory_is_foretold_for_many_particles)
{
    struct config config = physics_config(plasma);
    check_bytes_of(&config, STEP_RADIX); /* others in single precision are in test_steppers.c */
    config.precision = PRECISION_DOUBLE;
    config.species[0].ids = config.species[1].ids = true;
    check_bytes(&config);
    config.deposit.filter_passes = 2;
    check_bytes(&config);
    config.sort.passes = 1;
    check_bytes(&config);
}

/* Here the grid counts: 512 x 256 nodes for 2^16 particles. Kernels take long to build, anew for another
 * shape: so each is with another stepper, and the wide ones are left out. */
TEST(memory_is_foretold_for_a_large_grid)
{
    struct config config = physics_config(plasma);
    config.grid.cells[0] = 512;
    config.grid.cells[1] = 256;
    config.species_count = 1;
    config.species[0].ids = true; /* as above, so that kernels are the same */
    config.species[0].particles = 65536;
    for (int shape = SHAPE_NGP; shape <= SHAPE_TSC; shape++) {
        config.precision = shape % 2 ? PRECISION_DOUBLE : PRECISION_SINGLE;
        config.deposit.shape = (enum shape_kind)shape;
        check_bytes_of(&config, (enum step_method)(STEP_RADIX + shape % STEP_CHUNKED));
    }
    config.precision = PRECISION_DOUBLE;
    config.deposit.shape = SHAPE_CIC;
    config.fields.gradient = GRADIENT_CENTRED;
    check_bytes(&config);
}

/* The promise: double buffers and the sort included, at most 56 bytes a particle in single precision. */
TEST(a_particle_takes_56_bytes_at_most)
{
    struct config config = physics_config(plasma);
    config.species_count = 1;
    config.species[0].particles = 1 << 24;
    for (int method = STEP_RADIX; method <= STEP_CHUNKED; method++) {
        struct simulation_plan plan;
        config.step.method = (enum step_method)method;
        assert_ok(simulation_plan(&config, device_info(device), &plan));
        assert_true(plan.bytes <= UINT64_C(56) * config.species[0].particles);
    }
}

TEST_MAIN(open_device, close_device)
