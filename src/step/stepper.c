/* Stepper: the table, and its calls. */
#include "step/stepper.h"

#include "step/chunked_step.h"
#include "step/radix_step.h"
#include "step/tiled_step.h"

/* The row that a method names; `auto` and `fused` that of the device. */
static const struct stepper_kind *named(enum step_method method, const struct device_info *info)
{
    switch (method) {
    case STEP_RADIX:
        break;
    case STEP_TILED:
        return &tiled_step;
    case STEP_CHUNKED:
        return &chunked_step;
    case STEP_AUTO:
    case STEP_FUSED:
        return info->is_cpu ? &chunked_step : &tiled_step;
    }
    return &radix_step;
}

enum status stepper_choose(enum step_method method, const struct device_info *info,
                           const struct stepper_setup *setup, const struct stepper_kind **kind)
{
    const char *why = "";
    *kind = named(method, info);
    if ((*kind)->fits(info, setup, &why))
        return STATUS_OK;
    if (method != STEP_AUTO)
        return status_fail(STATUS_USAGE,
                           "step.method: %s cannot take the %s step on %ux%u cells: %s; take radix",
                           info->name, (*kind)->name, setup->grid.nx, setup->grid.ny, why);
    *kind = &radix_step;
    return STATUS_OK;
}

enum particle_layout stepper_layout(enum step_method method, const struct device_info *info)
{
    return named(method, info)->layout; /* that of radix too, where it steps in */
}

enum status stepper_create(struct device *device, const struct stepper_kind *kind,
                           const struct stepper_setup *setup, struct stepper *stepper)
{
    *stepper = (struct stepper){.kind = kind, .capacity = setup->capacity};
    return kind->create(device, setup, &stepper->self);
}

enum status stepper_renew(struct stepper *stepper, uint32_t species, struct particles *list)
{
    if (list->count > stepper->capacity)
        return status_fail(STATUS_FAILED,
                           "species %s: %u particles have come together where the step has room for %u; "
                           "spread them more evenly, or take fewer",
                           list->species->name, list->count, stepper->capacity);
    return stepper->kind->renew ? stepper->kind->renew(stepper->self, species, list) : STATUS_OK;
}

enum status stepper_count(struct stepper *stepper, const struct fields *fields, uint32_t species,
                          bool measure, struct particles *list)
{
    return stepper->kind->count(stepper->self, fields, species, measure, list);
}

enum status stepper_leavers(struct stepper *stepper, uint32_t species, const struct particles *list,
                            const uint32_t **leavers)
{
    return stepper->kind->leavers(stepper->self, species, list, leavers);
}

enum status stepper_move(struct stepper *stepper, const struct fields *fields, uint32_t species,
                         const struct arrival_room *room, struct particles *list)
{
    return stepper->kind->move(stepper->self, fields, species, room, list);
}

enum status stepper_measure(struct stepper *stepper, const struct fields *fields, uint32_t species,
                            const struct particles *list)
{
    return stepper->kind->measure(stepper->self, fields, species, list);
}

enum status stepper_read_sums(struct stepper *stepper, uint32_t species, const struct particles *list,
                              struct push_sums *sums)
{
    return stepper->kind->read_sums(stepper->self, species, list, sums);
}
