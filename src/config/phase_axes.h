/* Phase axes: x, y, u and v as axes of a phase space. */
#ifndef RADIXPIC_CONFIG_PHASE_AXES_H
#define RADIXPIC_CONFIG_PHASE_AXES_H

#include "config/config.h"

/* "xyuv"[axis] is its name. */
static inline char phase_axis_name(enum phase_axis axis)
{
    return "xyuv"[axis];
}

/* Whether the axis is x or y, along which bins are made of whole cells. */
static inline bool phase_axis_is_space(enum phase_axis axis)
{
    return axis == PHASE_AXIS_X || axis == PHASE_AXIS_Y;
}

/* The edge of cells nearest to `value` along x or y: 0 is the lower end of the box, grid->cells[axis] the
 * upper. Only for values in the box. */
static inline uint32_t phase_axis_edge(const struct grid_config *grid, enum phase_axis axis, double value)
{
    return (uint32_t)(value / grid->length[axis] * grid->cells[axis] + 0.5);
}

/* Where `axis` is among the axes; axis_count where it is not. */
static inline uint32_t phase_axis_find(const struct phase_space_config *phase_space, enum phase_axis axis)
{
    uint32_t k = 0;
    while (k < phase_space->axis_count && phase_space->axes[k].axis != axis)
        k++;
    return k;
}

/* Axis k of the written array. */
static inline enum phase_axis phase_axis_written(const struct phase_space_config *phase_space, uint32_t k)
{
    return phase_space->order_count > 0 ? phase_space->order[k] : phase_space->axes[k].axis;
}

#endif
