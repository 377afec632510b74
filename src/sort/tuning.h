/* Tuning: the fastest sorts that `radixpic tune` has found, kept in a file of the folder of base/cache.h as
 * blocks `sort:` of a config: of one method in one number of passes, for one device under one driver, the
 * bits of a key and the length of a list. */
#ifndef RADIXPIC_SORT_TUNING_H
#define RADIXPIC_SORT_TUNING_H

#include "config/config.h"
#include "device/device.h"

#define TUNING_FILE "tuning.yaml" /* in the cache folder */

enum { TUNING_DATE_LENGTH = 11, TUNING_PROBLEM_LENGTH = 1024 };

struct tuning_entry {
    char device[256], driver[128];
    uint32_t compute_units;        /* PoCL's device has the same name with fewer threads */
    uint32_t length;               /* N */
    char date[TUNING_DATE_LENGTH]; /* of the timing, "2026-11-21" */
    struct sort_config sort;       /* method, passes and key_bits are never auto */
};

/* A list of entries; of the same device and length the fastest stands first. */
struct tuning {
    struct tuning_entry *entries;
    size_t count;
    bool is_newer;  /* of a format after this program's: only what it knows of it was read */
    bool is_unread; /* the file is there, but opening or reading it failed */
};

/* An entry for this device, without a date and a sort. */
struct tuning_entry tuning_entry_of(const struct device_info *info, uint32_t length);

/* Reads the file; without one the list is empty. A file that cannot be used gives an empty list too, and
 * `problem` one sentence about it, "" otherwise; one entry that cannot, a list without it, and a sentence.
 * STATUS_FAILED: out of memory. The caller frees the list. */
STATUS_CHECKED enum status tuning_read(struct tuning *tuning, char problem[TUNING_PROBLEM_LENGTH]);

/* The first entry for the device of `wanted` and keys of its key_bits, of the length that is nearest to its
 * own by ratio; by its method and in its passes, where these are not auto. NULL where there is none. */
const struct tuning_entry *tuning_find(const struct tuning *tuning, const struct tuning_entry *wanted);

/* Puts the entries, one or more of the same device, key_bits and length, in the place of those that the file
 * has of these. A file whose text cannot be used is replaced as a whole; one of a newer format, or that
 * cannot be read, is left: STATUS_FAILED. Written under another name, then renamed, under a lock of the
 * folder: a reader sees the old file or the new one, and of two writers none loses the other's entries,
 * except where the file system does not lock folders opened to read, as NFS: there the later of two writers
 * at the same time may lose them. Where `found` is NULL nothing is written, which tells whether it can be:
 * the folders are created. `problem` gets what tuning_read() finds. STATUS_FAILED with the path. */
STATUS_CHECKED enum status tuning_write(const struct tuning *found, char problem[TUNING_PROBLEM_LENGTH]);

void tuning_free(struct tuning *tuning);

#endif
