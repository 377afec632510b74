/* Advance: the choice between the kinds. */
#include "push/advance.h"

#include "push/chunked_advance.h"
#include "push/tiled_advance.h"

#include <stdlib.h>

/* One of the two; the other is NULL. */
struct advance {
    struct tiled_advance *tiled;
    struct chunked_advance *chunked;
    uint32_t capacity; /* particles of the largest species */
    bool leaves_room;
};

const char *advance_kind_name(enum advance_kind kind)
{
    static const char *const names[] = {
        [ADVANCE_NONE] = "none", [ADVANCE_TILED] = "tiled", [ADVANCE_CHUNKED] = "chunked"};
    return names[kind];
}

const char *advance_kind_describe(enum advance_kind kind)
{
    static const char *const texts[] = {
        [ADVANCE_NONE] = "plain: a kernel a stage",
        [ADVANCE_TILED] = "fused, tiled: push and sort at once; the sort orders the first step alone",
        [ADVANCE_CHUNKED] = "fused, chunked: push and sort at once; the sort orders the first step alone",
    };
    return texts[kind];
}

enum advance_kind advance_kind_for(const struct device_info *info, const struct advance_setup *setup)
{
    const enum advance_kind kind = info->is_cpu ? ADVANCE_CHUNKED : ADVANCE_TILED;
    return advance_supports(info, kind, setup) ? kind : ADVANCE_NONE;
}

bool advance_supports(const struct device_info *info, enum advance_kind kind,
                      const struct advance_setup *setup)
{
    return kind == ADVANCE_CHUNKED || (kind == ADVANCE_TILED && tiled_advance_supports(info, setup));
}

enum status advance_create(struct device *device, enum advance_kind kind, const struct advance_setup *setup,
                           struct advance **advance)
{
    *advance = NULL;
    if (kind == ADVANCE_NONE)
        return status_fail(STATUS_USAGE,
                           "step.method: %s has no fused step for %ux%u cells with these particles and time "
                           "step; take plain",
                           device_info(device)->name, setup->grid.nx, setup->grid.ny);
    *advance = calloc(1, sizeof **advance);
    if (!*advance)
        return status_fail(STATUS_FAILED, "no memory for the step");
    (*advance)->capacity = setup->capacity;
    (*advance)->leaves_room = setup->leaves_room;
    const enum status status = kind == ADVANCE_TILED
                                   ? tiled_advance_create(device, setup, &(*advance)->tiled)
                                   : chunked_advance_create(device, setup, &(*advance)->chunked);
    if (status != STATUS_OK)
        advance_destroy(advance);
    return status;
}

void advance_destroy(struct advance **advance)
{
    if (!*advance)
        return;
    tiled_advance_destroy(&(*advance)->tiled);
    chunked_advance_destroy(&(*advance)->chunked);
    free(*advance);
    *advance = NULL;
}

/* Arrays of the advance are as long as the largest species was to be. */
static enum status check_count(const struct advance *advance, const struct particles *particles)
{
    if (particles->count <= advance->capacity)
        return STATUS_OK;
    return status_fail(STATUS_FAILED,
                       "species %s: %u particles have come together where the step has room for %u; spread "
                       "them more evenly, or take fewer",
                       particles->species->name, particles->count, advance->capacity);
}

enum status advance_take_over(struct advance *advance, uint32_t species, struct particles *particles)
{
    TRY(check_count(advance, particles));
    return advance->tiled ? tiled_advance_take_over(advance->tiled, species, particles)
                          : chunked_advance_take_over(advance->chunked, particles);
}

enum status advance_step(struct advance *advance, const struct fields *fields, uint32_t species, bool measure,
                         struct particles *particles)
{
    TRY(check_count(advance, particles));
    if (advance->leaves_room)
        return status_fail(STATUS_FAILED, "a step made to leave room for arrivals was taken without");
    if (!advance->tiled)
        return chunked_advance_step(advance->chunked, fields, species, measure, particles);
    TRY(tiled_advance_count(advance->tiled, fields, species, measure, particles));
    return tiled_advance_move(advance->tiled, fields, species, NULL, particles);
}

bool advance_can_leave_room(enum advance_kind kind)
{
    return kind == ADVANCE_TILED;
}

enum status advance_count(struct advance *advance, const struct fields *fields, uint32_t species,
                          bool measure, const struct particles *particles)
{
    TRY(check_count(advance, particles));
    return tiled_advance_count(advance->tiled, fields, species, measure, particles);
}

enum status advance_read_leavers(struct advance *advance, uint32_t species, const struct particles *particles,
                                 const uint32_t **leavers)
{
    return tiled_advance_read_leavers(advance->tiled, species, particles, leavers);
}

enum status advance_move(struct advance *advance, const struct fields *fields, uint32_t species,
                         const struct arrival_room *arrivals, struct particles *particles)
{
    return tiled_advance_move(advance->tiled, fields, species, arrivals, particles);
}

enum status advance_measure(struct advance *advance, const struct fields *fields, uint32_t species,
                            const struct particles *particles)
{
    TRY(check_count(advance, particles));
    return advance->tiled ? tiled_advance_measure(advance->tiled, fields, species, particles)
                          : chunked_advance_measure(advance->chunked, fields, species, particles);
}

enum status advance_read_sums(struct advance *advance, uint32_t species, const struct particles *particles,
                              struct push_sums *sums)
{
    return advance->tiled ? tiled_advance_read_sums(advance->tiled, species, particles, sums)
                          : chunked_advance_read_sums(advance->chunked, species, particles, sums);
}

uint64_t advance_bytes(const struct device_info *info, enum advance_kind kind,
                       const struct advance_setup *setup)
{
    switch (kind) {
    case ADVANCE_TILED:
        return tiled_advance_bytes(info, setup);
    case ADVANCE_CHUNKED:
        return chunked_advance_bytes(info, setup);
    case ADVANCE_NONE:
        break;
    }
    return 0;
}

uint64_t advance_particle_bytes(enum precision precision, const struct species_config *species)
{
    return 2 * (4 * precision_bytes(precision) + (species->ids ? sizeof(uint64_t) : 0));
}
