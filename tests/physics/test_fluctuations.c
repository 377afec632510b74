/* Thermal fluctuations: a plasma that starts from random numbers comes to the spectrum that statistical
 * mechanics gives.
 *
 * For N particles of the charge q over a fixed background <|rho_k|^2> = N q^2 k^2 lambda_D^2 /
 * (1 + k^2 lambda_D^2). Of particles with a shape, whose transform is S, the charge density is S times that
 * of points, and so is their answer to the field: <|rho_k|^2> = N q^2 S^2 k^2 / (S^2 + k^2), in Debye lengths
 * (Birdsall and Langdon, chapter 12). The grid's aliases are left out: S^2 of the largest is below 2e-3 here.
 *
 * On this coarse grid S^2 is 0.70 for k = 1.5. Without it in the formula the mean of the ratios is off by
 * 8 %, several times the error allowed.
 */
#include "support/test_support.h"

#include "support/linear_theory.h"
#include "support/physics_support.h"

enum { PARTICLES = 16384, START = 250, PART = 200, PARTS = 20, MODES = 12 };

#define THERMAL                                                                                              \
    HALF_K, "grid.cells=[16, 16]", "time={step: 0.2, steps: 4250}", "step.method=fused",                     \
        "species.e.particles=16384", "species.e.velocities={kind: maxwellian, generator: random}",           \
        "species.e.positions=random", "deposit.shape=tsc",                                                   \
        "output.history.modes=[[1, 0], [0, 1], [1, 1], [1, -1], [2, 0], [0, 2], [2, 1], [1, 2], [2, -1], "   \
        "[1, -2], [3, 0], [0, 3]]"

/* What |rho_k|^2 is on average, as the history has it: over the square of the nodes. */
static double expected_power(const struct config *config, const int32_t mode[2])
{
    double shape = 1, square = 0;
    for (int axis = 0; axis < 2; axis++) {
        const double length = config->grid.length[axis], k = 2 * M_PI * mode[axis] / length;
        shape *= theory_shape(k, length / config->grid.cells[axis], config->deposit.shape);
        square += k * k;
    }
    return shape * shape * square / (shape * shape + square) / PARTICLES;
}

static double measured_power(const struct history_row *row, uint32_t mode)
{
    return row->modes[mode][0] * row->modes[mode][0] + row->modes[mode][1] * row->modes[mode][1];
}

/* The mean of `values` and the standard error that their scatter gives it. */
static double mean_of(const double values[PARTS], double *error)
{
    double mean = 0, square = 0;
    for (int n = 0; n < PARTS; n++)
        mean += values[n] / PARTS;
    for (int n = 0; n < PARTS; n++)
        square += (values[n] - mean) * (values[n] - mean);
    *error = sqrt(square / (PARTS - 1) / PARTS);
    return mean;
}

/* Ratios to the expected power, in parts of 40/omega_p each, several times what a mode remembers. The mean
 * over all modes is 1 within four of its own errors, and each mode's within five. */
TEST(the_spectrum_is_that_of_thermal_equilibrium)
{
    const struct config config = PHYSICS(THERMAL);
    const struct history_row *rows = physics_run(&config);
    double together[PARTS] = {0}, error;
    assert_int_equal(config.output.history.mode_count, MODES);
    for (uint32_t mode = 0; mode < MODES; mode++) {
        double ratio[PARTS] = {0};
        for (int n = 0; n < PART * PARTS; n++)
            ratio[n / PART] += measured_power(&rows[START + n], mode) /
                               expected_power(&config, config.output.history.modes[mode]) / PART;
        for (int part = 0; part < PARTS; part++)
            together[part] += ratio[part] / MODES;
        const double mean = mean_of(ratio, &error);
        print_message("mode %2u: %.3f +- %.3f of the expected power\n", mode, mean, error);
        assert_near(mean, 1, 5 * error);
    }
    const double mean = mean_of(together, &error);
    print_message("all modes: %.4f +- %.4f\n", mean, error);
    assert_true(error < 0.025);
    assert_near(mean, 1, 4 * error);
}

TEST_MAIN(open_device, close_device)
