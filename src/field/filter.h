/* Filter: binomial smoothing of the charge density, (1/4, 1/2, 1/4) along x and along y in every pass.
 *
 * One pass multiplies mode (kx, ky) by cos^2(kx dx/2) cos^2(ky dy/2) (Birdsall & Langdon, appendix C).
 */
#ifndef RADIXPIC_FIELD_FILTER_H
#define RADIXPIC_FIELD_FILTER_H

#include "device/device.h"
#include "domain/grid.h"

struct filter;

/* The caller destroys it. */
STATUS_CHECKED enum status filter_create(struct device *device, const struct grid *grid,
                                         enum precision precision, struct filter **filter);
void filter_destroy(struct filter **filter);

/* Device bytes that filter_create() takes. */
uint64_t filter_bytes(const struct grid *grid, enum precision precision);

/* Smooths *rho (real[cells]) `passes` times. The handle may be swapped with a spare of the filter; the caller
 * owns whatever *rho is afterwards. (Non-blocking.) */
STATUS_CHECKED enum status filter_apply(struct filter *filter, uint32_t passes, struct buffer **rho);

#endif
