/* Free streaming: particles too few to feel one another, so that their wave only mixes away:
 *   n_k(t)/n_k(0) = exp(-k^2 v_thermal^2 t^2/2)
 * whatever the time step. This holds loading, motion, the wrap around the box and the sort together, without
 * any field.
 */
#include "support/physics_support.h"

#define PROBES                                                                                               \
    HALF_K, "time={step: 1, steps: 10}", "species.e.density=1.0e-12", "species.e.particles=262144",          \
        "species.e.velocities={kind: maxwellian}",                                                           \
        "species.e.perturb.density=[{axis: x, mode: 1, amplitude: 0.1}]"

/* The quiet start leaves 5.7e-4 at an amplitude of 0.1, in an independent program too; twice that is allowed.
 * A run of large steps takes the fast particles 12 cells a step. */
static void check_mixing(enum precision precision, double step)
{
    struct config config = PHYSICS(PROBES);
    config.precision = precision;
    physics_set_time(&config, step, 10);
    struct history_row *rows = physics_run(&config);
    for (uint64_t m = 0; m <= config.time.steps; m++) {
        const double kt = 0.5 * step * (double)m;
        assert_near(rows[m].modes[0][0] / rows[0].modes[0][0], exp(-0.5 * kt * kt), 1.1e-3);
        assert_near(rows[m].modes[0][1] / rows[0].modes[0][0], 0, 1.1e-3);
    }
}

TEST(wave_mixes_away_in_phase_space)
{
    check_mixing(PRECISION_SINGLE, 1);
    check_mixing(PRECISION_SINGLE, 0.25);
    check_mixing(PRECISION_DOUBLE, 1);
}

/* v uniform in [-1, 3]: the transform is exp(-i k t) sin(2 k t)/(2 k t). */
TEST(uniform_velocities_mix_as_their_transform_says)
{
    const struct config config =
        PHYSICS(PROBES, "species.e.velocities={kind: uniform, range: [[-1, 3], [-1, 1]]}");
    struct history_row *rows = physics_run(&config);
    for (uint64_t m = 0; m <= config.time.steps; m++) {
        const double kt = 0.5 * (double)m, size = m == 0 ? 1 : sin(2 * kt) / (2 * kt);
        assert_near(rows[m].modes[0][0] / rows[0].modes[0][0], size * cos(kt), 1.1e-3);
        assert_near(rows[m].modes[0][1] / rows[0].modes[0][0], -size * sin(kt), 1.1e-3);
    }
}

/* w m v_thermal^2 for two directions and w m drift^2/2; the sequences' moments are good to 1e-4 at this N. */
TEST(kinetic_energy_is_that_of_the_distribution)
{
    const struct config config =
        PHYSICS(PROBES, "species.e.velocities.thermal=[1, 0.5]", "species.e.velocities.drift=[-2, 0]");
    struct history_row *rows = physics_run(&config);
    const double expected = 0.5 * (1 + 0.25 + 4) * physics_total_mass(&config);
    const double momentum = -2 * physics_total_mass(&config);
    for (uint64_t m = 0; m <= config.time.steps; m++) {
        assert_near(rows[m].kinetic_energy, expected, 3e-4 * expected);
        assert_near(rows[m].momentum[0], momentum, 3e-4 * fabs(momentum));
        assert_near(rows[m].momentum[1], 0, 3e-4 * fabs(momentum));
    }
}

TEST_MAIN(open_device, close_device)
