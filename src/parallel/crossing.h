/* Crossing: particles that go over the ends of a slab in a fused step, and those that come.
 *
 * Between the count and the move of such a step (push/advance.h) a rank knows how many of its particles go to
 * each cell of its ghost rows. It announces that to the owners of those rows, who leave room for them in
 * their own sorted lists; then the particles follow, while the devices still move the others, and take their
 * places: no list of guests, and nothing to sort or to merge. What is lost beyond the ghost rows nobody can
 * announce; it travels as in plain steps (parallel/migration.h), and so does what comes to a list that has no
 * room.
 *
 * Who sends what to whom is known from the partition alone. On every rank, for every species, in this order:
 * crossing_announce(), then crossing_follow().
 */
#ifndef RADIXPIC_PARALLEL_CROSSING_H
#define RADIXPIC_PARALLEL_CROSSING_H

#include "domain/arrivals.h"
#include "parallel/migration.h"

struct crossing;

/* Collective: for the ranks' slabs with this number of ghost rows. Everything given is kept but `slab`. The
 * caller destroys it. */
STATUS_CHECKED enum status crossing_create(const struct communicator *communicator, struct device *device,
                                           const struct partition *partition, const struct slab *slab,
                                           uint32_t ghost, enum precision precision,
                                           struct migration *migration, struct crossing **crossing);
void crossing_destroy(struct crossing **crossing);

/* Sends `leavers` (uint[cells beside the own rows]; NULL: nobody leaves), which stays as it is until
 * crossing_follow(), and learns who comes. `room` is what to leave for them: none where they are more than
 * `most`. Its buffers are the crossing's, and written when the queue is that far. */
STATUS_CHECKED enum status crossing_announce(struct crossing *crossing, const uint32_t *leavers,
                                             uint32_t most, struct arrival_room *room);

/* After the move of `list` (pairs), with those who leave at its end and room for those who come: sends and
 * receives them. list->count becomes that of its own particles, with those who came, and cell offsets end
 * with those. Where no room was left those who came wait for migration_append(); a list of which nobody was
 * announced stays as it is. Waits for the side queue, and joins it. */
STATUS_CHECKED enum status crossing_follow(struct crossing *crossing, uint32_t species,
                                           struct particles *list);

/* Of the last crossing_follow(), without those lost: particles that left, and bytes that went and came. */
uint64_t crossing_left(const struct crossing *crossing);
uint64_t crossing_bytes(const struct crossing *crossing);

#endif
