/* Library: the radix sort of the paper, pass by pass, of the caller's keys. */
#include "library/internal.h"

#include "sort/radix_sort.h"

/* The table lies as the paper has it: in the order c, g, i, of the list as it is. */
static enum status make_plan(const struct radixpic *run, struct radix_plan *plan)
{
    TRY(radix_plan_make(device_info(run->session.device), &run->config.sort,
                        grid_key_bits(&run->session.simulation.slab.box), 0, plan));
    plan->transpose = plan->table_rows = false;
    return STATUS_OK;
}

static enum status find_shape(const struct radixpic *run, struct radixpic_sort_shape *shape)
{
    struct radix_plan plan;
    TRY(make_plan(run, &plan));
    *shape = (struct radixpic_sort_shape){plan.key_bits, plan.radix_bits, plan.passes, plan.items_per_group,
                                          plan.groups};
    return STATUS_OK;
}

enum radixpic_status radixpic_sort_shape(const struct radixpic *run, struct radixpic_sort_shape *shape)
{
    RETURN_LOCKED(find_shape(run, shape), run, shape);
}

/* What the caller wants, on the host; where it is neither `sorted` nor `permutation`, these are NULL. */
struct wanted {
    uint32_t *sorted, *permutation, *table, *scan;
};

/* The passes before the last one leave the list that its table is of. */
static enum status sort_on(struct device *device, struct radix_plan plan, uint32_t passes, uint32_t count,
                           const uint32_t *keys, const struct wanted *wanted)
{
    const size_t bytes = count * sizeof *keys, words = (size_t)radix_plan_table_length(&plan) * sizeof *keys;
    struct buffer *from = NULL, *sorted = NULL, *permutation = NULL;
    TRY(buffer_create_with(device, bytes, "keys to sort", keys, &from));
    TRY(buffer_create(device, bytes, "sorted keys", &sorted));
    TRY(buffer_create(device, bytes, "a permutation", &permutation));
    for (plan.passes = passes > 1 ? passes - 1 : 1; plan.passes <= passes; plan.passes++) {
        struct radix_sort *sort = NULL;
        const bool is_last = plan.passes == passes;
        TRY(radix_sort_create(device, &plan, count, true, &sort));
        if (is_last) {
            TRY(radix_sort_histogram(sort, passes > 1 ? sorted : from, count, passes - 1));
            TRY(buffer_read(radix_sort_table(sort), 0, words, wanted->table));
            TRY(radix_sort_scan(sort));
            TRY(buffer_read(radix_sort_table(sort), 0, words, wanted->scan));
        }
        if (is_last && !wanted->sorted)
            return STATUS_OK;
        TRY(radix_sort_run(
            sort, count,
            &(struct radix_lists){.keys = from, .sorted_keys = sorted, .permutation = permutation}));
    }
    TRY(buffer_read(sorted, 0, bytes, wanted->sorted));
    return buffer_read(permutation, 0, bytes, wanted->permutation);
}

static enum status sort(struct radixpic *run, size_t count, const uint32_t *keys, uint32_t passes,
                        const struct wanted *wanted)
{
    struct radix_plan plan;
    struct device *device = NULL;
    TRY(make_plan(run, &plan));
    if (!wanted->sorted != !wanted->permutation)
        return status_fail(STATUS_USAGE, "sorted and permutation: expected both or neither");
    if (passes < 1 || passes > plan.passes)
        return status_fail(STATUS_USAGE, "passes: expected 1 to %u, found %u", plan.passes, passes);
    if (count < 1 || count > INT32_MAX)
        return status_fail(STATUS_USAGE, "keys: expected 1 to %d, found %zu", INT32_MAX, count);
    for (size_t n = 0; n < count; n++)
        if ((uint64_t)keys[n] >> plan.key_bits > 0)
            return status_fail(STATUS_USAGE, "keys: expected keys of %u bits, found %u in place %zu",
                               plan.key_bits, keys[n], n);
    TRY(device_branch(run->session.device, &device));
    return device_close_after(&device, sort_on(device, plan, passes, (uint32_t)count, keys, wanted));
}

enum radixpic_status radixpic_sort(struct radixpic *run, size_t count, const uint32_t *keys, uint32_t passes,
                                   uint32_t *sorted, uint32_t *permutation, uint32_t *table, uint32_t *scan)
{
    const struct wanted wanted = {sorted, permutation, table, scan};
    RETURN_LOCKED(sort(run, count, keys, passes, &wanted), run, keys, table, scan);
}
