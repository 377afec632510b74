/* Recipe: multiply out the density profiles and copy the rest of a species' config. */
#include "particles/recipe.h"

#include <string.h>

/* A sum of cosines that grows: mode 0 is the constant. */
struct sum {
    struct cosine *terms;
    uint32_t count;
};

static void sum_add(struct sum *sum, double mode, double coefficient)
{
    for (uint32_t n = 0; n < sum->count; n++)
        if (sum->terms[n].mode == mode) {
            sum->terms[n].coefficient += coefficient;
            return;
        }
    sum->terms[sum->count++] = (struct cosine){mode, coefficient};
}

/* sum *= 1 + a cos(m), by cos(p) cos(m) = (cos(p + m) + cos(p - m)) / 2. */
static void sum_multiply(struct sum *sum, const struct perturbation *factor)
{
    struct cosine before[RECIPE_MOST_TERMS];
    const uint32_t count = sum->count;
    memcpy(before, sum->terms, count * sizeof *before);
    for (uint32_t n = 0; n < count; n++) {
        const double half = 0.5 * factor->amplitude * before[n].coefficient;
        sum_add(sum, before[n].mode + factor->mode, half);
        sum_add(sum, fabs(before[n].mode - factor->mode), half);
    }
}

/* The density perturbations of one axis, multiplied out and divided by their mean, at `terms`; returns how
 * many terms besides the 1 there are. */
static uint32_t expand_density(const struct perturbation_list *list, enum axis axis, struct cosine *terms)
{
    struct sum sum = {.terms = terms};
    sum_add(&sum, 0.0, 1.0); /* stays first */
    for (uint32_t n = 0; n < list->count; n++)
        if (list->items[n].axis == axis)
            sum_multiply(&sum, &list->items[n]);
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

/* Appends the terms that `terms_of` makes of a list for an axis. */
static struct series
append_terms(uint32_t (*terms_of)(const struct perturbation_list *, enum axis, struct cosine *),
             const struct perturbation_list *list, enum axis axis, struct recipe_table *table)
{
    const uint32_t first = table->term_count;
    table->term_count += terms_of(list, axis, table->terms + first);
    return (struct series){first, table->term_count - first};
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
    const struct perturbation_list *density = &species->perturb.density;
    for (uint32_t n = 0; n < density->count; n++)
        if (!(fabs(density->items[n].amplitude) <= 1.0))
            return status_fail(STATUS_USAGE,
                               "species %s: perturb.density: amplitude %g makes the density negative; "
                               "amplitudes from -1 to 1 are allowed",
                               species->name, density->items[n].amplitude);
    table->recipe = (struct recipe){.cells = {grid->nx, grid->ny}};
    table->term_count = 0;
    for (uint32_t axis = AXIS_X; axis <= AXIS_Y; axis++) {
        table->recipe.position_bases[axis] = species->positions.bases[axis];
        if (species->positions.kind == POSITIONS_LATTICE)
            table->recipe.lattice[axis] = species->positions.counts[axis];
        set_velocities(&species->velocities, axis, &table->recipe);
        table->recipe.density[axis] = append_terms(expand_density, density, axis, table);
        table->recipe.displacement[axis] =
            append_terms(copy_displacement, &species->perturb.displacement, axis, table);
    }
    return STATUS_OK;
}
