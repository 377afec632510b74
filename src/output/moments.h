/* Moments: density, mean velocity and temperature of each species in every cell of the grid, as openPMD
 * meshes of a file of their own (output.moments) or of snapshots.
 *
 * Densities are those of positions at n, velocities and temperatures are of n-1/2. A temperature is an
 * energy, m <|v - <v>|^2> / 2: that of each of the two directions where they are alike. In a cell without
 * particles all are 0. Sums run in a fixed order, without atomics: the same list gives the same bits.
 */
#ifndef RADIXPIC_OUTPUT_MOMENTS_H
#define RADIXPIC_OUTPUT_MOMENTS_H

#include "output/openpmd.h"

struct moments;

STATUS_CHECKED enum status moments_create(struct device *device, const struct config *config,
                                          struct moments **moments);

/* The meshes of all species. */
void moments_write(struct openpmd *openpmd, const struct moments *moments, enum precision precision);

#endif
