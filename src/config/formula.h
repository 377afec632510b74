/* Formula: expressions such as "1 + 0.5*exp(-(x-lx/2)^2)", which muParser compiles and evaluates. Known are
 * pi, e, the operators + - * / ^ < > <= >= == != && || ?: and muParser's functions: sin, cos, tan, exp, ln,
 * log10, sqrt, abs, min, max, ... */
#ifndef RADIXPIC_CONFIG_FORMULA_H
#define RADIXPIC_CONFIG_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

enum { FORMULA_WHY_LENGTH = 160 };

struct formula;

/* Compiles a formula of x, y, lx and ly, of which the last two are `length`; with `length` NULL one of
 * numbers alone. The caller closes it. NULL where it cannot be read: `why` says what is wrong, and where. */
struct formula *formula_open(const char *text, const double length[2], char why[FORMULA_WHY_LENGTH]);

/* Its value, which may be infinite or NaN; without x and y in it these do not matter. */
double formula_at(struct formula *formula, double x, double y);

/* NULL is fine. */
void formula_close(struct formula *formula);

#endif
