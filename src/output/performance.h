/* Performance: how a file was made, and how fast, recorded in the file. */
#ifndef RADIXPIC_OUTPUT_PERFORMANCE_H
#define RADIXPIC_OUTPUT_PERFORMANCE_H

#include "output/hdf5_file.h"
#include "output/view.h"

/* Records the group `performance` below the root of a file, with attributes alone: the run's id; and where
 * the view knows the stepper device, driver, ranks, stepper and sort; steps of this run so far,
 * wall-clock nanoseconds per particle and step since the first of them, outputs included; and rank 0's stages
 * with their shares of the time of all stages. Then the root has kernelsFolder and kernelsDigest, too. */
void performance_record(struct hdf5_file *file, const struct view *view);

#endif
