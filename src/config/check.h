/* Check: the rules that tie several keys together. */
#ifndef RADIXPIC_CONFIG_CHECK_H
#define RADIXPIC_CONFIG_CHECK_H

#include "config/complaints.h"
#include "config/config.h"

/* Complains about every rule that `config` breaks, leaving out rules about keys that have a complaint
 * already. */
void check_config(const struct config *config, struct complaints *complaints);

#endif
