/* Sorter: one door for the methods of sorting short keys: paper, the radix sort of P. Helluy 2011 with its
 * parameters (radix_sort.h), for any device and any key; tiled and chunked (fast_sorts.h). All give the one
 * stable permutation, so results do not depend on the method. */
#ifndef RADIXPIC_SORT_SORTER_H
#define RADIXPIC_SORT_SORTER_H

#include "sort/fast_sorts.h"
#include "sort/radix_sort.h"

struct sorter;

/* The parameters of a sorter, resolved and checked for a device. */
struct sorter_plan {
    enum sort_method method;  /* never auto */
    bool keys_alone;          /* of paper: no permutation is made */
    uint32_t key_bits;        /* b */
    uint32_t passes;          /* p */
    struct radix_plan radix;  /* of the method paper */
    struct fast_options fast; /* of tiled and chunked */
    bool is_default;          /* the config left the method open */
};

/* Resolves a config for lists of about `count` keys of `grid_key_bits` bits: what it says, else the default:
 * tiled for GPUs and chunked for CPUs where they sort such keys, paper everywhere else and where a parameter
 * of paper is given. STATUS_USAGE says which parameter does not fit the device. */
STATUS_CHECKED enum status sorter_plan_make(const struct device_info *info, const struct sort_config *config,
                                            uint32_t grid_key_bits, uint32_t count, struct sorter_plan *plan);

/* Makes the plan of a config whose method and key_bits are given, not left open. */
STATUS_CHECKED enum status sorter_plan_choose(const struct device_info *info,
                                              const struct sort_config *config, uint32_t count,
                                              struct sorter_plan *plan);

/* One line for people: the method and its parameters, and "(default)" where the config left it open. */
void sorter_plan_describe(const struct sorter_plan *plan, char *text, size_t size);

/* A sorter of up to `capacity` keys, which dies with the device handle. */
STATUS_CHECKED enum status sorter_create(struct device *device, const struct sorter_plan *plan,
                                         uint32_t capacity, struct sorter **sorter);

/* Sorts `count` keys, from 0 up to the capacity. lists->permutation is required unless the plan is for keys
 * alone; cell_offsets and sorted_keys are optional. Stages: STAGE_SORT_*. (Non-blocking.) */
STATUS_CHECKED enum status sorter_run(struct sorter *sorter, uint32_t count, const struct radix_lists *lists);

/* The word of sort.method for a method. */
const char *sort_method_name(enum sort_method method);

#endif
