/* Checkpoint: reading the file of a whole state, for `run --restart`; folder/checkpoint_seal.h has its
 * format. */
#ifndef RADIXPIC_INPUT_CHECKPOINT_H
#define RADIXPIC_INPUT_CHECKPOINT_H

#include "domain/fields.h"
#include "domain/particles.h"
#include "hdf5/hdf5_read.h"
#include "parallel/communicator.h"
#include "parallel/partition.h"

/* The content of a file, without the particles. */
struct checkpoint {
    char path[PATH_MAX];        /* of the file */
    struct hdf5_source source;  /* the file, open */
    struct config config;       /* of the run that wrote it */
    struct partition partition; /* its ranks and rows */
    uint64_t run;               /* that wrote it, by its id in the manifest */
    uint64_t step;
    uint64_t kernels;     /* as in struct device_info; 0: the file does not say it */
    double first_energy;  /* as in struct view */
    double drive_work;    /* as in struct view */
    uint32_t ghost;       /* as in struct view */
    uint32_t *capacities; /* [ranks][species], of the lists */
    uint64_t *row_starts; /* [species][nx + 1], the particles in the rows before each */
    char *warnings;       /* on rank 0: a line for each broken file that was passed by; NULL: none was */
    /* As in struct view, of a run with output.history.work. */
    double work[CONFIG_MAX_SPECIES];
};

/* Collective. Opens a checkpoint and checks its digest, unless it `is_whole` on rank 0. STATUS_USAGE on all
 * ranks when the file is of another kind, STATUS_FAILED when it is broken. The caller closes it, NULL too. */
STATUS_CHECKED enum status checkpoint_open(const struct communicator *communicator, const char *path,
                                           bool is_whole, struct checkpoint **checkpoint);
void checkpoint_close(struct checkpoint **checkpoint);

/* checkpoint_find.c. Collective. checkpoint_open() of a file, or of the newest checkpoint of a folder that is
 * not damaged: of those that the manifest of the run folder names, or, in a folder that belongs to no run, of
 * the largest step. STATUS_USAGE on all ranks: there is none, a named one is missing or of another kind. */
STATUS_CHECKED enum status checkpoint_find(const struct communicator *communicator, const char *path,
                                           struct checkpoint **checkpoint);

/* STATUS_USAGE with one line for each key that a run must not change but `config` does, against that of the
 * checkpoint or run at `path`: all that shape the physics and the state. What may differ: title, time.steps,
 * time.check_every, device, sort, step, parallel, fields.transforms, fields.decomposition and output; but
 * output.history.work is not set where it was not. */
STATUS_CHECKED enum status checkpoint_require_same(const char *path, const struct config *old,
                                                   const struct config *config);

/* The particles of a species in the rows before `row`. */
uint64_t checkpoint_row_start(const struct checkpoint *checkpoint, uint32_t species, uint32_t row);

/* Read of the particles of a species in the rows [first_row, first_row + rows), in the order of their cells,
 * how many each cell has, counts[rows * ny], which add up to those of the rows; and an attribute, whose
 * numbers kernels accept, attribute_bytes() each. Each rank asks for its own rows; not collective. */
STATUS_CHECKED enum status checkpoint_read_cells(const struct checkpoint *checkpoint, uint32_t species,
                                                 uint32_t first_row, uint32_t rows, uint32_t *counts);
STATUS_CHECKED enum status checkpoint_read_attribute(const struct checkpoint *checkpoint, uint32_t species,
                                                     enum attribute attribute, uint32_t first_row,
                                                     uint32_t rows, void *values);

/* The state of the field's solver. STATUS_FAILED where a number is non-finite. */
STATUS_CHECKED enum status checkpoint_read_waves(const struct checkpoint *checkpoint, struct waves *waves);

#endif
