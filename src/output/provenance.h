/* Provenance: which program made a file, when, where and how. */
#ifndef RADIXPIC_OUTPUT_PROVENANCE_H
#define RADIXPIC_OUTPUT_PROVENANCE_H

#include "device/device.h"
#include "output/hdf5_file.h"

/* "0.2.0, commit 28de2cc0c0ff", with ", modified" where the source differed from it. */
extern const char provenance_version[];

/* Version and commit, date, host, command line, libraries, the folder of the kernels and, unless NULL, the
 * device with its driver and the digest of its kernels: one per line, for free(). NULL: no memory. */
char *provenance_text(const struct device_info *device);

/* Records the same as attributes by their names in openPMD: software, softwareVersion, softwareDependencies,
 * machine, date; and command. Of device, driver and kernels performance_record() tells. */
void provenance_record(struct hdf5_file *file);

#endif
