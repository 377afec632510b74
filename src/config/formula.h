/* Formula: expressions such as "1 + 0.5*exp(-(x-lx/2)^2)", which muParser compiles and evaluates. Known are
 * pi, e, the operators + - * / ^ < > <= >= == != && || ?: and muParser's functions: sin, cos, tan, exp, ln,
 * log10, sqrt, abs, min, max, ... */
#ifndef RADIXPIC_CONFIG_FORMULA_H
#define RADIXPIC_CONFIG_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FORMULA_WHY_LENGTH = 160, FORMULA_VARIABLES = 4 };

struct formula;

/* Compiles a formula of `variables`, up to FORMULA_VARIABLES letters, and of lx and ly, which are `length`,
 * where that is not NULL. The caller closes it. NULL where it cannot be read: `why` says what is wrong, and
 * where. */
struct formula *formula_open(const char *text, const char *variables, const double length[2],
                             char why[FORMULA_WHY_LENGTH]);

/* Its value, which may be infinite or NaN, with a value for each of its variables. */
double formula_at(struct formula *formula, const double *values);

/* Whether a variable is in it. */
bool formula_has(const struct formula *formula, char variable);

/* NULL is fine. */
void formula_close(struct formula *formula);

/* ---- profiles: the formulas of a species at the nodes of the tables that loading makes of them ---- */

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
