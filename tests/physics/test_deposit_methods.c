/* Deposit methods: runs with atomic additions agree with those that deposit cell by cell, and end in the same
 * bits every time. */
#include "support/physics_support.h"

static const char plasma[] =
    "grid: {cells: [24, 16], length: [9, 7]}\n"
    "time: {step: 0.2, steps: 12}\n"
    "precision: double\n"
    "species:\n"
    "  - {name: electrons, charge: -1, mass: 1, density: 1, particles: 20011,\n"
    "     velocities: {kind: maxwellian, drift: [1, -1]},\n"
    "     perturb: {density: [{axis: x, mode: 1, amplitude: 0.3}, {axis: y, mode: 1, amplitude: 0.3}]}}\n"
    "  - {name: ions, charge: 1, mass: 30, density: 1, particles: 9973,\n"
    "     velocities: {kind: maxwellian, thermal: [0.2, 0.2]}}\n"
    "output: {history: {modes: [[1, 0], [0, 1], [2, -1]]}}\n";

static struct history_row *run(struct config config, enum deposit_method method)
{
    config.deposit.method = method;
    return physics_run(&config);
}

/* The total energy of electrons of thermal velocity 1 is of the order of the box's area. */
static void assert_agree(const struct config *config, double tolerance)
{
    struct history_row *sorted = run(*config, DEPOSIT_METHOD_SORTED);
    struct history_row *atomic = run(*config, DEPOSIT_METHOD_ATOMIC);
    for (uint64_t n = 0; n <= config->time.steps; n++) {
        const double energy = sorted[n].kinetic_energy + sorted[n].field_energy;
        assert_near(atomic[n].field_energy, sorted[n].field_energy, tolerance * energy);
        assert_near(atomic[n].kinetic_energy, sorted[n].kinetic_energy, tolerance * energy);
        for (uint32_t mode = 0; mode < config->output.history.mode_count; mode++)
            for (int part = 0; part < 2; part++)
                assert_near(atomic[n].modes[mode][part], sorted[n].modes[mode][part], tolerance);
    }
}

/* A particle at the edge between two nodes goes to one or the other by its last bit: the lowest order, which
 * gives all to one, multiplies round-off. Steps of a kind that this device has not are left out. */
TEST(runs_agree_to_round_off)
{
    struct config config = physics_config(plasma);
    for (int shape = SHAPE_NGP; shape <= SHAPE_TSC; shape++)
        for (int method = STEP_RADIX; method <= STEP_CHUNKED; method++) {
            struct stepper_setup setup;
            const struct stepper_kind *kind;
            config.deposit.shape = (enum shape_kind)shape;
            config.step.method = (enum step_method)method;
            if (simulation_plan(&config, device_info(device), &setup, &kind) == STATUS_OK)
                assert_agree(&config, shape == SHAPE_NGP ? 1e-9 : 1e-12);
        }
    config.precision = PRECISION_SINGLE;
    config.deposit.shape = SHAPE_CIC;
    config.step.method = STEP_AUTO;
    assert_agree(&config, 1e-5);
}

TEST(two_runs_end_in_the_same_bits)
{
    struct config config = physics_config(plasma);
    for (int n = 0; n < 4; n++) {
        config.step.method = n % 2 == 0 ? STEP_RADIX : STEP_AUTO;
        config.precision = n / 2 == 0 ? PRECISION_SINGLE : PRECISION_DOUBLE;
        struct history_row *first = run(config, DEPOSIT_METHOD_ATOMIC);
        struct history_row *again = run(config, DEPOSIT_METHOD_ATOMIC);
        assert_memory_equal(first, again, (config.time.steps + 1) * sizeof *first);
    }
}

/* It is not sorted under another name: some last bit of some row differs. */
TEST(the_methods_are_two)
{
    struct config config = physics_config(plasma);
    config.precision = PRECISION_SINGLE;
    struct history_row *sorted = run(config, DEPOSIT_METHOD_SORTED);
    struct history_row *atomic = run(config, DEPOSIT_METHOD_ATOMIC);
    assert_int_not_equal(memcmp(sorted, atomic, (config.time.steps + 1) * sizeof *sorted), 0);
}

TEST_MAIN(open_device, close_device)
