/* Check phase space: the rules within each item of output.phase_space, and against grid and species. */
#ifndef RADIXPIC_CONFIG_CHECK_PHASE_SPACE_H
#define RADIXPIC_CONFIG_CHECK_PHASE_SPACE_H

#include "config/complaints.h"
#include "config/config.h"

/* Complains as check_config() does. */
void check_phase_space(const struct config *config, struct complaints *complaints);

#endif
