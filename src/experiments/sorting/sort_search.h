/* Sort search: which method, and which of its parameters, sorts particles in PIC order fastest on a device.
 *
 * Every candidate sorts the same keys to the permutation and the cell offsets and is dropped as soon as it is
 * hopeless, after its warm-up or a few sorts; what leads is judged on the host.
 */
#ifndef RADIXPIC_EXPERIMENTS_SORT_SEARCH_H
#define RADIXPIC_EXPERIMENTS_SORT_SEARCH_H

#include "experiments/sorting/sorting.h"

#include <stdio.h>

enum { SORT_TRIALS_MAX = 512 };

/* One candidate that was timed. */
struct sort_trial {
    struct sort_choice choice;
    struct sorter_plan plan;
    double seconds;  /* lower quartile of the timed sorts; of the one that it was dropped after */
    bool is_dropped; /* is no result: hopeless */
    bool is_final;   /* was timed again in the last comparison, which then decides */
    bool is_default; /* what a config with sort.passes 2 or auto gets without a search */
};

struct sort_search {
    struct device *device;
    struct grid grid;
    uint32_t count;      /* N */
    double seconds_most; /* no candidate is begun later */
    FILE *progress;      /* a live line; NULL for none */

    uint32_t key_bits; /* b */
    size_t trial_count;
    struct sort_trial trials[SORT_TRIALS_MAX];
    double started, seconds_taken;
    bool out_of_time; /* not all candidates were tried */

    struct pic_keys list;
};

/* Searches; device, grid, count, seconds_most and progress are given, all else is 0 and is filled in. What it
 * makes is the device's. Blocking. STATUS_FAILED also where a sort returns a wrong result. */
STATUS_CHECKED enum status sort_search_run(struct sort_search *search);

/* Whether one trial is preferred to the other: the faster, but a default to what is not faster by more than
 * the noise, and what was in the last comparison to what was not. */
bool sort_trial_beats(const struct sort_trial *one, const struct sort_trial *other);

/* The trial by `method` in `passes` passes, either auto for any, that beats all others; NULL where there is
 * none. */
const struct sort_trial *sort_search_best(const struct sort_search *search, enum sort_method method,
                                          uint32_t passes);

/* The default's trial for this sort.passes, 2 or auto; NULL where it was not timed. */
const struct sort_trial *sort_search_default(const struct sort_search *search, uint32_t passes);

#endif
