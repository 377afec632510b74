/* Exchange: particles that go into the ghost rows in a step, and those that come.
 *
 * Between the count and the move of a step (step/stepper.h) a rank has counted how many of its particles go
 * to each cell of its ghost rows. It announces that to the owners of those rows, which leave room for them in
 * their own sorted lists; then the particles follow, while the devices still move the others, and take their
 * places. Ranks of one machine hand over both in memory that they share and that their devices reach, others
 * by messages. So nothing is sorted or merged. Particles that go beyond the ghost rows cannot be announced;
 * they take the general path (parallel/migrate.h), and so do arrivals for which a list has no room.
 *
 * Which ranks exchange something is known from the partition alone. On every rank, for every species, in this
 * order: the stepper's count() and leavers(), exchange_announce(), the stepper's move(), exchange_follow(),
 * this one before the next leavers(); after all species migrate_deliver().
 */
#ifndef RADIXPIC_PARALLEL_EXCHANGE_H
#define RADIXPIC_PARALLEL_EXCHANGE_H

#include "parallel/ghost_rows.h"
#include "parallel/migrate.h"

struct exchange;

/* Bytes of leaving particles of a rank that an outbox has room for at first; of more than 3 ranks less. */
enum { EXCHANGE_OUTBOX = 1 << 23 };

/* Collective. Migrate is kept. `outbox` is how many bytes of leaving particles the memory that ranks of one
 * machine share has room for at first, the same on all; it grows with what leaves. With 0, on several
 * machines, or where there is no such memory all is sent in messages. It dies with the device handle, before
 * MPI ends. */
STATUS_CHECKED enum status exchange_create(const struct rank_place *place, struct migrate *migrate,
                                           size_t outbox, struct exchange **exchange);

/* How many particles of a rank the shared memory holds; 0: there is none. For tests. */
size_t exchange_outbox_capacity(const struct exchange *exchange);

/* Sends `leavers` (uint[cells beside the own rows]) and learns which particles come. `gaps` is what to leave
 * for them: none where they are more than `most`. Its buffers are the exchange's, and written when the queue
 * is that far. */
STATUS_CHECKED enum status exchange_announce(struct exchange *exchange, const uint32_t *leavers,
                                             uint32_t most, struct arrival_gaps *gaps);

/* After the move of `list`, with leaving particles at its end and room for arrivals: sends and receives them.
 * `is_last` says that no other species follows; `leaving_begin` is where leaving particles begin once the
 * side queue is through, or NULL where the leavers are all. list->count becomes that of its own particles,
 * arrivals included, and the cell offsets end with those. Where no room was left arrivals wait for
 * migrate_deliver(), as do those beyond the ghost rows and those that leave but are no leavers; without these
 * *left grows by the particles that left. Waits for the side queue, and joins it. */
STATUS_CHECKED enum status exchange_follow(struct exchange *exchange, uint32_t species, bool is_last,
                                           const uint32_t *leaving_begin, struct particles *list,
                                           uint64_t *left);

#endif
