/* Density: which velocities depend on one another, and sums over nodes. */
#include "config/density.h"

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
