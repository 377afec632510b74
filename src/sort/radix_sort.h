/* Radix sort: keys -> permutation, sorted keys and cell offsets, by the parallel radix sort of P. Helluy 2011
 * (kernels/radix_sort.cl). Stable: sorted[j] = keys[permutation[j]] defines the permutation uniquely. This
 * room sees lists of keys, never particles. */
#ifndef RADIXPIC_SORT_RADIX_SORT_H
#define RADIXPIC_SORT_RADIX_SORT_H

#include "sort/radix_plan.h"
#include "sort/sorted_order.h"

struct radix_sort;

/* A sort of up to `capacity` keys with the parameters of `plan`. `permutation`: whether sorts will be asked
 * for one; then they may be run without sorted_keys. It dies with the device handle. */
STATUS_CHECKED enum status radix_sort_create(struct device *device, const struct radix_plan *plan,
                                             uint32_t capacity, bool permutation, struct radix_sort **sort);

/* Sorts `count` keys, from 0 up to the capacity. Stages: STAGE_SORT_*. (Non-blocking.) */
STATUS_CHECKED enum status radix_sort_run(struct radix_sort *sort, uint32_t count,
                                          const struct radix_lists *lists);

/* ---- the phases of one pass, for tests and experiments ---- */

/* The histogram table H(c, g, i), R*G*I entries, of digit number `pass` of `count` keys: at (c*G + g)*I + i,
 * or at (g*I + i)*R + c where the plan has table_rows. (Non-blocking.) */
STATUS_CHECKED enum status radix_sort_histogram(struct radix_sort *sort, const struct buffer *keys,
                                                uint32_t count, uint32_t pass);
/* Replaces the table by its exclusive prefix sum in the order c, g, i, however it lies. (Non-blocking.) */
STATUS_CHECKED enum status radix_sort_scan(struct radix_sort *sort);
/* The table, uint[R*G*I]; owned by the sort. */
struct buffer *radix_sort_table(struct radix_sort *sort);

#endif
