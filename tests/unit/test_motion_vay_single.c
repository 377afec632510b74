/* Motion of relativistic particles by Vay's pusher, in single precision. */
#undef REAL_IS_DOUBLE
#define REAL_IS_DOUBLE 0
#include "unit/test_motion_vay.c"
