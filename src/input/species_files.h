/* Species files: particles (positions.file) and densities (profile.file) that species have from files. */
#ifndef RADIXPIC_INPUT_SPECIES_FILES_H
#define RADIXPIC_INPUT_SPECIES_FILES_H

#include "base/log.h"
#include "config/config.h"
#include "parallel/communicator.h"

/* Collective. Sets species[].read, with this rank's share of the particles, as communicator_share() has it.
 * STATUS_USAGE where a file is not what the config says. The caller frees them in any case. */
STATUS_CHECKED enum status species_files_read(const struct communicator *communicator, struct config *config);

/* Frees the particles and densities; what is known of them stays. */
void species_files_free(struct config *config);

/* A line for each file. */
void species_files_announce(const struct config *config, struct log *log);

#endif
