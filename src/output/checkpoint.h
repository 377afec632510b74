/* Checkpoint: the whole state between two steps in one HDF5 file, for `run --restart`.
 *
 * Positions stand at step n, velocities at n-1/2, every list sorted, every particle with the rank that owns
 * its row. Lists are stored in the order of the ranks, which is that of the keys, with the particles of every
 * cell counted; so any number of ranks can read them, each its own rows. Reals are stored in the precision of
 * the run, so a restart on as many ranks goes on with the same bits.
 *
 * A file appears whole or not at all (hdf5_file.h). A digest over all bytes of the file, kept in the block
 * before HDF5's first byte, is checked before anything is believed. Each rank writes its part of the arrays,
 * as the device has it.
 *
 *     attributes of the file: version, run, step, first_energy, ranks, ghost; of a run with drives drive_work
 *     /config                         uint8[bytes]            YAML, as config_echo() writes it
 *     /first_rows                     uint32[ranks + 1]       of the ranks, and the number of rows
 *     /capacities                     uint32[ranks][species]  of the lists
 *     /waves                          real[ny/2 + 1][6 nx 2]  of an electromagnetic run: waves_place()
 *     /OUTPUT                                                 of an output that averages: outputs_save()
 *     /particles/SPECIES/row_counts   uint64[nx]
 *     /particles/SPECIES/cell_counts  uint32[nx][ny]
 *     /particles/SPECIES/ATTRIBUTE    real or uint64[N][components], in the order of the cells
 *     /particles/SPECIES/file         uint64[8]               of a species from a file: struct species_facts
 */
#ifndef RADIXPIC_OUTPUT_CHECKPOINT_H
#define RADIXPIC_OUTPUT_CHECKPOINT_H

#include "output/hdf5_read.h"
#include "output/sorted_list.h"

/* Of the names of their files. */
#define CHECKPOINT_PREFIX "checkpoint_"

/* ---- the block before HDF5's first byte (its user block), by which a damaged file is known ---- */

/* It holds a magic text, the version of the format, the size of the file, a digest (XXH3, 128 bits) of the
 * digests of all 4 MiB pieces after the block, and one of the block itself. So no bit of the file can change
 * unnoticed. The place of magic, version and the block's own digest is the same in every version. */
enum { CHECKPOINT_VERSION = 5, CHECKPOINT_BLOCK = 512 /* bytes; HDF5 allows powers of two from 512 on */ };

/* Writes the block of the complete file at `path`. */
STATUS_CHECKED enum status checkpoint_seal(const char *path);

/* A sentence unless the file is a whole checkpoint of this version, with STATUS_USAGE where it does not begin
 * as one, else STATUS_FAILED. Reads all of it, or only its block, and its size, at a glance. *is_damaged: the
 * file was read and is not a whole checkpoint; false where reading failed, or for another version. */
STATUS_CHECKED enum status checkpoint_seal_check(const char *path, bool all, bool *is_damaged);

enum { CHECKPOINT_FACTS = sizeof(struct species_facts) / sizeof(uint64_t) };

/* ---- reading ---- */

/* What a file holds beside the particles. */
struct checkpoint {
    char path[PATH_MAX];        /* of the file */
    struct hdf5_source source;  /* the same, open */
    struct config config;       /* of the run that wrote it */
    struct partition partition; /* its ranks and rows */
    uint64_t run;               /* that wrote it, by its id in the manifest */
    uint64_t step;
    uint64_t kernels;     /* as in struct device_info; 0: not known, of an earlier program */
    double first_energy;  /* as in struct view, */
    double drive_work;    /* so, */
    uint32_t ghost;       /* this too */
    uint32_t *capacities; /* [ranks][species], of the lists */
    uint64_t *row_starts; /* [species][nx + 1], the particles in the rows before each */
    char *warnings;       /* on rank 0: a line for each broken file that was passed by; NULL: none was */
};

/* Collective. Opens a checkpoint and checks its digest, unless it `is_whole` on rank 0. STATUS_USAGE on all
 * ranks when the file is of another kind, STATUS_FAILED when it is broken. The caller closes it, NULL too. */
STATUS_CHECKED enum status checkpoint_open(const struct communicator *communicator, const char *path,
                                           bool is_whole, struct checkpoint **checkpoint);
void checkpoint_close(struct checkpoint **checkpoint);

/* checkpoint_find.c. Collective. checkpoint_open() of a file, or of the newest one of a folder that is not
 * damaged: of those that the manifest of the run folder names, or, in a folder that belongs to no run, of the
 * largest step. STATUS_USAGE on all ranks: there is none, a named one is missing or of another kind. */
STATUS_CHECKED enum status checkpoint_find(const struct communicator *communicator, const char *path,
                                           struct checkpoint **checkpoint);

/* STATUS_USAGE with one line for each key that a run must not change but `config` does, against that of the
 * checkpoint or run at `path`: all that shape the physics and the state. What may differ: title, time.steps,
 * time.check_every, device, sort, step, parallel, fields.transforms, fields.decomposition and output. */
STATUS_CHECKED enum status checkpoint_require_same(const char *path, const struct config *old,
                                                   const struct config *config);

/* The particles of a species in the rows before `row`. */
uint64_t checkpoint_row_start(const struct checkpoint *checkpoint, uint32_t species, uint32_t row);

/* Of the particles of a species in the rows [first_row, first_row + rows), in the order of their cells: how
 * many each cell has, counts[rows * ny], which add up to those of the rows; and an attribute, which kernels
 * may take, attribute_bytes() each. Each rank asks for its own rows; not collective. */
STATUS_CHECKED enum status checkpoint_read_cells(const struct checkpoint *checkpoint, uint32_t species,
                                                 uint32_t first_row, uint32_t rows, uint32_t *counts);
STATUS_CHECKED enum status checkpoint_read_attribute(const struct checkpoint *checkpoint, uint32_t species,
                                                     enum attribute attribute, uint32_t first_row,
                                                     uint32_t rows, void *values);

/* The state of the field's solver. STATUS_FAILED where a number is non-finite. */
STATUS_CHECKED enum status checkpoint_read_waves(const struct checkpoint *checkpoint, struct waves *waves);

#endif
