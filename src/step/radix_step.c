/* Radix step: the textbook. Each particle is pushed in place and gets the short key of its new cell; the
 * radix sort turns the keys into the permutation that sorts them and the offsets of the cells; and permute
 * brings the particles into that order:
 *
 *   push     v n-1/2 -> n+1/2, x n -> n+1; key = ny i + j of the new cell
 *   sort     sorted[j] = original[sigma(j)], by P. Helluy's radix sort in p passes, or a faster method
 *   permute  every attribute in the new order
 */
#include "step/push.h"
#include "step/room.h"
#include "step/stepper_internal.h"

struct radix_step {
    struct push push;
    struct sorter *sorter;
    struct room *room;          /* where the setup leaves any */
    struct buffer *keys;        /* uint[capacity]: the cell at n+1 of the particles in the order of n */
    struct buffer *permutation; /* uint[capacity]: sigma */
};

static enum status create(struct stepper *stepper)
{
    struct device *device = stepper->device;
    const struct stepper_setup *setup = &stepper->setup;
    const size_t bytes = setup->capacity * sizeof(uint32_t);
    struct radix_step *step = NULL;
    TRY(DEVICE_NEW(device, step));
    stepper->own = step;
    TRY(push_create(stepper, &step->push));
    TRY(sorter_create(device, &setup->sort, setup->capacity, &step->sorter));
    TRY(permute_create(device, &stepper->permute));
    TRY(buffer_create(device, bytes, "particle keys", &step->keys));
    TRY(buffer_create(device, bytes, "the sort's permutation", &step->permutation));
    return setup->leaves_room ? room_create(device, setup, &step->room) : STATUS_OK;
}

static enum status count(struct stepper *stepper, const struct fields *fields, uint32_t species, bool measure,
                         struct particles *list)
{
    struct radix_step *step = stepper->own;
    const struct radix_lists lists = {.keys = step->keys,
                                      .permutation = step->permutation,
                                      .cell_offsets = stepper->new_offsets,
                                      .cells = grid_cells(&stepper->setup.grid)};
    TRY(push_step(&step->push, stepper, fields, species, measure, list, step->keys));
    return sorter_run(step->sorter, list->count, &lists);
}

static enum status leavers(struct stepper *stepper, uint32_t species, const struct particles *list)
{
    const uint32_t beside = stepper_cells_beside(&stepper->setup);
    const size_t own = grid_cells(&stepper->setup.grid) - beside, word = sizeof(uint32_t);
    (void)species;
    (void)list;
    TRY(buffer_read(stepper->new_offsets, own * word, (beside + (size_t)1) * word, stepper->leavers));
    for (uint32_t cell = 0; cell < beside; cell++)
        stepper->leavers[cell] = stepper->leavers[cell + 1] - stepper->leavers[cell];
    return STATUS_OK;
}

static enum status move(struct stepper *stepper, const struct fields *fields, uint32_t species,
                        const struct arrival_room *room, struct particles *list)
{
    struct radix_step *step = stepper->own;
    (void)fields;
    (void)species;
    if (room->count > 0)
        TRY(room_open(step->room, room, list->count, stepper->new_offsets, step->permutation));
    TRY(permute_apply(stepper->permute, step->permutation, list->count + room->count, list));
    buffer_swap(list->cell_offsets, stepper->new_offsets);
    return stepper->setup.leaves_room ? device_fork(stepper->device) : STATUS_OK;
}

static enum status measure(struct stepper *stepper, const struct fields *fields, uint32_t species,
                           struct particles *list)
{
    struct radix_step *step = stepper->own;
    return push_measure(&step->push, stepper, fields, species, list);
}

const struct stepper_kind radix_step = {
    .name = "radix",
    .summary = "radix: push, radix sort of the short keys, permute, a kernel a stage",
    .layout = LAYOUT_SOA,
    .create = create,
    .count = count,
    .leavers = leavers,
    .move = move,
    .measure = measure,
};
