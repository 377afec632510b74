/* Formula: what expressions call that the host made of a config's formulas (src/config/formula_source.c).
 *
 * They are evaluated in double precision where the device has it, whatever the precision of the state: places
 * and times would have too few digits for a wave of many turns. */
#ifndef SHARED_FORMULA_H
#define SHARED_FORMULA_H

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double formula_real;
#else
typedef float formula_real;
#endif

static inline formula_real formula_square(formula_real a)
{
    return a * a;
}

static inline formula_real formula_sign(formula_real a)
{
    return (formula_real)((a > 0) - (a < 0));
}

/* As muParser has it: halves go up. */
static inline formula_real formula_rint(formula_real a)
{
    return floor(a + (formula_real)0.5);
}

/* As muParser has them, where one of the numbers is NaN too. */
static inline formula_real formula_min(formula_real a, formula_real b)
{
    return b < a ? b : a;
}

static inline formula_real formula_max(formula_real a, formula_real b)
{
    return a < b ? b : a;
}

static inline formula_real formula_sum(formula_real a, formula_real b)
{
    return a + b;
}

#endif
