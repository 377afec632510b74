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

/* What meshes, records of particles and those of patches share. */
struct openpmd_record {
    const char *name;
    double dimension[OPENPMD_DIMENSIONS];
    double unit;         /* unitSI */
    double time_offset;  /* of the iteration's time; patches have none */
    const char *comment; /* NULL: none */
    uint32_t components; /* 1; 2: a group of x and y; 0: an empty group */
    hid_t type;          /* of a component */
    hdf5_fill *fill;     /* of a component, from its source; NULL: it lies there */
    const void *source[2];
};

/* Writes the components, arrays with the shape and rows of `part`, with unitSI and, where it is not NULL,
 * position[2] in a cell; then unitDimension. Returns the record for more attributes; the caller closes it. */
hid_t openpmd_write_components(struct hdf5_file *file, hid_t parent, const struct openpmd_record *record,
                               const struct hdf5_array *part, const double *position);

/* timeOffset and comment. */
void openpmd_write_time(struct hdf5_file *file, hid_t object, const struct openpmd_record *record);

/* A mesh over the grid, at `position` in each cell along both axes: 0 for nodes. */
void openpmd_write_mesh(struct openpmd *openpmd, const struct openpmd_record *mesh, double position,
                        uint32_t filter_passes);

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
