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
    lists.keys = keys;
    TRY(sorter_run(sorter, list->count, &lists));
    TRY(permute_apply(permute, lists.permutation, list->count, list));
    return device_finish(device);
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
