/* openPMD: the groups and attributes of a snapshot, by openPMD 1.1.0 and its extension ED-PIC.
 *
 * Everything is written as the simulation has it, in normalised units; unitSI says what one unit is. The
 * functions write into an open file whose errors stick (see hdf5_file.h).
 */
#ifndef RADIXPIC_OUTPUT_OPENPMD_H
#define RADIXPIC_OUTPUT_OPENPMD_H

#include "output/hdf5_array.h"
#include "output/units.h"
#include "output/view.h"

/* Powers of length, mass, time, current, temperature, amount of substance and luminous intensity. */
enum { OPENPMD_DIMENSIONS = 7 };

/* Extensions of the standard that a file keeps to: bits of openPMDextension. */
enum { OPENPMD_BASE = 0, OPENPMD_ED_PIC = 1 };

/* The attributes of a file with one iteration, data_STEP.h5 of a series, and the group of the iteration with
 * its time; the caller closes it. The groups that are in it are "fields" and "particles". */
hid_t openpmd_write_root(struct hdf5_file *file, const struct config *config, uint32_t extensions,
                         uint64_t step, double time_now);

/* E, phi and chargeDensity, and what ED-PIC asks about the field solver, in the group `meshes`. */
void openpmd_write_meshes(struct hdf5_file *file, hid_t meshes, const struct view *view,
                          const struct units *units);

/* Bytes of the arrays of the meshes before compression. */
uint64_t openpmd_meshes_bytes(const struct config *config);

/* One group for each species in the group `species`. The particles of a rank are one patch: its main list,
 * then its guests; patches are in the order of the ranks.
 *
 * A position is split as the state is: positionOffset is the lower corner of the particle's cell and position
 * the way from there, both in normalised lengths, so single precision is as good at the far end of a large
 * box as at its origin. Readers add the two, as openPMD asks; the sum is in [0, L). */
void openpmd_write_species(struct hdf5_file *file, hid_t species, const struct view *view,
                           const struct units *units);

/* Bytes of the arrays of all species before compression. */
uint64_t openpmd_species_bytes(const struct config *config);

/* The HDF5 type of the run's reals. */
hid_t openpmd_real_type(enum precision precision);

#endif
