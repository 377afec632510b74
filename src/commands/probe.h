/* Probe: a few steps and a file of a config, to foretell how long its run would take. */
#ifndef RADIXPIC_COMMANDS_PROBE_H
#define RADIXPIC_COMMANDS_PROBE_H

#include "base/status.h"
#include "config/config.h"

/* Takes steps for two seconds at most, and writes one file of each output that the config asks for, in a
 * folder beside that of the run, which it removes, but not parents that it had to create, nor where a second
 * signal ends it; prints what they took, and the time of the whole run with the share of its output.
 */
STATUS_CHECKED enum status probe_run(const struct config *config);

#endif
