/* Deposit atomic, in single precision: the tests of test_deposit_atomic.c. */
#undef REAL_IS_DOUBLE
#define REAL_IS_DOUBLE 0
#include "kernel/test_deposit_atomic.c"
