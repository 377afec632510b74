/* Run messages: what goes into runs of ghost rows, and comes from others, by MPI: all are begun, then ended.
 */
#ifndef RADIXPIC_PARALLEL_RUN_MESSAGES_H
#define RADIXPIC_PARALLEL_RUN_MESSAGES_H

#include "parallel/ghost_rows.h"
#include "parallel/host_particles.h"

struct run_messages;

/* For so many runs at a time. */
STATUS_CHECKED enum status run_messages_create(struct device *device, size_t runs,
                                               struct run_messages **messages);

/* Begins to send, or to receive, a number for each of the run's cells, or `count` particles from number
 * `first` on. What they are in is left alone until run_messages_end(). Both ranks know the number. */
void run_messages_counts(struct run_messages *messages, const struct ghost_run *run, bool sends, size_t cells,
                         uint32_t *counts);
void run_messages_particles(struct run_messages *messages, const struct ghost_run *run, bool sends,
                            const struct host_particles *particles, size_t first, size_t count);

/* Waits until all messages have come and gone. */
void run_messages_end(struct run_messages *messages);

#endif
