/* Followed: the ids of the particles that tracks follow. They are those of the config; or at each sample
 * those that fulfil a condition then, with `keep` beside those that did before, and never more than
 * output.tracks.count: of more that come at once the lowest ids, so that they are the same on any number of
 * ranks. */
#ifndef RADIXPIC_OUTPUT_FOLLOWED_H
#define RADIXPIC_OUTPUT_FOLLOWED_H

#include "hdf5/hdf5_file.h"
#include "hdf5/hdf5_read.h"
#include "output/selection.h"
#include "output/view.h"

struct followed {
    const struct tracks_config *config; /* not owned */
    uint32_t species, most;             /* most: ids that there may be */
    uint32_t count;                     /* ids that there are, the same on all ranks */
    uint64_t *ids;                      /* [most] of the species, ascending */
    struct selection *selection;        /* NULL: the ids are those of the config */
    uint64_t *found;                    /* with a selection: ids of this rank */
    bool is_known;                      /* that there are more: the log has its line */
};

/* The most ids that there may be. */
uint32_t followed_most(const struct tracks_config *config);

/* Whether their number is known before the run. */
bool followed_are_fixed(const struct tracks_config *config);

STATUS_CHECKED enum status followed_create(struct device *device, const struct config *config,
                                           struct followed *followed);

/* Chooses those of the view's step. Collective. */
STATUS_CHECKED enum status followed_choose(struct followed *followed, const struct view *view);

/* Those that are kept go on in a checkpoint, where the config `old` that wrote it has the same condition. */
STATUS_CHECKED enum status followed_begin(struct followed *followed, const struct config *old,
                                          const struct hdf5_source *source);
void followed_save(const struct followed *followed, struct hdf5_file *file, const struct view *view);

#endif
