/* Radix plan: choose what is left to the program, refuse what does not fit the device. */
#include "sort/radix_plan.h"

#include "base/integers.h"

/* With these, list places and table entries stay 32-bit numbers. */
static const uint32_t MAX_TABLE = UINT32_C(1) << 31;

enum {
    MAX_ITEMS = 1 << 20, /* G*I */
    MAX_RADIX_BITS = 16,
    CPU_RADIX_BITS = 11,
    /* most bits of a digit where p is auto: caches hold its counters */ GPU_RADIX_BITS =
        5,           /* most bits there: the local memory of a wide group holds its counters */
    GPU_ITEMS = 128, /* I on a GPU where the local memory allows */
    GPU_GROUPS_PER_UNIT = 2,
    SPLIT_LENGTH = 2048 /* table entries a group scans where s is auto: 8 KiB of local memory */
};

static uint64_t local_histogram_bytes(uint32_t radix_bits, uint64_t items)
{
    return (UINT64_C(1) << (radix_bits + 2)) * items; /* S = 2^(r+2) I */
}

uint64_t radix_plan_table_length(const struct radix_plan *plan)
{
    return (UINT64_C(1) << plan->radix_bits) * plan->groups * plan->items_per_group;
}

const char *radix_plan_table_name(const struct radix_plan *plan)
{
    return plan->table_rows ? "rows" : "columns";
}

uint64_t radix_plan_split_length(const struct radix_plan *plan)
{
    return (radix_plan_table_length(plan) + plan->histogram_splits - 1) / plan->histogram_splits;
}

static uint32_t auto_items(const struct device_info *device, uint32_t radix_bits)
{
    if (device->is_cpu)
        return 1;
    uint32_t items = GPU_ITEMS;
    while (items > 1 &&
           (items > device->group_limit || local_histogram_bytes(radix_bits, items) >= device->local_memory))
        items /= 2;
    return items;
}

static enum status check(const struct device_info *device, const struct radix_plan *plan)
{
    if (plan->key_bits < 1 || plan->key_bits > 32)
        return status_fail(STATUS_USAGE, "sort: key_bits (b) = %u is outside 1..32", plan->key_bits);
    if (plan->radix_bits < 1 || plan->radix_bits > MAX_RADIX_BITS)
        return status_fail(
            STATUS_USAGE,
            "sort: key_bits (b) = %u in passes (p) = %u gives radix bits (r) = %u, outside 1..%d; take "
            "more passes",
            plan->key_bits, plan->passes, plan->radix_bits, MAX_RADIX_BITS);
    const uint32_t items = plan->items_per_group, groups = plan->groups, splits = plan->histogram_splits;
    const uint64_t local = device->local_memory;
    const struct {
        const char *name; /* of the parameter at fault */
        uint32_t value;
        uint64_t needed, most;
        const char *of, *advice;
    } limits[] = {
        {"items_per_group (I)", items, items, device->group_limit, "items in a group", "take a smaller I"},
        {"items_per_group (I)", items, local_histogram_bytes(plan->radix_bits, items),
         local > 0 ? local - 1 : 0, /* the paper's S < C */
         "bytes of local memory, S = 2^(r+2) I", "take a smaller I or more passes (p)"},
        {"groups (G)", groups, (uint64_t)groups * items, MAX_ITEMS, "items, G*I", "take a smaller G or I"},
        {"histogram_splits (s)", splits, UINT64_C(4) << bits_below(radix_plan_split_length(plan)), local,
         "bytes of local memory for the scan of a part", "take a larger s"},
        {"histogram_splits (s)", splits, UINT64_C(4) << bits_below(splits), local,
         "bytes of local memory for the scan of the parts' sums", "take a smaller s, or fewer groups (G)"},
        {"groups (G)", groups, radix_plan_table_length(plan), MAX_TABLE, "entries of the histogram, R*G*I",
         "take smaller I or G, or more passes (p)"}};
    for (size_t n = 0; n < sizeof limits / sizeof limits[0]; n++)
        if (limits[n].needed > limits[n].most)
            return status_fail(
                STATUS_USAGE,
                "sort: %s = %u with radix bits (r) = %u needs %llu %s, %llu more than the %llu "
                "that %s may have; %s",
                limits[n].name, limits[n].value, plan->radix_bits, (unsigned long long)limits[n].needed,
                limits[n].of, (unsigned long long)(limits[n].needed - limits[n].most),
                (unsigned long long)limits[n].most, device->name, limits[n].advice);
    return STATUS_OK;
}

enum status radix_plan_make(const struct device_info *device, const struct sort_config *config,
                            uint32_t grid_key_bits, uint32_t given_radix_bits, struct radix_plan *plan)
{
    const uint32_t bits = config->key_bits != SORT_AUTO ? config->key_bits : grid_key_bits;
    const uint32_t most = device->is_cpu ? CPU_RADIX_BITS : GPU_RADIX_BITS;
    const uint32_t passes = config->passes != SORT_AUTO ? config->passes : divide_up(bits, most);
    const uint32_t radix_bits = given_radix_bits > 0 ? given_radix_bits : divide_up(bits, passes);
    *plan = (struct radix_plan){.key_bits = bits, .radix_bits = radix_bits};
    plan->passes = radix_bits > 0 ? divide_up(bits, radix_bits) : 0;
    if (radix_bits < 1 || radix_bits > MAX_RADIX_BITS)
        return check(device, plan);
    plan->items_per_group =
        config->items_per_group != SORT_AUTO ? config->items_per_group : auto_items(device, radix_bits);
    plan->groups = config->groups != SORT_AUTO ? config->groups
                   : device->is_cpu            ? device->compute_units
                                               : GPU_GROUPS_PER_UNIT * device->compute_units;
    plan->transpose =
        config->transpose == TRANSPOSE_AUTO ? !device->is_cpu : config->transpose == TRANSPOSE_ON;
    plan->table_rows = config->table == TABLE_ROWS; /* no device is known where rows are the faster ones */
    const uint32_t splits = at_most((radix_plan_table_length(plan) + SPLIT_LENGTH - 1) / SPLIT_LENGTH, 65536);
    plan->histogram_splits = config->histogram_splits != SORT_AUTO ? config->histogram_splits : splits;
    return check(device, plan);
}
