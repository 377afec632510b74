/* Work: that of external fields on each species (output.history.work), against the kinetic energy of test
 * particles, on which nothing else acts, and in plasmas against their momentum and energy. */
#include "support/test_support.h"

#include "support/physics_support.h"

#define CONFIG(particles, fields)                                                                            \
    "grid: {cells: [16, 16], length: [4, 2]}\n"                                                              \
    "time: {step: 0.01, steps: 100}\n"                                                                       \
    "precision: double\n"                                                                                    \
    "deposit: {shape: tsc}\n"                                                                                \
    "species:\n" particles "fields: {" fields "}\n"                                                          \
    "output: {history: {modes: [[1, 0]], species: [all], work: true}}\n"

/* ---- test particles ---- */

#define PASSIVE                                                                                              \
    "  - {name: test, charge: -1, mass: 2, density: 1, particles: 4001, charge_density: false,\n"            \
    "     velocities: {kind: maxwellian, dimensions: 3}}\n"
#define STRONG                                                                                               \
    "magnetic: [3, 4, 10], external: {E: [5, \"3*sin(2*pi*x/lx)*cos(t)\", \"4*cos(2*pi*y/ly)\"],\n"          \
    "  B: [0, 0, \"2*cos(2*pi*x/lx)\"]}, drive: [{axis: x, mode: 1, amplitude: 4, frequency: 7}]"

/* The largest difference of work and gain of kinetic energy in any step, over that energy. */
static double gain_error(const struct config *config)
{
    const struct history_row *rows = physics_run(config);
    double worst = 0, most = 0;
    for (uint64_t m = 0; m <= config->time.steps; m++) {
        worst = fmax(worst, fabs(rows[m].species[0][0] - rows[0].species[0][0] - rows[m].work[0][0]));
        most = fmax(most, rows[m].species[0][0]);
    }
    assert_true(rows[0].work[0][0] == 0 && most > 1.5 * rows[0].species[0][0]);
    print_message("%.2e of the energy\n", worst / most);
    return worst / most;
}

/* Boris' rotation keeps the energy between the half kicks, so what they do is all that happens to it. */
TEST(the_work_is_the_gain_of_test_particles)
{
    struct config config = physics_config(CONFIG(PASSIVE, STRONG));
    for (enum step_method method = STEP_RADIX; method <= STEP_CHUNKED; method++) {
        config.step.method = method;
        assert_near(gain_error(&config), 0, 1e-14);
    }
    config.precision = PRECISION_SINGLE; /* errors of rounding of 4001 particles in 100 steps */
    assert_near(gain_error(&config), 0, 1e-6);
}

/* Relativistic particles and Boris alike. The other two have another momentum at n where there is B, and
 * Vay's rotation does work: of second order in the time step, so that half of it leaves a quarter. */
TEST(the_work_is_the_gain_of_relativistic_test_particles)
{
    struct config config =
        physics_config(CONFIG(PASSIVE, "solver: electromagnetic, speed_of_light: 8, " STRONG));
    assert_near(gain_error(&config), 0, 1e-14);
    for (config.step.pusher = PUSHER_VAY; config.step.pusher <= PUSHER_HIGUERA_CARY; config.step.pusher++) {
        physics_set_time(&config, 0.01, 1);
        const double coarse = gain_error(&config);
        physics_set_time(&config, 0.005, 1);
        assert_near(coarse / gain_error(&config), 4, 0.2);
    }
    config.step.pusher = PUSHER_VAY;
    memset(config.fields.magnetic, 0, sizeof config.fields.magnetic);
    memset(config.fields.external[1], 0, sizeof config.fields.external[1]);
    assert_near(gain_error(&config), 0, 1e-14);
}

/* ---- plasmas ---- */

#define WEIGHTED                                                                                             \
    "  - {name: e, charge: -1, mass: 2, density: 1, particles: 16384, weights: density,\n"                   \
    "     velocities: {kind: maxwellian}, perturb: {density: [{axis: x, mode: 1, amplitude: 0.5}]}}\n"
#define PLASMA                                                                                               \
    WEIGHTED                                                                                                 \
    "  - {name: i, charge: 1, mass: 4, density: 1, particles: 16384,\n"                                      \
    "     velocities: {kind: maxwellian, thermal: [0.3, 0.3]}}\n"

/* In a uniform E0 the work of a half step is q dt/2 E0 . (v_before + v_after)/2, summed. The plasma's own
 * force on the only species has the sum 0, so that q E0 alone changes the momentum P, and what is done from n
 * to n+1 is q dt/2m E0 . (P_n + P_n+1), to round-off, while the plasma's field takes and gives much energy.
 */
TEST(in_a_uniform_field_the_work_follows_from_the_momentum)
{
    const struct config config = physics_config(CONFIG(WEIGHTED, "external: {E: [0.7, -0.4, 0]}"));
    const struct history_row *rows = physics_run(&config);
    double expected = 0;
    for (uint64_t m = 1; m <= config.time.steps; m++) {
        for (int axis = 0; axis < 2; axis++)
            expected += -0.5 * config.time.step / 2 * (axis == 0 ? 0.7 : -0.4) *
                        (rows[m - 1].momentum[axis] + rows[m].momentum[axis]);
        assert_near(rows[m].work[0][0], expected, 1e-12);
    }
    assert_true(expected > 0.5);
    assert_true(fabs(rows[0].field_energy - rows[config.time.steps].field_energy) > 0.1);
}

/* The largest differences until t = 5 of the works' sum from that of the drives by the charge, and from what
 * the plasma gained, as shares of it. */
static void find_errors(struct config *config, double step, double errors[2])
{
    physics_set_time(config, step, 5);
    const struct history_row *rows = physics_run(config);
    double most[2] = {0, 0}, sum = 0;
    for (uint64_t m = 0; m <= config->time.steps; m++) {
        sum = rows[m].work[0][0] + rows[m].work[1][0];
        const double gained = physics_total_energy(&rows[m]) - physics_total_energy(&rows[0]);
        most[0] = fmax(most[0], fabs(sum - rows[m].drive_work));
        most[1] = fmax(most[1], fabs(sum - gained));
    }
    for (int n = 0; n < 2; n++)
        errors[n] = most[n] / sum;
    print_message("dt %.2f: work %.4f, errors %.2e, %.2e\n", step, sum, errors[0], errors[1]);
    assert_true(rows[config->time.steps].work[1][0] > 0.1 * sum && sum > 1);
}

/* Both are right to second order in the time step, as the leapfrog's energy is. The sum over the particles
 * has what the aliases of the grid do, too. */
TEST(the_works_add_up_to_that_of_the_drives)
{
    double coarse[2], fine[2];
    struct config config = physics_config(
        CONFIG(PLASMA, "drive: [{axis: x, mode: 1, amplitude: 0.5, frequency: 1.2, ramp: 0.5}, "
                       "{axis: y, mode: 2, amplitude: 0.3, frequency: -2}]"));
    find_errors(&config, 0.1, coarse);
    find_errors(&config, 0.05, fine);
    for (int n = 0; n < 2; n++) {
        assert_near(fine[n], 0, 0.002);
        assert_near(coarse[n] / fine[n], 4, 1);
    }
}

/* Sums of all steps count, with rows of some of them, and where rows are read late. */
TEST(every_step_counts)
{
    struct config config = physics_config(CONFIG(WEIGHTED, "external: {E: [0.7, -0.4, 0]}"));
    const double work = physics_run(&config)[config.time.steps].work[0][0];
    for (int late = 0; late < 2; late++) {
        struct simulation simulation;
        config.output.history.every = config.time.check_every = 45; /* more than there are slots */
        assert_ok(simulation_create(&config, device, &simulation));
        simulation.reads_late = late;
        while (!simulation_done(&simulation))
            assert_ok(simulation_step(&simulation));
        assert_true(simulation.row.work[0][0] == work);
        simulation_destroy(&simulation);
    }
}

TEST_MAIN(open_device, close_device)
