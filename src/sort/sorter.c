/* Sorter: the choice between the methods. */
#include "sort/sorter.h"

#include "sort/chunked_sort.h"
#include "sort/tiled_sort.h"

#include <stdlib.h>

/* One of the three; the others are NULL. */
struct sorter {
    struct radix_sort *paper;
    struct tiled_sort *tiled;
    struct chunked_sort *chunked;
};

const char *sort_method_name(enum sort_method method)
{
    static const char *const names[] = {
        [SORT_METHOD_PAPER] = "paper", [SORT_METHOD_TILED] = "tiled", [SORT_METHOD_CHUNKED] = "chunked"};
    return names[method];
}

enum status sorter_plan_make(const struct device_info *info, const struct sort_config *config,
                             uint32_t grid_key_bits, struct sorter_plan *plan)
{
    const uint32_t bits = config->key_bits != SORT_AUTO ? config->key_bits : grid_key_bits;
    *plan = (struct sorter_plan){.method = config->method, .key_bits = bits, .passes = config->passes};
    if (plan->method == SORT_METHOD_PAPER) {
        TRY(radix_plan_make(info, config, grid_key_bits, &plan->radix));
        plan->passes = plan->radix.passes;
        return STATUS_OK;
    }
    if (plan->method == SORT_METHOD_CHUNKED)
        return STATUS_OK;
    if (bits > TILED_SORT_MAX_KEY_BITS || !tiled_sort_supports(info, bits))
        return status_fail(
            STATUS_USAGE,
            "sort: the method tiled has no sort of keys of %u bits for %s; take the method paper", bits,
            info->name);
    if (plan->passes > 2)
        return status_fail(STATUS_USAGE, "sort: the method tiled makes 1 or 2 passes (p), not %u",
                           plan->passes);
    return STATUS_OK;
}

void sorter_plan_describe(const struct sorter_plan *plan, char *text, size_t size)
{
    const struct radix_plan *radix = &plan->radix;
    if (plan->method == SORT_METHOD_PAPER)
        snprintf(text, size,
                 "b = %u bits, r = %u, p = %u passes; I = %u, G = %u, s = %u, transpose %s; method paper",
                 radix->key_bits, radix->radix_bits, radix->passes, radix->items_per_group, radix->groups,
                 radix->histogram_splits, radix->transpose ? "on" : "off");
    else
        snprintf(text, size, "b = %u bits, p = %u passes; method %s", plan->key_bits, plan->passes,
                 sort_method_name(plan->method));
}

enum status sorter_create(struct device *device, const struct sorter_plan *plan, uint32_t capacity,
                          struct sorter **sorter)
{
    *sorter = calloc(1, sizeof **sorter);
    if (!*sorter)
        return status_fail(STATUS_FAILED, "no memory for the sort");
    enum status status = STATUS_OK;
    const struct chunked_options chunked = {.passes = plan->passes};
    switch (plan->method) {
    case SORT_METHOD_PAPER:
        status = radix_sort_create(device, &plan->radix, capacity, true, false, &(*sorter)->paper);
        break;
    case SORT_METHOD_TILED:
        status = tiled_sort_create(device, plan->key_bits, plan->passes, capacity, &(*sorter)->tiled);
        break;
    case SORT_METHOD_CHUNKED:
        status = chunked_sort_create(device, plan->key_bits, capacity, &chunked, &(*sorter)->chunked);
        break;
    }
    if (status != STATUS_OK)
        sorter_destroy(sorter);
    return status;
}

void sorter_destroy(struct sorter **sorter)
{
    if (!*sorter)
        return;
    radix_sort_destroy(&(*sorter)->paper);
    tiled_sort_destroy(&(*sorter)->tiled);
    chunked_sort_destroy(&(*sorter)->chunked);
    free(*sorter);
    *sorter = NULL;
}

enum status sorter_run(struct sorter *sorter, uint32_t count, const struct radix_lists *lists)
{
    if (sorter->paper)
        return radix_sort_run(sorter->paper, count, lists);
    return sorter->tiled ? tiled_sort_run(sorter->tiled, count, lists)
                         : chunked_sort_run(sorter->chunked, count, lists);
}

uint64_t sorter_bytes(const struct device_info *info, const struct sorter_plan *plan, uint32_t capacity)
{
    const struct chunked_options chunked = {.passes = plan->passes};
    switch (plan->method) {
    case SORT_METHOD_TILED:
        return tiled_sort_bytes(info, plan->key_bits, plan->passes, capacity);
    case SORT_METHOD_CHUNKED:
        return chunked_sort_bytes(info, plan->key_bits, capacity, &chunked);
    case SORT_METHOD_PAPER:
        break;
    }
    return radix_sort_bytes(&plan->radix, capacity, true, false);
}
