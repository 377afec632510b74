/* Radix step: the stepper of any device, the default (step/stepper.h). */
#ifndef RADIXPIC_STEP_RADIX_STEP_H
#define RADIXPIC_STEP_RADIX_STEP_H

#include "step/stepper.h"

extern const struct stepper_kind radix_step;

#endif
