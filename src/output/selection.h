/* Selection: which particles of a list an output takes, by launches of kernels/selection.cl and condition.cl;
 * all others stay on the device. Every K-th is that of the list of all ranks. A fraction is chosen by hashes
 * of the ids in the files: the same particles at all times and on any number of ranks. Of this sample those
 * are taken that fulfil the condition, where there is one. */
#ifndef RADIXPIC_OUTPUT_SELECTION_H
#define RADIXPIC_OUTPUT_SELECTION_H

#include "domain/particles.h"

struct selection;

/* *created <- a selection from lists of the species that are named, by `rule`, which is the config's; NULL
 * where all particles are taken, or none. */
STATUS_CHECKED enum status selection_create(struct device *device, const struct config *config,
                                            const struct selection_config *rule,
                                            const struct species_names *names, struct selection **created);

/* The most particles that are chosen of so many; for a fraction the mean and six standard deviations. */
uint64_t selection_most(const struct selection_config *rule, uint64_t particles);

bool selection_has_condition(const struct selection *selection);

/* selection_sample() marks the sample of a rank's list, and selection_meet() then leaves of it the particles
 * that fulfil the condition. first_id: id in files of the species' particle 0; before: particles of the ranks
 * before this one. *count <- how many are marked. Blocking. */
STATUS_CHECKED enum status selection_sample(const struct selection *selection,
                                            const struct particles *particles, uint64_t first_id,
                                            uint64_t before, uint32_t *count);
STATUS_CHECKED enum status selection_meet(const struct selection *selection,
                                          const struct particles *particles, const struct slab *slab,
                                          uint32_t *count);

/* cell_offsets[own cells + 1] <- those of the chosen particles. Blocking. */
STATUS_CHECKED enum status selection_cells(const struct selection *selection,
                                           const struct particles *particles, uint32_t cells,
                                           uint32_t *cell_offsets);

/* The spare array <- the array of the `count` chosen particles, in their order (enqueued). */
STATUS_CHECKED enum status selection_copy(const struct selection *selection,
                                          const struct particles *particles,
                                          const struct particle_array *array, uint32_t count);

#endif
