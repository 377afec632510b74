/* Check: the rules of the electromagnetic solver, and which fields a solver has. */
#include "config/check.h"

#include "config/formulas.h"

#include <math.h>

static void check_speeds(struct reading *reading, uint32_t index)
{
    const double light = reading->config->fields.speed_of_light;
    const struct species_config *species = &reading->config->species[index];
    const double speed = greatest_speed(species);
    if (at(reading, "species.%u.velocities.dimensions", index) && species->push && !species_has_w(species))
        complain(reading, NULL, "an electromagnetic run needs velocities in three dimensions, found 2");
    if (species->velocities.kind == VELOCITIES_JUTTNER) {
        const double *thermal = species->velocities.thermal;
        if (at(reading, "species.%u.velocities.thermal", index) &&
            !(fmin(fmin(thermal[0], thermal[1]), thermal[2]) > 0 &&
              (thermal[1] == thermal[2] || thermal[0] == juttner_thermal(&species->velocities))))
            complain(reading, NULL,
                     "a Juttner distribution has one temperature, or another along one axis: expected three "
                     "numbers above 0, sqrt(T/m), of which two are the same, found %g, %g and %g",
                     thermal[0], thermal[1], thermal[2]);
        const double pair = juttner_thermal(&species->velocities),
                     hottest = fmax(thermal[0], fmax(thermal[1], thermal[2]));
        const double rest = juttner_end(pair, 1 / (light * light)) * (hottest / pair);
        const double *drift = species->velocities.drift;
        if (at(reading, "species.%u.velocities.drift", index) &&
            (thermal[0] != thermal[1] || thermal[0] != thermal[2]) &&
            (drift[0] != 0) + (drift[1] != 0) + (drift[2] != 0) > 1)
            complain(reading, NULL,
                     "expected a drift along one axis, since the temperatures differ, found %g, %g "
                     "and %g",
                     drift[0], drift[1], drift[2]);
        const double fastest = hypot(hypot(drift[0], drift[1]), drift[2]);
        if (at(reading, "species.%u.velocities.drift", index) && fastest >= light)
            complain(reading, NULL, "expected a drift below the speed of light, %g, found one of %.6g", light,
                     fastest);
        const double most = precision_fastest(reading->config->precision);
        if (at(reading, "species.%u.velocities.thermal", index) && fastest < light && pair > 0 &&
            !(2 * rest / sqrt(1 - pow(fastest / light, 2)) <= most))
            complain(reading, NULL,
                     "expected velocities of at most %g, which the precision holds, found some near %.3g",
                     most, 2 * rest / sqrt(1 - pow(fastest / light, 2)));
        return;
    }
    if (at(reading, "species.%u.velocities", index) && speed >= light)
        complain(reading, NULL,
                 "expected particles below the speed of light, %g, found some near %.3g; take a larger "
                 "fields.speed_of_light, or kind: juttner",
                 light, speed);
}

/* The sum over all nodes is of the electrostatic solver, on the whole of a small grid. */
static void check_transforms(struct reading *reading)
{
    const struct fields_config *fields = &reading->config->fields;
    const uint64_t nodes = (uint64_t)reading->config->grid.cells[0] * reading->config->grid.cells[1];
    if (!at(reading, "fields.transforms") || fields->transforms != TRANSFORMS_NONE)
        return;
    if (fields->solver == SOLVER_ELECTROMAGNETIC)
        complain(reading, NULL, "the electromagnetic solver needs transforms");
    else if (fields->decomposition == DECOMPOSITION_SLABS)
        complain(reading, NULL, "slabs need transforms; or take fields.decomposition: replicated");
    else if (is_sound(reading, "grid") && nodes > CONFIG_MOST_SUMMED)
        complain(reading, NULL, "none is for grids of up to %d nodes, found %llu", CONFIG_MOST_SUMMED,
                 (unsigned long long)nodes);
}

/* Of fields.initial only what is across k, and the means, can stand: the charges make the rest of E, and B
 * has no rest. */
static void check_initial(struct reading *reading)
{
    const struct config *config = reading->config;
    const struct nodes nodes = nodes_once(box_nodes(config->grid.cells, config->grid.length));
    check_field_formulas(reading, "initial");
    for (int field = 0; field < 2; field++) {
        const char name = "EB"[field];
        if (!is_sound(reading, "grid") || !at(reading, "fields.initial.%c", name))
            continue;
        const struct field_survey survey = field_survey(config, &config->fields.initial[field], NULL, 1);
        double mean[3] = {0, 0, 0};
        for (int axis = 0; axis < 3 && field == 0 && config->fields.mean == MEAN_ZERO; axis++)
            if (profile_is_given(config->fields.initial[0][axis], "0"))
                mean[axis] = nodes_mean(&nodes, config->fields.initial[0][axis], 1);
        if (survey.divergence > MOST_DIVERGENCE)
            complain(reading, NULL,
                     "expected div %c = 0%s, found %.2g of the largest slope at x = %g, y = %g", name,
                     field == 0 ? ", since the charges make the rest of E" : "", survey.divergence,
                     survey.place[0], survey.place[1]);
        else if (hypot(hypot(mean[0], mean[1]), mean[2]) > 1e-9 * survey.most_magnetic)
            complain(reading, NULL,
                     "expected a mean of 0 with fields.mean=zero, found (%.3g, %.3g, %.3g); take "
                     "fields.mean=ampere",
                     mean[0], mean[1], mean[2]);
    }
}

void check_electromagnetic(struct reading *reading)
{
    struct config *config = reading->config;
    check_transforms(reading);
    if (!is_sound(reading, "fields.solver"))
        return;
    if (config->fields.solver != SOLVER_ELECTROMAGNETIC) {
        for (uint32_t s = 0; s < config->species_count; s++)
            if (at(reading, "species.%u.velocities.kind", s) &&
                config->species[s].velocities.kind == VELOCITIES_JUTTNER)
                complain(reading, NULL, "juttner belongs to the solver electromagnetic");
        if (at(reading, "step.pusher") && config->step.pusher != PUSHER_BORIS)
            complain(reading, NULL,
                     "vay and higuera_cary are relativistic: they belong to the solver electromagnetic");
        return;
    }
    if (config->fields.speed_of_light == SPEED_AUTO && is_sound(reading, "units"))
        config->fields.speed_of_light = units_make(&config->units).speed_of_light;
    if (!is_sound(reading, "fields.speed_of_light") || !is_sound(reading, "units"))
        return;
    const double most = config_longest_step(config); /* printed with six digits, which may round it up */
    if (is_sound(reading, "grid") && at(reading, "time.step") && config->time.step > most * (1 + 1e-5))
        complain(reading, NULL, "expected at most %.6g, with a speed of light of %g on such cells, found %g",
                 most, config->fields.speed_of_light, config->time.step);
    check_initial(reading);
    for (uint32_t s = 0; s < config->species_count; s++) {
        check_speeds(reading, s);
        config->species[s].per_c_squared = pow(config->fields.speed_of_light, -2);
    }
    if (at(reading, "fields.gradient") && config->fields.gradient != GRADIENT_SPECTRAL)
        complain(reading, NULL, "the electromagnetic solver has the spectral gradient alone");
    if (at(reading, "collisions") && config->collision_count > 0)
        complain(reading, NULL,
                 "collisions are not relativistic: they belong to the electrostatic solver alone");
}

void check_field_list(struct reading *reading, const char *path, const char *key,
                      const struct field_list *fields)
{
    const enum solver_name solver = reading->config->fields.solver;
    const bool is_read = at(reading, "%s.%s", path, key) && is_sound(reading, "fields.solver");
    for (uint32_t n = 0; n < fields->count && is_read; n++)
        if (fields->items[n] < FIELDS && field_components(solver, fields->items[n]) == 0)
            complain(reading, NULL,
                     "the electrostatic solver has no field %s; fields.solver=electromagnetic has it",
                     field_table[fields->items[n]].word);
}
