/* Formula: expressions such as "1 + 0.5*exp(-(x-lx/2)^2)", which muParser compiles and evaluates. Known are
 * pi, e, the operators + - * / ^ < > <= >= == != && || ?: and muParser's functions: sin, cos, tan, exp, ln,
 * log10, sqrt, abs, min, max, ... */
#ifndef RADIXPIC_CONFIG_FORMULA_H
#define RADIXPIC_CONFIG_FORMULA_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FORMULA_WHY_LENGTH = 160, FORMULA_VARIABLES = 12, FORMULA_LENGTH = 512 /* bytes, with its end */ };

struct formula;

/* ---- as a config holds it ---- */

/* Compiles a formula of `variables`, up to FORMULA_VARIABLES letters, or words with a space behind each, and
 * of lx and ly, which are `length`, where that is not NULL. The caller closes it. NULL where it cannot be
 * read: `why` says why and where. */
struct formula *formula_open(const char *text, const char *variables, const double length[2],
                             char why[FORMULA_WHY_LENGTH]);

/* Its value, which may be infinite or NaN, with a value for each of its variables. */
double formula_at(struct formula *formula, const double *values);

/* NULL is fine. */
void formula_close(struct formula *formula);

/* Whether such a formula can be read. */
bool formula_is_sound(const char *text, const char *names, const double *length,
                      char why[FORMULA_WHY_LENGTH]);

/* ---- as a config has it, with constants ---- */

/* A number with a name. */
struct constant {
    char name[64];
    double value;
    bool is_used; /* while a config is read */
};

/* What numbers and formulas may name: lx and ly, and the constants, which a formula that names them marks. */
struct constants {
    struct constant *items; /* without a value, NaN: not known */
    uint32_t count;
};

/* The formula with the values of constants put in, in `resolved`, or the text itself where it names none. One
 * with variables, which are not NULL, keeps lx and ly. NULL: `why` says why it cannot be read. */
const char *formula_resolve(const char *text, const char *variables, const struct constants *constants,
                            char resolved[FORMULA_LENGTH], char why[FORMULA_WHY_LENGTH]);

/* Whether a word is one of formulas already: a function, a number or a variable of some. */
bool formula_has_word(const char *word);

/* ---- tables ---- */

/* values[rows][columns] <- a formula of two variables, which each row and each column has, and a third, or
 * themselves times it. `length` is as for formula_open(). All is the caller's. */
struct formula_table {
    const char *text, *names;
    const double *length;
    uint32_t rows, columns;
    const double *of_row, *of_column;
    double third;
    bool multiplies;
    double *values;
};

/* By all processors. STATUS_FAILED without memory, and where the formula cannot be read. */
STATUS_CHECKED enum status formula_tabulate(const struct formula_table *table);

/* ---- the nodes of tables of formulas, from which loading starts ---- */

/* Ends of equal intervals of two variables, the second the faster; 0 intervals: one node, the lower end. */
struct nodes {
    const char *names;    /* of the variables; a third one is 0 */
    const double *length; /* lx and ly of the box, not owned; NULL: formulas know none */
    uint32_t intervals[2];
    double ends[2][2]; /* low, high */
};

/* Of x and y, from one end of a box to the other. */
struct nodes box_nodes(const uint32_t intervals[2], const double length[2]);

/* The nodes without the upper ends, which in a box are the lower ones again. */
struct nodes nodes_once(struct nodes nodes);

size_t nodes_count(const struct nodes *nodes);

/* The first or the second variable at node n. */
double nodes_place(const struct nodes *nodes, uint32_t variable, size_t n);

/* values[nodes_count()] <- a formula, which can be read, or themselves times it. False without memory. */
bool nodes_tabulate(const struct nodes *nodes, const char *text, bool multiplies, double *values);

/* The mean of that power of a formula over the nodes; NaN without memory. */
double nodes_mean(const struct nodes *nodes, const char *text, int power);

/* ---- profiles ---- */

/* Whether a formula says more than `none`, the number that stands for its absence; an empty one does not. */
bool profile_is_given(const char *formula, const char *none);

/* The greatest value that a density may have: sums of them are finite, and above 0. */
#define DENSITIES "1e-100 to 1e100"
static inline bool density_is_sound(double greatest)
{
    return greatest > 1e-100 && greatest < 1e100;
}

/* Along an axis the intervals are parts of cells, at least 1,024, on large grids cells, at most 4,096. */
struct nodes profile_nodes(const uint32_t cells[2], const double length[2]);

#endif
