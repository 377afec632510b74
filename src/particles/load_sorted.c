/* Load sorted: load, sort, permute. */
#include "particles/load_sorted.h"

#include "particles/loading.h"
#include "particles/permute.h"

static enum status load_and_sort(struct device *device, const struct slab *slab,
                                 const struct sorter_plan *plan, uint64_t first, struct particles *list)
{
    const size_t bytes = list->count * sizeof(uint32_t);
    struct radix_lists lists = {.cell_offsets = list->cell_offsets, .cells = grid_cells(&slab->local)};
    struct buffer *keys = NULL;
    struct sorter *sorter = NULL;
    struct permute *permute = NULL;
    TRY(buffer_create(device, bytes, "particle keys", &keys));
    TRY(buffer_create(device, bytes, "sorted particle keys", &lists.sorted_keys));
    TRY(buffer_create(device, bytes, "the sort's permutation", &lists.permutation));
    TRY(sorter_create(device, plan, list->count, &sorter));
    TRY(permute_create(device, &permute));
    TRY(loading_fill(&slab->box, first, list, keys));
    TRY(device_finish(device));
    lists.keys = keys;
    const double start = timer_now();
    device_weigh_times(device, 0); /* this sort is not one of the steps': it is timed as loading */
    enum status status = sorter_run(sorter, list->count, &lists);
    if (status == STATUS_OK)
        status = permute_apply(permute, lists.permutation, list->count, list);
    if (status == STATUS_OK)
        status = device_finish(device);
    device_weigh_times(device, 1);
    device_add_time(device, STAGE_LOAD, timer_now() - start, 0);
    return status;
}

enum status load_sorted(const struct slab *slab, const struct sorter_plan *plan, uint64_t first,
                        struct particles *list)
{
    struct device *branch = NULL;
    if (list->count == 0)
        return STATUS_OK;
    TRY(device_branch(list->device, &branch));
    const enum status status = load_and_sort(branch, slab, plan, first, list);
    device_close(&branch);
    return status;
}
