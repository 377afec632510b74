/* Profile: the formulas of a species at the nodes of the tables that loading makes of them. */
#ifndef RADIXPIC_CONFIG_PROFILE_H
#define RADIXPIC_CONFIG_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a formula says more than `none`, the number that stands for its absence; an empty one does not. */
bool profile_is_given(const char *formula, const char *none);

/* Intervals of the tables along an axis with that many cells: whole parts of cells, at least 1,024 of them,
 * on large grids the cells, at most 4,096. */
uint32_t profile_intervals(uint32_t cells);

/* The values of a formula, which is a sound one, at the nodes (i, j), j the faster, of the intervals along x
 * and y, ends included; the caller frees them. NULL without memory. */
double *profile_tabulate(const char *formula, const uint32_t cells[2], const double length[2]);

#endif
