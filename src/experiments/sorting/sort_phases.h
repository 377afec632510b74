/* Sort phases: those of the paper's sort, as its tables name them, and what two experiments write of a sort.
 */
#ifndef RADIXPIC_EXPERIMENTS_SORT_PHASES_H
#define RADIXPIC_EXPERIMENTS_SORT_PHASES_H

#include "experiments/bench.h"
#include "sort/sorter.h"

enum { SORT_PHASES = 4 };

static const struct {
    const char *name, *quantity;
    enum stage stage;
} sort_phases[SORT_PHASES] = {{"transpose", "transpose_ms", STAGE_SORT_TRANSPOSE},
                              {"histogram", "histogram_ms", STAGE_SORT_HISTOGRAM},
                              {"scan", "scan_ms", STAGE_SORT_SCAN},
                              {"reorder", "reorder_ms", STAGE_SORT_REORDER}};

static inline void write_sort_phases(const struct bench *bench, const struct times *times, int verified)
{
    for (size_t p = 0; p < SORT_PHASES; p++)
        if (times->stages[sort_phases[p].stage].most > 0) /* which this sort does not do without */
            bench_row(bench, sort_phases[p].quantity, times->stages[sort_phases[p].stage], 1e3, verified);
}

/* Key=value words of the parameters that the method paper has, "" for others. */
static inline void sort_parameters(const struct sorter_plan *plan, size_t size, char *text)
{
    const struct radix_plan *radix = &plan->radix;
    text[0] = '\0';
    if (plan->method == SORT_METHOD_PAPER)
        snprintf(text, size, " r=%u I=%u G=%u s=%u transpose=%s table=%s", radix->radix_bits,
                 radix->items_per_group, radix->groups, radix->histogram_splits,
                 radix->transpose ? "on" : "off", radix_plan_table_name(radix));
}

#endif
