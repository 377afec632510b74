/* Check: the rules of fields.drive and of collisions. */
#include "config/reading.h"

#include <math.h>
#include <string.h>

/* The work of a drive is that on the filtered density, divided by what the filter leaves of its mode: below
 * this, round-off of single precision would be 1e-4 of it. */
#define LEAST_FILTERED 1e-3

/* A wave at the Nyquist mode is seen at the nodes as +1, -1, +1, ... or not at all, wherever it has run
 * to. */
static void check_drive(struct reading *reading, uint32_t index)
{
    const struct drive_config *drive = &reading->config->fields.drive[index];
    const uint32_t cells = reading->config->grid.cells[drive->axis];
    const char axis = "xy"[drive->axis];
    const double left = pow((1 + cos(2 * acos(-1.0) * drive->mode / cells)) / 2,
                            reading->config->deposit.filter_passes); /* kernels/filter.cl */
    if (is_sound(reading, "grid.cells") && at(reading, "fields.drive.%u.axis", index) &&
        at(reading, "fields.drive.%u.mode", index)) {
        if (drive->mode >= (cells + 1) / 2)
            complain(reading, NULL, "expected less than half of the %u cells along %c, found %u", cells, axis,
                     drive->mode);
        else if (left < LEAST_FILTERED)
            complain(
                reading, NULL,
                "expected a mode of which deposit.filter_passes leaves at least %g, found %u, of which it "
                "leaves %.3g",
                LEAST_FILTERED, drive->mode, left);
    }
    if (at(reading, "fields.drive.%u.from", index) && at(reading, "fields.drive.%u.until", index) &&
        drive->until > 0 && drive->until <= drive->from)
        complain(reading, NULL, "expected a time after from, %g, or 0, found %g", drive->from, drive->until);
    else if (at(reading, "fields.drive.%u.ramp", index) && drive->until > 0 &&
             2 * drive->ramp > drive->until - drive->from)
        complain(reading, NULL, "expected at most half of the time from `from` to `until`, %g, found %g",
                 (drive->until - drive->from) / 2, drive->ramp);
}

void check_fields(struct reading *reading)
{
    for (uint32_t i = 0; i < reading->config->fields.drive_count; i++)
        check_drive(reading, i);
}

/* ---- collisions ---- */

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
    }
}

static bool same_pair(const struct collision_config *a, const struct collision_config *b)
{
    return (strcmp(a->species[0], b->species[0]) == 0 && strcmp(a->species[1], b->species[1]) == 0) ||
           (strcmp(a->species[0], b->species[1]) == 0 && strcmp(a->species[1], b->species[0]) == 0);
}

void check_collisions(struct reading *reading)
{
    const struct config *config = reading->config;
    for (uint32_t i = 0; i < config->collision_count; i++) {
        const struct collision_config *items = config->collisions;
        check_collision(reading, i);
        for (uint32_t j = 0; j < i; j++)
            if (at(reading, "collisions.%u.species", i) && same_pair(&items[i], &items[j]))
                complain(reading, NULL, "expected each pair of species once, found %s and %s again",
                         items[i].species[0], items[i].species[1]);
    }
}
