/* Fields: charge density, potential and electric field on the nodes, on the device. */
#ifndef RADIXPIC_DOMAIN_FIELDS_H
#define RADIXPIC_DOMAIN_FIELDS_H

#include "config/config.h"
#include "device/device.h"
#include "domain/grid.h"

/* Sums over fields and particles stay on the device until the host has use for them: those of step n in slot
 * n % SUM_SLOTS. */
enum { SUM_SLOTS = 32 };

/* Each real[nx * ny], node (i, j) at ny*i + j. */
struct fields {
    struct buffer *rho;     /* charge density of all species; the neutralising background is not in it */
    struct buffer *phi;     /* potential, of mean 0; set when asked for: see poisson_potential() */
    struct buffer *ex, *ey; /* electric field: views of `e`, ey from buffer_view_stride() of its bytes on */
    struct buffer *e;
    /* Part of each species in rho on the own rows, in steps that write it; NULL where none does. */
    struct buffer *species_rho[CONFIG_MAX_SPECIES];
};

/* The arrays, contents undefined, owned by the handle. */
STATUS_CHECKED enum status fields_create(struct device *device, const struct grid *grid,
                                         enum precision precision, struct fields *fields);

#endif
