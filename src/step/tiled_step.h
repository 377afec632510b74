/* Tiled step: the stepper of GPUs. A group takes tiles of the sorted list, whose targets it ranks in local
 * memory as the tiled sort ranks its keys; LAYOUT_SOA (step/stepper.h). */
#ifndef RADIXPIC_STEP_TILED_STEP_H
#define RADIXPIC_STEP_TILED_STEP_H

#include "step/stepper.h"

extern const struct stepper_kind tiled_step;

#endif
