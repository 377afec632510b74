/* Motion of relativistic particles by Vay's pusher: the tests of test_motion_relativistic.c. */
#undef PUSHER
#define PUSHER 1
#include "unit/test_motion_relativistic.c"
