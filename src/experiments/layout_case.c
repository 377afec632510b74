/* Layout case: names. */
#include "experiments/layout_case.h"

const char *const layout_type_names[LAYOUT_TYPES + 1] = {
    [LAYOUT_INT] = "int", [LAYOUT_FLOAT] = "float", [LAYOUT_DOUBLE] = "double"};

const char *const layout_operation_names[LAYOUT_OPERATIONS + 1] = {[LAYOUT_PREFIX_SUM] = "prefix-sum",
                                                                   [LAYOUT_BUBBLE_SORT] = "bubble-sort",
                                                                   [LAYOUT_BITONIC_SORT] = "bitonic-sort"};
