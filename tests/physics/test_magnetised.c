/* Magnetised: the Boris rotation inside the whole step. */
#include "support/test_support.h"

#include "support/linear_theory.h"
#include "support/physics_support.h"

#include <complex.h>

/* Upper hybrid wave of a cold lattice. With theta = 2 atan(Omega dt/2), one step takes (x, u, v) through half
 * a kick, a turn by theta, half a kick and a move; that matrix has determinant 1, the eigenvalue 1 (a
 * displacement along y stays) and the trace 1 + 2 cos(omega dt), so cos(omega dt) = cos(theta) - G (dt/2)^2
 * (1 + cos(theta)), which goes to sqrt(G + Omega^2) for dt -> 0. Left over is the finite amplitude's 1e-8, as
 * in test_langmuir.c. A cold magnetised lattice is unstable in the end, from t = 260 on; this one stops long
 * before. */
static double upper_hybrid(double grid_factor, double gyration, double dt)
{
    const double cosine = cos(2 * atan(gyration * dt / 2));
    return acos(cosine - grid_factor * dt * dt / 4 * (1 + cosine)) / dt;
}

/* The start is a standing part, which the eigenvalue 1 keeps, and the wave: differences from step to step are
 * the wave alone. */
static double wave_frequency(const struct config *config)
{
    struct history_row *rows = physics_run(config);
    const uint64_t steps = config->time.steps;
    double(*wave)[2] = physics_mode(rows, steps, 0);
    for (uint64_t m = 0; m < steps; m++)
        for (int part = 0; part < 2; part++)
            wave[m][part] = wave[m + 1][part] - wave[m][part];
    return physics_frequency(wave, steps, config->time.step);
}

TEST(upper_hybrid_waves_have_the_frequency_of_the_boris_scheme)
{
    struct config config = PHYSICS(COLD_LATTICE);
    static const struct {
        double gyration, time_step;
    } cases[] = {{1, 0.1}, {-0.5, 0.1}, {1, 0.4}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        config.fields.magnetic[2] = cases[n].gyration;
        physics_set_time(&config, cases[n].time_step, 30);
        const double grid_factor = theory_grid_factor(&config, (const int[]){1, 0}, ALIASES_ALL);
        const double expected = upper_hybrid(grid_factor, cases[n].gyration, cases[n].time_step);
        const double omega = wave_frequency(&config);
        print_message("gyration %.1f, dt %.1f: omega %.7f, formula %.7f\n", cases[n].gyration,
                      cases[n].time_step, omega, expected);
        assert_near(omega, expected, 1e-7 * expected);
    }
}

/* Cold particles that drift in Bz, too few to feel one another: a lattice of them moves as one body.
 *
 *   momentum at n:     w m v0 exp(i n theta), theta = 2 atan(Omega dt/2)
 *   mode (mx, my) at n: its value at 0 times exp(-i k.X_n)
 *
 * X moves by dt v in every step, where v at n+1/2 is v0 exp(i (n + 1/2) theta). v0 is the complex u + iv;
 * with charge -1 and Bz > 0 the turn is to the left. Velocities of 5 cells a step go around the box.
 *
 * Momentum keeps to rounding, which single precision adds up over 100 steps. The modes know the place of the
 * lattice only as well as the lattice stands for evenly spread charge: with 8 particles a cell, 3e-4. */
static void check_motion(enum precision precision, double magnetic, double tolerance)
{
    struct config config =
        PHYSICS("grid={cells: [16, 32], length: [4, 10]}", "time={step: 0.5, steps: 100}",
                "species=[{name: probes, charge: -1, mass: 2, density: 1.0e-12, particles: 65536, "
                "positions: {kind: lattice, counts: [256, 256]}, velocities: {drift: [2, -1.5]}, "
                "perturb: {displacement: [{axis: x, mode: 1, amplitude: 0.1}, "
                "{axis: y, mode: 1, amplitude: 0.1}]}}]",
                "output.history.modes=[[1, 0], [0, 1]]");
    config.precision = precision;
    config.fields.magnetic[2] = magnetic;
    const double complex start = 2 - 1.5 * I;
    const double dt = config.time.step, theta = 2 * atan(magnetic / 2 * dt / 2); /* Omega = B/m */
    struct history_row *rows = physics_run(&config);
    double complex place = 0;
    for (uint64_t m = 0; m <= config.time.steps; m++) {
        const struct history_row *row = &rows[m];
        const double complex velocity = start * cexp(I * theta * (double)m);
        const double complex momentum = row->momentum[0] + row->momentum[1] * I;
        assert_near(cabs(momentum / physics_total_mass(&config) - velocity), 0, tolerance);
        const double position[2] = {creal(place), cimag(place)};
        for (int axis = 0; axis < 2; axis++) {
            const double k = 2 * M_PI / config.grid.length[axis];
            const double complex first = rows[0].modes[axis][0] + rows[0].modes[axis][1] * I;
            const double complex mode = row->modes[axis][0] + row->modes[axis][1] * I;
            assert_near(cabs(mode / first - cexp(-I * k * position[axis])), 0, 1e-3);
        }
        place += dt * start * cexp(I * theta * ((double)m + 0.5));
    }
}

TEST(lattice_drifts_along_a_straight_line)
{
    check_motion(PRECISION_SINGLE, 0, 2e-5);
    check_motion(PRECISION_DOUBLE, 0, 1e-12);
}

TEST(lattice_gyrates_by_the_turn_of_the_boris_scheme)
{
    check_motion(PRECISION_SINGLE, 0.8, 2e-5);
    check_motion(PRECISION_DOUBLE, 0.8, 1e-12);
    check_motion(PRECISION_DOUBLE, -3, 1e-12);
}

TEST_MAIN(open_device, close_device)
