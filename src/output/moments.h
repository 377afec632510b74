/* Moments: density, mean velocity and temperature of each species in every cell of the grid
 * (output.moments), as openPMD meshes.
 *
 * Densities are those of positions at n, velocities and temperatures are of n-1/2. A temperature is an
 * energy, m <|v - <v>|^2> / 2: that of each of the two directions where they are alike. In a cell without
 * particles all are 0. Sums run in a fixed order, without atomics: the same list gives the same bits.
 */
#ifndef RADIXPIC_OUTPUT_MOMENTS_H
#define RADIXPIC_OUTPUT_MOMENTS_H

#include "output/view.h"

/* As an output (outputs.h): writes FOLDER/moments_STEP.h5. */
STATUS_CHECKED enum status moments_create(struct device *device, const struct config *config, void **moments);
STATUS_CHECKED enum status moments_write(void *moments, const char *folder, const struct view *view,
                                         uint64_t *bytes);
uint64_t moments_bytes(const struct config *config);

#endif
