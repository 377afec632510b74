/* Radix step: the textbook. Each particle is pushed in place and gets the short key of its new cell; the
 * radix sort turns the keys into the permutation that sorts them and the offsets of the cells; and permute
 * brings the particles into that order:
 *
 *   push     v n-1/2 -> n+1/2, x n -> n+1; key = ny i + j of the new cell
 *   sort     sorted[j] = original[sigma(j)], by P. Helluy's radix sort in p passes, or a faster method
 *   permute  every attribute in the new order
 */
#include "step/radix_step.h"

#include "particles/permute.h"
#include "step/push.h"
#include "step/room.h"

struct radix_step {
    struct device *device; /* not owned */
    struct stepper_setup setup;
    struct push *push;
    struct sorter *sorter;
    struct permute *permute;
    struct room *room;           /* NULL where the setup leaves none */
    struct buffer *keys;         /* uint[capacity]: the cell at n+1 of the particles in the order of n */
    struct buffer *permutation;  /* uint[capacity]: sigma */
    struct buffer *cell_offsets; /* uint[cells + 1]: those of n+1, until the list has them */
    uint32_t *leavers;           /* uint[cells - own cells + 1] */
};

static bool fits(const struct device_info *info, const struct stepper_setup *setup, const char **why)
{
    (void)info;
    (void)setup;
    (void)why;
    return true; /* any device sorts keys of any length */
}

static enum status create(struct device *device, const struct stepper_setup *setup, void **self)
{
    const size_t word = sizeof(uint32_t), cells = grid_cells(&setup->grid);
    struct radix_step *step = NULL;
    TRY(DEVICE_NEW(device, step));
    *self = step;
    step->device = device;
    step->setup = *setup;
    TRY(push_create(device, setup, &step->push));
    TRY(sorter_create(device, &setup->sort, setup->capacity, &step->sorter));
    TRY(permute_create(device, &step->permute));
    TRY(buffer_create(device, setup->capacity * word, "particle keys", &step->keys));
    TRY(buffer_create(device, setup->capacity * word, "the sort's permutation", &step->permutation));
    TRY(buffer_create(device, (cells + 1) * word, "spare cell offsets", &step->cell_offsets));
    if (!setup->leaves_room)
        return STATUS_OK;
    TRY(DEVICE_NEW_ARRAY(device, step->leavers, stepper_cells_beside(setup) + (size_t)1));
    return room_create(device, setup, &step->room);
}

static enum status count(void *self, const struct fields *fields, uint32_t species, bool measure,
                         struct particles *list)
{
    struct radix_step *step = self;
    const struct radix_lists lists = {.keys = step->keys,
                                      .permutation = step->permutation,
                                      .cell_offsets = step->cell_offsets,
                                      .cells = grid_cells(&step->setup.grid)};
    TRY(push_step(step->push, fields, species, measure, list, step->keys));
    return sorter_run(step->sorter, list->count, &lists);
}

static enum status leavers(void *self, uint32_t species, const struct particles *list,
                           const uint32_t **leavers)
{
    struct radix_step *step = self;
    const uint32_t beside = stepper_cells_beside(&step->setup), own = grid_cells(&step->setup.grid) - beside;
    (void)species;
    (void)list;
    TRY(buffer_read(step->cell_offsets, own * sizeof(uint32_t), (beside + (size_t)1) * sizeof(uint32_t),
                    step->leavers));
    for (uint32_t cell = 0; cell < beside; cell++)
        step->leavers[cell] = step->leavers[cell + 1] - step->leavers[cell];
    *leavers = step->leavers;
    return STATUS_OK;
}

static enum status move(void *self, const struct fields *fields, uint32_t species,
                        const struct arrival_room *room, struct particles *list)
{
    struct radix_step *step = self;
    const uint32_t arrivals = room ? room->count : 0;
    (void)fields;
    (void)species;
    if (room)
        TRY(room_open(step->room, room, list->count, step->cell_offsets, step->permutation));
    TRY(permute_apply(step->permute, step->permutation, list->count + arrivals, list));
    buffer_swap(list->cell_offsets, step->cell_offsets);
    return step->setup.leaves_room ? device_fork(step->device) : STATUS_OK;
}

static enum status measure(void *self, const struct fields *fields, uint32_t species,
                           const struct particles *list)
{
    return push_measure(((struct radix_step *)self)->push, fields, species, list);
}

static enum status read_sums(void *self, uint32_t species, const struct particles *list,
                             struct push_sums *sums)
{
    return push_read_sums(((struct radix_step *)self)->push, species, list, sums);
}

const struct stepper_kind radix_step = {
    .name = "radix",
    .summary = "radix: push, radix sort of the short keys, permute, a kernel a stage",
    .layout = LAYOUT_SOA,
    .fits = fits,
    .create = create,
    .count = count,
    .leavers = leavers,
    .move = move,
    .measure = measure,
    .read_sums = read_sums,
};
