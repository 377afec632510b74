/* Species motion: the numbers of one species. */
#include "step/species_motion.h"

#include <math.h>
#include <stdlib.h>

struct species_motion species_motion_make(const struct species_config *species, double time_step,
                                          double magnetic)
{
    const double half_kick = 0.5 * time_step * species->charge / species->mass;
    const double tangent = half_kick * magnetic;
    const double square = 1 + tangent * tangent;
    return (struct species_motion){half_kick, tangent, 1 / sqrt(square), 2 * tangent / square};
}

enum status push_sums_read(const struct buffer *sums, enum precision precision, size_t first, uint32_t groups,
                           const struct particles *particles, const struct species_motion *motion,
                           struct push_sums *total)
{
    const size_t count = (size_t)groups * PUSH_SUMS;
    double *group_sums = malloc((count + 1) * sizeof *group_sums);
    if (!group_sums)
        return status_fail(STATUS_FAILED, "no memory to read the sums of the push");
    const enum status status = buffer_read_reals(sums, precision, first, count, group_sums);
    double added[PUSH_SUMS] = {0, 0, 0};
    for (size_t n = 0; status == STATUS_OK && n < count; n++)
        added[n % PUSH_SUMS] += group_sums[n];
    free(group_sums);
    TRY(status);
    const double mass = particles->weight * particles->species->mass; /* of a macro-particle */
    /* The mean of the velocities before and after a rotation by an angle is shorter than either by the cosine
     * of half the angle, the same for all particles of a species. */
    const double full_length = 1 / motion->cosine;
    *total = (struct push_sums){
        .kinetic_energy = 0.5 * mass * added[0],
        .momentum = {full_length * mass * added[1], full_length * mass * added[2]},
    };
    return STATUS_OK;
}
