/* Numbers of SI in keys that count in normalised units: each is near a constant of nature, which no
 * normalised value would be by chance. */
#include "config/reading.h"

#include <math.h>

struct constant {
    const char *key; /* of a species, or of the config */
    double value;    /* CODATA 2018 */
    const char *is, *instead;
};

static const struct constant of_species[] = {
    {"mass", 9.1093837015e-31, "an electron's mass in kg",
     "masses count in electron masses: an electron has 1"},
    {"mass", 1.67262192369e-27, "a proton's mass in kg",
     "masses count in electron masses: a proton has 1836.15"},
    {"charge", 1.602176634e-19, "an elementary charge in C",
     "charges count in elementary charges: an electron has -1"},
};

static const struct constant speed_of_light = {
    "speed_of_light", 299792458, "in m/s",
    "it counts in thermal velocities: auto is that of units.temperature_eV"};

/* Where complain() is at the key. To 2 %: of a value that was rounded to two digits. */
static void check_number(struct reading *reading, const struct constant *constant, double number)
{
    if (fabs(fabs(number) / constant->value - 1) < 0.02)
        complain(reading, NULL, "%g is %s; %s", number, constant->is, constant->instead);
}

void check_units(struct reading *reading)
{
    const struct config *config = reading->config;
    for (uint32_t s = 0; s < config->species_count; s++)
        for (size_t n = 0; n < sizeof of_species / sizeof of_species[0]; n++)
            if (at(reading, "species.%u.%s", s, of_species[n].key))
                check_number(reading, &of_species[n],
                             of_species[n].key[0] == 'm' ? config->species[s].mass
                                                         : config->species[s].charge);
    if (config->fields.solver == SOLVER_ELECTROMAGNETIC && at(reading, "fields.speed_of_light"))
        check_number(reading, &speed_of_light, config->fields.speed_of_light);
}
