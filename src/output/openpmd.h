/* openPMD: files of one iteration by openPMD 1.1.0 and its extension ED-PIC.
 *
 * Everything is recorded as the simulation has it, in normalised units; unitSI says what one unit is. The
 * errors of recording stick: see hdf5_file.h. */
#ifndef RADIXPIC_OUTPUT_OPENPMD_H
#define RADIXPIC_OUTPUT_OPENPMD_H

#include "output/sorted_list.h"

/* ---- the file ---- */

/* Powers of length, mass, time, current, temperature, amount of substance and luminous intensity. */
enum { OPENPMD_DIMENSIONS = 7 };

/* Extensions of the standard that a file keeps to: bits of openPMDextension. */
enum { OPENPMD_BASE = 0, OPENPMD_ED_PIC = 1 };

struct openpmd {
    struct hdf5_file *file; /* the caller's */
    const struct view *view;
    struct units units;
    struct hdf5_object *meshes, *particles; /* groups; what the two paths name is there, if empty */
    struct mesh_window window;              /* nodes, or cells, of the meshes over the grid; at first all */
    uint64_t states; /* meshes are means over so many; 0: they are of the state itself */
};

/* Records the attributes of root and iteration of a file of an output with that `prefix`. */
struct openpmd openpmd_begin(struct hdf5_file *file, const struct view *view, const char *prefix,
                             uint32_t extensions);

/* Components of a record: of a vector x, y and z, and behind these of a tensor xx, xy, yy, xz, yz and zz. */
enum { OPENPMD_AXES = 3, OPENPMD_COMPONENTS = 9 };

/* A record: of a mesh, of particles or of their patches. */
struct openpmd_record {
    const char *name;
    double dimension[OPENPMD_DIMENSIONS];
    double unit[OPENPMD_AXES]; /* unitSI of each component; the first is that of a tensor */
    /* Sources of the components, in a group; x alone: of the only component; none: an empty group. */
    const void *source[OPENPMD_COMPONENTS];
    hdf5_fill *fill;     /* of a component, from its source; NULL: it lies there */
    enum hdf5_type type; /* of a component */
    double time_offset;  /* of the iteration's time; patches have none */
    const char *comment; /* NULL: none */
};

/* The record of a field without its sources, whose components are of `type` and filled by `fill`; and the
 * passes of the filter that it went through. */
struct openpmd_record openpmd_field(const struct openpmd *openpmd, enum field field, enum hdf5_type type,
                                    hdf5_fill *fill);
uint32_t openpmd_filter_passes(const struct openpmd *openpmd, enum field field);

/* The places of the values of a mesh, along each of its axes. */
struct openpmd_axes {
    const char *labels[2];
    double spacing[2];
    double position[2]; /* in a cell of that spacing: 0 for nodes */
    double offset[2];   /* of the first cell */
};

/* A mesh whose array, or the part of this rank, is `part`. Returns it for more attributes. */
struct hdf5_object *openpmd_write_mesh_along(struct openpmd *openpmd, const struct openpmd_record *mesh,
                                             const struct hdf5_array *part, const struct openpmd_axes *axes,
                                             uint32_t filter_passes);

/* Leaves of values in the own cells of the rank those of the window, one behind the other. */
void openpmd_pick(const struct openpmd *openpmd, enum precision precision, void *values);

/* A mesh over the window, of values that were picked, at `position` in each cell of the grid along both axes:
 * 0 for nodes. */
void openpmd_write_mesh(struct openpmd *openpmd, const struct openpmd_record *mesh, double position,
                        uint32_t filter_passes);

/* The function that fills reals of `to` from memory that holds them as `from`; NULL where they lie there. */
hdf5_fill *openpmd_rounding(enum precision from, enum precision to);

/* A record of particles; one without sources is a constant. */
struct particle_record {
    struct openpmd_record common;
    uint32_t is_macro; /* 1: of the macro-particle, not of one real particle */
    double weighting_power;
    double value; /* of a constant */
};

/* Values by which particles are read, as doubles: the two indices of the cell, the offset in it, the
 * velocity, and the weight over `weight` of struct openpmd_particles. */
enum particle_value { VALUE_CELL, VALUE_OFFSET = 2, VALUE_VELOCITY = 4, VALUE_WEIGHT = 7, PARTICLE_VALUES };

/* Particles of a species, or their patches, that are written as one list. */
struct openpmd_particles {
    const struct species_config *species;
    enum precision precision; /* of what is written */
    double weight; /* real particles that each stands for, or their mean, in units of `particles` */
    const char *of_weighting; /* its comment, or NULL */
    /* values[count] <- those of particles `first` on, from `source`, which the file keeps. */
    void (*read)(const void *source, enum particle_value value, uint64_t first, size_t count, double *values);
    const void *source;
    struct hdf5_array part;             /* shape and range of the particles */
    struct hdf5_array patches;          /* shape and range of their patches */
    const uint64_t *counts, *before;    /* of the patches: particles in each, and before it */
    const double *low[2], *extent[2];   /* of the patches, in cells */
    const struct particle_record *more; /* records beside those of all species */
    size_t more_count;
};

/* A group of a species: its attributes in ED-PIC, position, positionOffset, momentum, charge, mass and
 * weighting, `more` records, and the patches.
 *
 * A position is split as the state is: positionOffset is the index of the particle's cell along the axis, a
 * whole number, and position the offset in that cell, both in units of a cell, whose size is in unitSI; so
 * single precision is as good at the far end of a large box as at its origin. Readers add the two, as openPMD
 * asks; the sum is in [0, cells). The index is a double: some readers multiply by unitSI floats alone, and
 * with a float numpy's sum would be a float, which loses the offset. */
void openpmd_write_particles(struct openpmd *openpmd, const struct openpmd_particles *particles);

/* The species that snapshots hold. The particles of a rank are one patch, in the order of the ranks. */
void openpmd_write_species(struct openpmd *openpmd, const struct selection *selection);

/* ---- moments: density, temperature, mean velocity, current, pressure tensor and heat flux of each species
 * in every cell of the grid, as meshes.
 *
 * Densities are those of positions at n, all else is of velocities at n-1/2. A temperature is an energy,
 * m <|v - <v>|^2> / 2: that of each of the two directions where they are alike; kernels/moments.cl has the
 * formulas with relativity. Averages are the moments of the particles of all states together. In a cell
 * without particles all are 0. Sums run in a fixed order, without atomics: the same list gives the same bits.
 * ---- */

struct moments;

STATUS_CHECKED enum status moments_create(struct device *device, const struct config *config, void **moments);

/* The meshes of all species. */
void moments_write(struct openpmd *openpmd, const struct moments *moments, enum precision precision);

#endif
