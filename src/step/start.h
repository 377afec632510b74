/* Start: velocities at 0 -> -1/2, so that the first step leads exactly through the loaded ones at 0. */
#ifndef RADIXPIC_STEP_START_H
#define RADIXPIC_STEP_START_H

#include "step/stepper.h"

/* A sorted list in either layout, fields at 0. Once in a run; builds what it needs and waits for the device.
 */
STATUS_CHECKED enum status start_velocities(struct device *device, const struct stepper_setup *setup,
                                            const struct fields *fields, struct particles *list);

#endif
