/* Profile: the formulas of a species at the nodes of the tables that loading makes of them. */
#ifndef RADIXPIC_CONFIG_PROFILE_H
#define RADIXPIC_CONFIG_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a formula says more than `none`, the number that stands for its absence; an empty one does not. */
bool profile_is_given(const char *formula, const char *none);

/* Intervals of the tables along an axis with that many cells: whole parts of cells, at least 1,024 of them,
 * on large grids the cells, at most 4,096. */
uint32_t profile_intervals(uint32_t cells);

/* Nodes of a table: those of the intervals along x times those along y, ends included. */
size_t profile_nodes(const uint32_t cells[2]);

/* values[profile_nodes()] <- a formula, which can be read, at the nodes (i, j), j the faster. False without
 * memory. */
bool profile_tabulate(const char *formula, const uint32_t cells[2], const double length[2], double *values);

#endif
