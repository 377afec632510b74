/* Checkpoint: the whole state between two steps in one HDF5 file, for `run --restart`.
 *
 * Positions stand at step n, velocities at n-1/2, every list sorted, every particle with the rank that owns
 * its row. Lists are stored in the order of the ranks, which is that of the keys, with the particles of every
 * cell counted; so any number of ranks can read them, each its own rows. Reals are stored in the precision of
 * the run, so a restart on as many ranks goes on with the same bits.
 *
 * A file appears whole or not at all (hdf5_file.h); its arrays are chunked with checksums, and a digest over
 * all bytes of the file, kept in the block before HDF5's first byte, is checked before anything is believed.
 */
#ifndef RADIXPIC_OUTPUT_CHECKPOINT_H
#define RADIXPIC_OUTPUT_CHECKPOINT_H

#include "output/view.h"

/* Each species is held in two lists: the main one, and the guests, who came from other ranks lately. */
enum checkpoint_list { CHECKPOINT_MAIN, CHECKPOINT_GUESTS, CHECKPOINT_LISTS };

/* What a rank wrote beside the particles. */
struct checkpoint_header {
    uint64_t step;                         /* n */
    double first_energy;                   /* total energy at step 0, for the drift */
    uint32_t ghost;                        /* rows that the slabs of all ranks were to have */
    uint64_t capacity[CONFIG_MAX_SPECIES]; /* of this rank's main lists: what shapes of launches depend on */
};

/* ---- writing ---- */

/* Collective. Writes FOLDER/checkpoint_STEP.h5 and sets *bytes to the size of the file; then removes all but
 * the newest `keep` checkpoints of the folder, those of later steps, which a run left that was since taken
 * back, and what a killed run left unfinished: see checkpoint_folder.h. STATUS_FAILED on all ranks, with path
 * and errno text, when it cannot be written, or when a particle is lost or holds a number that is not finite
 * (the sentence names species, step and cell): then older checkpoints stay as they are. */
STATUS_CHECKED enum status checkpoint_write(const char *folder, const struct view *view, uint32_t keep,
                                            uint64_t *bytes);

/* Of the state, to which the file adds some kilobytes. */
uint64_t checkpoint_bytes(const struct config *config);

/* ---- reading ---- */

struct checkpoint;

/* Collective. Opens a checkpoint and checks its digest. `path` is a file; or a folder of checkpoints, whose
 * newest whole one (of the largest step) is taken, and for each broken one passed by `warn` is called on rank
 * 0 with a sentence.
 * STATUS_FAILED on all ranks when there is none or it is broken. The caller closes it. */
STATUS_CHECKED enum status checkpoint_open(const struct communicator *communicator, const char *path,
                                           void (*warn)(void *context, const char *sentence), void *context,
                                           struct checkpoint **checkpoint);
void checkpoint_close(struct checkpoint **checkpoint);

/* The file that was opened. */
const char *checkpoint_path(const struct checkpoint *checkpoint);

/* The config of the run that wrote it. */
const struct config *checkpoint_config(const struct checkpoint *checkpoint);

/* STATUS_USAGE with one line for each key that a run must not change but `config` does: all that shape the
 * physics and the state. What may differ: title, time.steps, time.check_every, device, sort, step, parallel,
 * fields.solver, fields.decomposition and output. */
STATUS_CHECKED enum status checkpoint_require_same(const struct checkpoint *checkpoint,
                                                   const struct config *config);

/* Ranks and rows of the run that wrote it. */
const struct partition *checkpoint_partition(const struct checkpoint *checkpoint);

/* What rank `rank` of that run wrote. */
STATUS_CHECKED enum status checkpoint_header(const struct checkpoint *checkpoint, int rank,
                                             struct checkpoint_header *header);

/* A part of a list on the host. Reals are floats or doubles, as the config's precision says. */
struct host_list {
    uint64_t count;
    uint32_t *cell_counts; /* [rows * ny]: particles of each cell */
    void *offset;          /* real[2 * count] */
    void *velocity;        /* real[2 * count] */
    uint64_t *id;          /* [count]; NULL without ids */
};

/* Particles of a species in the rows [first_row, first_row + rows), in the order of their cells. Each rank
 * asks for its own rows; not collective. The caller frees the list. */
STATUS_CHECKED enum status checkpoint_read_list(struct checkpoint *checkpoint, uint32_t species,
                                                enum checkpoint_list which, uint32_t first_row, uint32_t rows,
                                                struct host_list *list);
void host_list_free(struct host_list *list);

/* Particles of each row of the box, all species and lists together: loads[grid.cells[0]]. */
STATUS_CHECKED enum status checkpoint_read_loads(struct checkpoint *checkpoint, uint64_t *loads);

#endif
