/* Layout host type: the sorts of layout_arrays.c for one type of element, ELEMENT. Included there once for
 * each; hence no include guard. */
#include "shared/layout.h"

/* Hoare's partition around the element in the middle; the shorter part first, which keeps the stack short. */
static void SERIAL(quicksort)(ARRAY, uint32_t length)
{
    while (length > 1) {
        const ELEMENT pivot = PLACE((length - 1) / 2);
        uint32_t left = 0, right = length - 1;
        for (;; left++, right--) {
            while (PLACE(left) < pivot)
                left++;
            while (PLACE(right) > pivot)
                right--;
            if (left >= right)
                break;
            const ELEMENT swapped = PLACE(left);
            PLACE(left) = PLACE(right);
            PLACE(right) = swapped;
        }
        const uint32_t upper = right + 1; /* the first element of the upper part */
        if (upper < length - upper) {
            SERIAL(quicksort)(elements, upper);
            elements += upper;
            length -= upper;
        } else {
            SERIAL(quicksort)(elements + upper, length - upper);
            length = upper;
        }
    }
}

static void SERIAL(apply)(enum layout_operation operation, struct layout_size size, void *all)
{
    static void (*const functions[])(ARRAY, uint32_t length) = {[LAYOUT_PREFIX_SUM] = SERIAL(prefix_sum),
                                                                [LAYOUT_BUBBLE_SORT] = SERIAL(bubble_sort),
                                                                [LAYOUT_BITONIC_SORT] = SERIAL(bitonic_sort),
                                                                [LAYOUT_QUICKSORT] = SERIAL(quicksort)};
    for (uint32_t i = 0; i < size.arrays; i++)
        functions[operation]((ELEMENT *)all + (size_t)i * size.length, size.length);
}
