/* Species motion: the numbers of one species that the kernels which push it take, and how the sums that they
 * leave become energy and momentum. */
#ifndef RADIXPIC_PUSH_SPECIES_MOTION_H
#define RADIXPIC_PUSH_SPECIES_MOTION_H

#include "domain/particles.h"

struct species_motion {
    double half_kick; /* q dt/2m */
    double tangent;   /* q B dt/2m, of half the rotation */
    double cosine;    /* of half the rotation */
    double sine;      /* 2 tangent/(1 + tangent^2), of the whole rotation */
};

struct species_motion species_motion_make(const struct species_config *species, double time_step,
                                          double magnetic);

/* Sums over a species, all at whole step n, of macro-particles with their weight. */
struct push_sums {
    double kinetic_energy; /* sum of w m |v|^2 / 2 */
    double momentum[2];    /* sum of w m (u, v) */
};

enum { PUSH_SUMS = 3 }; /* of a group: |v|^2, u, v (SUM_COUNT of the kernels) */

/* Reads the sums of `groups` groups, real[groups][PUSH_SUMS] from element `first` of `sums`, and adds them in
 * that order. Blocking; a few KiB leave the device. */
STATUS_CHECKED enum status push_sums_read(const struct buffer *sums, enum precision precision, size_t first,
                                          uint32_t groups, const struct particles *particles,
                                          const struct species_motion *motion, struct push_sums *total);

#endif
