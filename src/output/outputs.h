/* Outputs: all that a run writes of its state, as one table, which the step, `check` and the run folder walk.
 * A new output is a file with its functions and its row, named here and in outputs.c. */
#ifndef RADIXPIC_OUTPUT_OUTPUTS_H
#define RADIXPIC_OUTPUT_OUTPUTS_H

#include "hdf5/hdf5_read.h"
#include "hdf5/writer.h"
#include "output/output_keys.h"

/* The rows, each in the file of its output. */
extern const struct output_row history_output, probes_output, checkpoint_output, snapshot_output,
    phase_space_output, moments_output, lines_output, tracks_output;

/* Columns of a history: sums of the step, one more where a species has w, with drives their work, then two
 * for each component in each mode, then three or with w four for each species that is named, and its work.
 * Returns their number. Unless NULL, head[HISTORY_HEAD_LENGTH] <- their names with commas, values <- those of
 * a row. */
enum {
    HISTORY_MOST = 10 + 2 * (1 + WAVE_COMPONENTS) * CONFIG_MAX_MODES + 5 * CONFIG_MAX_SPECIES,
    HISTORY_HEAD_LENGTH = 128 + 48 * (1 + WAVE_COMPONENTS) * CONFIG_MAX_MODES +
                          5 * (CONFIG_NAME_LENGTH + 16) * CONFIG_MAX_SPECIES
};
uint32_t history_columns(const struct config *config, const struct history_row *row, char *head,
                         double *values);

/* In the order of writing: a run that a signal stops writes its checkpoint and nothing after it. */
enum { OUTPUTS = 9 };
extern const struct output_row *const output_table[OUTPUTS];

struct outputs;

/* Creates the parts of all outputs, which die with the device handle; outputs_close() comes before. */
STATUS_CHECKED enum status outputs_create(struct device *device, const struct config *config,
                                          struct outputs **outputs);

/* Reads from `source`, a checkpoint of a run of the config `old`, what outputs saved in it, or where these
 * two are NULL begins with none of it. Collective. */
STATUS_CHECKED enum status outputs_begin(struct outputs *outputs, const struct view *view,
                                         const struct config *old, const struct hdf5_source *source);
void outputs_save(const struct outputs *outputs, struct hdf5_file *file, const struct view *view);

/* Begins the writing of outputs, below `folder`, which must outlive them; without it none is. Starts
 * the writer on all ranks; rank 0 then begins the run in the folder, opens the append files and clears it:
 * see run_folder_begin() and run_folder_clear(). Failures are not agreed on. */
STATUS_CHECKED enum status outputs_open(struct outputs *outputs, const struct communicator *communicator,
                                        struct run_folder *folder);

/* Waits for what is being written; STATUS_FAILED: a file could not be. Timed as STAGE_WAIT. NULL is fine. */
STATUS_CHECKED enum status outputs_finish(struct outputs *outputs);

/* Rank 0, after outputs_finish(): the run is complete with this step. */
STATUS_CHECKED enum status outputs_complete(struct outputs *outputs, uint64_t step);

/* Rank 0: a text file of the folder is whole now. */
STATUS_CHECKED enum status outputs_list(const struct outputs *outputs, const char *name);

/* Waits for what is being written and closes the append files; STATUS_FAILED when a file, or the last bytes
 * of one, could not be written. NULL is fine, and a second call does nothing. */
STATUS_CHECKED enum status outputs_close(struct outputs *outputs);

/* The files that were written beside the steps so far. */
struct written outputs_written(const struct outputs *outputs);

/* The seconds that the run has waited for outputs so far, and of which output the most: its `cheaper_by`. */
double outputs_seconds(const struct outputs *outputs, const char **cheaper_by);

/* Decides what is due in this step, before the advance; returns what it needs, 0 where nothing is due. Where
 * an earlier file could not be written, and outputs_write() is about to fail, that is a check too: rows of
 * earlier steps are then written before. Collective. */
unsigned outputs_due(struct outputs *outputs, const struct view *view);

/* For the outputs that are due and have measure() or read(): see there. */
STATUS_CHECKED enum status outputs_measure(struct outputs *outputs, const struct view *view, uint32_t slot);
STATUS_CHECKED enum status outputs_read(struct outputs *outputs, uint32_t first, uint32_t count);

/* Records what is due, to be written while the run goes on: where view->measured is NULL what comes before
 * the advance, else the rest, which may be of an earlier step. Times it as STAGE_OUTPUT, for which it leaves
 * launches untimed (device_weigh_times()), and waiting for files in flight as STAGE_WAIT. STATUS_FAILED, too,
 * when an earlier file could not be written; STATUS_STOPPED after a signal to any rank, once a checkpoint is
 * written. Collective. */
STATUS_CHECKED enum status outputs_write(struct outputs *outputs, const struct view *view);

/* Prints, for `check`, how much each output will write, and the host memory of files in flight. */
void outputs_print_sizes(const struct config *config);

/* Bytes of all files of a run, before compression, and of one of each output that has some. */
uint64_t outputs_expected_bytes(const struct config *config, uint64_t *each);

/* One line for `check`: `times` files of at most `bytes`; `what` stands behind their number. */
void outputs_print_files(const char *name, uint64_t times, const char *what, uint64_t bytes);

/* ---- finite.c: where a value is non-finite. For when a sum says that something went wrong: it reads
 * everything, piece by piece, and names the first particle or node. ---- */

/* Collective. STATUS_OK when every offset and velocity and, on the ranks' own rows, rho, ex and ey are
 * finite. Otherwise STATUS_FAILED with the same sentence on all ranks: species, cell, node and row are those
 * of the box. Particles of any rank come first: a non-finite field follows from them. Blocking. */
STATUS_CHECKED enum status finite_find(const struct view *view);

/* STATUS_OK where `value`, the same on all ranks, is finite; else finite_find(), and where all numbers are
 * finite a sentence about `what` the value is of. Collective. */
STATUS_CHECKED enum status finite_require(const struct view *view, const char *what, double value);

#endif
