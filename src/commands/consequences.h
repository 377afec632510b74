/* Consequences: numbers that follow from a config, and warnings about numerical problems. */
#ifndef RADIXPIC_COMMANDS_CONSEQUENCES_H
#define RADIXPIC_COMMANDS_CONSEQUENCES_H

#include "base/log.h"
#include "config/config.h"

/* Bytes a second that `check` assumes of files where none was written. */
enum { ASSUMED_RATE = 200000000 };

/* Prints, for `check`, a line for each of the numbers. */
void consequences_print(const struct config *config);

/* A line for everything that makes a run untrue: dx > pi Debye lengths, omega_p dt > 1.62 or < 1e-6, Omega dt
 * > 0.5, a perturbation at the Nyquist mode, nu dt > 0.3 or nu t < 0.01 of collisions, a thermal particle
 * that crosses more than a cell in a step, fewer than 8 particles a cell; and what densities of velocities
 * lose outside their ranges. */
void consequences_warn(const struct config *config, struct log *log);

/* How long the checkpoint of a signal takes, behind the files in flight, where files are written at `rate`
 * bytes a second, which `known` says more about; and a warning where a signal leaves less time. */
void consequences_print_last_checkpoint(const struct config *config, double rate, const char *known);

/* A line about keys of sort.* that are set but have no effect in this run: the paper's where its sort is of
 * another method, and all where the step is fused. */
void consequences_warn_idle(const struct config *config, enum sort_method method, bool is_fused,
                            struct log *log);

#endif
