/* Simulation parts: building and taking down what works on a rank's slab and lists. */
#ifndef RADIXPIC_SIMULATION_PARTS_H
#define RADIXPIC_SIMULATION_PARTS_H

#include "simulation.h"

/* Fields, field solver, energy, cell keys and merge for simulation->slab. Collective. */
STATUS_CHECKED enum status parts_create_for_grid(struct simulation *simulation);
void parts_destroy_for_grid(struct simulation *simulation);

/* Sort, deposit, push and advance for simulation->slab and lists of simulation->capacity. Not collective. */
STATUS_CHECKED enum status parts_create_for_lists(struct simulation *simulation);
void parts_destroy_for_lists(struct simulation *simulation);

/* The plain sort, for lists of up to `capacity` particles. */
STATUS_CHECKED enum status parts_create_sort(struct simulation *simulation, uint32_t capacity);
void parts_destroy_sort(struct simulation *simulation);

/* Hands the main lists, in order, from the plain parts to the fused step. */
STATUS_CHECKED enum status parts_hand_over(struct simulation *simulation);

/* Most particles that stay in a list of guests. */
uint32_t parts_guest_limit(const struct simulation *simulation, uint32_t species);

#endif
