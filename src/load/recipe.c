/* Recipe: multiply out the density profiles and copy the rest of a species' config. */
#include "load/recipe.h"

#include <stdlib.h>
#include <string.h>

/* A sum of cosines that grows: mode 0 is the constant. */
struct sum {
    struct cosine *terms;
    uint32_t count;
};

/* Most terms that a product of `factors` factors 1 + a cos has: every factor adds a mode, takes it off or
 * does neither, and signs fold. */
static size_t most_terms(uint32_t factors)
{
    size_t combinations = 1;
    for (uint32_t n = 0; n < factors; n++)
        combinations *= 3;
    return (combinations + 1) / 2;
}

static void sum_add(struct sum *sum, double mode, double coefficient)
{
    for (uint32_t n = 0; n < sum->count; n++)
        if (sum->terms[n].mode == mode) {
            sum->terms[n].coefficient += coefficient;
            return;
        }
    sum->terms[sum->count++] = (struct cosine){mode, coefficient};
}

/* sum *= 1 + a cos(m), by cos(p) cos(m) = (cos(p + m) + cos(p - m)) / 2. `scratch` is as large as the terms.
 */
static void sum_multiply(struct sum *sum, const struct perturbation *factor, struct cosine *scratch)
{
    const uint32_t count = sum->count;
    memcpy(scratch, sum->terms, count * sizeof *scratch);
    for (uint32_t n = 0; n < count; n++) {
        const double half = 0.5 * factor->amplitude * scratch[n].coefficient;
        sum_add(sum, scratch[n].mode + factor->mode, half);
        sum_add(sum, fabs(scratch[n].mode - factor->mode), half);
    }
}

/* The density perturbations of one axis, multiplied out and divided by their mean, at `terms`; returns how
 * many terms besides the 1 there are. */
static uint32_t expand_density(const struct perturbation_list *list, enum axis axis, struct cosine *terms,
                               struct cosine *scratch)
{
    struct sum sum = {.terms = terms};
    sum_add(&sum, 0.0, 1.0); /* stays first */
    for (uint32_t n = 0; n < list->count; n++)
        if (list->items[n].axis == axis)
            sum_multiply(&sum, &list->items[n], scratch);
    const double mean = sum.terms[0].coefficient;
    for (uint32_t n = 1; n < sum.count; n++)
        terms[n - 1] = (struct cosine){terms[n].mode, terms[n].coefficient / mean};
    return sum.count - 1;
}

static uint32_t copy_displacement(const struct perturbation_list *list, enum axis axis, struct cosine *terms)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < list->count; n++)
        if (list->items[n].axis == axis)
            terms[count++] = (struct cosine){list->items[n].mode, list->items[n].amplitude};
    return count;
}

static enum status create_terms(const struct species_config *species, struct recipe_table *table)
{
    const struct perturbation_list *density = &species->perturb.density;
    const struct perturbation_list *displacement = &species->perturb.displacement;
    for (uint32_t n = 0; n < density->count; n++)
        if (!(fabs(density->items[n].amplitude) <= 1.0))
            return status_fail(STATUS_USAGE,
                               "species %s: perturb.density: amplitude %g makes the density negative; "
                               "amplitudes from -1 to 1 are allowed",
                               species->name, density->items[n].amplitude);
    const size_t most = most_terms(density->count);
    table->terms = malloc((2 * most + displacement->count) * sizeof *table->terms);
    struct cosine *scratch = malloc(most * sizeof *scratch);
    if (!table->terms || !scratch) {
        free(scratch);
        return status_fail(STATUS_FAILED, "species %s: no memory for its density profile", species->name);
    }
    for (uint32_t axis = AXIS_X; axis <= AXIS_Y; axis++) {
        const uint32_t found = expand_density(density, axis, table->terms + table->term_count, scratch);
        table->recipe.density[axis] = (struct series){table->term_count, found};
        table->term_count += found;
    }
    for (uint32_t axis = AXIS_X; axis <= AXIS_Y; axis++) {
        const uint32_t found = copy_displacement(displacement, axis, table->terms + table->term_count);
        table->recipe.displacement[axis] = (struct series){table->term_count, found};
        table->term_count += found;
    }
    free(scratch);
    return STATUS_OK;
}

static void set_velocities(const struct velocities_config *config, uint32_t axis, struct recipe *recipe)
{
    recipe->velocity_bases[axis] = config->bases[axis];
    recipe->shift[axis] = config->drift[axis];
    switch (config->kind) {
    case VELOCITIES_COLD:
        recipe->velocities = LOADING_COLD;
        break;
    case VELOCITIES_MAXWELLIAN:
        recipe->velocities = LOADING_MAXWELLIAN;
        recipe->scale[axis] = config->thermal[axis];
        break;
    case VELOCITIES_UNIFORM:
        recipe->velocities = LOADING_UNIFORM;
        recipe->shift[axis] = config->range[axis][0];
        recipe->scale[axis] = config->range[axis][1] - config->range[axis][0];
        break;
    }
}

enum status recipe_table_create(const struct grid *grid, const struct species_config *species,
                                struct recipe_table *table)
{
    *table = (struct recipe_table){.recipe = {.cells = {grid->nx, grid->ny}}};
    for (uint32_t axis = AXIS_X; axis <= AXIS_Y; axis++) {
        table->recipe.position_bases[axis] = species->positions.bases[axis];
        if (species->positions.kind == POSITIONS_LATTICE)
            table->recipe.lattice[axis] = species->positions.counts[axis];
        set_velocities(&species->velocities, axis, &table->recipe);
    }
    return create_terms(species, table);
}

void recipe_table_destroy(struct recipe_table *table)
{
    free(table->terms);
    *table = (struct recipe_table){0};
}
