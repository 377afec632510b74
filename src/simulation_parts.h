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

/* Of these only what sorts main lists of up to `capacity` particles; with capacity 0 only what finds cells
 * and permutes. */
STATUS_CHECKED enum status parts_create_sort(struct simulation *simulation, uint32_t capacity);

/* Sorts one list with keys by a sorter, by way of a permutation of its capacity. */
STATUS_CHECKED enum status parts_sort_list(struct simulation *simulation, struct sorter *sorter,
                                           struct buffer *permutation, struct particles *list);

/* Hands the main lists, in order, from the plain parts to the fused step. */
STATUS_CHECKED enum status parts_hand_over(struct simulation *simulation);

/* Most particles that stay in a list of guests after a step, and most that its parts are made for. */
uint32_t parts_guest_limit(const struct simulation *simulation, uint32_t species);
uint32_t parts_guest_capacity(const struct simulation *simulation);

#endif
