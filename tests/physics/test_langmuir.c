/* Cold Langmuir oscillation: the clock of the code, free of sampling noise.
 *
 * Electrons at rest on a lattice, pushed aside by 1e-4 cos(k x)/k, swing at the omega with
 *   sin(omega dt/2) = sqrt(G) dt/2,   G = sum over p of kappa k_p S(k_p)^2 / k^2
 * (Birdsall & Langdon, chapters 4 and 8; support/linear_theory.h). Both dt and dx come in at second order.
 *
 * The formula holds for evenly spread charge. Four particles a cell along the wave stand for it exactly with
 * the shape cic: what is summed over a cell is linear in the offset, and the midpoint rule integrates that
 * without error. So what is left in double precision is the finite amplitude, which shifts omega by the order
 * of its square, 1e-8.
 */
#include "support/test_support.h"

#include "support/linear_theory.h"
#include "support/physics_support.h"

static const int mode_along_x[2] = {1, 0};
static const double end = 20; /* three periods */

/* The measured omega of mode number `mode` of the history. The start is at rest, so the wave must also be its
 * value at 0 times cos(omega t), up to `tolerance`: a start that is not half a step back shows here. */
static double measured_frequency(const struct config *config, uint32_t mode, double tolerance)
{
    struct history_row *rows = physics_run(config);
    const uint64_t steps = config->time.steps;
    const double dt = config->time.step;
    double(*wave)[2] = physics_mode(rows, steps, mode);
    const double omega = physics_frequency(wave, steps + 1, dt);
    for (uint64_t m = 0; m <= steps; m++)
        assert_near(wave[m][1] / wave[0][1], cos(omega * (double)m * dt), tolerance);
    return omega;
}

/* The measured omega, which must be that of the formula to a relative `tolerance`. An error of omega turns
 * the wave by `end` times as much. */
static double checked_frequency(struct config config, double tolerance)
{
    physics_set_time(&config, config.time.step, end);
    const double grid_factor = theory_grid_factor(&config, mode_along_x, ALIASES_ALL);
    const double expected = theory_cold_frequency(grid_factor, 1, config.time.step);
    const double omega = measured_frequency(&config, 0, end * tolerance);
    print_message("dt %.2f, %u cells: omega %.9f, formula %.9f\n", config.time.step, config.grid.cells[0],
                  omega, expected);
    assert_near(omega, expected, tolerance * expected);
    return omega;
}

/* The square of the amplitude, times ten. */
static const double nonlinear = 1e-7;

/* The order with which a value v(h) converges, from v(4h), v(2h) and v(h). */
static double order_of(const double values[3])
{
    return log2((values[0] - values[1]) / (values[1] - values[2]));
}

/* omega = sqrt(G) (1 + G dt^2/24 + ...): the next term, in dt^4, moves this order by about dt^2/20 at the
 * largest dt, 0.002. */
TEST(frequency_converges_in_second_order_in_the_time_step)
{
    const double omega[] = {checked_frequency(PHYSICS(COLD_LATTICE, "time.step=0.2"), nonlinear),
                            checked_frequency(PHYSICS(COLD_LATTICE, "time.step=0.1"), nonlinear),
                            checked_frequency(PHYSICS(COLD_LATTICE, "time.step=0.05"), nonlinear)};
    assert_near(order_of(omega), 2.00, 0.05);
}

/* With the time step's part taken off, 2 sin(omega dt/2)/dt = sqrt(G) = 1 - (k dx)^2/12 + ...: the next term
 * moves this order by less than 0.01 from 8 cells a wave on. */
TEST(frequency_converges_in_second_order_in_the_cell)
{
    static const char *const cells[] = {"grid.cells=[8, 8]", "grid.cells=[16, 16]", "grid.cells=[32, 32]"};
    double root[3];
    for (int n = 0; n < 3; n++)
        root[n] = 2 / 0.1 * sin(0.05 * checked_frequency(PHYSICS(COLD_LATTICE, cells[n]), nonlinear));
    assert_near(order_of(root), 2.00, 0.05);
    /* and towards omega_p itself: Richardson's extrapolation of the last two is good to (k dx)^4/100 */
    assert_near(root[2] + (root[2] - root[1]) / 3, 1, 1e-4);
}

/* With tsc the sum over a cell is cubic in the offset, so the midpoint rule errs: by 5e-5 with four particles
 * a cell and by its second order less with 16, 3e-6; with cubic it is of order 6. Across the wave two will
 * do: the shape's weights add up to one. */
#define FINE_LATTICE "species.e.positions.counts=[512, 64]", "species.e.particles=32768"

/* In single precision offsets in a cell are rounded by up to 2^-25 in every step. The 128 particles across
 * the wave share one error, so with the amplitude 1e-4 it shows in omega at 4e-5; ten times the amplitude
 * leaves a tenth of it, and a nonlinear shift of 1e-7. */
TEST(frequency_is_right_with_every_gradient_filter_shape_and_precision)
{
    checked_frequency(PHYSICS(COLD_LATTICE, "fields.gradient=centred"), nonlinear);
    checked_frequency(PHYSICS(COLD_LATTICE, "deposit.filter_passes=3"), nonlinear);
    checked_frequency(PHYSICS(COLD_LATTICE, "deposit.filter_passes=3", "deposit.filter_compensator=true"),
                      nonlinear);
    checked_frequency(PHYSICS(COLD_LATTICE, FINE_LATTICE, "deposit.shape=tsc"), 6e-6);
    checked_frequency(PHYSICS(COLD_LATTICE, FINE_LATTICE, "deposit.shape=cubic"), 6e-6);
    checked_frequency(
        PHYSICS(COLD_LATTICE, "precision=single", "species.e.perturb.displacement.0.amplitude=1e-3"), 5e-5);
}

/* A wave along x and another along y, on a grid and box that are not square: nothing may mix up the axes. */
TEST(waves_along_both_axes_keep_their_own_frequency)
{
    const struct config config =
        PHYSICS(COLD_LATTICE, "grid={cells: [16, 40], length: [3, 11]}", "time.steps=200",
                "species.e.particles=10240", "species.e.positions.counts=[64, 160]",
                "species.e.perturb.displacement=[{axis: x, mode: 1, amplitude: 1e-4}, "
                "{axis: y, mode: 3, amplitude: 1e-4}]",
                "output.history.modes=[[1, 0], [0, 3]]");
    for (uint32_t n = 0; n < 2; n++) {
        const int32_t *mode = config.output.history.modes[n];
        const double grid_factor = theory_grid_factor(&config, (const int[]){mode[0], mode[1]}, ALIASES_ALL);
        const double expected = theory_cold_frequency(grid_factor, 1, config.time.step);
        assert_near(measured_frequency(&config, n, end * nonlinear), expected, nonlinear * expected);
    }
}

/* All charges swing together: omega_p^2 = sum over species of n q^2/m, here 1 + 0.5 * 2^2/4. Only the
 * electrons are displaced; what is no plasma oscillation of that start has no field and stands still. */
TEST(species_add_up_to_one_plasma_frequency)
{
    const struct config config =
        PHYSICS("grid={cells: [32, 16], length: [6, 2]}", "precision=double", "time.steps=200",
                "species=[{name: electrons, charge: -1, mass: 1, density: 1, particles: 8192, "
                "positions: {kind: lattice, counts: [128, 64]}, "
                "perturb: {displacement: [{axis: x, mode: 1, amplitude: 1.0e-4}]}}, "
                "{name: ions, charge: 2, mass: 4, density: 0.5, particles: 4096, "
                "positions: {kind: lattice, counts: [128, 32]}}]");
    const double grid_factor = theory_grid_factor(&config, mode_along_x, ALIASES_ALL);
    const double expected = theory_cold_frequency(grid_factor, sqrt(1.5), config.time.step);
    assert_near(measured_frequency(&config, 0, end * nonlinear), expected, nonlinear * expected);
}

/* The charge density of a displacement a cos(k x)/k is q n0 (1 + a sin(k x)), so mode (1, 0) starts as
 * -i q n0 a S(k)/2. A lattice of spacing h adds (k h)^2/24 of that, 1.0e-4. */
TEST(wave_starts_with_its_amplitude)
{
    const struct config config = PHYSICS(COLD_LATTICE, "time.steps=0");
    struct history_row *rows = physics_run(&config);
    const double expected = 0.5e-4 * theory_shape(1, 2 * M_PI / 32, SHAPE_CIC);
    assert_near(rows[0].modes[0][0], 0, 1e-6 * expected);
    assert_near(rows[0].modes[0][1], expected, 1.1e-4 * expected);
}

TEST_MAIN(open_device, close_device)
