/* Recipe: multiply out the density profiles, tabulate formulas and copy the rest of a species' config. */
#include "particles/recipe.h"

#include "config/formulas.h"

#include <stdlib.h>
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

/* Appends the density perturbations of one axis, multiplied out and divided by their mean, without the 1. */
static struct series expand_density(const struct perturbation_list *list, enum axis axis,
                                    struct recipe_table *table)
{
    const uint32_t first = table->term_count;
    struct cosine *terms = table->terms + first;
    struct sum sum = {.terms = terms};
    sum_add(&sum, 0.0, 1.0); /* stays first */
    for (uint32_t n = 0; n < list->count; n++)
        if (list->items[n].axis == axis)
            sum_multiply(&sum, &list->items[n]);
    const double mean = sum.terms[0].coefficient;
    for (uint32_t n = 1; n < sum.count; n++)
        terms[n - 1] = (struct cosine){terms[n].mode, terms[n].coefficient / mean};
    table->term_count += sum.count - 1;
    return (struct series){first, sum.count - 1};
}

static struct series copy_displacement(const struct perturbation_list *list, enum axis axis,
                                       struct recipe_table *table)
{
    const uint32_t first = table->term_count;
    for (uint32_t n = 0; n < list->count; n++)
        if (list->items[n].axis == axis)
            table->terms[table->term_count++] =
                (struct cosine){list->items[n].mode, list->items[n].amplitude};
    return (struct series){first, table->term_count - first};
}

static void set_velocities(const struct velocities_config *config, uint32_t axis, struct recipe *recipe)
{
    recipe->velocity_bases[axis] = config->generator == GENERATOR_RANDOM ? 0 : config->bases[axis];
    recipe->shift[axis] = config->drift[axis];
    switch (config->kind) {
    case VELOCITIES_COLD:
    case VELOCITIES_FILE:
        recipe->velocities = LOADING_COLD;
        break;
    case VELOCITIES_MAXWELLIAN:
        recipe->velocities = LOADING_MAXWELLIAN;
        recipe->scale[axis] = config->thermal[axis];
        break;
    case VELOCITIES_JUTTNER:
        recipe->velocities = LOADING_JUTTNER;
        recipe->scale[axis] = juttner_end(juttner_thermal(config), recipe->per_c_squared) *
                              config->thermal[axis] / juttner_thermal(config);
        break;
    case VELOCITIES_FORMULA:
        recipe->velocities = LOADING_RANGE;
        recipe->shift[axis] = config->range[axis][0];
        recipe->scale[axis] = config->range[axis][1] - config->range[axis][0];
        break;
    }
}

/* ---- formulas ---- */

static const char no_memory[] = "no memory for the formulas of a species";

/* Pairs (integral, density) by the trapezoidal rule from `count` densities, each `stride` numbers from the
 * last; `pairs` may overlap them where they are its second numbers. */
static void integrate(const double *density, size_t stride, size_t count, double *pairs)
{
    double sum = 0, before = density[0];
    for (size_t n = 0; n < count; n++) {
        const double here = density[n * stride];
        sum += n > 0 ? 0.5 * (before + here) : 0;
        pairs[2 * n] = sum;
        pairs[2 * n + 1] = before = here;
    }
}

/* Appends `length` numbers to the tables, which may move. Returns them to be set; NULL: no memory. */
static double *append_table(struct recipe_table *table, size_t length, uint32_t *first)
{
    double *tables = realloc(table->tables, (table->length + length) * sizeof *tables);
    if (!tables)
        return NULL;
    *first = (uint32_t)table->length;
    table->tables = tables;
    table->length += length;
    return tables + *first;
}

static enum status add_values(const struct nodes *nodes, const char *formula, const char *none,
                              uint32_t *first, struct recipe_table *table)
{
    *first = PROFILE_NONE;
    if (!profile_is_given(formula, none))
        return STATUS_OK;
    double *values = append_table(table, nodes_count(nodes), first);
    return values && nodes_tabulate(nodes, formula, false, values) ? STATUS_OK
                                                                   : status_fail(STATUS_FAILED, no_memory);
}

/* Appends the rows of one number of a density, the values at the nodes, or of two, of which number n is the
 * first. Without memory there are no values. */
static enum status add_rows(uint32_t n, const struct nodes *nodes, const double *values,
                            struct density_rows *rows, struct recipe_table *table)
{
    const size_t along = nodes->intervals[0] + 1, across = nodes->intervals[1] + 1;
    const size_t pairs_length = across > 1 ? along * across : 0;
    double *first = values ? append_table(table, 2 * (along + pairs_length), &rows->first[n]) : NULL;
    if (!first)
        return status_fail(STATUS_FAILED, no_memory);
    rows->intervals[n] = nodes->intervals[0];
    if (across == 1) {
        integrate(values, 1, along, first);
        return STATUS_OK;
    }
    double *pairs = first + 2 * along;
    for (size_t i = 0; i < along; i++)
        integrate(values + i * across, 1, across, pairs + 2 * i * across);
    integrate(pairs + 2 * (across - 1), 2 * across, along, first);
    rows->intervals[n + 1] = nodes->intervals[1];
    rows->first[n + 1] = rows->first[n] + (uint32_t)(2 * along);
    rows->stride = (uint32_t)(2 * across);
    return STATUS_OK;
}

/* The density is from what was read of a file, or of a formula. */
static enum status add_profile(const struct grid *grid, const struct species_config *species,
                               struct recipe_table *table)
{
    const struct profile_config *config = &species->profile;
    struct profile_tables *profile = &table->recipe.profile;
    const struct nodes nodes =
        profile_nodes((const uint32_t[]){grid->nx, grid->ny}, (const double[]){grid->lx, grid->ly});
    memcpy(profile->intervals, nodes.intervals, sizeof nodes.intervals);
    for (uint32_t axis = 0; axis < 3; axis++) {
        TRY(add_values(&nodes, config->drift[axis], "0", &profile->drift[axis], table));
        TRY(add_values(&nodes, config->thermal[axis], "1", &profile->thermal[axis], table));
    }
    if (species->read.density_nodes)
        return add_rows(0, &nodes, species->read.density_nodes, &table->recipe.positions, table);
    if (!config->file[0] && !profile_is_given(config->density, "1"))
        return STATUS_OK;
    double *values = malloc(nodes_count(&nodes) * sizeof *values);
    const bool are_there = values && nodes_tabulate(&nodes, config->density, false, values);
    const enum status status =
        add_rows(0, &nodes, are_there ? values : NULL, &table->recipe.positions, table);
    free(values);
    return status;
}

/* The density of |s|: s^2 exp(-(gamma - 1) c^2/thermal^2) (Juttner, Ann. Phys. 339, 856, 1911), where s is
 * the velocity u, but along an axis with another temperature u over the root of the ratio of the two (Yoon,
 * Phys. Plasmas 14, 024504, 2007). */
static enum status add_juttner(double thermal, struct recipe_table *table)
{
    enum { INTERVALS = 4096 };
    const struct nodes nodes = {.intervals = {INTERVALS}};
    struct recipe *recipe = &table->recipe;
    const double end = juttner_end(thermal, recipe->per_c_squared);
    double density[INTERVALS + 1];
    for (size_t n = 0; n <= INTERVALS; n++) {
        const double share = (double)n / INTERVALS, u = share * end;
        const double gamma = sqrt(1 + u * u * recipe->per_c_squared);
        /* (gamma - 1) c^2 = u^2/(gamma + 1) */
        density[n] = share * share * exp(-u * u / ((gamma + 1) * thermal * thermal));
    }
    return add_rows(0, &nodes, density, &recipe->velocity, table);
}

static enum status add_velocities(const struct velocities_config *config, struct recipe_table *table)
{
    if (config->kind == VELOCITIES_JUTTNER)
        return add_juttner(juttner_thermal(config), table);
    struct density_rows *rows = &table->recipe.velocity;
    for (uint32_t axis = 0, axes; config->kind == VELOCITIES_FORMULA && axis < rows->count; axis += axes) {
        const struct density_part part = density_part(config, axis);
        axes = part.axes;
        if (axes == 1 && !profile_is_given(config->density[axis], "1"))
            continue; /* uniform */
        double *values = malloc(nodes_count(&part.nodes) * sizeof *values);
        const bool are_there = density_tabulate(config, &part, values);
        const enum status status = add_rows(axis, &part.nodes, are_there ? values : NULL, rows, table);
        free(values);
        TRY(status);
    }
    return STATUS_OK;
}

void recipe_table_destroy(struct recipe_table *table)
{
    free(table->tables);
    table->tables = NULL;
}

static struct density_rows no_rows(uint32_t count)
{
    return (struct density_rows){.count = count, .first = {PROFILE_NONE, PROFILE_NONE, PROFILE_NONE}};
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
    *table = (struct recipe_table){.recipe = {.random_key = species->random_key,
                                              .per_c_squared = species->per_c_squared,
                                              .cells = {grid->nx, grid->ny},
                                              .weighs = species->weights == WEIGHTS_DENSITY,
                                              .positions = no_rows(2),
                                              .velocity = no_rows(species_dimensions(species))}};
    for (uint32_t axis = AXIS_X; axis <= AXIS_Y; axis++) {
        table->recipe.position_bases[axis] =
            species->positions.kind == POSITIONS_RANDOM ? 0 : species->positions.bases[axis];
        if (species->positions.kind == POSITIONS_LATTICE)
            table->recipe.lattice[axis] = species->positions.counts[axis];
        table->recipe.density[axis] = expand_density(density, axis, table);
        table->recipe.displacement[axis] = copy_displacement(&species->perturb.displacement, axis, table);
    }
    for (uint32_t axis = 0; axis < species_dimensions(species); axis++)
        set_velocities(&species->velocities, axis, &table->recipe);
    table->tables = calloc(1, sizeof *table->tables);
    enum status status = add_profile(grid, species, table);
    TRY_IF_OK(add_velocities(&species->velocities, table));
    if (status != STATUS_OK)
        recipe_table_destroy(table);
    return status;
}
