/* Simulation parts: what is made for the grid, and what for the lengths of the lists. */
#ifndef RADIXPIC_SIMULATION_PARTS_H
#define RADIXPIC_SIMULATION_PARTS_H

#include "simulation.h"

/* Fields, solver, energy and, on several ranks, the exchange, for simulation->slab. */
STATUS_CHECKED enum status parts_create_for_grid(struct simulation *simulation);

/* Stepper and deposit, for simulation->slab and the capacities of the lists; anew where they were made
 * before. STATUS_USAGE where the stepper of the config does not fit at the start; later the radix stepper
 * takes over.
 */
STATUS_CHECKED enum status parts_create_for_lists(struct simulation *simulation);

/* Destroys all of them. */
void parts_close(struct simulation *simulation);

#endif
