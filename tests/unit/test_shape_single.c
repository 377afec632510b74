/* Shape, in single precision: the tests of test_shape.c. */
#undef REAL_IS_DOUBLE
#define REAL_IS_DOUBLE 0
#include "unit/test_shape.c"
