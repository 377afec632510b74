/* Motion of relativistic particles by Higuera's and Cary's pusher, in single precision. */
#undef REAL_IS_DOUBLE
#define REAL_IS_DOUBLE 0
#include "unit/test_motion_higuera_cary.c"
