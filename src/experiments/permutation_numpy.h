/* Permutation by numpy: the out-of-place transposition that in-place ones are held against. */
#ifndef RADIXPIC_EXPERIMENTS_PERMUTATION_NUMPY_H
#define RADIXPIC_EXPERIMENTS_PERMUTATION_NUMPY_H

#include "experiments/samples.h"

#include <stdbool.h>

/* Times numpy.transpose(volume, axes).copy() of 32-bit elements inside a Python of its own, `repeats` times
 * after a warm-up. `python` is a program to run, or NULL: python3 or /usr/bin/python3, the first that gives
 * times. *timed is false where none does, for want of numpy or of memory; that is no failure. */
STATUS_CHECKED enum status permutation_by_numpy(const char *python, uint32_t dimensions,
                                                const uint32_t *sides, const uint32_t *axes, uint32_t repeats,
                                                struct samples *samples, bool *timed);

#endif
