/* Filamentation: electrons that are faster across x than along it make currents, which attract one another
 * and pinch: the instability of two cold beams (Fried 1959), and that of a warm plasma (Weibel 1959). Units:
 * omega_p = 1; fields depend on x alone, and the wave is mode (1, 0).
 */
#include "support/electromagnetic_support.h"

static const double light = 10;

struct instability {
    uint32_t cells;
    double ck, step, end, seed; /* seed: B of the wave at 0, along y and z */
};

/* The rate at which log(size) grows, on the last two thirds of its way up to a quarter of the most: at first
 * there is what does not grow. */
static double growth(const double *size, uint64_t steps, double step, double *most)
{
    uint64_t first = 0, last = 0;
    *most = 0;
    for (uint64_t m = 0; m <= steps; m++)
        *most = fmax(*most, size[m]);
    for (uint64_t m = 0; m <= steps && size[m] < *most / 4; last = m++)
        if (size[m] < size[0] * pow(*most / size[0], 0.3))
            first = m;
    return log(size[last] / size[first]) / ((double)(last - first) * step);
}

/* The growth of |B| of the wave must be `expected`. It stops where electrons of the velocity v across x, with
 * gamma, swing in B as fast as B grows: k v B/gamma near rate^2 (Davidson, Hammer, Haber & Wagner 1972), here
 * within a factor of two or so. */
static void check_growth(const struct instability *wave, const char *species, double v, double gamma,
                         double expected, double tolerance)
{
    const struct config config =
        electromagnetic_config("grid: {cells: [%u, 2], length: [%.17g, 8]}\n"
                               "time: {step: %.17g, steps: %d}\n"
                               "precision: double\n"
                               "species: [%s]\n"
                               "fields: {solver: electromagnetic, speed_of_light: %g,\n"
                               "  initial: {B: [\"0\", \"%g*cos(2*pi*x/lx)\", \"%g*sin(2*pi*x/lx)\"]}}\n",
                               wave->cells, 2 * M_PI * light / wave->ck, wave->step,
                               (int)lround(wave->end / wave->step), species, light, wave->seed, wave->seed);
    double complex(*series)[WAVE_FIELDS] = electromagnetic_follow(&config, (const int[]){1, 0});
    double *b = test_array(config.time.steps + 1, sizeof *b), most;
    for (uint64_t m = 0; m <= config.time.steps; m++)
        b[m] = hypot(cabs(series[m][4]), cabs(series[m][5]));
    const double rate = growth(b, config.time.steps, config.time.step, &most);
    const double trapping = wave->ck / light * v * 2 * most / gamma / (rate * rate);
    print_message("v %.1f, ck %.1f: rate %.5f, formula %.5f (%.1e); B from %.1e to %.3f: trapping %.2f\n", v,
                  wave->ck, rate, expected, rate / expected - 1, 2 * b[0], 2 * most, trapping);
    assert_near(rate, expected, tolerance * expected);
    assert_true(trapping > 0.4 && trapping < 2.5);
}

/* Of a number of particles and of those along x, and a speed. */
#define BEAM(name, sign)                                                                                     \
    "{name: " name ", charge: -1, mass: 1, density: 0.5, particles: %d, positions: {kind: lattice, counts: " \
    "[%d, 2]}, velocities: {kind: cold, dimensions: 3, drift: [0, 0, " sign "%g]}}"

/* Beams of +-beta c along z, of density 1/2: omega^4 - omega^2 (c^2 k^2 + g^-3) - c^2 k^2 beta^2/g = 0. */
TEST(cold_beams_pinch_as_fast_as_the_dispersion_relation_says)
{
    static const struct {
        double beta;
        struct instability wave;
    } cases[] = {
        {0.3, {48, 2, 0.06, 60, 1e-6}}, {0.5, {48, 2, 0.06, 40, 1e-6}}, {0.8, {48, 3, 0.04, 28, 1e-6}}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const double beta = cases[n].beta, ck = cases[n].wave.ck, g = 1 / sqrt(1 - beta * beta);
        const double half = (ck * ck + pow(g, -3)) / 2;
        const double expected = sqrt(sqrt(half * half + ck * ck * beta * beta / g) - half);
        const int along = 4 * (int)cases[n].wave.cells;
        char species[1024];
        snprintf(species, sizeof species, BEAM("right", "") ", " BEAM("left", "-"), 2 * along, along,
                 beta * light, 2 * along, along, beta * light);
        check_growth(&cases[n].wave, species, beta * light, g, expected, 0.02);
    }
}

/* Beams of +-beta c along the wave, of density 1/2 and the longitudinal mass g^3: 1 = s/(omega - k v)^2 +
 * s/(omega
 * + k v)^2 with s = 1/(2 g^3), which grows fastest, by sqrt(s)/2, at (k v)^2 = 3 s/4. */
TEST(relativistic_beams_bunch_as_fast_as_the_dispersion_relation_says)
{
    enum { CELLS = 64, ALONG = 8 * CELLS, STEPS = 2400 };
    const double step = 0.1;
    for (int n = 0; n < 2; n++) {
        const double beta = n ? 0.9 : 0.6, v = beta * light, s = pow(1 - beta * beta, 1.5) / 2;
        const double k = sqrt(0.75 * s) / v, expected = sqrt(s) / 2;
        char species[2][512];
        for (int b = 0; b < 2; b++)
            snprintf(
                species[b], sizeof species[b],
                "{name: b%d, charge: -1, mass: 1, density: 0.5, particles: %d, positions: {kind: lattice, "
                "counts: [%d, 2]}, velocities: {kind: cold, dimensions: 3, drift: [%g, 0, 0]}, perturb: "
                "{displacement: [{axis: x, mode: 1, amplitude: %g}]}}",
                b, 2 * ALONG, ALONG, b ? -v : v, b ? 0.0 : 1e-5);
        const struct config config = electromagnetic_config(
            "grid: {cells: [%d, 2], length: [%.17g, 8]}\n"
            "time: {step: %g, steps: %d}\n"
            "precision: double\n"
            "species: [%s, %s]\n"
            "fields: {solver: electromagnetic, speed_of_light: %g}\n",
            CELLS, 2 * M_PI / k, step, (int)(n ? STEPS : STEPS / 3), species[0], species[1], light);
        double complex(*series)[WAVE_FIELDS] = electromagnetic_follow(&config, (const int[]){1, 0});
        double *e = test_array(config.time.steps + 1, sizeof *e), most;
        for (uint64_t m = 0; m <= config.time.steps; m++)
            e[m] = cabs(series[m][0]);
        const double rate = growth(e, config.time.steps, step, &most);
        print_message("beta %.1f: rate %.5f, formula %.5f (%.1e)\n", beta, rate, expected,
                      rate / expected - 1);
        assert_near(rate, expected, 0.02 * expected);
    }
}

/* 1 + xi Z(xi) of the plasma dispersion function at xi = i y */
static double response(double y)
{
    return 1 - sqrt(M_PI) * y * exp(y * y) * erfc(y);
}

/* The rate g of a bi-Maxwellian, `ratio` times hotter across the wave than along it, where the thermal speed
 * is v: g^2 + c^2 k^2 + 1 = ratio (1 + xi Z(xi)), xi = i g/(sqrt(2) k v). The right side falls with g. */
static double weibel_rate(double ck, double ratio, double v)
{
    double low = 0, high = 1;
    for (int n = 0; n < 60; n++) {
        const double g = (low + high) / 2, left = g * g + ck * ck + 1;
        *(left < ratio * response(g / (sqrt(2) * ck / light * v)) ? &low : &high) = g;
    }
    return low;
}

/* Particles are relativistic and up to 0.4 c, which takes a part (v/c)^2 of the rate; noise 1 % or two. */
TEST(warm_plasma_pinches_as_fast_as_the_dispersion_relation_says)
{
    static const struct {
        double ratio, across;
        struct instability wave;
    } cases[] = {{25, 1, {16, 1.5, 0.2, 100, 1e-4}},
                 {25, 1, {16, 1, 0.2, 110, 1e-4}},
                 {9, 1, {16, 1, 0.2, 120, 1e-4}}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const double ratio = cases[n].ratio, across = cases[n].across, ck = cases[n].wave.ck;
        const double along = across / sqrt(ratio), expected = weibel_rate(ck, ratio, along);
        char species[512];
        snprintf(species, sizeof species,
                 "{name: e, charge: -1, mass: 1, density: 1, particles: 16384,\n"
                 "  velocities: {kind: maxwellian, dimensions: 3, thermal: [%.17g, %g, %g]}}",
                 along, across, across);
        check_growth(&cases[n].wave, species, across, 1, expected, 0.05);
    }
}

TEST_MAIN(open_device, close_device)
