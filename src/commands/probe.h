/* Probe: a few steps and a file of a config, to foretell how long its run would take. */
#ifndef RADIXPIC_COMMANDS_PROBE_H
#define RADIXPIC_COMMANDS_PROBE_H

#include "base/status.h"
#include "config/config.h"

/* Takes steps for about two seconds, with the files that are due at the start, in a folder beside that of the
 * run, which it removes; prints what they took, and the time of the whole run with the share of its output.
 */
STATUS_CHECKED enum status probe_run(const struct config *config);

#endif
