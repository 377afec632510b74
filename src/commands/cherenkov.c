/* Cherenkov: radiation that a fast drift makes on a grid, and in no plasma. A wave k of the grid also acts on
 * particles, and is made by them, as the waves K = k + 2 pi (mx/dx, my/dy), by less with a higher shape;
 * where light has the frequency with which particles pass K, c |k| = K v + 2 pi l/dt, both grow: B. B.
 * Godfrey, J. Comput. Phys. 15, 504 (1974); B. B. Godfrey and J.-L. Vay, J. Comput. Phys. 248, 33 (2013). */
#include "commands/consequences.h"

#include "config/schema.h"

#include <math.h>

enum { ALIASES = 2, TIME_ALIASES = 1, DIRECTIONS = 360 };

/* beta <- the mean velocity over c of a species, where its drift is largest. Returns the gamma of that. */
static double gamma_of(const struct config *config, const struct species_config *species, double beta[3])
{
    const bool is_read = species->velocities.kind == VELOCITIES_FILE; /* u = gamma v */
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double drift = species->velocities.drift[axis] + species->read.facts.mean[axis];
        beta[axis] =
            (drift + copysign(species->profile.most_drift[axis], drift)) / config->fields.speed_of_light;
        square += beta[axis] * beta[axis];
    }
    const double gamma = is_read ? sqrt(1 + square) : 1 / sqrt(1 - square);
    for (int axis = 0; axis < 3 && is_read; axis++)
        beta[axis] /= gamma;
    return gamma;
}

/* What a species does to a wave: d = a^3 <1/(d - D)^2>, where d is the change of the frequency, D the
 * distance from resonance, and K v has a spread. */
struct pull {
    double cube;     /* a^3; 0 is no pull */
    double variance; /* of K v */
};

/* On light that runs to `angle`, and K with the numbers mx, my and l; `spread` is species_thermal_speed(). */
static struct pull pull_of(const struct config *config, const struct species_config *species,
                           const double spread[3], double angle, const int aliases[3],
                           const struct deposit_config *deposit)
{
    const double c = config->fields.speed_of_light, step = config->time.step;
    const double n[2] = {cos(angle), sin(angle)};
    double beta[3], sums[3] = {2 * M_PI * aliases[2] / (c * step), 0, 0}, wave[2], weight = 1, variance = 0;
    const double gamma = gamma_of(config, species, beta), along = n[0] * beta[0] + n[1] * beta[1];
    const double across = pow(hypot(beta[0], beta[1]), 2) + beta[2] * beta[2] - along * along;
    for (int a = 0; a < 2; a++)
        sums[0] += beta[a] * 2 * M_PI * aliases[a] * config->grid.cells[a] / config->grid.length[a];
    const double size = sums[0] / (1 - along);
    for (int a = 0; a < 2; a++) {
        const double k = size * n[a], per_wave = config->grid.length[a] / (2 * M_PI);
        const double cell = config->grid.length[a] / config->grid.cells[a];
        wave[a] = k + 2 * M_PI * aliases[a] / cell;
        weight *= pow(sin(wave[a] * cell / 2) / (wave[a] * cell / 2), 2.0 * (deposit->shape + 1)) *
                  deposit_filter(deposit, k * cell);
        /* Waves as long as the box at most, and below Nyquist's. */
        weight *= fabs(k) * per_wave >= (fabs(beta[a]) < fabs(beta[!a])) &&
                  2 * fabs(k) * per_wave < config->grid.cells[a];
        sums[1] += wave[a] * beta[a];
        sums[2] += wave[a] * n[a];
    }
    /* K (E + v x B - v (v E)/c^2)/gamma, for E of light along the part of v across k, which it feeds */
    const double pull = fabs(sums[1] * (1 - along - across) - sums[2] * (along * (1 - along) - across));
    const double cube = 0.5 * species->density * pow(species->charge, 2) / (species->mass * gamma) * weight *
                        c * pull * sin(c * size * step / 2) / (c * size * step / 2);
    const bool is_juttner = species->velocities.kind == VELOCITIES_JUTTNER;
    for (int a = 0; a < 3 && is_juttner; a++) /* of the frame that drifts: 1/gamma across, 1/gamma^2 along */
        variance += pow(spread[a] / gamma, 2) *
                    ((a < 2 ? pow(wave[a], 2) : 0) - pow(beta[a] * sums[1], 2) / (1 - pow(gamma, -2)));
    for (int a = 0; a < 2 && !is_juttner; a++) /* of u: dv = (du - v (v du)/c^2)/gamma */
        variance += pow(spread[a] * (species->velocities.kind == VELOCITIES_FILE
                                         ? (wave[a] - sums[1] * beta[a]) / gamma
                                         : wave[a]),
                        2);
    return size > 0 && cube > 0 ? (struct pull){cube, variance} : (struct pull){0, 0};
}

static bool drift_together(const struct config *config, const struct species_config *one,
                           const struct species_config *other)
{
    const double close = 1e-3; /* of c: species further apart meet other waves */
    double beta[3], others[3];
    (void)gamma_of(config, one, beta);
    (void)gamma_of(config, other, others);
    return other->charge_density &&
           hypot(hypot(beta[0] - others[0], beta[1] - others[1]), beta[2] - others[2]) < close;
}

/* Cold particles have d (d - D)^2 = a^3, which grows by up to sqrt(3)/2 a. A spread s makes that up to
 * 0.76 a^3/s^2 where s is large. Between, with the best D, a^3/(1.155 a^2 + 1.15 s^2) is within 5 % of the
 * roots up to s = 2 a, and above the growth beyond. The pulls of several species add; those that are colder
 * than others may grow faster alone. */
static double growth_of(uint32_t count, const struct pull *pulls)
{
    double cubes = 0, together = 0, alone = 0;
    for (uint32_t s = 0; s < count; s++)
        cubes += pulls[s].cube;
    for (uint32_t s = 0; s < count && cubes > 0; s++) {
        const double cube = pulls[s].cube, spread = 1.15 * pulls[s].variance;
        together += cube / (1.155 * pow(cubes, 2.0 / 3) + spread);
        alone = cube > 0 ? fmax(alone, cube / (1.155 * pow(cube, 2.0 / 3) + spread)) : alone;
    }
    return fmax(together, alone);
}

/* The rate at which the amplitude of the fastest wave grows with this deposit, in omega_p: to first order in
 * growth over frequency, of a uniform plasma of this species and those that drift with it, with their mean
 * velocities and normal distributions of their spread along x and y. */
static double fastest_growth(const struct config *config, const struct species_config *species,
                             const struct deposit_config *deposit)
{
    const struct species_config *together[CONFIG_MAX_SPECIES];
    struct pull pulls[CONFIG_MAX_SPECIES];
    double spread[CONFIG_MAX_SPECIES][3];
    uint32_t count = 0;
    double most = 0;
    for (uint32_t s = 0; s < config->species_count; s++)
        if (drift_together(config, species, &config->species[s]))
            together[count++] = &config->species[s];
    for (uint32_t s = 0; s < count; s++)
        for (int axis = 0; axis < 3; axis++)
            spread[s][axis] = species_thermal_speed(together[s], axis);
    for (int n = 0; n < DIRECTIONS; n++)
        for (int mx = -ALIASES; mx <= ALIASES; mx++)
            for (int my = -ALIASES; my <= ALIASES; my++)
                for (int l = -TIME_ALIASES; l <= TIME_ALIASES; l++) {
                    for (uint32_t s = 0; s < count; s++)
                        pulls[s] = pull_of(config, together[s], spread[s], 2 * M_PI * (n + 0.5) / DIRECTIONS,
                                           (const int[]){mx, my, l}, deposit);
                    most = fmax(most, growth_of(count, pulls));
                }
    return most;
}

void cherenkov_warn(const struct config *config, struct log *log)
{
    const double least = 0.03, least_gamma = 1.3;
    struct deposit_config smooth = config->deposit;
    const struct species_config *fastest = NULL;
    double most = least, beta[3];
    for (uint32_t s = 0; s < config->species_count; s++) {
        const struct species_config *species = &config->species[s];
        if (!species->charge_density || gamma_of(config, species, beta) <= least_gamma)
            continue;
        const double growth = fastest_growth(config, species, &config->deposit);
        fastest = growth > most ? species : fastest;
        most = fmax(most, growth);
    }
    if (!fastest)
        return;
    smooth.shape = smooth.shape > SHAPE_TSC ? smooth.shape : SHAPE_TSC;
    smooth.filter_passes = smooth.filter_passes > 2 ? smooth.filter_passes : 2;
    while (smooth.filter_passes < 100 && fastest_growth(config, fastest, &smooth) > least)
        smooth.filter_passes++;
    log_warning(
        log,
        "species %s drifts with gamma = %.3g, and numerical Cherenkov radiation of the grid heats it: "
        "in a uniform plasma of all species of this drift waves grow as exp(%.2g t) at most; take "
        "deposit.shape=%s and deposit.filter_passes=%u",
        fastest->name, gamma_of(config, fastest, beta), most,
        value_word(schema_find(&config_schema, "deposit.shape")->choices, (int)smooth.shape),
        smooth.filter_passes);
}
