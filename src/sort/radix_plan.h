/* Radix plan: the parameters of one radix sort, resolved and checked. Letters: Table 1 of P. Helluy 2011. */
#ifndef RADIXPIC_SORT_RADIX_PLAN_H
#define RADIXPIC_SORT_RADIX_PLAN_H

#include "config/config.h"
#include "device/device.h"

struct radix_plan {
    uint32_t key_bits;         /* b: keys are below 2^b */
    uint32_t radix_bits;       /* r: bits of one digit */
    uint32_t passes;           /* p = ceil(b/r) */
    uint32_t items_per_group;  /* I */
    uint32_t groups;           /* G */
    uint32_t histogram_splits; /* s: parts of the histogram scanned apart before the scan of their sums */
    bool transpose;            /* so that neighbouring items read neighbouring keys */
    bool short_keys;           /* ushorts, not uints; then not transposed */
    bool table_rows;           /* H(c, g, i) in memory in the order g, i, c, not c, g, i */
};

/* The parameters for keys of `grid_key_bits` bits (used where config->key_bits is auto): r as given, or where
 * that is 0, ceil(b/p), the others from the config or, where that says auto, from the device: few passes, one
 * item a group and a group a compute unit on CPUs, wide groups and a transposed list on GPUs. STATUS_USAGE
 * with a sentence that says which parameter does not fit and by how much. */
STATUS_CHECKED enum status radix_plan_make(const struct device_info *device, const struct sort_config *config,
                                           uint32_t grid_key_bits, uint32_t given_radix_bits,
                                           struct radix_plan *plan);

/* "columns" or "rows", as sort.table has it. */
const char *radix_plan_table_name(const struct radix_plan *plan);

/* Entries of the histogram table H(c, g, i), R*G*I, and entries of each of its s parts, which one group
 * scans. */
uint64_t radix_plan_table_length(const struct radix_plan *plan);
uint64_t radix_plan_split_length(const struct radix_plan *plan);

#endif
