/* Fields: those of the field table (config/field_table.h) on the nodes, on the device. */
#ifndef RADIXPIC_DOMAIN_FIELDS_H
#define RADIXPIC_DOMAIN_FIELDS_H

#include "config/config.h"
#include "device/device.h"
#include "domain/grid.h"

/* Sums over fields and particles stay on the device until the host has use for them: those of step n in slot
 * n % SUM_SLOTS. */
enum { SUM_SLOTS = 32 };

/* The state of a solver: the modes of the transverse part of E and of B at `step`, of the whole box, the same
 * on every rank. What is behind the modes of a component, up to the next one's, is 0. */
struct waves {
    struct buffer *modes; /* of waves_bytes(): [6][buffer_view_stride() of the modes of a component] */
    uint64_t step;
};

/* 0 with a solver without a state. */
size_t waves_bytes(const struct config *config);

/* A component is real[nx * ny], node (i, j) at ny*i + j. rho is the charge density of all species, without
 * the neutralising background; phi has mean 0. */
struct fields {
    enum solver_name solver;
    struct buffer *all; /* every component, `stride` reals from one to the next, in the table's order */
    uint32_t stride;
    struct buffer *of[FIELDS];                  /* views of it: a field, NULL where the solver has none, */
    struct buffer *component[FIELD_COMPONENTS]; /* and a component */
    struct buffer *acting;                      /* view of E and B, which particles feel, */
    struct buffer *sources;                     /* and of what is deposited: rho, and J behind it */
    struct waves *waves;                        /* not owned; NULL: the solver has none */
    /* Part of each species in rho, on the own rows of the local grid, in steps that write it; NULL where none
     * does. */
    struct buffer *species_rho[CONFIG_MAX_SPECIES];
};

/* The arrays that a solver has, contents undefined, owned by the handle. */
STATUS_CHECKED enum status fields_create(struct device *device, const struct grid *grid,
                                         enum precision precision, enum solver_name solver,
                                         struct fields *fields);

/* Component `axis` of a field. */
static inline struct buffer *field_component(const struct fields *fields, enum field field, uint32_t axis)
{
    return fields->component[field_first(fields->solver, field) + axis];
}

#endif
