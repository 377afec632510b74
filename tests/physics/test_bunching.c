/* Bunching: beams of relativistic electrons along the wave. How beams across it pinch tests/cli/test_docs.py
 * has, by configs/filamentation.yaml and weibel.yaml. Units: omega_p = 1; fields depend on x alone, and the
 * wave is mode (1, 0).
 */
#include "support/electromagnetic_support.h"

static const double light = 10;

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

TEST_MAIN(open_device, close_device)
