/* Light: waves in vacuum and in cold plasma, with and without a magnetic field, against the formulas of the
 * scheme. Units: omega_p = 1. */
#include "support/electromagnetic_support.h"
#include "support/linear_theory.h"
#include "support/vectors.h"

#include "shared/shape.h"

static const double light = 10;

enum { EACH = 4 }; /* particles a cell along an axis with a wave; 1 along the other */

/* A lattice of particles at rest, pushed or not, in a standing wave of all polarisations, B = 0 at first. */
static struct config lattice_in_wave(const int mode[2], const uint32_t cells[2], const double length[2],
                                     double step, int steps, bool push)
{
    const uint32_t counts[2] = {cells[0] * (mode[0] ? EACH : 1), cells[1] * (mode[1] ? EACH : 1)};
    char wave[96];
    snprintf(wave, sizeof wave, "1e-4*cos(2*pi*((%d)*x/lx + (%d)*y/ly))", mode[0], mode[1]);
    return electromagnetic_config(
        "grid: {cells: [%u, %u], length: [%.17g, %.17g]}\n"
        "time: {step: %.17g, steps: %d}\n"
        "precision: double\n"
        "species: [{name: e, charge: -1, mass: 1, density: 1, particles: %u, push: %s,\n"
        "  positions: {kind: lattice, counts: [%u, %u]}, velocities: {kind: cold, dimensions: 3}}]\n"
        "fields: {solver: electromagnetic, speed_of_light: %g, initial: {E: [\"%s*(%d)*lx/ly\", "
        "\"-%s*(%d)\", "
        "\"2*%s\"]}}\n",
        cells[0], cells[1], length[0], length[1], step, steps, counts[0] * counts[1], push ? "true" : "false",
        counts[0], counts[1], light, wave, mode[1], wave, mode[0], wave);
}

/* The same pushed, along an axis or at 45 degrees to both, with c k = ck. */
static struct config cold_plasma(const int mode[2], const uint32_t cells[2], double ck, double step,
                                 int steps)
{
    const double length = 2 * M_PI * light / ck * hypot(mode[0], mode[1]);
    return lattice_in_wave(mode, cells, (const double[]){length, length}, step, steps, true);
}

/* At any step the solver allows, each wave turns by exactly c k dt: the transverse part of E is that of the
 * start times cos(c k t), B = -i k x E sin(c k t)/(c k). 1,000 steps add up roundings to some 1e-13 of E. */
TEST(vacuum_waves_keep_phase_and_amplitude)
{
    static const struct {
        uint32_t cells[2];
        int mode[2];
        double part; /* of the longest step */
    } cases[] = {{{16, 9}, {2, 0}, 0.3},  {{16, 9}, {0, 3}, 1},     {{16, 9}, {7, -4}, 1},
                 {{9, 16}, {-2, 5}, 0.7}, {{16, 16}, {3, 3}, 0.01}, {{16, 16}, {7, 7}, 1}};
    const double length[2] = {8, 11};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const int *m = cases[n].mode;
        const double k[3] = {2 * M_PI * m[0] / length[0], 2 * M_PI * m[1] / length[1], 0},
                     size = hypot(k[0], k[1]);
        const double longest =
            1 / light / hypot(cases[n].cells[0] / length[0], cases[n].cells[1] / length[1]) * (1 - 1e-12);
        const struct config config =
            lattice_in_wave(m, cases[n].cells, length, cases[n].part * longest, 1000, false);
        double complex(*found)[WAVE_FIELDS] = electromagnetic_follow(&config, m);
        const double start[3] = {0.5e-4 * m[1] * length[0] / length[1], -0.5e-4 * m[0], 1e-4};
        double curl[3], most = 0;
        cross(k, start, curl);
        for (uint64_t step = 0; step <= config.time.steps; step++)
            for (int axis = 0; axis < 3; axis++) {
                const double turned = light * size * config.time.step * (double)step;
                most = fmax(most, cabs(found[step][axis] - cos(turned) * start[axis]));
                most = fmax(most, cabs(light * found[step][3 + axis] + I * sin(turned) / size * curl[axis]));
            }
        print_message("mode (%d, %d), %.2f of the longest step: differs by %.1e of E\n", m[0], m[1],
                      cases[n].part, most / sqrt(dot(start, start)));
        assert_near(most, 0, 1e-12 * sqrt(dot(start, start)));
    }
}

/* ---- cold plasma ---- */

/* What deposit, filter and interpolation let through of a mode: of the current, and of the charge. A particle
 * at offset d takes W(d) = sum over nodes a of S(d - a) exp(i k a dx) of the wave and gives it back: of a
 * lattice the mean of |W|^2. For the charge even EACH a cell are as good as evenly spread (test_langmuir.c).
 */
struct grid_factors {
    double across, along;
};

static struct grid_factors factors_of(const struct config *config, const int mode[2])
{
    struct grid_factors factors = {1, theory_grid_factor(config, mode, ALIASES_ALL)};
    for (int axis = 0; axis < 2; axis++) {
        const double turn = 2 * M_PI * mode[axis] / config->grid.cells[axis];
        double sum = 0;
        for (int n = 0; n < EACH; n++) {
            double complex wave = 0;
            for (int a = -2; a <= 3; a++)
                wave += shape_spline((int)config->deposit.shape, (n + 0.5) / EACH - a) * cexp(I * turn * a);
            sum += creal(conj(wave) * wave) / EACH;
        }
        factors.across *= sum * pow(cos(0.5 * turn), 2.0 * config->deposit.filter_passes);
    }
    return factors;
}

/* Electrons at rest in E with k: cos(omega dt) = cos th - S dt^2 sin th/(2 th), th = c k dt, with S of the
 * grid. From rest the wave is cos(omega t). The finite amplitude shifts omega by some 1e-11. */
TEST(light_in_cold_plasma_has_the_frequency_of_the_scheme)
{
    static const struct {
        int mode[2];
        uint32_t cells[2];
        double step;
        enum shape_kind shape;
        uint32_t passes;
    } cases[] = {{{1, 0}, {32, 2}, 0.02, SHAPE_CIC, 0},
                 {{0, 1}, {2, 32}, 0.1, SHAPE_CIC, 0},
                 {{1, 1}, {16, 16}, 0.1, SHAPE_CIC, 0},
                 {{0, 1}, {2, 12}, 0.1, SHAPE_TSC, 0},
                 {{1, 0}, {16, 2}, 0.1, SHAPE_CIC, 2}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const int *mode = cases[n].mode;
        struct config config =
            cold_plasma(mode, cases[n].cells, 1, cases[n].step, (int)lround(12 / cases[n].step));
        config.deposit.shape = cases[n].shape;
        config.deposit.filter_passes = cases[n].passes;
        double complex(*waves)[WAVE_FIELDS] = electromagnetic_follow(&config, mode);
        const double dt = config.time.step, th = dt; /* c k = 1 */
        const double expected =
            acos(cos(th) - factors_of(&config, mode).across * dt * dt * sin(th) / (2 * th)) / dt;
        const int flat = mode[0] ? 1 : 0;
        double(*wave)[2] = test_array(config.time.steps + 1, sizeof *wave);
        for (uint64_t m = 0; m <= config.time.steps; m++) {
            wave[m][0] = creal(waves[m][flat]);
            wave[m][1] = creal(waves[m][2]);
            for (int part = 0; part < 2; part++)
                assert_near(wave[m][part] / wave[0][part], cos(expected * dt * (double)m), 1e-6);
        }
        const double omega = physics_frequency(wave, config.time.steps + 1, dt);
        print_message("light, mode (%d, %d), dt %.2f, order %d, %u passes: %.7f, formula %.7f (%.1e)\n",
                      mode[0], mode[1], dt, (int)cases[n].shape, cases[n].passes, omega, expected,
                      omega / expected - 1);
        assert_near(omega, expected, 1e-8 * expected);
    }
}

/* ---- two densities ---- */

/* E = cos(q (x - middle)) in each half of the box, where q^2 = (omega^2 - n)/c^2, is even about both middles,
 * and smooth where q tan(q L/4) of one is minus that of the other: 0 here. */
static double mismatch(const double density[2], double length, double omega)
{
    double complex sum = 0;
    for (int half = 0; half < 2; half++) {
        const double complex q = csqrt(omega * omega - density[half]) / light;
        sum += q * ctan(q * length / 4);
    }
    return creal(sum);
}

/* Such waves have a mean of E, which couples the waves of all lengths. The run starts in one, with E along z,
 * and goes as cos(omega t). By cic deposit and interpolation each lose up to (q dx)^2/12, 1.6e-3, of a wave,
 * and the current is a part of omega^2: of omega that is 1e-3 at most. */
TEST(light_in_two_densities_has_the_roots_with_the_mean_of_e)
{
    enum { CELLS = 96, STEPS = 300 };
    static const double around[][2] = {{0.7, 1}, {1.45, 1.6}, {2.3, 2.4}};
    const double density[2] = {0.3, 1.7}, length = 60, dt = 0.04;
    for (int root = 0; root < 3; root++) {
        double low = around[root][0], high = around[root][1];
        const double sign = mismatch(density, length, low);
        assert_true(sign * mismatch(density, length, high) < 0);
        for (int n = 0; n < 60; n++)
            *(sign * mismatch(density, length, (low + high) / 2) > 0 ? &low : &high) = (low + high) / 2;
        char wave[2][96];
        for (int half = 0; half < 2; half++) {
            const double square = low * low - density[half], q = sqrt(fabs(square)) / light;
            const double edge = square > 0 ? cos(q * length / 4) : cosh(q * length / 4);
            snprintf(wave[half], sizeof wave[half], "%s(%.17g*(x-%g))*%.17g", square > 0 ? "cos" : "cosh", q,
                     length * (1 + 2 * half) / 4, 1e-4 / edge);
        }
        const struct config config = electromagnetic_config(
            "grid: {cells: [%d, 2], length: [%g, 2]}\n"
            "time: {step: %g, steps: %d}\n"
            "precision: double\n"
            "species: [{name: e, charge: -1, mass: 1, density: 1, particles: %d,\n"
            "  positions: {kind: lattice, counts: [%d, 2]}, velocities: {kind: cold, dimensions: 3},\n"
            "  profile: {density: \"x < lx/2 ? %g : %g\"}},\n"
            "  {name: i, charge: 1, mass: 1, density: 1, push: false, particles: %d,\n"
            "  positions: {kind: lattice, counts: [%d, 2]}, velocities: {kind: cold, dimensions: 3},\n"
            "  profile: {density: \"x < lx/2 ? %g : %g\"}}]\n"
            "fields: {solver: electromagnetic, speed_of_light: %g, initial: {E: [0, 0, \"x < lx/2 ? %s : "
            "%s\"]}}\n",
            CELLS, length, dt, STEPS, 40 * CELLS, 20 * CELLS, density[0], density[1], 40 * CELLS, 20 * CELLS,
            density[0], density[1], light, wave[0], wave[1]);
        double complex(*modes)[WAVE_FIELDS] = electromagnetic_follow(&config, (const int[]){0, 0});
        double(*mean)[2] = test_array(STEPS + 1, sizeof *mean);
        for (int n = 0; n <= STEPS; n++)
            mean[n][0] = creal(modes[n][2]);
        const double omega = physics_frequency(mean, STEPS + 1, dt);
        print_message("light in densities of %g and %g: omega %.5f, formula %.5f (%.1e)\n", density[0],
                      density[1], omega, low, omega / low - 1);
        assert_near(omega, low, 1e-3 * low);
    }
}

/* ---- cold plasma in a uniform B ---- */

/* For exp(i k x - i omega t), A = omega dt/2, th = c k dt, and B with the tangents (along, across) of half
 * the turn of a step, along and across k, the scheme says
 *
 *   velocity:  v x t cos A + i sin A v + (q dt/2m) E = 0        (Boris)
 *   E_T (cos 2A - cos th) = i sin A (sin th/c k) J_T           (the two of E and B, B taken out)
 *   E_L = -i dt J_L/(2 sin A)                                  (rho by the move, Poisson)
 *
 * where J and rho have the grid's factors. In the plane of k and B and the axis across both the determinant
 * is a_L (a_T^2 - cos^2 A along^2) - a_T cos^2 A across^2 = 0, a_L = sin A - G_L dt^2/(4 sin A), a_T = sin A
 * (1 + G_T dt^2 (sin th/th)/(2 (cos 2A - cos th))), here times sin A (cos 2A - cos th)^2. Along B,
 * where the plasma wave, a_L = 0, is left out: whistler, R and L; across: O and X; without B: light. */
struct magnetised {
    struct grid_factors factors;
    double th, dt, along, across;
};

static double determinant(const struct magnetised *wave, double omega)
{
    const double half = omega * wave->dt / 2, s = sin(half), c = cos(half), d = cos(2 * half) - cos(wave->th);
    const double l = s * s - wave->factors.along * wave->dt * wave->dt / 4;
    const double t = s * (d + wave->factors.across * wave->dt * wave->dt * sin(wave->th) / wave->th / 2);
    const double of_light = t * t - pow(c * d * wave->along, 2);
    return wave->across == 0 ? of_light : l * of_light - s * t * d * pow(c * wave->across, 2);
}

enum { MOST_ROOTS = 8 };

/* The positive roots in ascending order, by bisection. */
static int find_roots(const struct magnetised *wave, double roots[MOST_ROOTS])
{
    const double wide = 1.0001e-3;
    int count = 0;
    for (double from = wide; from < 5; from += wide)
        if (determinant(wave, from) * determinant(wave, from + wide) < 0) {
            double low = from, high = from + wide;
            for (int n = 0; n < 60; n++) {
                const double middle = (low + high) / 2;
                *(determinant(wave, low) * determinant(wave, middle) <= 0 ? &high : &low) = middle;
            }
            assert_in_range(count, 0, MOST_ROOTS - 1);
            roots[count++] = (low + high) / 2;
        }
    return count;
}

/* The roots against numbers from elsewhere: at dt = 0.1 without a grid, whistler, L and R along B from their
 * own formula, 4 sin^2 A = 4 sin^2(th/2) + dt^2 (sin th/th) tan A/(tan A -+ tangent); across B those of dt ->
 * 0. */
TEST(roots_of_the_scheme_are_those_of_the_formulas)
{
    static const struct {
        double ck, dt, along, across;
        int count;
        double roots[4];
    } cases[] = {{1, 0.1, 0.5, 0, 3, {0.242512, 1.313392, 1.570776}},
                 {2, 1e-3, 0, 0.5, 3, {1.088337, 2.236068, 2.250671}}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const double dt = cases[n].dt;
        const struct magnetised wave = {
            {1, 1}, cases[n].ck * dt, dt, cases[n].along * dt / 2, cases[n].across * dt / 2};
        double roots[MOST_ROOTS];
        assert_int_equal(find_roots(&wave, roots), cases[n].count);
        for (int r = 0; r < cases[n].count; r++)
            assert_near(roots[r], cases[n].roots[r], 2e-6);
    }
}

/* Frequency number `wanted` of a sum of waves exp(+-i omega t) and a constant. The others are taken away,
 * each by x(m-1) + x(m+1) - 2 cos(omega s dt) x(m), with steps s apart, in which the fastest turns by
 * about 1. */
static double measure_one(double complex (*series)[WAVE_FIELDS], uint64_t steps, double dt,
                          const double *omega, int count, int wanted)
{
    const uint64_t apart = (uint64_t)fmax(1, floor(1.3 / (omega[count - 1] * dt))),
                   places = steps / apart + 1;
    double complex *x = test_array(places, sizeof *x);
    double product = 0, square = 0;
    for (int c = 0; c < 3; c++) {
        uint64_t end = places;
        for (uint64_t m = 0; m < places; m++)
            x[m] = series[m * apart][c];
        for (int r = -1; r < count; r++) { /* -1: the constant */
            const double cosine = r < 0 ? 1 : cos(omega[r] * (double)apart * dt);
            if (r == wanted)
                continue;
            end -= 2;
            for (uint64_t m = 0; m < end; m++)
                x[m] += x[m + 2] - 2 * cosine * x[m + 1];
        }
        for (uint64_t m = 1; m + 1 < end; m++) {
            product += creal(conj(x[m]) * (x[m - 1] + x[m + 1]));
            square += creal(conj(x[m]) * x[m]);
        }
    }
    return acos(0.5 * product / square) / ((double)apart * dt);
}

/* The run is over two periods of the slowest wave; round-off, which taking away the others
 * multiplies, is 1e-6 of that one. */
TEST(waves_in_a_magnetised_plasma_have_the_frequencies_of_the_scheme)
{
    static const struct {
        const char *name;
        int mode[2];
        double ck, degrees; /* between k and B */
        int count;
    } cases[] = {{"along B (whistler, L, R)", {1, 0}, 1, 0, 3},
                 {"across B (X, O, X)", {1, 0}, 2, 90, 3},
                 {"across B, in the plane", {0, 1}, 2, -90, 3},
                 {"oblique whistler and others", {1, 0}, 1, 40, 4},
                 {"oblique, along y", {0, 1}, 1.5, 60, 4}};
    const double gyration = 0.5;
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const int *mode = cases[n].mode, along = mode[0] ? 0 : 1;
        const uint32_t many = cases[n].ck < 2 ? 32 : 24, cells[2] = {mode[0] ? many : 2, mode[1] ? many : 2};
        struct config config = cold_plasma(mode, cells, cases[n].ck, 0.1, 900);
        const double angle = cases[n].degrees * M_PI / 180, dt = config.time.step;
        config.fields.magnetic[along] = gyration * cos(angle);
        config.fields.magnetic[1 - along] = gyration * sin(angle) * (angle > 0 ? 0.6 : 1);
        config.fields.magnetic[2] = gyration * sin(angle) * (angle > 0 ? 0.8 : 0);
        const struct magnetised wave = {factors_of(&config, mode), cases[n].ck * dt, dt,
                                        gyration * cos(angle) * dt / 2, gyration * sin(angle) * dt / 2};
        double roots[MOST_ROOTS];
        const int count = find_roots(&wave, roots);
        double complex(*series)[WAVE_FIELDS] = electromagnetic_follow(&config, mode);
        double found[MOST_ROOTS];
        memcpy(found, roots, sizeof found);
        for (int round = 0; round < 4 * count; round++) /* each with what the others were found to be */
            found[round % count] = measure_one(series, config.time.steps, dt, found, count, round % count);
        assert_int_equal(count, cases[n].count);
        for (int r = 0; r < count; r++) {
            print_message("%s: omega %.7f, formula %.7f (%.1e)\n", cases[n].name, found[r], roots[r],
                          found[r] / roots[r] - 1);
            assert_near(found[r], roots[r], 1e-5 * roots[r]);
        }
    }
}

TEST_MAIN(open_device, close_device)
