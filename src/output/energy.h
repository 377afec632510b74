/* Energy: sums of the fields over the box. */
#ifndef RADIXPIC_OUTPUT_ENERGY_H
#define RADIXPIC_OUTPUT_ENERGY_H

#include "domain/fields.h"

struct energy;

struct field_sums {
    double field_energy; /* sum over nodes of (ex^2 + ey^2)/2 dx dy */
    double charge;       /* sum over nodes of rho dx dy */
};

/* It dies with the device handle. */
STATUS_CHECKED enum status energy_create(struct device *device, const struct grid *grid,
                                         enum precision precision, struct energy **energy);

/* Sums on the device in a fixed order, group by group; the few group sums are added on the host in double.
 * Blocking. */
STATUS_CHECKED enum status energy_measure(struct energy *energy, const struct fields *fields,
                                          struct field_sums *sums);

#endif
