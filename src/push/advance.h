/* Advance: push and sort at once, the heart of the fused step. Particles sorted by cell at n become particles
 * sorted by cell at n+1, each read twice and written once: the first time each is pushed only to count who
 * goes where (the histogram of the sort, its keys never stored), the second time to be moved to its place.
 *
 *   tiled    for GPUs: the tiles of the tiled sort, state in pairs (tiled_advance.h)
 *   chunked  for CPUs: a few long chunks, no barrier, state in quads (chunked_advance.h)
 *
 * In what order the particles of a cell then stand depends on the input and the device alone, so the same
 * input gives the same bits; it is that of a stable sort, but where the tiled kind takes windows
 * (kernels/shared/windows.h), and on several ranks those who come stand behind the others. Sums and field
 * interpolation are those of the plain push, up to round-off.
 */
#ifndef RADIXPIC_PUSH_ADVANCE_H
#define RADIXPIC_PUSH_ADVANCE_H

#include "domain/arrivals.h"
#include "domain/fields.h"
#include "domain/particles.h"
#include "push/species_motion.h"

struct advance;

enum advance_kind { ADVANCE_NONE, ADVANCE_TILED, ADVANCE_CHUNKED };

/* What an advance is made for. */
struct advance_setup {
    struct grid grid;    /* the local one of a slab */
    uint32_t ghost_rows; /* of that slab; 0: the grid has no lost row */
    uint32_t own_rows;   /* where all particles are before a step: the first of the grid's */
    bool leaves_room;    /* for particles from other ranks: each step is count, read_leavers, move */
    enum precision precision;
    enum shape_kind shape;
    double time_step, magnetic;
    uint32_t species_count;
    uint32_t capacity; /* particles of the largest species */
    uint32_t fewest;   /* and of the smallest */
    uint32_t reach[2]; /* cells along x and y that few particles go further than in a step; more is slower,
                          not wrong */
};

/* The kind that suits this device and grid; ADVANCE_NONE where only the plain step will do. */
enum advance_kind advance_kind_for(const struct device_info *info, const struct advance_setup *setup);

/* Whether this device can take a fused step of that kind on this grid. */
bool advance_supports(const struct device_info *info, enum advance_kind kind,
                      const struct advance_setup *setup);

/* "none", "tiled" or "chunked". */
const char *advance_kind_name(enum advance_kind kind);

/* What a run says of it: "plain: a kernel a stage", "fused, tiled: ...". A static string. */
const char *advance_kind_describe(enum advance_kind kind);

/* The caller destroys it. STATUS_USAGE for ADVANCE_NONE. */
STATUS_CHECKED enum status advance_create(struct device *device, enum advance_kind kind,
                                          const struct advance_setup *setup, struct advance **advance);
void advance_destroy(struct advance **advance);

/* Takes over species number `species`, which the plain sort has put in order (pairs, cell offsets), before
 * its first advance_step(): brings the state into the layout of this kind and releases the other. The keys
 * and the sort may be gone by then. To be called again whenever somebody else changed the list: particles
 * left at its end, others were merged in, or the advance is a new one. The list may be in the layout of this
 * kind already. Blocking; may allocate. */
STATUS_CHECKED enum status advance_take_over(struct advance *advance, uint32_t species,
                                             struct particles *particles);

/* One step of species number `species`: v n-1/2 -> n+1/2, x n -> n+1, sorted, with the cell offsets of n+1.
 * What goes beyond the ghost rows of a slab comes to its lost row, with all of x as the offset
 * (domain/slab.h). With `measure` the sums at n are kept. All particles are in own rows before.
 * (Non-blocking.)
 */
STATUS_CHECKED enum status advance_step(struct advance *advance, const struct fields *fields,
                                        uint32_t species, bool measure, struct particles *particles);

/* Whether that kind of step can leave room for particles that come from other ranks. Then, and where the
 * setup asks for it, the step of a species is:
 *
 *   advance_count()          counts who goes where; with `measure` the sums at n are kept. (Non-blocking.)
 *   advance_read_leavers()   uint[], of each cell that is not of an own row: how many go there. Blocking; the
 *                            array is the advance's, until the next call.
 *   advance_move()           moves everybody, behind those of each cell room for its arrivals: list and
 *                            cell offsets are those of n+1, with arrivals->count more particles, but that
 *                            particles->count is left to the caller. (Non-blocking; forks: those who leave,
 *                            the end of the list, are in place when the side queue is through, and the
 *                            others when the main queue is.)
 *
 * The list must have room for the arrivals, and be no longer with them than the setup's capacity. */
bool advance_can_leave_room(enum advance_kind kind);
STATUS_CHECKED enum status advance_count(struct advance *advance, const struct fields *fields,
                                         uint32_t species, bool measure, const struct particles *particles);
STATUS_CHECKED enum status advance_read_leavers(struct advance *advance, uint32_t species,
                                                const struct particles *particles, const uint32_t **leavers);
STATUS_CHECKED enum status advance_move(struct advance *advance, const struct fields *fields,
                                        uint32_t species, const struct arrival_room *arrivals,
                                        struct particles *particles);

/* Only the sums at n; nothing moves. (Non-blocking.) */
STATUS_CHECKED enum status advance_measure(struct advance *advance, const struct fields *fields,
                                           uint32_t species, const struct particles *particles);

/* The sums at n of the last measuring advance_step() or advance_measure() of that species. Blocking. */
STATUS_CHECKED enum status advance_read_sums(struct advance *advance, uint32_t species,
                                             const struct particles *particles, struct push_sums *sums);

/* Device bytes that an advance takes from the first advance_take_over() on. */
uint64_t advance_bytes(const struct device_info *info, enum advance_kind kind,
                       const struct advance_setup *setup);

/* Bytes that a particle of a species takes once the advance has taken over. */
uint64_t advance_particle_bytes(enum precision precision, const struct species_config *species);

#endif
