/* Formula source: a formula as an expression of OpenCL C, for kernels that evaluate it. */
#ifndef RADIXPIC_CONFIG_FORMULA_SOURCE_H
#define RADIXPIC_CONFIG_FORMULA_SOURCE_H

#include "config/formula.h"

/* A variable of formulas, and what it is in a kernel: an expression of type formula_real
 * (kernels/shared/formula.h) that needs no brackets around it. */
struct formula_name {
    const char *name, *source;
};

/* *source <- the formula as an expression of type formula_real, for free(). No byte of the text is copied:
 * muParser has to accept it, and then each term is written anew, variables as `names` has them, up to
 * one whose name is NULL, and all other names and numbers by the value that muParser gives them, lx and ly
 * from `length`. False: `why` says what is wrong, and *source is NULL. */
bool formula_source(const char *text, const struct formula_name *names, const double length[2], char **source,
                    char why[FORMULA_WHY_LENGTH]);

#endif
