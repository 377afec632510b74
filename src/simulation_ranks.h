/* Simulation ranks: particles that go to other ranks, and rows that change hands. */
#ifndef RADIXPIC_SIMULATION_RANKS_H
#define RADIXPIC_SIMULATION_RANKS_H

#include "simulation.h"

/* The slab that the partition gives this rank, with `ghost` rows beside it. */
struct slab ranks_slab(const struct simulation *simulation, uint32_t ghost);

/* Between the count of species s and the end of its step: leaving particles go to the owners of the
 * ghost rows that they are in, and arrivals take their places. Collective. */
STATUS_CHECKED enum status ranks_exchange(struct simulation *simulation, uint32_t species);

/* After all species: particles that went beyond the ghost rows, or for which a list had no room, come to
 * their ranks too, into lists that grow where they must. Collective. */
STATUS_CHECKED enum status ranks_settle(struct simulation *simulation);

/* Brings the lists, all sorted on the slab `from`, to the slab that the partition gives this rank, with the
 * ghost rows that the config asks for. Collective. */
STATUS_CHECKED enum status ranks_change_slab(struct simulation *simulation, const struct slab *from);

/* Before a step: parts for the lists as ranks_settle() left them; and where parallel.balance_every says so,
 * and the fullest rank has more than parallel.threshold times the mean, rows are shared anew. Collective. */
STATUS_CHECKED enum status ranks_prepare(struct simulation *simulation);

#endif
