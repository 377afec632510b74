/* Deposit: particles -> densities on the nodes, of the charge and of the current, cell by cell from the
 * sorted list (kernels/deposit.cl), so that the same particles give the same bits. */
#ifndef RADIXPIC_FIELD_DEPOSIT_H
#define RADIXPIC_FIELD_DEPOSIT_H

#include "domain/particles.h"
#include "field/deposit_plan.h"

struct deposit;

/* For species of up to `capacity` particles, all in the grid's first `filled_cells` cells, as in the own
 * rows of a slab. */
STATUS_CHECKED enum status deposit_create(struct device *device, const struct grid *grid,
                                          enum precision precision, enum shape_kind shape,
                                          uint32_t filled_cells, uint32_t capacity, struct deposit **deposit);

/* Deposits one sorted species, in either layout: rho (real[cells]) is set where `first`, else added to.
 * Charge per area: rho = q w / (dx dy) * sum of weights. STATUS_FAILED for more particles than the capacity.
 * (Non-blocking.) */
STATUS_CHECKED enum status deposit_species(struct deposit *deposit, const struct particles *particles,
                                           bool first, struct buffer *rho);

/* The charge and the current at n-1/2 of particles at n, in a run with that time step and 1/c^2, c time_step
 * being at most the side of a cell. */
STATUS_CHECKED enum status deposit_create_sources(struct device *device, const struct grid *grid,
                                                  enum precision precision, enum shape_kind shape,
                                                  double time_step, double per_c_squared,
                                                  uint32_t filled_cells, uint32_t capacity,
                                                  struct deposit **deposit);

/* As deposit_species(), with a deposit of both: rho, and q w/(dx dy) times the sum of weights times u/gamma
 * in the three components of J, each particle at x - v dt/2. `sources`: rho and J, `stride` reals from one
 * component to the next. Of a species with w. (Non-blocking.) */
STATUS_CHECKED enum status deposit_species_sources(struct deposit *deposit, const struct particles *particles,
                                                   bool first, struct buffer *sources, uint32_t stride);

#endif
