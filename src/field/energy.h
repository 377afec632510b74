/* Energy: sums of the fields over the box, and the modes that a history follows, left on the device
 * until the host reads those of several steps at once. */
#ifndef RADIXPIC_FIELD_ENERGY_H
#define RADIXPIC_FIELD_ENERGY_H

#include "field/poisson.h"

struct energy;

struct field_sums {
    double field_energy;    /* sum over nodes of |E|^2/2 dx dy */
    double charge;          /* sum over nodes of rho dx dy */
    double magnetic_energy; /* sum over nodes of c^2 |B|^2/2 dx dy; 0 in an electrostatic run */
    double momentum[3];     /* sum over nodes of E x B dx dy; 0 in an electrostatic run */
};

/* Each measurement reads `modes` too. The sums die with the device handle. */
STATUS_CHECKED enum status energy_create(struct device *device, const struct grid *grid,
                                         enum precision precision, const struct fields_config *config,
                                         const struct followed_modes *modes, struct energy **energy);

/* Sums on the device in a fixed order, group by group, into a slot below SUM_SLOTS. (Non-blocking.) */
STATUS_CHECKED enum status energy_measure(struct energy *energy, const struct fields *fields, uint32_t slot);

/* Brings slots `first` to before first + count to the host. Blocking. */
STATUS_CHECKED enum status energy_read(struct energy *energy, uint32_t first, uint32_t count);

/* The sums of a slot that was read: those of the groups, added in double. modes[n] <- real and imaginary part
 * of (1/(nx ny)) sum rho exp(-2 pi i (mx i/nx + my j/ny)); fields[n] <- those of E and B, where they are
 * followed. */
struct field_sums energy_sums(const struct energy *energy, uint32_t slot, double (*modes)[2],
                              mode_of_fields *fields);

#endif
