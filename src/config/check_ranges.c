/* Check ranges: numbers that are too large or too small for what a run does with them. */
#include "config/check.h"

#include "shared/shape.h"

#include <math.h>

/* Of N vectors of a normal distribution in three dimensions the longest has about sqrt(2 ln N) + 1 standard
 * deviations; one more is for the chance. */
double greatest_speed(const struct species_config *species)
{
    const double thermal = sqrt(2 * log((double)species->particles)) + 2;
    double mean[3], most = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double scale =
            fmax(1, species->profile.most_thermal[axis]) * species_thermal_speed(species, axis);
        const bool is_normal = species->velocities.kind == VELOCITIES_MAXWELLIAN;
        mean[axis] = species_fastest_speed(species, axis) - (is_normal ? 3 * scale : 0);
        for (int end = 0; end < 2; end++) /* of a range, which other kinds have not */
            mean[axis] = fmax(mean[axis], fabs(species->velocities.range[axis][end]));
        most = is_normal ? fmax(most, scale) : 0;
    }
    return hypot(hypot(mean[0], mean[1]), mean[2]) + thermal * most;
}

static void check_precision(struct reading *reading, uint32_t index)
{
    const double most = precision_fastest(reading->config->precision);
    const double speed = greatest_speed(&reading->config->species[index]);
    if (is_sound(reading, "precision") && is_sound(reading, "species") && !(speed <= most) &&
        at(reading, "species.%u.velocities", index))
        complain(reading, NULL,
                 "expected speeds of at most %g, which the precision holds, found some near %.3g", most,
                 speed);
}

/* A node that a shape reaches is at most a box beside it: wrap_near(). The current is of half a step before,
 * where particles reach as many nodes as with the next order. */
static void check_shape(struct reading *reading)
{
    const struct config *config = reading->config;
    const int order = (int)config->deposit.shape + (config->fields.solver == SOLVER_ELECTROMAGNETIC);
    const uint32_t fewest = (uint32_t)SHAPE_NODES_OF(order) / 2;
    if (at(reading, "deposit.shape") && is_sound(reading, "grid") &&
        (config->grid.cells[0] < fewest || config->grid.cells[1] < fewest))
        complain(reading, NULL, "this shape takes %u or more cells along x and y, found %u and %u", fewest,
                 config->grid.cells[0], config->grid.cells[1]);
}

/* Numbers of SI in keys that count in normalised units: each is near a constant of nature, which no
 * normalised value would be by chance. */
struct constant_of_nature {
    const char *key; /* of a species, or of the config */
    double value;    /* CODATA 2018 */
    const char *is, *instead;
};

static const struct constant_of_nature of_species[] = {
    {"mass", 9.1093837015e-31, "an electron's mass in kg",
     "masses count in electron masses: an electron has 1"},
    {"mass", 1.67262192369e-27, "a proton's mass in kg",
     "masses count in electron masses: a proton has 1836.15"},
    {"charge", 1.602176634e-19, "an elementary charge in C",
     "charges count in elementary charges: an electron has -1"},
};

static const struct constant_of_nature speed_of_light = {
    "speed_of_light", 299792458, "in m/s",
    "it counts in thermal velocities: auto is that of units.temperature_eV"};

/* Where complain() is at the key. To 2 %: of a value that was rounded to two digits. */
static void check_number(struct reading *reading, const struct constant_of_nature *constant, double number)
{
    if (fabs(fabs(number) / constant->value - 1) < 0.02)
        complain(reading, NULL, "%g is %s; %s", number, constant->is, constant->instead);
}

void check_ranges(struct reading *reading)
{
    const struct config *config = reading->config;
    if (is_sound(reading, "fields.solver"))
        check_shape(reading);
    for (uint32_t s = 0; s < config->species_count; s++) {
        check_precision(reading, s);
        for (size_t n = 0; n < sizeof of_species / sizeof of_species[0]; n++)
            if (at(reading, "species.%u.%s", s, of_species[n].key))
                check_number(reading, &of_species[n],
                             of_species[n].key[0] == 'm' ? config->species[s].mass
                                                         : config->species[s].charge);
    }
    if (config->fields.solver == SOLVER_ELECTROMAGNETIC && at(reading, "fields.speed_of_light"))
        check_number(reading, &speed_of_light, config->fields.speed_of_light);
}
