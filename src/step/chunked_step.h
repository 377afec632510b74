/* Chunked step: the stepper of CPU devices. A work-item of its own group takes a chunk of the sorted list; no
 * barriers, no atomics, contiguous streams, vectors of 16 particles; LAYOUT_AOS (step/stepper.h). */
#ifndef RADIXPIC_STEP_CHUNKED_STEP_H
#define RADIXPIC_STEP_CHUNKED_STEP_H

#include "step/stepper.h"

extern const struct stepper_kind chunked_step;

#endif
