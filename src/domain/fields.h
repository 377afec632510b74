/* Fields: those of the field table (config/field_table.h) on the nodes, on the device. */
#ifndef RADIXPIC_DOMAIN_FIELDS_H
#define RADIXPIC_DOMAIN_FIELDS_H

#include "config/config.h"
#include "device/device.h"
#include "domain/grid.h"

/* Sums over fields and particles stay on the device until the host has use for them: those of step n in slot
 * n % SUM_SLOTS. */
enum { SUM_SLOTS = 32 };

/* The state of a solver: the modes of the transverse part of E and of B at `step`: [WAVE_COMPONENTS][nx][row]
 * complex, a component `stride` reals from the next. The first `columns` of a row are modes along y
 * from first_column on: all of them, the same on every rank, or where ranks share the box those of the rank.
 */
enum { WAVE_COMPONENTS = 6 };
struct waves {
    struct buffer *modes;
    uint32_t nx, row, columns, first_column;
    size_t stride;
    uint64_t step;
};

/* Which real of such modes is number n in the order of columns, components, modes along x, real and imaginary
 * part: that of checkpoints, where a rank's columns are one piece. */
static inline size_t waves_place(const struct waves *waves, uint64_t n)
{
    const uint64_t m = n / 2 % waves->nx, c = n / 2 / waves->nx;
    return c % WAVE_COMPONENTS * waves->stride + 2 * (m * waves->row + c / WAVE_COMPONENTS) + n % 2;
}

/* A component is real[nx * ny], node (i, j) at ny*i + j. rho is the charge density of all species, without
 * the neutralising background; phi has mean 0. */
struct fields {
    enum solver_name solver;
    struct buffer *all; /* every component, `stride` reals from one to the next, in the table's order */
    uint32_t stride;
    struct buffer *of[FIELDS];                  /* a view of each field; NULL: the solver has no such field */
    struct buffer *component[FIELD_COMPONENTS]; /* a view of each component */
    struct buffer *felt;                        /* a view of E and B, which particles feel */
    struct buffer *sources;                     /* a view of what is deposited: rho, and J behind it */
    struct waves *waves;                        /* not owned; NULL: the solver has none */
    /* Part of each species in rho, on the own rows of the local grid, in steps that write it; NULL where none
     * does. */
    struct buffer *species_rho[CONFIG_MAX_SPECIES];
    /* The part of `felt` that is from external fields; NULL where its work is not summed. */
    struct buffer *external;
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
