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
 * as loaded. Nodes have what the formulas say, and cic there what nodes have; some roundings a step. Of fused
 * steps in such fields test_methods.c has more. */
TEST(particles_drift_across_sheared_fields)
{
    const struct config config =
        PHYSICS(TEST_PARTICLES("64", "[8, 8]"), "fields.external.E=[0.3*sin(x)*(1+t), 0, 0]",
                "fields.external.B=[0, 0, (2+cos(x))*(1+t)]",
                "species.e.profile.drift=[0, -0.3*sin(x)/(2+cos(x))*sqrt(1+(0.05*(2+cos(x)))^2)]");
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
