/* openPMD: files of one iteration by openPMD 1.1.0 and its extension ED-PIC.
 *
 * Everything is written as the simulation has it, in normalised units; unitSI says what one unit is. A file
 * appears whole or not at all, and its errors stick: see hdf5_file.h.
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

struct openpmd {
    struct hdf5_file file;
    const struct view *view;
    struct units units;
    hid_t iteration, meshes, particles; /* groups; what the two paths name is there, if empty */
};

/* Opens FOLDER/PREFIX_STEP.h5 with the attributes of root and iteration. Collective; after a failure, which
 * is that of all ranks, nothing is left; after success the caller ends with openpmd_finish(). */
STATUS_CHECKED enum status openpmd_create(const struct view *view, const char *folder, const char *prefix,
                                          uint32_t extensions, struct openpmd *openpmd);
STATUS_CHECKED enum status openpmd_finish(struct openpmd *openpmd, uint64_t *bytes);

/* A mesh on the nodes or cells of the grid, of one component or of two, x and y. */
struct openpmd_mesh {
    const char *name;
    double dimension[OPENPMD_DIMENSIONS];
    double unit;        /* unitSI */
    double position;    /* in the cell, along both axes */
    double time_offset; /* of the iteration's time */
    uint32_t filter_passes;
    const char *comment; /* NULL: none */
    uint32_t components;
    hdf5_fill *fill; /* of a component, from its source */
    const void *source[2];
};
void openpmd_write_mesh(struct openpmd *openpmd, const struct openpmd_mesh *mesh);

/* Bytes of so many components of meshes before compression. */
uint64_t openpmd_mesh_bytes(const struct config *config, uint32_t components);

/* One group for each species. The particles of a rank are one patch; patches are in the order of the ranks.
 *
 * A position is split as the state is: positionOffset is the lower corner of the particle's cell and position
 * the way from there, both in normalised lengths, so single precision is as good at the far end of a large
 * box as at its origin. Readers add the two, as openPMD asks; the sum is in [0, L). */
void openpmd_write_species(struct openpmd *openpmd);

/* Bytes of the arrays of all species before compression. */
uint64_t openpmd_species_bytes(const struct config *config);

#endif
