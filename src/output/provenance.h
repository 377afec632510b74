/* Provenance: which program made a file, when, where, how, and how fast. */
#ifndef RADIXPIC_OUTPUT_PROVENANCE_H
#define RADIXPIC_OUTPUT_PROVENANCE_H

#include "hdf5/hdf5_file.h"
#include "output/view.h"

/* "1.0.0, commit 28de2cc0c0ff", with ", modified" where the source differed from it. */
extern const char provenance_version[];

/* Version and commit, date, host, command line, libraries, the folder of the kernels and, unless NULL, the
 * device with its driver and the digest of its kernels: one per line, for free(). NULL: no memory. */
char *provenance_text(const struct device_info *device);

/* Records the same as attributes of the root by their names in openPMD, kernelsFolder and kernelsDigest where
 * the view has a device; and below the root a group `performance` with attributes alone: the run's id;
 * and where the view has a device device, driver, ranks, stepper and sort; steps of this run so far,
 * wall-clock nanoseconds per particle and step since the first of them, outputs included; and rank 0's stages
 * with their shares of the time of all stages. */
void provenance_record(struct hdf5_file *file, const struct view *view);

#endif
