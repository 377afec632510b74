/* Selection: which particles snapshots hold (output.snapshots.particles), and their way from the device, on
 * which all others stay.
 *
 * Every K-th is that of the list of all ranks. A fraction is chosen by hashes of the ids in the files: the
 * same particles at all times and on any number of ranks.
 */
#ifndef RADIXPIC_OUTPUT_SELECTION_H
#define RADIXPIC_OUTPUT_SELECTION_H

#include "output/hdf5_file.h"
#include "output/view.h"

struct selection;

/* What chooses by the config, NULL where all particles are written, or none. */
STATUS_CHECKED enum status selection_create(struct device *device, const struct config *config,
                                            struct selection **created);

/* Marks the chosen particles of a rank's list; `count`: how many these are. The next two work by the marks.
 * `before`: particles of the ranks before; `first_id`: what the ids of the species begin with in the file. */
STATUS_CHECKED enum status selection_choose(const struct selection *selection,
                                            const struct particles *particles, uint64_t before,
                                            uint64_t first_id, uint32_t *count);

/* cell_offsets[cell] <- how many chosen particles stand before the cell, for cells 0 to `cells`. Blocking. */
STATUS_CHECKED enum status selection_cells(const struct selection *selection,
                                           const struct particles *particles, uint32_t cells,
                                           uint32_t *cell_offsets);

/* data[a] <- attribute a of the `count` chosen particles, as particles_copy() copies it of all; NULL: is left
 * out. By way of the spare arrays. Blocking. */
STATUS_CHECKED enum status selection_copy(const struct selection *selection,
                                          const struct particles *particles, uint32_t count,
                                          void *const data[ATTRIBUTES]);

/* Of so many particles, how many are chosen at most; of a fraction by six standard deviations. */
uint64_t selection_most(const struct snapshots_config *snapshots, uint64_t particles);

#endif
