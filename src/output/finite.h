/* Finite: where a value is non-finite. For when a sum says that something went wrong: it reads everything,
 * piece by piece, and names the first particle or node. */
#ifndef RADIXPIC_OUTPUT_FINITE_H
#define RADIXPIC_OUTPUT_FINITE_H

#include "output/view.h"

/* Collective. STATUS_OK when every offset and velocity and, on the ranks' own rows, rho, ex and ey are
 * finite. Otherwise STATUS_FAILED with the same sentence on all ranks: species, cell, node and row are those
 * of the box. Particles come first, whichever rank has them: a non-finite field follows from them, on all
 * ranks. Blocking. */
STATUS_CHECKED enum status finite_find(const struct view *view);

/* STATUS_OK where `value`, the same on all ranks, is finite; else finite_find(), and where all numbers are
 * finite a sentence about `what` the value is of. Collective. */
STATUS_CHECKED enum status finite_require(const struct view *view, const char *what, double value);

#endif
