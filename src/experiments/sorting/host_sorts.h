/* Host sorts: what the device's sort is compared with, in speed and in result. All return the stable
 * permutation. */
#ifndef RADIXPIC_EXPERIMENTS_HOST_SORTS_H
#define RADIXPIC_EXPERIMENTS_HOST_SORTS_H

#include "sort/radix_sort.h"

/* A plain serial counting sort of `count` keys below `key_limit`: permutation[j] is where the j-th sorted key
 * was. */
STATUS_CHECKED enum status host_counting_sort(const uint32_t *keys, uint32_t count, uint32_t key_limit,
                                              uint32_t *permutation);

/* The same by the C library's qsort() of (key, index) pairs. */
STATUS_CHECKED enum status host_qsort(const uint32_t *keys, uint32_t count, uint32_t *permutation);

/* What a sort must be. */
struct sort_verdict {
    bool sorted;      /* keys do not decrease */
    bool stable;      /* equal keys keep their order */
    bool permutation; /* every index appears once, and sorted_keys[j] = keys[permutation[j]] */
};

static inline bool sort_is_right(const struct sort_verdict *verdict)
{
    return verdict->sorted && verdict->stable && verdict->permutation;
}

/* Judges a result by these properties, not by another sort. */
STATUS_CHECKED enum status host_judge_sort(const uint32_t *keys, const uint32_t *sorted_keys,
                                           const uint32_t *permutation, uint32_t count,
                                           struct sort_verdict *verdict);

/* Judges the device's: its permutation, with the sorted keys where lists->sorted_keys is there and the keys
 * that the permutation stands for where not, and the cell offsets where lists->cell_offsets is. Host memory
 * is of `device`. */
STATUS_CHECKED enum status device_judge_sort(struct device *device, const uint32_t *keys, uint32_t count,
                                             const struct radix_lists *lists, struct sort_verdict *verdict);

#endif
