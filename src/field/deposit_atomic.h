/* Deposit atomic: each particle adds its weights to the nodes around by atomic additions, the textbook's way
 * on many cores, which needs no order of the particles. radixpic bench deposit compares it with deposit.h.
 *
 * Sums of reals would depend on the order of the additions, and the order on chance. So weights are added as
 * integers, in fixed point: the same particles give the same bits in whatever order they come, on any device
 * that computes the same weights. A list of `count` particles, each with a weight of at most 1 for a node,
 * has room for F = deposit_atomic_fraction_bits(count) fraction bits below the top bit of 64, which is kept
 * as the mark of a non-finite sum: from 62 for one particle to 31 for 2^32.
 *
 * Error: a weight is rounded once, by at most 2^-(F+1), less than count 2^-63; a node that n particles touch
 * errs by n times that at most. In single precision with a million particles (F = 43) that is far below the
 * rounding of the weights themselves, and the sum adds none: it is rounded once, when it becomes a real. In
 * double precision with as many it is 2^-44, above the 2^-53 of a double: there sorted is the more exact.
 */
#ifndef RADIXPIC_FIELD_DEPOSIT_ATOMIC_H
#define RADIXPIC_FIELD_DEPOSIT_ATOMIC_H

#include "domain/particles.h"

struct deposit_atomic;

/* How 64 bits are added. All give the same sums. */
enum atomic_width {
    ATOMIC_AUTO,        /* 64 bits at once where the device can */
    ATOMIC_64,          /* by cl_khr_int64_base_atomics */
    ATOMIC_32_AND_CARRY /* two words of 32 bits, on any device: the carry follows from the low word's old
                           value */
};

/* STATUS_FAILED for ATOMIC_64 on a device that has no such additions. */
STATUS_CHECKED enum status deposit_atomic_create(struct device *device, const struct grid *grid,
                                                 enum precision precision, enum shape_kind shape,
                                                 enum atomic_width width, struct deposit_atomic **deposit);

/* The width that is taken, never ATOMIC_AUTO. */
enum atomic_width deposit_atomic_width(const struct deposit_atomic *deposit);

/* Deposits one species, in either layout and in any order, by its keys (uint[count]): rho (real[cells]) is
 * set. (Non-blocking.) */
STATUS_CHECKED enum status deposit_atomic_species(struct deposit_atomic *deposit,
                                                  const struct particles *particles,
                                                  const struct buffer *keys, struct buffer *rho);

/* The fraction bits F for a list of at least one particle. */
uint32_t deposit_atomic_fraction_bits(uint32_t count);

#endif
