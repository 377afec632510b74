/* Announce: the first lines of a run: what is computed, where, and how. */
#ifndef RADIXPIC_COMMANDS_ANNOUNCE_H
#define RADIXPIC_COMMANDS_ANNOUNCE_H

#include "base/log.h"
#include "simulation.h"

void announce(const struct simulation *simulation, struct log *log);

#endif
