/* Consequences: numbers that follow from a config, and warnings about numerical problems. */
#ifndef RADIXPIC_COMMANDS_CONSEQUENCES_H
#define RADIXPIC_COMMANDS_CONSEQUENCES_H

#include "base/log.h"
#include "config/config.h"
#include "domain/grid.h"

/* Numbers that follow from a config. The names are the config's. */
struct consequences {
    struct grid grid;
    double plasma_frequency; /* sqrt(sum over species of n q^2/m) */
    double debye_length;     /* of all thermal species together; 0 when none is thermal */
    double fastest; /* cells that a thermal particle (drift + 3 thermal velocities) crosses in a step */
    double particles_per_cell;  /* of the species with the fewest */
    const char *fewest_species; /* its name */
    const char *fastest_species;
};

struct consequences consequences_derive(const struct config *config);

/* A line for everything that makes a run untrue: dx > pi Debye lengths, omega_p dt > 1.62, a thermal particle
 * that crosses more than a cell in a step, fewer than 8 particles a cell. */
void consequences_warn(const struct config *config, const struct consequences *derived, struct log *log);

/* A line about keys of sort.* that are set but have no effect in this run: the paper's where its sort is of
 * another method, and all where the step is fused. */
void consequences_warn_idle(const struct config *config, enum sort_method method, bool is_fused,
                            struct log *log);

#endif
