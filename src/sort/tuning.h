/* Tuning: the fastest sorts that `radixpic tune` has found, kept in a file of the folder of base/cache.h.
 *
 * Each of its entries says how fast one method in one number of passes sorted keys of b bits, with its best
 * parameters, on one device under one driver.
 */
#ifndef RADIXPIC_SORT_TUNING_H
#define RADIXPIC_SORT_TUNING_H

#include "config/config.h"
#include "device/device.h"

/* One way to sort, SORT_AUTO where the program chooses. */
struct sort_choice {
    struct sort_config config;
    uint32_t chunks;     /* of the methods tiled and chunked */
    uint32_t tile_items; /* of tiled: items of a group */
};

#define TUNING_FILE "tuning.yaml" /* in the cache folder */

/* What a timing holds for. */
struct tuning_key {
    char device[256];
    char driver[128];
    uint32_t compute_units; /* PoCL's device has the same name with fewer threads */
    uint32_t key_bits;      /* b */
    uint32_t size_class;    /* floor(log2 N) */
};

enum { TUNING_DATE_LENGTH = 11, TUNING_PROBLEM_LENGTH = 1024 };

struct tuning_entry {
    struct tuning_key key;
    struct sort_choice choice;     /* method and passes are never auto */
    double milliseconds;           /* no less than of another that tune preferred */
    char date[TUNING_DATE_LENGTH]; /* of the timing, "2026-11-21" */
};

/* A list of entries. */
struct tuning {
    struct tuning_entry *entries;
    size_t count;
    bool is_newer;  /* of a format after this program's: only what it knows of it was read */
    bool is_unread; /* the file is there, but opening or reading it failed */
};

struct tuning_key tuning_key_of(const struct device_info *info, uint32_t key_bits, uint32_t count);

/* Reads the file; without one the list is empty. A file that cannot be used gives an empty list too, and
 * `problem` one sentence about it, "" otherwise; one entry that cannot, a list without it, and a sentence.
 * STATUS_FAILED: out of memory. The caller frees the list. */
STATUS_CHECKED enum status tuning_read(struct tuning *tuning, char problem[TUNING_PROBLEM_LENGTH]);

/* The fastest entry for `key` by `method` in `passes` passes, either SORT_AUTO (or SORT_METHOD_AUTO) for any;
 * NULL where there is none. */
const struct tuning_entry *tuning_find(const struct tuning *tuning, const struct tuning_key *key,
                                       enum sort_method method, uint32_t passes);

/* Whether tuning_write() can write: creates the folders and, for a moment, the file under its other name.
 * STATUS_FAILED with the path where not, also where the file is of a newer format or cannot be read. What is
 * stored stays as it is. */
STATUS_CHECKED enum status tuning_check_writable(void);

/* Puts the entries, one or more that share one key, in the place of those that the file has for it. A file
 * whose text cannot be used is replaced as a whole; one of a newer format, or that cannot be read, is left:
 * STATUS_FAILED. Written under another name, then renamed, under a lock of the folder: a reader sees the old
 * file or the new one, and of two writers none loses the other's entries, except where the file system does
 * not lock folders opened to read, as NFS: there the later of two writers at the same time may lose them. */
STATUS_CHECKED enum status tuning_write(const struct tuning *found);

void tuning_free(struct tuning *tuning);

#endif
