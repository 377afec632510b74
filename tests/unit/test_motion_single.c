/* Motion, in single precision: the tests of test_motion.c. */
#define REAL_IS_DOUBLE 0
#include "unit/test_motion.c"
