/* Points: launches of kernels/points.cl. */
#include "output/points.h"

#include <math.h>

enum { ITEMS = 64, NODES = 4 /* around a point */ };

struct points {
    const struct config *config; /* not owned */
    uint32_t count, components; /* of the fields, all of them */
    const double (*at)[2];
    struct slab slab; /* whose nodes `nodes` has; no rows: none yet */
    size_t items;     /* of a group */
    struct kernel *kernel;
    struct buffer *nodes;  /* uint[count][NODES]: numbers of nodes; 0 for those of other ranks */
    struct buffer *values; /* real[slots][components][count][NODES] */
    uint32_t *host_nodes;
    double *weights; /* [count][NODES]; 0 for those of other ranks */
    double *read;    /* as `values` */
    double *shares;  /* [slots][components][count] */
};

enum status points_create(struct device *device, const struct config *config, uint32_t count,
                          const double (*at)[2], uint32_t slots, struct points **created)
{
    const uint32_t components = field_first(config->fields.solver, FIELDS);
    const size_t nodes = (size_t)count * NODES, values = nodes * components * slots;
    struct program *program = NULL;
    struct points *points;
    TRY(DEVICE_NEW(device, points));
    *created = points;
    points->config = config;
    points->count = count;
    points->components = components;
    points->at = at;
    points->items = device_group_items(device, ITEMS);
    TRY(DEVICE_NEW_ARRAY(device, points->host_nodes, nodes));
    TRY(DEVICE_NEW_ARRAY(device, points->weights, nodes));
    TRY(DEVICE_NEW_ARRAY(device, points->read, values));
    TRY(DEVICE_NEW_ARRAY(device, points->shares, values / NODES));
    TRY(program_build(device, "points.cl", config->precision, &program, "%s", ""));
    TRY(kernel_create(program, "points_take", &points->kernel));
    TRY(buffer_create(device, nodes * sizeof(uint32_t), "the nodes around points", &points->nodes));
    return buffer_create(device, values * precision_bytes(config->precision), "the values around points",
                         &points->values);
}

/* The node below a place along an axis, and how far behind it the place is. */
static uint32_t node_below(const struct config *config, int axis, double place, double *behind)
{
    const uint32_t cells = config->grid.cells[axis];
    const double node = place / config->grid.length[axis] * cells;
    *behind = node - floor(node);
    return (uint32_t)floor(node) % cells;
}

/* Own nodes stand first in the local grid. */
static enum status take_slab(struct points *points, const struct slab *slab)
{
    const uint32_t nx = slab->box.nx, ny = slab->box.ny;
    for (uint32_t p = 0; p < points->count; p++) {
        double behind[2];
        const uint32_t i = node_below(points->config, 0, points->at[p][0], &behind[0]);
        const uint32_t j = node_below(points->config, 1, points->at[p][1], &behind[1]);
        for (uint32_t n = 0; n < NODES; n++) {
            const uint32_t row = (i + n / 2 + nx - slab->first_row) % nx, column = (j + n % 2) % ny;
            const bool is_own = row < slab->rows;
            points->host_nodes[NODES * p + n] = is_own ? row * ny + column : 0;
            points->weights[NODES * p + n] =
                !is_own ? 0 : (n / 2 ? behind[0] : 1 - behind[0]) * (n % 2 ? behind[1] : 1 - behind[1]);
        }
    }
    points->slab = *slab;
    return buffer_write(points->nodes, 0, points->count * (size_t)NODES * sizeof *points->host_nodes,
                        points->host_nodes);
}

enum status points_measure(struct points *points, const struct view *view, uint32_t slot)
{
    const struct fields *fields = view->fields;
    const uint32_t nodes = NODES * points->count;
    if (points->slab.rows != view->slab->rows || points->slab.first_row != view->slab->first_row)
        TRY(take_slab(points, view->slab));
    return KERNEL_LAUNCH(points->kernel, launch_covering(nodes, points->items, STAGE_OUTPUT, 0), fields->all,
                         fields->stride, points->components, points->nodes, nodes,
                         points->components * nodes * slot, points->values);
}

static void interpolate(struct points *points, uint32_t slot)
{
    const size_t nodes = (size_t)NODES * points->count;
    const double *values = points->read + slot * points->components * nodes;
    double *shares = points_values(points, slot);
    for (size_t p = 0; p < points->count; p++)
        for (size_t v = 0; v < points->components; v++) {
            double rows[2] = {0, 0};
            for (size_t n = 0; n < NODES; n++)
                rows[n / 2] += points->weights[NODES * p + n] * values[v * nodes + NODES * p + n];
            shares[v * points->count + p] = rows[0] + rows[1];
        }
}

enum status points_read(struct points *points, uint32_t first, uint32_t count)
{
    const size_t slot = (size_t)points->components * NODES * points->count;
    TRY(buffer_read_reals(points->values, points->config->precision, first * slot, count * slot,
                          points->read + first * slot));
    for (uint32_t n = first; n < first + count; n++)
        interpolate(points, n);
    return STATUS_OK;
}

double *points_values(struct points *points, uint32_t slot)
{
    return points->shares + (size_t)slot * points->components * points->count;
}
