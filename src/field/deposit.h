/* Deposit: particles -> charge density, cell by cell from the sorted list.
 *
 * First every cell sums the shape weights of its own particles for the nodes around it, then every node adds
 * what the cells around hold for it. Both sums run in a fixed order and no atomics are used: the same
 * particles give the same bits.
 */
#ifndef RADIXPIC_FIELD_DEPOSIT_H
#define RADIXPIC_FIELD_DEPOSIT_H

#include "domain/particles.h"

struct deposit;

/* The caller destroys it. */
STATUS_CHECKED enum status deposit_create(struct device *device, const struct grid *grid,
                                          enum precision precision, enum shape_kind shape,
                                          struct deposit **deposit);
void deposit_destroy(struct deposit **deposit);

/* Deposits one sorted species: rho (real[cells]) is set where `first`, else added to. Charge per area:
 * rho = q w / (dx dy) * sum of weights. (Non-blocking.) */
STATUS_CHECKED enum status deposit_species(struct deposit *deposit, const struct particles *particles,
                                           bool first, struct buffer *rho);

/* Device bytes that deposit_create() takes. */
uint64_t deposit_bytes(const struct grid *grid, enum precision precision, enum shape_kind shape);

/* How the cells are summed. */
enum deposit_variant {
    DEPOSIT_AUTO,          /* by the device and the particles per cell; the default */
    DEPOSIT_ITEM_PER_CELL, /* one work-item a cell: CPU devices, or few particles a cell */
    DEPOSIT_GROUP_PER_CELL /* one work-group a cell */
};

/* Fixes the variant, for tests and measurements. Both sum the same terms, in a different order. */
void deposit_choose(struct deposit *deposit, enum deposit_variant variant);

#endif
