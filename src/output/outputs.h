/* Outputs: all that a run writes of its state, as one table, which the step, `check` and the run folder walk.
 * A new output is a file with its functions and its row, named here and in outputs.c. */
#ifndef RADIXPIC_OUTPUT_OUTPUTS_H
#define RADIXPIC_OUTPUT_OUTPUTS_H

#include "folder/append_file.h"
#include "hdf5/writer.h"
#include "output/average.h"
#include "output/view.h"

/* What a step has to do for the outputs that are due in it: bits. */
enum output_need {
    OUTPUT_NEEDS_SUMS = 1,      /* of the fields, to be checked */
    OUTPUT_NEEDS_CHECK = 16,    /* they are checked now: a non-finite value must not be recorded */
    OUTPUT_NEEDS_POTENTIAL = 2, /* fields->phi */
    OUTPUT_NEEDS_MEASURED = 4,  /* sums of the particles */
    OUTPUT_NEEDS_NODES = 32,    /* measure(), and then read() */
    OUTPUT_AFTER = 36,          /* either: it is written after the advance, or some steps later */
    OUTPUT_NEEDS_SPECIES = 64   /* fields->species_rho */
};

/* A list in struct config, of which each item has a number of steps of its own: offsets. With size 0 the
 * config itself is the one item. */
struct output_items {
    size_t count, first, size;
};

#define OUTPUT_ITEMS(list, number)                                                                           \
    {                                                                                                        \
        offsetof(struct config, output.number), offsetof(struct config, output.list),                        \
            sizeof(((struct config *)0)->output.list[0])                                                     \
    }

/* What all ranks agree on once in a step, by the largest number of any rank; 0: nothing. */
enum output_question {
    OUTPUT_FAILED, /* a file could not be written */
    OUTPUT_SIGNAL, /* the signal that came */
    OUTPUT_LATE,   /* by the clock a checkpoint is due */
    OUTPUT_QUESTIONS
};

/* All functions that fail with STATUS_FAILED name path and errno text, and what all ranks write fails on all;
 * `part` is what create() or open() made, NULL where there is neither. */
struct output_row {
    const char *name;
    const struct step_files *files; /* of its files; NULL: it has no folder of its own */
    const char *cheaper_by;         /* what in the config would make it cost less, in a few words */
    struct output_items items;      /* due where an item is; of a list never without a run folder */
    size_t every;   /* where in an item it stands how many steps are between two; 0: nowhere, as: */
    size_t fields;  /* its list of fields */
    size_t average; /* over how many states it averages: meshes, which record() takes by struct
                       average, or what a list has of points, of which an item has */
    size_t points;  /* uint32_t: so many; 0: one */
    size_t same;    /* the bytes from `every` on that stay as they were where means of meshes go on */
    unsigned needs; /* beside what fields need, OUTPUT_NEEDS_SUMS and, with record(), OUTPUT_NEEDS_CHECK */

    /* Where not only `every` decides: what this rank asks for in the step, and whether a file is due once
     * each is the most of all ranks. */
    void (*ask)(void *part, const struct view *view, double asked[OUTPUT_QUESTIONS]);
    bool (*is_due)(void *part, const struct view *view, const double asked[OUTPUT_QUESTIONS]);

    /* What the output holds for the whole run, on all ranks, unless it is never due; it dies with the device
     * handle. STATUS_USAGE for what the config asks in vain. */
    enum status (*create)(struct device *device, const struct config *config, void **part);

    /* Rank 0: adds the files of the run folder that grow with the run. */
    enum status (*open)(struct append_files *files, const struct config *config, void **part);

    /* Leaves on the device, in a slot, what write() will need of the fields at n; and brings slots `first` to
     * before first + count to the host, where write() finds that of its step in slot step % SUM_SLOTS. */
    enum status (*measure)(void *part, const struct view *view, uint32_t slot);
    enum status (*read)(void *part, uint32_t first, uint32_t count);

    /* Collective. Records what FOLDER/PREFIX_STEP.h5 is to hold, all ranks their parts of the one file. With
     * view->has_no_data `part` is NULL, and the largest file is recorded, of all items. */
    void (*record)(void *part, struct hdf5_file *file, const struct view *view);

    /* STATUS_STOPPED, with a sentence, where the run ends with the file that was recorded. */
    enum status (*stop)(void *part, const char *folder, const struct view *view);

    /* Collective. Of outputs without record(): writes on a file of the run folder, or only checks. Else it
     * keeps what record() writes when wants_file() says so, alike on all ranks. */
    enum status (*write)(void *part, const struct view *view);
    bool (*wants_file)(void *part, const struct view *view, bool checkpoint);

    /* For `check`, where there is more to say than the number and the size of files: the lines about it. */
    void (*print_size)(const struct config *config);
};

/* Each in the file of its output. */
extern const struct output_row history_output, probes_output, checkpoint_output, snapshot_output,
    phase_space_output, moments_output, lines_output, tracks_output;

/* Columns of a history: sums of the step, one more where a species has w, with drives their work, then two
 * for each mode, then three or with w four for each species that is named. Returns their number. Unless NULL,
 * head[HISTORY_HEAD_LENGTH] <- their names with commas, values <- those of a row. */
enum {
    HISTORY_MOST = 10 + 2 * CONFIG_MAX_MODES + 4 * CONFIG_MAX_SPECIES,
    HISTORY_HEAD_LENGTH = 128 + 80 * CONFIG_MAX_MODES + 4 * (CONFIG_NAME_LENGTH + 16) * CONFIG_MAX_SPECIES
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
 * two are NULL makes room for it. Collective. */
STATUS_CHECKED enum status outputs_begin(struct outputs *outputs, const struct view *view,
                                         const struct config *old, const struct hdf5_source *source);
void outputs_save(const struct outputs *outputs, struct hdf5_file *file, const struct view *view);

/* From now on outputs are written, below `folder`, which must outlive them; without it none is. Starts
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

/* What was written beside the steps so far. */
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

/* Records a file of the row at `folder`, for the caller to write and free, on a failure too. Collective. */
STATUS_CHECKED enum status outputs_record(const struct output_row *row, void *part, const char *folder,
                                          const struct view *view, struct hdf5_file **file);

/* Prints, for `check`, how much each output will write, and the host memory of files in flight. */
void outputs_print_sizes(const struct config *config);

/* Of the largest file of an output with record(), 0 where memory is short. */
struct output_size {
    uint64_t bytes;  /* an upper estimate, before compression */
    uint32_t meshes; /* components over all cells */
};
struct output_size outputs_size(const struct output_row *row, const struct config *config);

/* Bytes of all files of a run, before compression, and of one of each output that has some. */
uint64_t outputs_expected_bytes(const struct config *config, uint64_t *each);

/* The least number of steps between two of an output; 0: never. */
uint64_t outputs_every(const struct output_row *row, const struct config *config);

/* Its item n in the config, NULL behind the last; and the keys of that. */
const char *outputs_item(const struct output_row *row, const struct config *config, uint32_t n);
struct average_keys outputs_keys(const struct output_row *row, const struct config *config, uint32_t n);

/* Whether that is not never; a signal asks for a checkpoint at any time. */
bool outputs_is_ever_due(const struct output_row *row, const struct config *config);

/* How often something is written that is due every so many steps and at both ends of the run. */
uint64_t outputs_times_due(const struct config *config, uint64_t every);

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
