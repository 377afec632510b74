/* Radix sort: the phases in their order, and the arrays they pass the list through. */
#include "sort/radix_sort.h"

#include "base/integers.h"

enum {
    TRANSPOSE_TILE = 16, /* TILE of kernels/radix_scan.cl */
    SCAN_ITEMS = 256
};

/* Keys with the permutation that belongs to them; permutation is NULL where none is made. */
struct list {
    struct buffer *keys, *permutation;
};

struct radix_sort {
    struct device *device; /* not owned */
    struct radix_plan plan;
    uint32_t capacity;
    bool permutation;
    struct kernel *histogram, *scan_parts, *scan_add, *reorder, *transpose;
    struct sorted_order order;
    struct buffer *table;       /* H(c, g, i): uint[R*G*I], laid as the plan says */
    struct buffer *part_sums;   /* uint[s] */
    struct buffer *table_total; /* uint[1]: the sum of all, which no kernel reads */
    struct list scratch[2];     /* between passes; [1] only with transposition or a permutation */
};

/* G*I, and how many keys each of them has. */
static uint32_t items_of(const struct radix_plan *plan)
{
    return plan->groups * plan->items_per_group;
}

static uint32_t chunk_of(const struct radix_plan *plan, uint32_t count)
{
    return divide_up(count, items_of(plan));
}

static enum status create_kernels(struct radix_sort *sort)
{
    struct program *program = NULL, *scan = NULL;
    TRY(program_build(sort->device, "radix_sort.cl", PRECISION_SINGLE, &program,
                      "-D RADIX_BITS=%u -D ITEMS=%u -D TRANSPOSED=%d -D TABLE_ROWS=%d -D WITH_PERMUTATION=%d "
                      "-D KEY=%s",
                      sort->plan.radix_bits, sort->plan.items_per_group, sort->plan.transpose,
                      sort->plan.table_rows, sort->permutation, key_type(sort->plan.short_keys)));
    TRY(program_build(sort->device, "radix_scan.cl", PRECISION_SINGLE, &scan, "%s", ""));
    TRY(kernel_create(program, "radix_histogram", &sort->histogram));
    TRY(kernel_create(scan, "radix_scan_parts", &sort->scan_parts));
    TRY(kernel_create(scan, "radix_scan_add", &sort->scan_add));
    TRY(kernel_create(program, "radix_reorder", &sort->reorder));
    TRY(kernel_create(scan, "radix_transpose", &sort->transpose));
    sort->order = (struct sorted_order){
        .device = sort->device, .capacity = sort->capacity, .short_keys = sort->plan.short_keys};
    return STATUS_OK;
}

static enum status create_buffers(struct radix_sort *sort)
{
    struct device *device = sort->device;
    const struct radix_plan *plan = &sort->plan;
    const size_t word = sizeof(uint32_t);
    /* A transposed list has holes where items have shorter chunks. */
    const size_t keys =
        plan->transpose ? (size_t)chunk_of(plan, sort->capacity) * items_of(plan) : sort->capacity;
    for (uint32_t n = 0; n < (plan->transpose || sort->permutation ? 2 : 1); n++) {
        TRY(buffer_create(device, keys * word, "keys between sort passes", &sort->scratch[n].keys));
        if (sort->permutation)
            TRY(buffer_create(device, keys * word, "the permutation between sort passes",
                              &sort->scratch[n].permutation));
    }
    TRY(buffer_create(device, (size_t)radix_plan_table_length(plan) * word, "the sort's histogram",
                      &sort->table));
    TRY(buffer_create(device, plan->histogram_splits * word, "the sums of the histogram's parts",
                      &sort->part_sums));
    return buffer_create(device, word, "the histogram's total", &sort->table_total);
}

enum status radix_sort_create(struct device *device, const struct radix_plan *plan, uint32_t capacity,
                              bool permutation, struct radix_sort **sort)
{
    TRY(DEVICE_NEW(device, *sort));
    **sort = (struct radix_sort){
        .device = device, .plan = *plan, .capacity = capacity, .permutation = permutation};
    TRY(create_kernels(*sort));
    return create_buffers(*sort);
}

struct buffer *radix_sort_table(struct radix_sort *sort)
{
    return sort->table;
}

/* ---- the phases ---- */

enum status radix_sort_histogram(struct radix_sort *sort, const struct buffer *keys, uint32_t count,
                                 uint32_t pass)
{
    const struct radix_plan *plan = &sort->plan;
    const uint64_t bytes = sizeof(uint32_t) * (count + radix_plan_table_length(plan));
    return KERNEL_LAUNCH(sort->histogram,
                         ((struct launch){plan->groups, plan->items_per_group, STAGE_SORT_HISTOGRAM, bytes}),
                         keys, sort->table, count, chunk_of(plan, count), pass * plan->radix_bits);
}

/* Scans `parts` parts of `length` entries of `values`, each apart; `table_items` as in the kernel. */
static enum status scan_parts(struct radix_sort *sort, struct buffer *values, uint32_t count, uint32_t parts,
                              uint32_t length, uint32_t table_items, struct buffer *totals)
{
    const uint32_t padded = UINT32_C(1) << at_least(bits_below(length), 1);
    const uint32_t items = at_most(device_group_items(sort->device, SCAN_ITEMS), padded / 2);
    return KERNEL_LAUNCH(
        sort->scan_parts,
        ((struct launch){parts, items, STAGE_SORT_SCAN, 2 * sizeof(uint32_t) * (uint64_t)count}), values,
        totals, count, length, padded, table_items, arg_local(padded * sizeof(uint32_t)));
}

enum status radix_sort_scan(struct radix_sort *sort)
{
    const struct radix_plan *plan = &sort->plan;
    const uint32_t count = (uint32_t)radix_plan_table_length(plan);
    const uint32_t items = plan->table_rows ? items_of(plan) : 1, splits = plan->histogram_splits;
    const uint32_t length = (uint32_t)radix_plan_split_length(plan);
    TRY(scan_parts(sort, sort->table, count, splits, length, items,
                   splits > 1 ? sort->part_sums : sort->table_total));
    if (splits == 1)
        return STATUS_OK;
    TRY(scan_parts(sort, sort->part_sums, splits, 1, splits, 1, sort->table_total));
    return KERNEL_LAUNCH(sort->scan_add,
                         launch_flat(count, STAGE_SORT_SCAN, 2 * sizeof(uint32_t) * (uint64_t)count),
                         sort->table, sort->part_sums, count, length, items);
}

static enum status reorder(struct radix_sort *sort, struct list from, struct list to, uint32_t count,
                           uint32_t pass)
{
    const struct radix_plan *plan = &sort->plan;
    const uint32_t chunk = chunk_of(plan, count), shift = pass * plan->radix_bits;
    const uint32_t words_per_key = sort->permutation ? (pass == 0 ? 3 : 4) : 2;
    const struct launch launch = {plan->groups, plan->items_per_group, STAGE_SORT_REORDER,
                                  sizeof(uint32_t) *
                                      (words_per_key * (uint64_t)count + radix_plan_table_length(plan))};
    /* Where no permutation is read or made, any buffer stands in for it. */
    const struct buffer *permutation = from.permutation ? from.permutation : from.keys;
    return KERNEL_LAUNCH(sort->reorder, launch, from.keys, to.keys, permutation,
                         to.permutation ? to.permutation : to.keys, sort->table, count, chunk, shift,
                         pass == 0);
}

static enum status transpose(struct radix_sort *sort, const struct buffer *from, struct buffer *to,
                             uint32_t count, bool to_columns)
{
    const uint32_t rows = items_of(&sort->plan), chunk = chunk_of(&sort->plan, count);
    const size_t tiles = (size_t)divide_up(rows, TRANSPOSE_TILE) * divide_up(chunk, TRANSPOSE_TILE);
    return KERNEL_LAUNCH(sort->transpose,
                         ((struct launch){tiles, TRANSPOSE_TILE * TRANSPOSE_TILE, STAGE_SORT_TRANSPOSE,
                                          2 * sizeof(uint32_t) * (uint64_t)count}),
                         from, to, count, rows, chunk, to_columns);
}

/* Each pass goes from one list to another, the last one to `result`. */
static enum status run_passes(struct radix_sort *sort, struct list from, struct list other,
                              struct list result, uint32_t count)
{
    const uint32_t passes = sort->plan.passes;
    for (uint32_t pass = 0; pass < passes; pass++) {
        const struct list to = (passes - 1 - pass) % 2 == 0 ? result : other;
        TRY(radix_sort_histogram(sort, from.keys, count, pass));
        TRY(radix_sort_scan(sort));
        TRY(reorder(sort, from, to, count, pass));
        from = to;
    }
    return STATUS_OK;
}

/* Transpose, all passes between the two scratch lists, transpose back. */
static enum status sort_transposed(struct radix_sort *sort, const struct buffer *keys, struct list result,
                                   uint32_t count)
{
    const uint32_t last = sort->plan.passes % 2; /* of the two, where the passes end */
    const struct list *scratch = sort->scratch;
    TRY(transpose(sort, keys, scratch[0].keys, count, true));
    TRY(run_passes(sort, (struct list){scratch[0].keys, NULL}, scratch[1 - last], scratch[last], count));
    TRY(transpose(sort, scratch[last].keys, result.keys, count, false));
    return sort->permutation ? transpose(sort, scratch[last].permutation, result.permutation, count, false)
                             : STATUS_OK;
}

enum status radix_sort_run(struct radix_sort *sort, uint32_t count, const struct radix_lists *lists)
{
    /* Where the caller wants no sorted keys, the second scratch list takes them; with transposition the list
     * that the passes did not end in is free for it. */
    const uint32_t spare = sort->plan.transpose ? sort->plan.passes % 2 == 0 : 1;
    const struct list result = {lists->sorted_keys ? lists->sorted_keys : sort->scratch[spare].keys,
                                lists->permutation};
    if (sort->permutation || count > sort->capacity)
        TRY(sorted_order_check(&sort->order, count, lists));
    if (!result.keys)
        return status_fail(STATUS_FAILED, "sort: no array was given for the keys");
    if (count > 0) {
        if (sort->plan.transpose)
            TRY(sort_transposed(sort, lists->keys, result, count));
        else
            TRY(run_passes(sort, (struct list){(struct buffer *)lists->keys, NULL}, sort->scratch[0], result,
                           count));
    }
    return lists->cell_offsets ? sorted_order_cells(&sort->order, count, lists, result.keys) : STATUS_OK;
}
