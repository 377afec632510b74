/* Simulation, inside: what the files simulation*.c call of one another. simulation.c and simulation_start.c
 * call simulation_ranks.c, which calls simulation_sums.c and simulation_parts.c. */
#ifndef RADIXPIC_SIMULATION_INTERNAL_H
#define RADIXPIC_SIMULATION_INTERNAL_H

#include "output/view.h"
#include "step/stepper.h"

struct simulation;

/* ---- simulation_sums.c: energies, momentum, charge and modes, from the device to the history ---- */

/* The state as it is now, as that of `step`. */
struct view view_of(const struct simulation *simulation, uint64_t step);

/* Before the advance: begins the sums at n, of the fields where an output is due or a drive does work. Where
 * they must not wait, or nothing waits, all until now are checked, and the earlier rows written. Collective.
 */
STATUS_CHECKED enum status sums_measure_fields(struct simulation *simulation);

/* After the advance, which left the sums at n that were due: writes the rows that it is time for, in the last
 * step all. STATUS_FAILED where a sum is non-finite. Collective. */
STATUS_CHECKED enum status sums_write(struct simulation *simulation);

/* Brings what is pending to the host: the parts that hold it are about to go. */
STATUS_CHECKED enum status sums_read(struct simulation *simulation);

/* ---- simulation_parts.c: what is made for the grid, and what for the lengths of the lists ---- */

/* Fields, solver, energy and, on several ranks, the exchange, for simulation->slab. */
STATUS_CHECKED enum status parts_create_for_grid(struct simulation *simulation);

/* Stepper and deposit, for simulation->slab and the capacities of the lists; anew where they were made
 * before. STATUS_USAGE where the config's stepper does not fit at the start; later radix takes over. */
STATUS_CHECKED enum status parts_create_for_lists(struct simulation *simulation);

/* Rows beside a slab: as the config says, or as few as the loaded speeds let most particles stay within. */
uint32_t plan_ghost_rows(const struct config *config);

/* Room for a list of `count` particles now on one of several ranks, where more may come. */
uint32_t plan_capacity(uint64_t count);

/* ---- simulation_ranks.c: particles that go to other ranks, and rows that change hands ---- */

/* The slab becomes what the partition gives this rank, with `ghost` rows beside it. */
void ranks_set_slab(struct simulation *simulation, uint32_t ghost);

/* After the count of a species: ranks tell each other how many come, and it moves; then leaving particles go
 * to the owners of the ghost rows that they are in, and arrivals take their places. Collective. */
STATUS_CHECKED enum status ranks_move(struct simulation *simulation, uint32_t species);
STATUS_CHECKED enum status ranks_follow(struct simulation *simulation, uint32_t species);

/* After all species: particles that went beyond the ghost rows, or for which a list had no room, come to
 * their ranks too, into lists that grow where they must. Collective. */
STATUS_CHECKED enum status ranks_deliver(struct simulation *simulation);

/* Brings the lists, all sorted on the slab `from`, to the slab that the partition gives this rank, with the
 * ghost rows that the config asks for. Collective. */
STATUS_CHECKED enum status ranks_change_slab(struct simulation *simulation, const struct slab *from);

/* Before a step: parts for the lists as ranks_deliver() left them; and where parallel.balance_every says so,
 * and the fullest rank has more than parallel.threshold times the mean, rows are shared anew. Collective. */
STATUS_CHECKED enum status ranks_prepare(struct simulation *simulation);

#endif
