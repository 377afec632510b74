/* Motion, in single precision: the tests of test_motion.c. */
#undef REAL_IS_DOUBLE
#define REAL_IS_DOUBLE 0
#include "unit/test_motion.c"
