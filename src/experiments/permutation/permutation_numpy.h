/* Permutation by numpy: the out-of-place transposition that in-place ones are held against. */
#ifndef RADIXPIC_EXPERIMENTS_PERMUTATION_NUMPY_H
#define RADIXPIC_EXPERIMENTS_PERMUTATION_NUMPY_H

#include "experiments/samples.h"

/* Times numpy.transpose(volume, axes).copy() of 32-bit elements inside a Python of its own, `repeats` times
 * after a warm-up; sides and axes are "8,8,8" and "2,1,0". `python` is a program to run, or NULL: python3 or
 * /usr/bin/python3, the first that gives times. The spread is of no timing where none does, for want of numpy
 * or of memory. */
struct spread permutation_by_numpy(const char *python, char *sides, char *axes, uint32_t repeats);

#endif
