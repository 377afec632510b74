/* Recipe: multiply out the density profiles, tabulate formulas and copy the rest of a species' config. */
#include "particles/recipe.h"

#include "config/formula.h"

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

/* The |u| beyond which a Juttner distribution, of the temperature m thermal^2, has a share of some 1e-18. */
static double juttner_end(double thermal, double per_c_squared)
{
    const double gamma = 1 + 45 * thermal * thermal * per_c_squared;
    return sqrt((gamma * gamma - 1) / per_c_squared);
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
        recipe->scale[axis] = juttner_end(config->thermal[0], recipe->per_c_squared);
        break;
    case VELOCITIES_UNIFORM:
        recipe->velocities = LOADING_UNIFORM;
        recipe->shift[axis] = config->range[axis][0];
        recipe->scale[axis] = config->range[axis][1] - config->range[axis][0];
        break;
    }
}

/* ---- formulas ---- */

/* values[nodes] <- a formula. */
static enum status tabulate(const char *formula, const struct grid *grid, double *values)
{
    const uint32_t cells[2] = {grid->nx, grid->ny};
    const double length[2] = {grid->lx, grid->ly};
    return values && profile_tabulate(formula, cells, length, values)
               ? STATUS_OK
               : status_fail(STATUS_FAILED, "no memory for the formulas of a species");
}

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

/* Appends `length` numbers to the tables; returns where they begin, the caller sets them. */
static uint32_t append_table(struct recipe_table *table, size_t length)
{
    const size_t first = table->length;
    table->length += length;
    return (uint32_t)first;
}

/* Plans the tables: which there are, and where. */
static void place_tables(const struct grid *grid, const struct profile_config *config,
                         struct recipe_table *table)
{
    const bool has_density = config->file[0] || profile_is_given(config->density, "1");
    struct profile_tables *profile = &table->recipe.profile;
    profile->intervals[0] = profile_intervals(grid->nx);
    profile->intervals[1] = profile_intervals(grid->ny);
    const size_t along_x = profile->intervals[0] + 1, nodes = along_x * (profile->intervals[1] + 1);
    profile->density = has_density ? append_table(table, 2 * along_x + 2 * nodes) : PROFILE_NONE;
    for (uint32_t axis = 0; axis < 3; axis++) {
        profile->drift[axis] =
            profile_is_given(config->drift[axis], "0") ? append_table(table, nodes) : PROFILE_NONE;
        profile->thermal[axis] =
            profile_is_given(config->thermal[axis], "1") ? append_table(table, nodes) : PROFILE_NONE;
    }
}

/* The density of |u|: u^2 exp(-(gamma - 1) c^2/thermal^2) (Juttner, Ann. Phys. 339, 856, 1911). */
static void fill_juttner(double thermal, struct recipe_table *table)
{
    const struct recipe *recipe = &table->recipe;
    double density[JUTTNER_INTERVALS + 1];
    if (recipe->velocities != LOADING_JUTTNER)
        return;
    for (size_t n = 0; n <= JUTTNER_INTERVALS; n++) {
        const double share = (double)n / JUTTNER_INTERVALS, u = share * recipe->scale[0];
        const double gamma = sqrt(1 + u * u * recipe->per_c_squared);
        /* (gamma - 1) c^2 = u^2/(gamma + 1) */
        density[n] = share * share * exp(-u * u / ((gamma + 1) * thermal * thermal));
    }
    integrate(density, 1, JUTTNER_INTERVALS + 1, table->tables + recipe->juttner);
}

/* From what was read of a file, or of a formula. */
static enum status fill_density(const struct grid *grid, const struct species_config *species,
                                struct recipe_table *table)
{
    const struct profile_tables *profile = &table->recipe.profile;
    const size_t along_x = profile->intervals[0] + 1, along_y = profile->intervals[1] + 1;
    double *over_y = table->tables + profile->density, *pairs = over_y + 2 * along_x;
    if (profile->density == PROFILE_NONE)
        return STATUS_OK;
    double *values = malloc(along_x * along_y * sizeof *values);
    const enum status status = tabulate(species->profile.density, grid, values);
    if (status == STATUS_OK && species->read.density_nodes)
        memcpy(values, species->read.density_nodes, along_x * along_y * sizeof *values);
    if (status != STATUS_OK) {
        free(values);
        return status;
    }
    for (size_t i = 0; i < along_x; i++)
        integrate(values + i * along_y, 1, along_y, pairs + 2 * i * along_y);
    integrate(pairs + 2 * (along_y - 1), 2 * along_y, along_x, over_y);
    free(values);
    return STATUS_OK;
}

static enum status fill_values(const struct grid *grid, const char *formula, uint32_t first,
                               struct recipe_table *table)
{
    return first == PROFILE_NONE ? STATUS_OK : tabulate(formula, grid, table->tables + first);
}

static enum status fill_tables(const struct grid *grid, const struct species_config *species,
                               struct recipe_table *table)
{
    const struct profile_config *config = &species->profile;
    const struct profile_tables *profile = &table->recipe.profile;
    TRY(fill_density(grid, species, table));
    for (uint32_t axis = 0; axis < 3; axis++) {
        TRY(fill_values(grid, config->drift[axis], profile->drift[axis], table));
        TRY(fill_values(grid, config->thermal[axis], profile->thermal[axis], table));
    }
    return STATUS_OK;
}

void recipe_table_destroy(struct recipe_table *table)
{
    free(table->tables);
    table->tables = NULL;
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
                                              .dimensions = species_dimensions(species)}};
    for (uint32_t axis = AXIS_X; axis <= AXIS_Y; axis++) {
        table->recipe.position_bases[axis] =
            species->positions.kind == POSITIONS_RANDOM ? 0 : species->positions.bases[axis];
        if (species->positions.kind == POSITIONS_LATTICE)
            table->recipe.lattice[axis] = species->positions.counts[axis];
        table->recipe.density[axis] = append_terms(expand_density, density, axis, table);
        table->recipe.displacement[axis] =
            append_terms(copy_displacement, &species->perturb.displacement, axis, table);
    }
    for (uint32_t axis = 0; axis < species_dimensions(species); axis++)
        set_velocities(&species->velocities, axis, &table->recipe);
    place_tables(grid, &species->profile, table);
    if (table->recipe.velocities == LOADING_JUTTNER)
        table->recipe.juttner = append_table(table, 2 * (JUTTNER_INTERVALS + 1));
    table->tables = calloc(table->length > 0 ? table->length : 1, sizeof *table->tables);
    enum status status = table->tables
                             ? fill_tables(grid, species, table)
                             : status_fail(STATUS_FAILED, "species %s: no memory to load it", species->name);
    if (status != STATUS_OK)
        recipe_table_destroy(table);
    else
        fill_juttner(species->velocities.thermal[0], table);
    return status;
}
