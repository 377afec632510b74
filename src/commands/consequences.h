/* Consequences: numbers that follow from a config, and warnings about numerical problems. */
#ifndef RADIXPIC_COMMANDS_CONSEQUENCES_H
#define RADIXPIC_COMMANDS_CONSEQUENCES_H

#include "base/log.h"
#include "config/formulas.h"
#include "domain/grid.h"

/* Bytes a second that `check` assumes of files where none was written. */
enum { ASSUMED_RATE = 200000000 };

/* The names are the config's. */
struct consequences {
    struct grid grid;
    double plasma_frequency; /* sqrt(sum over species of n q^2/m) */
    double debye_length;     /* of all thermal species together, by their mean temperature; 0 when none is */
    struct field_survey external;
    double rotation; /* |q B/m| dt, of the species with the most, where B of the survey is strongest */
    double fastest;  /* cells that a thermal particle (drift + 3 thermal velocities) crosses in a step */
    double particles_per_cell;  /* of the charge density's species with the fewest */
    const char *fewest_species; /* its name */
    const char *fastest_species;
};

struct consequences consequences_derive(const struct config *config);

/* Prints, for `check`, a line for each of the numbers. */
void consequences_print(const struct config *config, const struct consequences *derived);

/* A line for everything that makes a run untrue: dx > pi Debye lengths, omega_p dt > 1.62 or < 1e-6, Omega dt
 * > 0.5, an external field that is not finite, div B, numerical Cherenkov radiation, speeds above c,
 * increments that rounding to nearest changes, a perturbation at the Nyquist mode, changes by collisions that
 * are more than 5 % too slow, nu t < 0.01, a thermal particle that crosses more than a cell in a step, fewer
 * than 8 particles a cell; and what densities of velocities lose outside their ranges. */
void consequences_warn(const struct config *config, const struct consequences *derived, struct log *log);

/* commands/cherenkov.c: warns of an electromagnetic run in which numerical Cherenkov radiation grows fast,
 * with the growth, and the shape and the fewest passes of the filter that end it. */
void cherenkov_warn(const struct config *config, struct log *log);

/* How long the checkpoint of a signal takes, behind the files in flight, where files are written at `rate`
 * bytes a second, which `known` says more about; and a warning where a signal leaves less time. */
void consequences_print_last_checkpoint(const struct config *config, double rate, const char *known);

/* A line about keys of sort.* that are set but have no effect in this run: the paper's where its sort is of
 * another method, and all where the step is fused. */
void consequences_warn_idle(const struct config *config, enum sort_method method, bool is_fused,
                            struct log *log);

#endif
