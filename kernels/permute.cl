/* Permute: apply the sort's permutation to an array, sorted[j] = original[sigma(j)].
 *
 * One work-item owns one place of the sorted list. Writes are contiguous; reads follow sigma, which after one
 * step's motion still runs through few, nearly contiguous pieces of the list. An element is moved as words,
 * whatever they mean; two arrays of equal elements go together, so that sigma is read once.
 */
#define DEFINE_PERMUTE(bytes, type)                                                                          \
    kernel void permute_##bytes(global const uint *restrict sigma, uint count,                               \
                                global const type *restrict original, global type *restrict sorted)          \
    {                                                                                                        \
        const uint n = (uint)get_global_id(0);                                                               \
        if (n < count)                                                                                       \
            sorted[n] = original[sigma[n]];                                                                  \
    }                                                                                                        \
    kernel void permute_two_##bytes(global const uint *restrict sigma, uint count,                           \
                                    global const type *restrict original, global type *restrict sorted,      \
                                    global const type *restrict other, global type *restrict sorted_other)   \
    {                                                                                                        \
        const uint n = (uint)get_global_id(0);                                                               \
        if (n >= count)                                                                                      \
            return;                                                                                          \
        const uint source = sigma[n];                                                                        \
        sorted[n] = original[source];                                                                        \
        sorted_other[n] = other[source];                                                                     \
    }

DEFINE_PERMUTE(4, uint)
DEFINE_PERMUTE(8, uint2)
DEFINE_PERMUTE(16, uint4)
DEFINE_PERMUTE(32, uint8)
