/* HDF5 file: what a file is to hold, recorded as a tree of groups, arrays and attributes, and then written.
 *
 * The thread that runs the steps records: names, numbers, and arrays whose data it copies into memory that
 * the file keeps. Any one thread then writes the whole file (hdf5_write.c), in which HDF5 is called for the
 * first time; so a run goes on while its files are written. On several ranks all record the same tree, each
 * with its own part of the arrays, and the writing is collective.
 *
 * Errors of recording stick: the first one records the sentence and stays in file->status, and what is
 * recorded behind it has no effect. So a page of attributes reads as a page of attributes. Objects are NULL
 * then, which all calls take. */
#ifndef RADIXPIC_HDF5_HDF5_FILE_H
#define RADIXPIC_HDF5_HDF5_FILE_H

#include "base/log.h"
#include "device/device.h"
#include "parallel/communicator.h"

#include <limits.h>

/* In a folder one file at a time is written. */
#define HDF5_UNFINISHED ".unfinished.tmp"

enum hdf5_type { HDF5_TEXT, HDF5_UINT8, HDF5_UINT32, HDF5_UINT64, HDF5_FLOAT, HDF5_DOUBLE };

enum { HDF5_DIMENSIONS = 4 /* at most */, HDF5_CHUNK = 1 << 16 /* elements: 0.5 MB of doubles */ };

/* Fills values[count] with elements first, first+1, ... of the own part of an array. Several threads call it
 * at the same time, later: `source` is memory that the file keeps. */
typedef enum status hdf5_fill(const void *source, uint64_t first, size_t count, void *values);

/* An array of which each rank has a part: a range of elements in C order. */
struct hdf5_array {
    enum hdf5_type type;
    int dimensions; /* 0: an array of one dimension and length 0 */
    uint64_t shape[HDF5_DIMENSIONS];
    uint64_t chunk[HDF5_DIMENSIONS]; /* sides, by hdf5_choose_chunks(); 0: in one piece */
    uint64_t first, count;           /* the rank's part; no two ranks share an element */
    hdf5_fill *fill;                 /* NULL: the part lies at `source` */
    const void *source;
};

struct hdf5_attribute {
    struct hdf5_attribute *next;
    const char *name;
    enum hdf5_type type;
    size_t length, count; /* of a text, its end counted; 0: a single number or text */
    void *values;
};

/* A group or an array. */
struct hdf5_object {
    struct hdf5_file *file;
    struct hdf5_object *next, *first_child, *last_child;
    struct hdf5_attribute *first_attribute, *last_attribute;
    const char *name;
    bool is_group;
    struct hdf5_array array;
    uint64_t address; /* of a plain array in the file */
};

struct hdf5_file {
    char folder[PATH_MAX];
    char path[PATH_MAX];      /* folder/name, where the file will be */
    char temporary[PATH_MAX]; /* folder/HDF5_UNFINISHED, where it is until it is whole */
    enum status status;       /* of recording */
    uint32_t compression;     /* deflate level of the arrays, 0..9 */
    bool has_no_data; /* only its size is asked for: arrays have shapes, and sources that are not read */
    uint32_t meshes;  /* components over all cells that were recorded */
    bool is_plain; /* arrays are neither compressed nor have checksums, and each rank writes its own part */
    size_t user_block; /* bytes before HDF5's first one, 0 or a power of two from 512 on */
    struct hdf5_object root;
    struct kept *kept; /* memory */

    /* Set by the caller, or NULL; on rank 0. seal() writes the user block of the whole file at `path`, its
     * temporary name; before() comes when the file is open and safe, but not in place, after() once it is. */
    enum status (*seal)(const char *path);
    enum status (*before)(const struct hdf5_file *file, int descriptor);
    enum status (*after)(const struct hdf5_file *file);
    void *context;   /* for these two; hdf5_file_keep() may give it */
    struct log *log; /* gets a line once the file is written; NULL: none does */

    uint64_t bytes; /* of the written file */
};

/* Collective. A new file that will be folder/name, a folder that all ranks see and that is no link; NULL on
 * all ranks after a failure of one. The caller ends with hdf5_file_free(). */
STATUS_CHECKED enum status hdf5_file_create(const struct communicator *communicator, const char *folder,
                                            const char *name, struct hdf5_file **file);
void hdf5_file_free(struct hdf5_file **file);

/* ---- recording ---- */

/* Records a failure of the caller's own, whose sentence status_fail() has; STATUS_OK and failures after the
 * first one change nothing. */
void hdf5_file_fail(struct hdf5_file *file, enum status status);

/* Memory that lives as long as the file; NULL after a failure, this one too. */
void *hdf5_file_keep(struct hdf5_file *file, size_t bytes);
void *hdf5_file_keep_copy(struct hdf5_file *file, size_t bytes, const void *values);

/* Such memory for the numbers of an array; of a file without data a place that is not to be touched. */
void *hdf5_file_room(struct hdf5_file *file, size_t bytes);

struct hdf5_object *hdf5_group(struct hdf5_object *parent, const char *name);

/* An array, in chunks of hdf5_choose_chunks(), shuffled, deflated (unless the file's level is 0) and with
 * checksums; unless the file is plain. */
struct hdf5_object *hdf5_dataset(struct hdf5_object *parent, const char *name,
                                 const struct hdf5_array *array);

/* Attributes. Texts are of fixed length. `count` numbers are an array, also 1; 0 is a single number. */
void hdf5_text(struct hdf5_object *object, const char *name, const char *value);
void hdf5_texts(struct hdf5_object *object, const char *name, size_t count, const char *const *values);
void hdf5_double(struct hdf5_object *object, const char *name, double value);
void hdf5_doubles(struct hdf5_object *object, const char *name, size_t count, const double *values);
void hdf5_numbers(struct hdf5_object *object, const char *name, enum hdf5_type type, size_t count,
                  const void *values);

/* Bytes of a number. */
size_t hdf5_size(enum hdf5_type type);

/* The type of the run's reals. */
static inline enum hdf5_type hdf5_real(enum precision precision)
{
    return precision == PRECISION_DOUBLE ? HDF5_DOUBLE : HDF5_FLOAT;
}

/* The type of the numbers of an attribute: these, or whole numbers. */
static inline enum hdf5_type hdf5_number(enum precision precision, bool is_real)
{
    return is_real ? hdf5_real(precision) : HDF5_UINT64;
}

/* The sides of chunks, which are ranges of elements in C order, HDF5_CHUNK at most: along the last axes those
 * of the array, along the one before a part, and along others 1. The parts are nearly equal along the first
 * axis, where the last one may be cut off, and else equal. */
void hdf5_choose_chunks(struct hdf5_array *array);

/* Host memory that packing chunks takes at most on a rank, of elements of 8 bytes. */
uint64_t hdf5_packing_bytes(void);

/* An upper estimate of the bytes of an object and all below it in a file, before compression. */
uint64_t hdf5_bytes(const struct hdf5_object *object);

/* ---- writing (hdf5_write.c) ---- */

/* Writes what was recorded. Collective over the ranks of the communicator, in one thread of each; blocking.
 * If nothing failed on any rank, the file is on the disk under its name and file->bytes is its size, on all
 * ranks; else STATUS_FAILED on all ranks and the temporary file is gone; an older file of that name is as it
 * was, unless only the sync of the folder or after() failed. The sentence names path and errno text. */
STATUS_CHECKED enum status hdf5_file_write(struct hdf5_file *file, const struct communicator *communicator);

#endif
