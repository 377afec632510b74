/* Permute: apply the sort's permutation to an array, sorted[j] = original[sigma(j)].
 *
 * One work-item owns one place of the sorted list. Writes are contiguous; reads follow sigma, which after one
 * step's motion still runs through few, nearly contiguous pieces of the list. An element is moved as words,
 * whatever they mean; two arrays of equal elements go together, so that sigma is read once.
 */
#define LANES 1
#include "shared/element.h"
#include "shared/lanes.h"

#define AHEAD 128u /* places of which CPUs prefetch the element */

#define DEFINE_PERMUTE(bytes)                                                                                \
    kernel void permute_##bytes(global const uint *restrict sigma, uint count,                               \
                                global const ELEMENT(bytes) *restrict original,                              \
                                global ELEMENT(bytes) *restrict sorted)                                      \
    {                                                                                                        \
        const uint n = (uint)get_global_id(0);                                                               \
        if (n < count) {                                                                                     \
            WILL_READ(original + sigma[min(n + AHEAD, count - 1)]);                                          \
            sorted[n] = original[sigma[n]];                                                                  \
        }                                                                                                    \
    }                                                                                                        \
    kernel void permute_two_##bytes(                                                                         \
        global const uint *restrict sigma, uint count, global const ELEMENT(bytes) *restrict original,       \
        global ELEMENT(bytes) *restrict sorted, global const ELEMENT(bytes) *restrict other,                 \
        global ELEMENT(bytes) *restrict sorted_other)                                                        \
    {                                                                                                        \
        const uint n = (uint)get_global_id(0);                                                               \
        if (n >= count)                                                                                      \
            return;                                                                                          \
        const uint source = sigma[n];                                                                        \
        sorted[n] = original[source];                                                                        \
        sorted_other[n] = other[source];                                                                     \
    }
FOR_ELEMENTS(DEFINE_PERMUTE)
