/* Check, collisions: the rules of pairs of species. */
#include "config/check.h"

#include <string.h>

/* A species without w would lose the part of its energy that a collision turns along z. */
static void check_collision(struct reading *reading, uint32_t index)
{
    const struct config *config = reading->config;
    const struct collision_config *collision = &config->collisions[index];
    for (uint32_t n = 0; n < 2; n++) {
        const bool is_twice = n > 0 && strcmp(collision->species[0], collision->species[n]) == 0;
        if (!at(reading, "collisions.%u.species", index) || !is_sound(reading, "species") || is_twice)
            continue;
        const char *name = collision->species[n];
        check_species_name(reading, name, "");
        const uint32_t s = species_find(config, name);
        if (s == config->species_count)
            continue;
        if (!species_has_w(&config->species[s]))
            complain(reading, NULL,
                     "collisions turn velocities in three dimensions, but species %s has two: set "
                     "species.%s.velocities.dimensions=3",
                     name, name);
        else if (!config->species[s].push)
            complain(reading, NULL,
                     "species %s is not pushed and stands still: it has no velocities to change", name);
        else if (config->species[s].charge == 0)
            complain(reading, NULL, "species %s has no charge: Coulomb collisions need one", name);
        else if (config->species[s].weights != WEIGHTS_EQUAL)
            complain(reading, NULL,
                     "species %s has weights, which differ between its particles: collisions need equal ones",
                     name);
    }
}

void check_collisions(struct reading *reading)
{
    const struct config *config = reading->config;
    for (uint32_t i = 0; i < config->collision_count; i++) {
        char(*const pair)[CONFIG_NAME_LENGTH] = config->collisions[i].species;
        check_collision(reading, i);
        for (uint32_t j = 0; j < i; j++) {
            char(*const other)[CONFIG_NAME_LENGTH] = config->collisions[j].species;
            const bool turned = strcmp(pair[0], other[0]) != 0;
            if (strcmp(pair[0], other[turned]) == 0 && strcmp(pair[1], other[!turned]) == 0 &&
                at(reading, "collisions.%u.species", i))
                complain(reading, NULL, "expected each pair of species once, found %s and %s again", pair[0],
                         pair[1]);
        }
    }
}
