/* Deposit: particles -> densities on the nodes, of the charge and of the current, cell by cell from the
 * sorted list (kernels/deposit.cl), so that the same particles give the same bits. */
#ifndef RADIXPIC_FIELD_DEPOSIT_H
#define RADIXPIC_FIELD_DEPOSIT_H

#include "domain/particles.h"
#include "field/deposit_plan.h"

struct deposit;

/* The run whose current is deposited: its time step and 1/c^2. In a time step light passes one cell at most.
 */
struct deposit_current {
    double time_step, per_c_squared;
};

/* A deposit of the charge, or where `current` is not NULL of charge and current. It is for species of up to
 * `capacity` particles, all in the grid's first `filled_cells` cells, as in the own rows of a slab. weighs:
 * their lists have weights. */
STATUS_CHECKED enum status deposit_create(struct device *device, const struct grid *grid,
                                          enum precision precision, enum shape_kind shape, bool weighs,
                                          const struct deposit_current *current, uint32_t filled_cells,
                                          uint32_t capacity, struct deposit **deposit);

/* Deposits one sorted species, in either layout: the density (real[cells]) is set where `first`, else added
 * to. Charge per area: rho = q w / (dx dy) * sum of weights. With the current the three components of J
 * follow rho, each `stride` reals after the one before: q w/(dx dy) times the sum of weights times u/gamma,
 * of each particle at x - v dt/2, for a species with w. So J is that at n-1/2 of particles at n.
 * STATUS_FAILED for more particles than the capacity. (Non-blocking.) */
STATUS_CHECKED enum status deposit_species(struct deposit *deposit, const struct particles *particles,
                                           bool first, struct buffer *density, uint32_t stride);

#endif
