/* Simulation ranks: how particles come to the ranks that own their rows: at the start, after every step, when
 * rows change hands for balance, and from a checkpoint. On one rank most of this has nothing to do. */
#ifndef RADIXPIC_SIMULATION_RANKS_H
#define RADIXPIC_SIMULATION_RANKS_H

#include "simulation.h"

/* Makes the main lists and loads them: each rank its share of the indices, which then go to the owners of the
 * rows. Sets slab and capacity. Collective. */
STATUS_CHECKED enum status ranks_load(struct simulation *simulation);

/* The same from a checkpoint, with the guests. Collective. */
STATUS_CHECKED enum status ranks_restore(struct simulation *simulation, struct checkpoint *checkpoint);

/* Makes the short lists that several ranks need. */
STATUS_CHECKED enum status ranks_create_guests(struct simulation *simulation);
void ranks_destroy(struct simulation *simulation);

/* Collective: where every rank's fused step can leave room for arrivals, what takes particles over the ends
 * of the slabs within it. Before the parts for lists. */
STATUS_CHECKED enum status ranks_create_crossing(struct simulation *simulation);

/* The fused step of the main list of a species, and the exchange of those who go over the ends of the slab.
 * ranks_cross_nobody() is that of a rank whose own step is plain. Collective. */
STATUS_CHECKED enum status ranks_push_and_cross(struct simulation *simulation, uint32_t species,
                                                bool measured);
STATUS_CHECKED enum status ranks_cross_nobody(struct simulation *simulation, uint32_t species);

/* Takes those who left out of the sorted lists. */
STATUS_CHECKED enum status ranks_part(struct simulation *simulation);

/* Collective: exchanges them, and brings those who came into the lists of guests. */
STATUS_CHECKED enum status ranks_receive(struct simulation *simulation);

/* Merges guests into the main lists where there are many of them. Parts may be made anew for longer lists. */
STATUS_CHECKED enum status ranks_settle_guests(struct simulation *simulation);

/* Collective, after ranks_part(), every parallel.balance_every steps: looks at the particles of each rank and
 * lets rows change hands where the imbalance is over parallel.threshold. The fields are lost. */
STATUS_CHECKED enum status ranks_balance(struct simulation *simulation);

#endif
