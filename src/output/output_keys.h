/* Output keys: one output as a row of a table, what a config says of it, how often it is due, and how large
 * its files are, by the tree that it would record. */
#ifndef RADIXPIC_OUTPUT_OUTPUT_KEYS_H
#define RADIXPIC_OUTPUT_OUTPUT_KEYS_H

#include "folder/append_file.h"
#include "folder/step_files.h"
#include "hdf5/hdf5_file.h"
#include "hdf5/hdf5_read.h"
#include "output/view.h"

/* What a step has to do for the outputs that are due in it: bits. */
enum output_need {
    OUTPUT_NEEDS_SUMS = 1,      /* sums of the fields, to be checked */
    OUTPUT_NEEDS_CHECK = 16,    /* a check of the sums now: a non-finite value must not be recorded */
    OUTPUT_NEEDS_POTENTIAL = 2, /* fields->phi */
    OUTPUT_NEEDS_MEASURED = 4,  /* sums of the particles */
    OUTPUT_NEEDS_NODES = 32,    /* measure(), and then read() */
    OUTPUT_AFTER = 36,        /* either of these two: it is written after the advance, or some steps later */
    OUTPUT_NEEDS_SPECIES = 64 /* fields->species_rho */
};

/* A list in struct config, of which each item has a number of steps of its own: offsets of its length and of
 * its first item, and the bytes of an item. With size 0 the config itself is the one item. */
struct output_items {
    size_t count, first, size;
};

#define OUTPUT_ITEMS(list, number)                                                                           \
    {                                                                                                        \
        offsetof(struct config, output.number), offsetof(struct config, output.list),                        \
            sizeof(((struct config *)0)->output.list[0])                                                     \
    }

/* All functions that fail with STATUS_FAILED name path and errno text, and what all ranks write fails on all;
 * `part` is what create() or open() made, NULL where there is neither. */
struct output_row {
    const char *name;
    const struct step_files *files; /* the names of its files; NULL: it has no folder of its own */
    const char *cheaper_by;         /* what in the config would make it cost less, in a few words */
    struct output_items items;      /* it is due where an item is; of a list never without a run folder */

    /* Offsets in an item; 0: it has no such key. */
    size_t every;   /* of the steps from one time that it is due to the next */
    size_t fields;  /* of its list of fields */
    size_t average; /* of the states that it averages: of meshes, by record(), or of the points of a list */
    size_t points;  /* of the number of its points, a uint32_t; 0: it has one */

    size_t same;    /* bytes from `every` on that a restart must not change for its means to go on */
    unsigned needs; /* beside what fields need, OUTPUT_NEEDS_SUMS and, with record(), OUTPUT_NEEDS_CHECK */

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

    /* Collective. Without record(): adds rows to a file of the run folder, or only checks the state. Else
     * keeps of the state what record() will write, in a step in which wants_file() is true, alike on all
     * ranks; a file that is kept back so is in any case due with a checkpoint. */
    enum status (*write)(void *part, const struct view *view);
    bool (*wants_file)(void *part, const struct view *view, bool checkpoint);

    /* What the output needs to go on from a checkpoint, beside means: reads it from one, by a run of the
     * config `old`, where these two are not NULL; and records it, with view->has_no_data where `part` is
     * NULL. Collective. */
    enum status (*begin)(void *part, const struct config *old, const struct hdf5_source *source);
    void (*save)(void *part, struct hdf5_file *file, const struct view *view);

    /* For `check`, where there is more to say than the number and the size of files: the lines about it. */
    void (*print_size)(const struct config *config);
};

/* Keys of an output. */
struct average_keys {
    uint64_t every, states; /* no more than 1 state: there is no average */
};

/* Item n of an output in the config, NULL behind the last; and the keys of the item. */
const char *outputs_item(const struct output_row *row, const struct config *config, uint32_t n);
struct average_keys outputs_keys(const struct output_row *row, const struct config *config, uint32_t n);

/* The least number of steps between two of an output; 0: never. */
uint64_t outputs_every(const struct output_row *row, const struct config *config);

/* Whether an output is due at any time; a checkpoint can be, for a signal. */
bool outputs_is_ever_due(const struct output_row *row, const struct config *config);

/* How often something is written that is due every so many steps and at both ends of the run. */
uint64_t outputs_times_due(const struct config *config, uint64_t every);

/* Records a file of the row at `folder`, for the caller to write and free, on a failure too. Collective. */
STATUS_CHECKED enum status outputs_record(const struct output_row *row, void *part, const char *folder,
                                          const struct view *view, struct hdf5_file **file);

/* The size of the largest file of an output with record(); 0 where memory is short. */
struct output_size {
    uint64_t bytes;  /* an upper estimate, before compression */
    uint32_t meshes; /* components over all cells */
};
struct output_size outputs_size(const struct output_row *row, const struct config *config);

#endif
