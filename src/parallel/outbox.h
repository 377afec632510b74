/* Outboxes: what each rank hands to the others, where all are of one machine, in memory that they share and
 * that their devices reach.
 *
 * In a step, for every species, all ranks call outboxes_announce(), read the counts of others, and then call
 * outboxes_send() and read particles of others. Counts are read before the next meeting, so one place for
 * them is enough. Particles have two places in turn, for a device still reads those of one exchange when the
 * next one fills its outbox: rank A fills that of exchange k again in exchange k + 2, after it met rank B for
 * the particles of exchange k + 1, and before that B waited for its side queue, which is in order.
 */
#ifndef RADIXPIC_PARALLEL_OUTBOX_H
#define RADIXPIC_PARALLEL_OUTBOX_H

#include "parallel/ghost_rows.h"
#include "parallel/host_particles.h"

struct outboxes;

/* Collective. `bytes`, the same on all ranks, is the room for particles of a rank; many ranks have less, so
 * that all together stay below a limit. *outboxes becomes NULL with 0 bytes, on several machines, or where
 * such memory cannot be had. A failure is that of all ranks. */
STATUS_CHECKED enum status outboxes_create(const struct rank_place *place, size_t bytes,
                                           struct outboxes **outboxes);

/* Collective, before the counts of an exchange are written: where more particles left a rank in the exchange
 * before than its outbox holds, all outboxes become as large as that and a quarter more, up to a limit and if
 * such memory can be had. Waits for the device then. */
STATUS_CHECKED enum status outboxes_fit(struct outboxes *outboxes);

/* Particles that an outbox holds. */
size_t outboxes_capacity(const struct outboxes *outboxes);

/* uint[cells beside the rank's rows]: how many particles leave it to each. They move with outboxes_fit(). */
uint32_t *outboxes_counts(const struct outboxes *outboxes, int rank);

/* Collective: the counts of all ranks are there, and how many leave each. */
void outboxes_announce(struct outboxes *outboxes, size_t leaving);

/* The particles that leave a rank; NULL: they are more than its outbox holds. */
struct host_particles *outboxes_particles(const struct outboxes *outboxes, int rank);

/* Collective: the particles of all ranks are there. Returns whether `is_true` is so on any of them. */
bool outboxes_send(struct outboxes *outboxes, bool is_true);

#endif
