/* Drives: waves that an external field makes in a cold and in a warm plasma, against linear theory with the
 * time step and the grid in it, and the work of that field against the energy that the plasma takes up. */
#include "support/test_support.h"

#include "support/linear_theory.h"
#include "support/physics_support.h"

#include <complex.h>

/* What the charge density mode becomes where E = A cos(k x - omega t) acts on a cold plasma. The displacement
 * s of the particles has -W^2 s = (q/m) S (E_ext + E_self) with W = (2/dt) sin(omega dt/2), and makes E_self
 * = -(kappa/k) q n S s, with the gradient's kappa. So E_self = G/(W^2 - G) E_ext with G = (kappa/k) S^2 of
 * all aliases, and 1 + E_self/E_ext = 1/epsilon. rho_k = i k^2 E_self/kappa, of which a mode of the history
 * has half. */
static double complex cold_mode(const struct config *config, double omega, double time)
{
    const struct drive_config *drive = &config->fields.drive[0];
    const double k = 2 * M_PI * drive->mode / config->grid.length[0];
    const double dx = config->grid.length[0] / config->grid.cells[0];
    const double kappa = config->fields.gradient == GRADIENT_CENTRED ? sin(k * dx) / dx : k;
    const double grid = theory_grid_factor(config, (const int[]){(int)drive->mode, 0}, ALIASES_ALL);
    const double w = 2 / config->time.step * sin(0.5 * omega * config->time.step);
    return 0.5 * I * k * k / kappa * drive->amplitude * grid / (w * w - grid) * cexp(-I * omega * time);
}

static double complex mode_of(const struct history_row *row)
{
    return row->modes[0][0] + I * row->modes[0][1];
}

#define DRIVEN(mode, omega)                                                                                  \
    COLD_LATTICE, "species.e.perturb={}", "time={step: 0.2, steps: 800}",                                    \
        "fields.drive=[{axis: x, mode: " mode ", amplitude: 1.0e-4, frequency: " omega ", ramp: 100}]"

static void check_cold(const struct config *config, double tolerance)
{
    const double omega = config->fields.drive[0].frequency;
    const struct history_row *rows = physics_run(config);
    double worst = 0;
    for (uint64_t m = 510; m <= config->time.steps; m++) {
        const double complex expected = cold_mode(config, omega, (double)m * config->time.step);
        worst = fmax(worst, cabs(mode_of(&rows[m]) - expected) / cabs(expected));
    }
    print_message("omega %g: %.2e of the response\n", omega, worst);
    assert_near(worst, 0, tolerance);
}

/* Above and below resonance, both ways, and with another mode, shape and the centred gradient. What a rise in
 * 100/omega_p leaves of the plasma's own oscillation is (pi/100)^2/(omega - 1)^2 of the response at most. */
TEST(a_cold_plasma_answers_with_its_dielectric_function)
{
    struct config config = PHYSICS(DRIVEN("1", "0.5"));
    check_cold(&config, 4e-3);
    config = PHYSICS(DRIVEN("1", "-0.5"));
    check_cold(&config, 4e-3);
    config = PHYSICS(DRIVEN("1", "1.6"));
    check_cold(&config, 4e-3);
    config = PHYSICS(DRIVEN("3", "1.6"), "output.history.modes=[[3, 0]]", "deposit.shape=tsc",
                     "fields.gradient=centred", "step.method=fused");
    check_cold(&config, 4e-3);
}

/* At the frequency of the grid's own oscillation, sin(omega dt/2) = sqrt(G) dt/2, the wave grows in a line.
 * In s(t) exp(-i omega t) with the step's second difference, s' (2 sin(omega dt)/dt) = i (q/m) S A: E_self =
 * -q n S s gains G A dt/(2 sin(omega dt)) in a unit of time. */
TEST(at_resonance_the_wave_grows_in_a_line)
{
    struct config config =
        PHYSICS(DRIVEN("1", "1"), "fields.drive.0.ramp=20", "fields.drive.0.amplitude=1.0e-6");
    const double grid = theory_grid_factor(&config, (const int[]){1, 0}, ALIASES_ALL), dt = config.time.step;
    const double omega = config.fields.drive[0].frequency = 2 / dt * asin(0.5 * sqrt(grid) * dt);
    const struct history_row *rows = physics_run(&config);
    const double a = cabs(mode_of(&rows[400])), b = cabs(mode_of(&rows[800]));
    const double rate = 0.5 * config.fields.drive[0].amplitude * grid * dt / (2 * sin(omega * dt));
    assert_near((b - a) / (400 * dt), rate, 0.002 * rate);
}

/* ---- work ---- */

#define WARM                                                                                                 \
    HALF_K, "species.e.particles=65536", "species.e.velocities={kind: maxwellian}", "precision=double",      \
        "deposit.shape=tsc",                                                                                 \
        "fields.drive=[{axis: x, mode: 1, amplitude: 0.05, frequency: 1.4, ramp: 5}, "                       \
        "{axis: y, mode: 2, amplitude: 0.03, frequency: -0.8, from: 3, ramp: 4, until: 14}, "                \
        "{axis: x, mode: 3, amplitude: 0.02, frequency: 0}]"

/* The largest difference of what the plasma gained and the work until t = 20, as a share of the work then. */
static double work_error(struct config *config, double step)
{
    physics_set_time(config, step, 20);
    const struct history_row *rows = physics_run(config);
    const double work = rows[config->time.steps].drive_work;
    double most = 0;
    for (uint64_t m = 0; m <= config->time.steps; m++)
        most = fmax(
            most, fabs(physics_total_energy(&rows[m]) - physics_total_energy(&rows[0]) - rows[m].drive_work));
    print_message("dt %.2f: work %.4f, error %.2e of it\n", step, work, most / work);
    assert_true(rows[0].drive_work == 0 && work > 3);
    return most / work;
}

/* Total energy less the work stays, to second order in the time step: with half the step a quarter of the
 * error. */
TEST(energy_less_the_work_is_conserved)
{
    struct config config = PHYSICS(WARM);
    const double coarse = work_error(&config, 0.2), fine = work_error(&config, 0.1);
    assert_near(fine, 0, 0.002);
    assert_near(coarse / fine, 4, 1);
    config.fields.magnetic[2] = 0.5;
    config.step.method = STEP_FUSED;
    config.precision = PRECISION_SINGLE;
    assert_near(work_error(&config, 0.1), 0, 0.002);
    config.fields.magnetic[2] = 0;
    config.fields.gradient = GRADIENT_CENTRED;
    config.deposit.filter_passes = 2;
    assert_near(work_error(&config, 0.1), 0, 0.01);
}

/* Rows that are read late, and not every one of them, have the same bits. */
TEST(late_rows_have_the_same_work)
{
    struct config config = PHYSICS(WARM, "species.e.particles=4096", "time={step: 0.1, steps: 150}");
    const double work = physics_run(&config)[config.time.steps].drive_work;
    for (int late = 0; late < 2; late++) {
        struct simulation simulation;
        config.output.history.every = config.time.check_every = 70; /* more than there are slots */
        assert_ok(simulation_create(&config, device, &simulation));
        simulation.reads_late = late;
        while (!simulation_done(&simulation))
            assert_ok(simulation_step(&simulation));
        assert_true(simulation.row.drive_work == work && work != 0);
        simulation_destroy(&simulation);
    }
}

TEST_MAIN(open_device, close_device)
