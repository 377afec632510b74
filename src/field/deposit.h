/* Deposit: particles -> charge density, by the method of the config: cell by cell from the sorted list
 * (kernels/deposit.cl), or particle by particle with atomic additions (deposit_atomic.h). The same particles
 * give the same bits either way.
 */
#ifndef RADIXPIC_FIELD_DEPOSIT_H
#define RADIXPIC_FIELD_DEPOSIT_H

#include "domain/particles.h"
#include "field/deposit_plan.h"

struct deposit;

/* For species of up to `capacity` particles, all in the grid's first `filled_cells` cells, as in the own
 * rows of a slab; with shape and method of the config. */
STATUS_CHECKED enum status deposit_create(struct device *device, const struct grid *grid,
                                          enum precision precision, const struct deposit_config *config,
                                          uint32_t filled_cells, uint32_t capacity, struct deposit **deposit);

/* Deposits one sorted species, in either layout: rho (real[cells]) is set where `first`, else added to.
 * Charge per area: rho = q w / (dx dy) * sum of weights. STATUS_FAILED for more particles than the capacity.
 * (Non-blocking.) */
STATUS_CHECKED enum status deposit_species(struct deposit *deposit, const struct particles *particles,
                                           bool first, struct buffer *rho);

#endif
