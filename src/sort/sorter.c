/* Sorter: the choice between the methods. */
#include "sort/sorter.h"

#include "config/schema.h"

struct sorter {
    const struct fast_sort *fast; /* NULL: paper */
    void *sort;                   /* of it */
    struct radix_sort *paper;
};

static const struct fast_sort *const fast_sorts[SORT_METHOD_CHUNKED + 1] = {
    [SORT_METHOD_TILED] = &tiled_sort, [SORT_METHOD_CHUNKED] = &chunked_sort};

const char *sort_method_name(enum sort_method method)
{
    static const struct choice words[] = {SORT_METHOD_WORDS};
    return words[method].word;
}

enum status sorter_plan_choose(const struct device_info *info, const struct sort_config *config,
                               uint32_t count, struct sorter_plan *plan)
{
    const struct fast_sort *fast = fast_sorts[config->method];
    *plan = (struct sorter_plan){.method = fast ? config->method : SORT_METHOD_PAPER,
                                 .key_bits = config->key_bits,
                                 .fast = {.passes = config->passes}};
    TRY(fast ? fast->resolve(info, plan->key_bits, count, &plan->fast)
             : radix_plan_make(info, config, plan->key_bits, 0, &plan->radix));
    plan->passes = fast ? plan->fast.passes : plan->radix.passes;
    return STATUS_OK;
}

/* ---- the choice ---- */

/* The config sets a parameter that only the method paper has. */
static bool asks_for_paper(const struct sort_config *config)
{
    return config->items_per_group != SORT_AUTO || config->groups != SORT_AUTO ||
           config->histogram_splits != SORT_AUTO || config->transpose != TRANSPOSE_AUTO ||
           config->table != TABLE_AUTO;
}

/* Where the method is open it is that of the kind of device, if it sorts such keys in so many passes. */
enum status sorter_plan_make(const struct device_info *info, const struct sort_config *config,
                             uint32_t grid_key_bits, uint32_t count, struct sorter_plan *plan)
{
    struct sort_config wanted = *config;
    if (wanted.key_bits == SORT_AUTO)
        wanted.key_bits = grid_key_bits;
    if (config->method != SORT_METHOD_AUTO)
        return sorter_plan_choose(info, &wanted, count, plan);
    wanted.method = info->is_cpu ? SORT_METHOD_CHUNKED : info->is_gpu ? SORT_METHOD_TILED : SORT_METHOD_PAPER;
    if (asks_for_paper(config) || sorter_plan_choose(info, &wanted, count, plan) != STATUS_OK) {
        wanted.method = SORT_METHOD_PAPER;
        TRY(sorter_plan_choose(info, &wanted, count, plan));
    }
    plan->is_default = true;
    return STATUS_OK;
}

void sorter_plan_describe(const struct sorter_plan *plan, char *text, size_t size)
{
    const struct radix_plan *radix = &plan->radix;
    const char *source = plan->is_default ? " (default)" : "";
    char chunks[32] = "";
    if (plan->method == SORT_METHOD_PAPER) {
        snprintf(text, size,
                 "b = %u bits, r = %u, p = %u passes; I = %u, G = %u, s = %u, transpose %s, "
                 "table %s; method paper%s",
                 radix->key_bits, radix->radix_bits, radix->passes, radix->items_per_group, radix->groups,
                 radix->histogram_splits, radix->transpose ? "on" : "off", radix_plan_table_name(radix),
                 source);
        return;
    }
    if (plan->method == SORT_METHOD_CHUNKED)
        snprintf(chunks, sizeof chunks, "; %u chunks", plan->fast.chunks);
    snprintf(text, size, "b = %u bits, p = %u passes%s; method %s%s", plan->key_bits, plan->passes, chunks,
             sort_method_name(plan->method), source);
}

/* ---- sorting ---- */

enum status sorter_create(struct device *device, const struct sorter_plan *plan, uint32_t capacity,
                          struct sorter **sorter)
{
    const struct fast_sort *fast = fast_sorts[plan->method];
    TRY(DEVICE_NEW(device, *sorter));
    (*sorter)->fast = fast;
    return fast ? fast->create(device, plan->key_bits, capacity, plan->fast, &(*sorter)->sort)
                : radix_sort_create(device, &plan->radix, capacity, !plan->keys_alone, &(*sorter)->paper);
}

enum status sorter_run(struct sorter *sorter, uint32_t count, const struct radix_lists *lists)
{
    return sorter->fast ? sorter->fast->run(sorter->sort, count, lists)
                        : radix_sort_run(sorter->paper, count, lists);
}
