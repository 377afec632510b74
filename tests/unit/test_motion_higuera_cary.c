/* Motion of relativistic particles by Higuera's and Cary's pusher: the tests of test_motion_relativistic.c.
 */
#undef PUSHER
#define PUSHER 2
#include "unit/test_motion_relativistic.c"
