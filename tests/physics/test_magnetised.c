/* Magnetised: the Boris rotation inside the whole step. */
#include "support/test_support.h"

#include "support/linear_theory.h"
#include "support/physics_support.h"

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

/* With theta the angle between k and B, A = omega dt/2 and B = atan(Omega dt/2), half the turn of a step: in
 * the part of a velocity that a turn by phi leaves, half a kick, the turn, half a kick make of an
 * acceleration a exp(-i n omega dt) a velocity at n+1/2 of i a dt/2 cos(phi/2)/sin(A + phi/2), in units of
 * exp(-i (n + 1/2) omega dt). Along B phi is 0; across B it is 2 B and -2 B by halves. Along k that is
 *
 *   i a dt/2 (cos^2(theta)/sin(A) + sin^2(theta) sin(A) cos^2(B)/(sin^2(A) - sin^2(B))),
 *
 * and the move says -2 i sin(A) x = dt v. With a = -G x, g = G dt^2/4 and s = sin^2(A):
 *
 *   s^2 - s (sin^2(B) + g cos^2(B) + g cos^2(theta) sin^2(B)) + g cos^2(theta) sin^2(B) = 0,
 *
 * which goes to omega^4 - omega^2 (G + Omega^2) + G Omega^2 cos^2(theta) = 0 for dt -> 0. Left over is the
 * finite amplitude's 1e-8, as in test_langmuir.c. A cold magnetised lattice is unstable in the end, from
 * t = 260 on; these stop long before. */
struct oblique {
    double sum, product; /* of the two s */
};

static struct oblique oblique_waves(double grid_factor, double gyration, double theta, double dt)
{
    const double g = grid_factor * dt * dt / 4, turn = sin(atan(gyration * dt / 2)), t = turn * turn;
    const double along = cos(theta) * cos(theta);
    return (struct oblique){t + g * (1 - t) + g * along * t, g * along * t};
}

static double upper_of(const struct oblique *waves, double dt)
{
    return 2 / dt * asin(sqrt((waves->sum + sqrt(waves->sum * waves->sum - 4 * waves->product)) / 2));
}

/* A series of two waves obeys S S x - (s1 + s2) S x + s1 s2 x = 0 with S x = (x - (x before + x after)/2)/2.
 * Sum and product by least squares, from steps that are far enough apart not to look alike. */
static struct oblique find_two(double (*wave)[2], uint64_t count)
{
    double matrix[3] = {0, 0, 0}, right[2] = {0, 0};
    for (uint64_t m = 2; m + 2 < count; m++)
        for (int part = 0; part < 2; part++) {
            const double x = wave[m][part], near = (wave[m - 1][part] + wave[m + 1][part]) / 2;
            const double far = (wave[m - 2][part] + wave[m + 2][part]) / 2;
            const double once = (x - near) / 2, twice = (1.5 * x - 2 * near + far / 2) / 4;
            matrix[0] += once * once;
            matrix[1] += once * x;
            matrix[2] += x * x;
            right[0] += twice * once;
            right[1] += twice * x;
        }
    const double determinant = matrix[0] * matrix[2] - matrix[1] * matrix[1];
    return (struct oblique){(right[0] * matrix[2] - right[1] * matrix[1]) / determinant,
                            (right[0] * matrix[1] - right[1] * matrix[0]) / determinant};
}

/* Along B it is the plasma wave alone, which is the faster one here, across B the upper hybrid; between them
 * two waves. */
static void check_oblique(int axis, int degrees, double gyration)
{
    struct config config = PHYSICS(COLD_LATTICE, "species.e.velocities.dimensions=3");
    const double theta = degrees * M_PI / 180, dt = 0.2;
    const int mode[2] = {axis == 0, axis == 1};
    config.species[0].perturb.displacement.items[0].axis = (enum axis)axis;
    config.output.history.modes[0][0] = mode[0];
    config.output.history.modes[0][1] = mode[1];
    config.fields.magnetic[axis] = gyration * cos(theta);
    config.fields.magnetic[1 - axis] = gyration * sin(theta) * 0.6;
    config.fields.magnetic[2] = gyration * sin(theta) * 0.8;
    physics_set_time(&config, dt, 30);
    const double grid_factor = theory_grid_factor(&config, mode, ALIASES_ALL);
    const struct oblique expected = oblique_waves(grid_factor, gyration, theta, dt);
    if (degrees % 90 == 0) {
        const double omega = upper_of(&expected, dt);
        assert_near(wave_frequency(&config), omega, 1e-7 * omega);
        return;
    }
    struct history_row *rows = physics_run(&config);
    const struct oblique found = find_two(physics_mode(rows, config.time.steps, 0), config.time.steps + 1);
    print_message("along %c, %d degrees: sum %.3e, product %.3e from the formula\n", "xy"[axis], degrees,
                  found.sum / expected.sum - 1, found.product / expected.product - 1);
    assert_near(found.sum, expected.sum, 1e-6 * expected.sum);
    assert_near(found.product, expected.product, 1e-6 * expected.product);
}

TEST(waves_at_an_angle_to_the_field_have_the_frequencies_of_the_boris_scheme)
{
    for (int axis = 0; axis < 2; axis++)
        for (int degrees = 0; degrees <= 90; degrees += 30)
            check_oblique(axis, degrees, axis == 0 ? 0.7 : -0.9);
}

TEST_MAIN(open_device, close_device)
