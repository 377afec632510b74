/* Sort search: which method, and which of its parameters, sorts particles in PIC order fastest on a device.
 *
 * Every candidate sorts the same keys to the permutation and the cell offsets and is dropped as soon as it is
 * hopeless, after its warm-up or a few sorts; what leads is held against a sort on the host.
 */
#ifndef RADIXPIC_EXPERIMENTS_SORT_SEARCH_H
#define RADIXPIC_EXPERIMENTS_SORT_SEARCH_H

#include "domain/grid.h"
#include "sort/sorter.h"

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
    uint32_t count;      /* N */
    uint32_t key_bits;   /* b */
    double seconds_most; /* no candidate is begun later */
    FILE *progress;      /* a live line; NULL for none */
    size_t trial_count;
    struct sort_trial trials[SORT_TRIALS_MAX];
    double seconds_taken;
    bool out_of_time; /* not all candidates were tried */
};

/* Searches for lists of `search->count` keys on `grid`; count, seconds_most and progress are given, the rest
 * is filled in. Blocking. STATUS_FAILED also where a sort returns a wrong result. */
STATUS_CHECKED enum status sort_search_run(struct device *device, const struct grid *grid,
                                           struct sort_search *search);

/* The fastest trial by `method` in `passes` passes, either auto for any; NULL where there is none. The
 * default wins where nothing is faster by more than the noise, and the last comparison overrules what was
 * timed before it. */
const struct sort_trial *sort_search_best(const struct sort_search *search, enum sort_method method,
                                          uint32_t passes);

/* The default's trial for this sort.passes, 2 or auto; NULL where it was not timed. */
const struct sort_trial *sort_search_default(const struct sort_search *search, uint32_t passes);

#endif
