/* External: values of the formulas, and their slopes by differences over small parts of a cell. */
#include "config/external.h"

#include "config/formula.h"

#include <math.h>

enum { MOST_NODES = 128, TIMES = 5 };

struct survey {
    const struct config *config;
    struct formula *formulas[6]; /* of E and B; NULL: 0 */
    double slope;                /* the largest |dBx/dx| + |dBy/dy| */
    struct external_survey found;
};

/* Of E and B, without the uniform one. */
static double component(const struct survey *survey, int number, double x, double y, double time)
{
    struct formula *formula = survey->formulas[number];
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
        difference += sign * component(survey, 3 + axis, beside[0], beside[1], time);
    }
    return difference / (2 * step);
}

static void look_at(struct survey *survey, const double place[2], double time)
{
    const double *uniform = survey->config->fields.magnetic;
    double sizes[2] = {0, 0}; /* of E and B */
    for (int n = 0; n < 6; n++)
        sizes[n / 3] = hypot(sizes[n / 3],
                             component(survey, n, place[0], place[1], time) + (n < 3 ? 0 : uniform[n - 3]));
    const double along_x = slope_along(survey, 0, place, time), along_y = slope_along(survey, 1, place, time);
    struct external_survey *found = &survey->found;
    found->infinite = !isfinite(sizes[0]) ? "E" : !isfinite(sizes[1]) ? "B" : NULL;
    found->most_magnetic = found->infinite ? NAN : fmax(found->most_magnetic, sizes[1]);
    survey->slope = fmax(survey->slope, fabs(along_x) + fabs(along_y));
    if (fabs(along_x + along_y) > found->divergence || found->infinite) {
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
    for (uint32_t c = 0; c < 6; c++) {
        const char *text = fields_external(&config->fields, c);
        survey.formulas[c] = text ? formula_open(text, "xyt", grid->length, why) : NULL;
        has_time |= fields_external_has_time(config, c);
    }
    for (int n = 0; n < (has_time ? TIMES : 1); n++)
        for (uint32_t i = 0; i < grid->cells[0]; i += apart[0])
            for (uint32_t j = 0; j < grid->cells[1] && !survey.found.infinite; j += apart[1])
                look_at(&survey,
                        (const double[]){i * grid->length[0] / grid->cells[0],
                                         j * grid->length[1] / grid->cells[1]},
                        (double)config->time.steps * config->time.step * fmod(n * 0.618, 1));
    for (int c = 0; c < 6; c++)
        formula_close(survey.formulas[c]);
    survey.found.divergence /= survey.slope > 0 ? survey.slope : 1;
    return survey.found;
}
