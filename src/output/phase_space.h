/* Phase space: f, the number density of a species over some of x, y, u and v (output.phase_space), counted on
 * the device and written as openPMD meshes.
 *
 * As in snapshots, positions are at n and velocities at n-1/2. Bins of x and y are whole cells, those of u
 * and v begin at their lower edge: [low, high). Particles are counted as integers, so f is the same bits for
 * any order of the axes, any number of ranks and any step method that gives the same particles.
 */
#ifndef RADIXPIC_OUTPUT_PHASE_SPACE_H
#define RADIXPIC_OUTPUT_PHASE_SPACE_H

#include "output/phase_volume.h"
#include "output/view.h"

/* What counts and permutes, for all items of a config: one volume on the device for all of them. */
struct phase_spaces;

/* Nothing is allocated on the device, and *spaces stays NULL, where no item is ever written. STATUS_USAGE,
 * with the key, where a volume has too many bins once its sides are padded. It dies with the device handle.
 */
STATUS_CHECKED enum status phase_spaces_create(struct device *device, const struct config *config,
                                               void **spaces);

/* Counts this rank's particles for item `index` and permutes them: counts[phase_volume_elements()], laid out
 * as phase_volume.h says. Blocking, not collective. */
STATUS_CHECKED enum status phase_spaces_count(struct phase_spaces *spaces, const struct view *view,
                                              uint32_t index, uint32_t *counts);

/* Writes FOLDER/data_STEP.h5 with the items that are due, all ranks into the one file, and sets *bytes to its
 * size. The first time that an item is written, the log hears of it where more than a tenth of the particles
 * are outside its ranges. Errors as snapshot_write(). Collective, blocking. */
STATUS_CHECKED enum status phase_spaces_write(void *spaces, const char *folder, const struct view *view,
                                              uint64_t *bytes);

/* Whether no call before this one was for item `index`: for what is to be said once. */
bool phase_spaces_is_first(struct phase_spaces *spaces, uint32_t index);

/* Whether an item is due in this step. */
bool phase_spaces_are_due(void *spaces, const struct view *view);

void phase_spaces_print_size(const struct config *config);

/* The number of the species of item `index`. */
uint32_t phase_space_species(const struct config *config, uint32_t index);

/* An upper estimate of the bytes of item `index` in a file, before compression. */
uint64_t phase_space_bytes(const struct config *config, uint32_t index);

/* "electrons_uvxy": species and written axes; with "_N" behind it where an item before item N has it too. */
void phase_space_name(const struct config *config, uint32_t index, char *name, size_t size);

#endif
