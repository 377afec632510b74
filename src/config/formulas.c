/* Formulas: which velocities depend on one another, and sums over nodes; values of external fields, and their
 * slopes by differences over small parts of a cell. */
#include "config/formulas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INTERVALS = 4096, INTERVALS_OF_TWO = 1024 /* along each */, SUMMED_OF_TWO = 256 };

static bool is_of_two(const char *density, const char *name)
{
    char why[FORMULA_WHY_LENGTH];
    return profile_is_given(density, "1") && !formula_is_sound(density, name, NULL, why);
}

struct density_part density_part(const struct velocities_config *velocities, uint32_t axis)
{
    static const char *const names[] = {"u", "v", "w", "uv"};
    struct density_part part = {axis, 1, {.names = names[axis], .intervals = {INTERVALS}}};
    if (axis == 0 && (is_of_two(velocities->density[0], "u") || is_of_two(velocities->density[1], "v")))
        part = (struct density_part){
            0, 2, {.names = names[3], .intervals = {INTERVALS_OF_TWO, INTERVALS_OF_TWO}}};
    memcpy(part.nodes.ends, velocities->range[axis], part.axes * sizeof velocities->range[axis]);
    return part;
}

bool density_tabulate(const struct velocities_config *velocities, const struct density_part *part,
                      double *values)
{
    bool is_done = values != NULL;
    for (uint32_t n = 0; n < part->axes && is_done; n++)
        is_done = nodes_tabulate(&part->nodes, velocities->density[part->axis + n], n > 0, values);
    return is_done;
}

/* Sums over the middles of intervals, of ranges three times as wide and of those within the range. A constant
 * ends with the range alone, and loses nothing. */
static void measure(const struct density_part *part, const double *values,
                    struct velocities_config *velocities)
{
    double all = 0, within = 0, sums[2] = {0, 0}, squares[2] = {0, 0}, least = INFINITY, most = 0;
    for (size_t n = 0; n < nodes_count(&part->nodes); n++) {
        const double value = isfinite(values[n]) ? fmax(values[n], 0) : 0;
        double places[2];
        bool is_within = true;
        for (uint32_t axis = 0; axis < part->axes; axis++) {
            const double *range = velocities->range[part->axis + axis];
            places[axis] = nodes_place(&part->nodes, axis, n) - range[0];
            is_within &= places[axis] >= 0 && places[axis] <= range[1] - range[0];
        }
        for (uint32_t axis = 0; axis < part->axes && is_within; axis++) {
            sums[axis] += value * places[axis];
            squares[axis] += value * places[axis] * places[axis];
        }
        within += is_within ? value : 0;
        all += value;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    for (uint32_t axis = 0; axis < part->axes && within > 0; axis++) {
        const double mean = sums[axis] / within;
        velocities->drift[part->axis + axis] = velocities->range[part->axis + axis][0] + mean;
        velocities->thermal[part->axis + axis] = sqrt(fmax(squares[axis] / within - mean * mean, 0));
    }
    if (least < most)
        velocities->lost += (1 - velocities->lost) * (1 - within / all);
}

bool density_measure(struct velocities_config *velocities)
{
    bool is_done = true;
    for (uint32_t axis = 0, axes; axis < velocities->dimensions && is_done; axis += axes) {
        struct density_part part = density_part(velocities, axis);
        axes = part.axes;
        const uint32_t within = axes == 2 ? SUMMED_OF_TWO : INTERVALS;
        for (uint32_t n = 0; n < axes; n++) {
            const double *range = velocities->range[axis + n],
                         margin = (1 - 0.5 / within) * (range[1] - range[0]);
            part.nodes.intervals[n] = 3 * within - 1;
            part.nodes.ends[n][0] = range[0] - margin;
            part.nodes.ends[n][1] = range[1] + margin;
        }
        double *values = malloc(nodes_count(&part.nodes) * sizeof *values);
        is_done = density_tabulate(velocities, &part, values);
        if (is_done)
            measure(&part, values, velocities);
        free(values);
    }
    return is_done;
}

/* ---- fields.external and fields.initial ---- */

enum { MOST_NODES = 128, TIMES = 5 };

struct survey {
    const struct config *config;
    struct formula *formulas[9]; /* of E and B, and B of fields.initial beside them; NULL: 0 */
    const double *values[9];     /* on the nodes of the box, of a file; NULL: the formula's */
    double *weights[2];          /* of numbers along x and y in their derivative */
    uint32_t node[2];            /* that is looked at */
    bool is_external;            /* then B is with the uniform one, too */
    double slope;                /* the largest |dBx/dx| + |dBy/dy| */
    struct field_survey found;
};

/* Of E and B, without the uniform one, and of B of fields.initial. */
static double component(const struct survey *survey, int number, double x, double y, double time)
{
    struct formula *formula = survey->formulas[number];
    const double *values = survey->values[number];
    if (values)
        return values[(size_t)survey->node[0] * survey->config->grid.cells[1] + survey->node[1]];
    return formula ? formula_at(formula, (const double[]){x, y, time}) : 0;
}

/* The derivative of the waves through n nodes of a period, without that at Nyquist, is a sum over the nodes m
 * before, times these weights (Trefethen, Spectral Methods in MATLAB, 2000, eq. 3.10 and 3.11). */
static bool set_weights(struct survey *survey)
{
    const struct grid_config *grid = &survey->config->grid;
    survey->weights[0] = calloc((size_t)grid->cells[0] + grid->cells[1], sizeof *survey->weights[0]);
    survey->weights[1] = survey->weights[0] ? survey->weights[0] + grid->cells[0] : NULL;
    for (int axis = 0; axis < 2 && survey->weights[0]; axis++)
        for (uint32_t m = 1, n = grid->cells[axis]; m < n; m++) {
            const double angle = acos(-1.0) * m / n, sign = m % 2 ? -1 : 1;
            survey->weights[axis][m] =
                sign * acos(-1.0) / grid->length[axis] / (n % 2 == 0 ? tan(angle) : sin(angle));
        }
    return survey->weights[0];
}

static double slope_of_file(const struct survey *survey, int axis)
{
    const uint32_t *cells = survey->config->grid.cells, n = cells[axis], at = survey->node[axis];
    const size_t apart = axis == 0 ? cells[1] : 1;
    const double *first =
        survey->values[3 + axis] + (axis == 0 ? survey->node[1] : (size_t)survey->node[0] * cells[1]);
    double sum = 0;
    for (uint32_t m = 1; m < n; m++)
        sum += survey->weights[axis][m] * first[(at >= m ? at - m : at + n - m) * apart];
    return sum;
}

/* dBx/dx or dBy/dy. */
static double slope_along(const struct survey *survey, int axis, const double place[2], double time)
{
    const struct grid_config *grid = &survey->config->grid;
    if (survey->values[3 + axis])
        return slope_of_file(survey, axis);
    const double step = 1e-3 * grid->length[axis] / grid->cells[axis];
    double difference = 0;
    for (int sign = -1; sign <= 1; sign += 2) {
        double beside[2] = {place[0], place[1]};
        beside[axis] = fmod(place[axis] + sign * step + grid->length[axis], grid->length[axis]);
        difference += sign * component(survey, 3 + axis, beside[0], beside[1], time);
    }
    return difference / (2 * step);
}

static void look_at(struct survey *survey, const double place[2], double time)
{
    double sizes[2] = {0, 0}; /* of E and B */
    for (int n = 0; n < 6; n++) {
        double value = component(survey, n, place[0], place[1], time);
        if (n >= 3 && survey->is_external)
            value += survey->config->fields.magnetic[n - 3] + component(survey, n + 3, place[0], place[1], 0);
        sizes[n / 3] = hypot(sizes[n / 3], value);
    }
    const double along_x = slope_along(survey, 0, place, time), along_y = slope_along(survey, 1, place, time);
    struct field_survey *found = &survey->found;
    found->infinite = !isfinite(sizes[0]) ? "E" : !isfinite(sizes[1]) ? "B" : NULL;
    for (int n = 0; n < 2; n++)
        found->most_electric[n] =
            fmax(found->most_electric[n], fabs(component(survey, n, place[0], place[1], time)));
    found->most_magnetic = found->infinite ? NAN : fmax(found->most_magnetic, sizes[1]);
    survey->slope = fmax(survey->slope, fabs(along_x) + fabs(along_y));
    if (fabs(along_x + along_y) > found->divergence || found->infinite) {
        found->divergence = fabs(along_x + along_y);
        found->place[0] = place[0];
        found->place[1] = place[1];
        found->time = time;
    }
}

bool formula_has_time(const struct config *config, const char *text)
{
    char why[FORMULA_WHY_LENGTH];
    return text && !formula_is_sound(text, "xy", config->grid.length, why);
}

bool external_source(const struct config *config, const char *text, char **source,
                     char why[FORMULA_WHY_LENGTH])
{
    static const struct formula_name names[] = {{"x", "x"}, {"y", "y"}, {"t", "t"}, {NULL, NULL}};
    return formula_source(text, names, config->grid.length, source, why);
}

bool particle_formula_source(const struct config *config, const struct species_config *species,
                             const char *text, char **source, char why[FORMULA_WHY_LENGTH])
{
    struct formula_name names[11] = {{"x", "PLACE_X"},
                                     {"y", "PLACE_Y"},
                                     {"u", "(formula_real)u"},
                                     {"v", "(formula_real)v"},
                                     {"gamma", "GAMMA"},
                                     {"energy", "ENERGY"},
                                     {"mass", "(formula_real)factors.mass"},
                                     {"charge", "(formula_real)factors.charge"}};
    int count = 8;
    if (species_has_w(species))
        names[count++] = (struct formula_name){"w", "(formula_real)w"};
    if (config->fields.solver == SOLVER_ELECTROMAGNETIC)
        names[count++] = (struct formula_name){"c", "(formula_real)factors.light"};
    return formula_source(text, names, config->grid.length, source, why);
}

struct field_survey field_survey(const struct config *config,
                                 const char (*formulas)[3][CONFIG_FORMULA_LENGTH], double *const *values,
                                 uint32_t count)
{
    const struct grid_config *grid = &config->grid;
    const uint32_t apart[2] = {(grid->cells[0] + MOST_NODES - 1) / MOST_NODES,
                               (grid->cells[1] + MOST_NODES - 1) / MOST_NODES};
    const uint32_t first = 6 - 3 * count;
    struct survey survey = {.config = config, .is_external = count == 2};
    char why[FORMULA_WHY_LENGTH];
    int times = 1;
    for (uint32_t c = first; c < (survey.is_external ? 9 : 6); c++) {
        const char *text = c < 6 ? formulas[(c - first) / 3][c % 3] : config->fields.initial[1][c - 6];
        survey.values[c] = c >= 6   ? config->fields.file[FIELDS_INITIAL].values[c - 3]
                           : values ? values[c - first]
                                    : NULL;
        if (!profile_is_given(text, "0"))
            continue;
        survey.formulas[c] = formula_open(text, "xyt", grid->length, why);
        times = formula_has_time(config, text) ? TIMES : times;
    }
    if ((survey.values[3] || survey.values[4]) && !set_weights(&survey))
        survey.values[3] = survey.values[4] = NULL; /* no memory */
    for (int n = 0; n < times; n++)
        for (uint32_t i = 0; i < grid->cells[0]; i += apart[0])
            for (uint32_t j = 0; j < grid->cells[1] && !survey.found.infinite; j += apart[1]) {
                survey.node[0] = i;
                survey.node[1] = j;
                look_at(&survey,
                        (const double[]){i * grid->length[0] / grid->cells[0],
                                         j * grid->length[1] / grid->cells[1]},
                        (double)config->time.steps * config->time.step * fmod(n * 0.618, 1));
            }
    for (int c = 0; c < 9; c++)
        formula_close(survey.formulas[c]);
    free(survey.weights[0]);
    const double shortest = fmin(grid->length[0] / grid->cells[0], grid->length[1] / grid->cells[1]);
    const double least = fmax(survey.slope, 1e-6 * survey.found.most_magnetic / shortest); /* not round-off */
    survey.found.divergence /= least > 0 ? least : 1;
    return survey.found;
}
