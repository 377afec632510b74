/* Average: means over states, for outputs with `average: K` beside `every`. What they write in a step is the
 * mean over a window: the K states up to it, or fewer where the run began to average later. Window 0 ends
 * with the next multiple of `every`, and window 1 with the last step of a run where that is none. */
#ifndef RADIXPIC_OUTPUT_AVERAGE_H
#define RADIXPIC_OUTPUT_AVERAGE_H

#include "hdf5/hdf5_file.h"
#include "hdf5/hdf5_read.h"
#include "output/output_keys.h"

enum { AVERAGE_WINDOWS = 2 };

/* How many windows there are: the first, both, or where there is no average none. */
uint32_t average_windows(const struct config *config, struct average_keys keys);

/* How many states of a window there are up to the view's; 0: the view's state is not in it. */
uint64_t average_states(const struct view *view, struct average_keys keys, uint32_t window);

/* The window that ends with a step in which the output is due. */
static inline uint32_t average_ending(const struct view *view, struct average_keys keys)
{
    return keys.every > 0 && view->step % keys.every != 0;
}

/* The means of an output: of meshes, on the device, of the rank's own rows; or of points, on the host. */
struct average;

/* *average stays NULL where the output does not average. */
STATUS_CHECKED enum status average_create(struct device *device, const struct output_row *row,
                                          const struct config *config, struct average **average);

/* The means go on from those in `source`, a checkpoint of a run of the config `old`, where the config has the
 * same of them; they begin with the view's step where it has not, or these two are NULL. Collective. */
STATUS_CHECKED enum status average_begin(struct average *average, const struct view *view,
                                         const struct config *old, const struct hdf5_source *source);

/* Numbers that are the same on all ranks: the first step that counts in each window, then the means of
 * points. */
double *average_numbers(const struct average *average);

/* Moves the means of meshes to the rows that the rank has now. The first call makes them, and where `source`
 * is not NULL reads those of so many windows from a checkpoint. Collective, before what follows. */
STATUS_CHECKED enum status average_follow_rows(struct average *average, const struct view *view,
                                               const struct hdf5_source *source, uint32_t windows);

/* The place of the means of component `mesh` over a window: `plane` reals, one of each own cell, from `first`
 * on, and behind them what rounding added to each; and the number of states with the view's, 0: it is not in
 * the window. */
struct average_place {
    struct buffer *means;
    uint64_t states, first;
    uint32_t plane;
};
struct average_place average_place(const struct average *average, const struct view *view, uint32_t window,
                                   uint32_t mesh);

/* Adds the view's state, the first own cells of `values`, to component `mesh` (enqueued). */
STATUS_CHECKED enum status average_add(const struct average *average, const struct view *view, uint32_t mesh,
                                       struct buffer *values);

/* values[own cells] <- the means, where the output is due and it is not NULL. */
STATUS_CHECKED enum status average_read(const struct average *average, const struct view *view, uint32_t mesh,
                                        void *values);

/* The number of states that the means are of. */
uint64_t average_ended(const struct average *average, const struct view *view);

/* Records a group for an output that averages: its numbers, and the planes of the own rows, 2 for each mesh
 * and window; where `average` is NULL nothing, or in a file without data their shapes. Collective. */
void average_save(struct average *average, const struct output_row *row, struct hdf5_file *file,
                  const struct view *view);

#endif
