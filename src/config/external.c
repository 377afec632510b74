/* External: values of the formulas, and their slopes by differences over small parts of a cell. */
#include "config/external.h"

#include "config/formula.h"

#include <math.h>

enum { MOST_NODES = 128, TIMES = 5 };

struct survey {
    const struct config *config;
    struct formula *formulas[3]; /* NULL: 0 */
    double slope;                /* the largest |dBx/dx| + |dBy/dy| */
    struct external_survey found;
};

/* B along an axis, without the uniform one. */
static double component(const struct survey *survey, int axis, double x, double y, double time)
{
    struct formula *formula = survey->formulas[axis];
    return formula ? formula_at(formula, (const double[]){x, y, time}) : 0;
}

/* dBx/dx or dBy/dy. */
static double slope_along(const struct survey *survey, int axis, const double place[2], double time)
{
    const struct grid_config *grid = &survey->config->grid;
    const double step = 1e-3 * grid->length[axis] / grid->cells[axis];
    double difference = 0;
    for (int sign = -1; sign <= 1; sign += 2) {
        double beside[2] = {place[0], place[1]};
        beside[axis] = fmod(place[axis] + sign * step + grid->length[axis], grid->length[axis]);
        difference += sign * component(survey, axis, beside[0], beside[1], time);
    }
    return difference / (2 * step);
}

static void look_at(struct survey *survey, const double place[2], double time)
{
    const double *uniform = survey->config->fields.magnetic;
    const double b[3] = {uniform[0] + component(survey, 0, place[0], place[1], time),
                         uniform[1] + component(survey, 1, place[0], place[1], time),
                         uniform[2] + component(survey, 2, place[0], place[1], time)};
    const double size = hypot(hypot(b[0], b[1]), b[2]);
    const double along_x = slope_along(survey, 0, place, time), along_y = slope_along(survey, 1, place, time);
    struct external_survey *found = &survey->found;
    found->most_magnetic = isfinite(size) ? fmax(found->most_magnetic, size) : NAN;
    survey->slope = fmax(survey->slope, fabs(along_x) + fabs(along_y));
    if (fabs(along_x + along_y) > found->divergence || !isfinite(size)) {
        found->divergence = fabs(along_x + along_y);
        found->place[0] = place[0];
        found->place[1] = place[1];
        found->time = time;
    }
}

bool fields_external_has_time(const struct config *config, uint32_t component)
{
    const char *text = fields_external(&config->fields, component);
    char why[FORMULA_WHY_LENGTH];
    return text && !formula_is_sound(text, "xy", config->grid.length, why);
}

struct external_survey external_survey(const struct config *config)
{
    const struct grid_config *grid = &config->grid;
    const uint32_t apart[2] = {(grid->cells[0] + MOST_NODES - 1) / MOST_NODES,
                               (grid->cells[1] + MOST_NODES - 1) / MOST_NODES};
    struct survey survey = {.config = config};
    char why[FORMULA_WHY_LENGTH];
    bool has_time = false;
    for (uint32_t axis = 0; axis < 3; axis++) {
        const char *text = fields_external(&config->fields, 3 + axis);
        survey.formulas[axis] = text ? formula_open(text, "xyt", grid->length, why) : NULL;
        has_time |= fields_external_has_time(config, 3 + axis);
    }
    for (int n = 0; n < (has_time ? TIMES : 1); n++)
        for (uint32_t i = 0; i < grid->cells[0]; i += apart[0])
            for (uint32_t j = 0; j < grid->cells[1] && !isnan(survey.found.most_magnetic); j += apart[1])
                look_at(&survey,
                        (const double[]){i * grid->length[0] / grid->cells[0],
                                         j * grid->length[1] / grid->cells[1]},
                        (double)config->time.steps * config->time.step * fmod(n * 0.618, 1));
    for (int axis = 0; axis < 3; axis++)
        formula_close(survey.formulas[axis]);
    survey.found.divergence /= survey.slope > 0 ? survey.slope : 1;
    return survey.found;
}
