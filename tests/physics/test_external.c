/* External: formulas of E and B against what test particles do in them, and against the uniform field and the
 * drives that say the same. */
#include "support/test_support.h"

#include "support/physics_support.h"

/* Particles on a lattice that feel no field of their own; on nodes of 32 x 32 where its sides divide 16. */
#define TEST_PARTICLES(count, counts)                                                                        \
    "precision=double", "species.e.charge_density=false", "species.e.particles=" count,                      \
        "species.e.positions={kind: lattice, counts: " counts "}"

/* ---- E across B ---- */

/* Where v_y = -Ex/Bz = v nothing accelerates: particles stay at their x, whatever the shear. E and B change
 * with x and in time, v does not. At n, half a kick and half a turn from n-1/2, it is v sqrt(1 + (B dt/2)^2),
 * as loaded. Nodes have what the formulas say, ngp and cic there what nodes have; some roundings a step. */
static void check_drift(struct config config)
{
    const struct history_row *rows = physics_run(&config);
    for (uint64_t m = 0; m <= config.time.steps; m++) {
        double energy = 0;
        for (int n = 0; n < 8; n++) {
            const double x = (n + 0.5) * M_PI / 4, v = -0.3 * sin(x) / (2 + cos(x));
            const double half_turn = (2 + cos(x)) * (1 + (double)m * config.time.step) * config.time.step / 2;
            energy += M_PI * M_PI / 4 * v * v * (1 + half_turn * half_turn);
        }
        assert_near(rows[m].kinetic_energy, energy, 1e-13 * energy * (double)(m + 10));
        assert_near(rows[m].momentum[0], 0, 1e-13 * (double)(m + 10));
    }
}

TEST(particles_drift_across_sheared_fields)
{
    struct config config =
        PHYSICS(TEST_PARTICLES("64", "[8, 8]"), "fields.external.E=[0.3*sin(x)*(1+t), 0, 0]",
                "fields.external.B=[0, 0, (2+cos(x))*(1+t)]",
                "species.e.profile.drift=[0, -0.3*sin(x)/(2+cos(x))*sqrt(1+(0.05*(2+cos(x)))^2)]");
    check_drift(config);
    config.deposit.shape = SHAPE_NGP;
    config.step.method = STEP_FUSED;
    check_drift(config);
}

/* ---- waves ---- */

/* At rest at an antinode of A cos(x) cos(omega t): the trapezoids under the cosine make the velocity at n of
 * q A/m (dt/2) cot(omega dt/2) sin(omega n dt), which goes to q A/(m omega). The particle swings by 1e-9. */
TEST(particles_quiver_in_a_standing_wave)
{
    const struct config config = PHYSICS(TEST_PARTICLES("1", "[1, 1]"), "time={step: 0.2, steps: 200}",
                                         "fields.external.E=[\"-1e-9*cos(x)*cos(0.9*t)\", 0, 0]");
    const double dt = config.time.step, half = 0.45 * dt, mass = physics_total_mass(&config);
    const double amplitude = -1e-9 * mass * dt / 2 / tan(half);
    const struct history_row *rows = physics_run(&config);
    for (uint64_t m = 0; m <= config.time.steps; m++)
        assert_near(rows[m].momentum[0], amplitude * sin(2 * half * (double)m), 1e-8 * fabs(amplitude));
}

/* A formula of a drive's wave is that drive, to round-off; and one that takes it away leaves the plasma
 * alone. */
TEST(a_formula_of_a_drive_is_that_drive)
{
    struct config config =
        PHYSICS(COLD_LATTICE, "fields.drive=[{axis: y, mode: 2, amplitude: 0.01, frequency: 1.3}]");
    const struct history_row *driven = physics_run(&config);
    strcpy(config.fields.external[0][1], "-0.01*cos(4*pi*y/ly - 1.3*t)");
    const struct history_row *neither = physics_run(&config);
    config.fields.drive_count = 0;
    strcpy(config.fields.external[0][1], "0.01*cos(4*pi*y/ly - 1.3*t)");
    physics_compare(&config, 0, physics_run(&config), driven, 1e-12, 1e-11);
    strcpy(config.fields.external[0][1], "0");
    physics_compare(&config, 0, neither, physics_run(&config), 1e-12, 1e-11);
    assert_true(driven[150].kinetic_energy > 100 * neither[150].kinetic_energy);
}

/* ---- magnetic bottle ---- */

/* B along x is 50 (1 - 0.4 cos(x) cos(y)), 30 in the middle of the box and 70 at its ends; By makes div B 0.
 */
static struct history_row *run_bottle(struct config *config, double along)
{
    *config = PHYSICS(TEST_PARTICLES("1", "[1, 1]"), "species.e.velocities={dimensions: 3}",
                      "time={step: 0.02, steps: 2000}", "grid.cells=[64, 64]",
                      "fields.external.B=[50*(1-0.4*cos(x)*cos(y)), -20*sin(x)*sin(y), 0]");
    config->species[0].velocities.drift[0] = along;
    config->species[0].velocities.drift[2] = 1;
    struct history_row *rows = physics_run(config);
    const double energy = physics_total_mass(config) * (along * along + 1) / 2; /* B does no work */
    for (uint64_t m = 0; m <= config->time.steps; m++)
        assert_near(rows[m].kinetic_energy, energy, 1e-12 * energy);
    return rows;
}

/* The time at which a momentum along x goes through 0 for the n-th time: the mean of those at which it goes
 * through
 * +-`level`, since it trembles by the gyration. */
static double turn_time(const struct config *config, const struct history_row *rows, int n, double level)
{
    double sign = 1, before = 0;
    for (uint64_t m = 0; m <= config->time.steps; m++) {
        const double time = (double)m * config->time.step, momentum = sign * rows[m].momentum[0];
        if (momentum > level)
            before = time;
        if (momentum >= -level)
            continue;
        if (n-- == 0)
            return (before + time) / 2;
        sign = -sign;
    }
    return (double)NAN;
}

/* The moment mu = m w^2/2B is kept, so that x moves as a pendulum, x'' = -mu B0 0.4 sin(x - pi): its period
 * is 4 K(k)/omega_0 with omega_0^2 = 20 mu/m, k = u/(2 omega_0), K = pi/(2 agm(1, sqrt(1 - k^2))). The grid
 * takes 0.1 % off the waves of B, and gyration radii are 0.03. Faster than 2 omega_0 it gets through. */
TEST(a_particle_bounces_in_a_magnetic_bottle)
{
    const double omega = sqrt(20.0 / 2 / 30), along = 0.5, k = along / (2 * omega);
    double a = 1, b = sqrt(1 - k * k);
    for (int n = 0; n < 6; n++) {
        const double mean = (a + b) / 2;
        b = sqrt(a * b);
        a = mean;
    }
    struct config config;
    const struct history_row *rows = run_bottle(&config, along);
    const double mass = physics_total_mass(&config), level = 0.2 * along * mass;
    const double period = (turn_time(&config, rows, 6, level) - turn_time(&config, rows, 0, level)) / 3;
    print_message("bounce period %.4f, theory %.4f\n", period, 2 * M_PI / a / omega);
    assert_near(period, 2 * M_PI / a / omega, 0.005 * period);
    rows = run_bottle(&config, 1.3);
    for (uint64_t m = 0; m <= config.time.steps; m++)
        assert_true(rows[m].momentum[0] > 0.3 * mass);
}

/* ---- uniform ---- */

/* Formulas without a place are the uniform field, in any direction and beside one, to some roundings a step.
 */
TEST(a_uniform_formula_is_the_uniform_field)
{
    struct config config =
        PHYSICS(COLD_LATTICE, "species.e.velocities.dimensions=3", "fields.magnetic=[0.3, -0.2, 0.7]");
    const struct history_row *expected = physics_run(&config);
    config.fields.magnetic[1] = config.fields.magnetic[2] = 0;
    strcpy(config.fields.external[1][1], "-0.2");
    strcpy(config.fields.external[1][2], "0.7");
    physics_compare(&config, 0, physics_run(&config), expected, 1e-12, 1e-11);
}

TEST_MAIN(open_device, close_device)
