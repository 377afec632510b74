/* Motion of relativistic particles, in single precision: the tests of test_motion_relativistic.c. */
#undef REAL_IS_DOUBLE
#define REAL_IS_DOUBLE 0
#include "unit/test_motion_relativistic.c"
