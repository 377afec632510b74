/* Merge sort: a pass over a list of words, shared among the items of a group.
 *
 * In pass n the list consists of ascending runs of 2^n words, the last of which may be shorter, and each two
 * neighbours are merged. All items make as many words of the result, found where they start by bisection: n
 * log n comparisons in all passes.
 *
 * COMES_BEFORE(a, b)   the order, if not that of the words; no two are equal in it
 */
#ifndef SHARED_MERGE_SORT_H
#define SHARED_MERGE_SORT_H

#include "shared/real.h"

#ifndef COMES_BEFORE
#define COMES_BEFORE(a, b) ((a) < (b))
#endif

/* How many of the first `taken` words of two merged runs are those of the first run. */
static inline uint merge_split(global const uint *first, uint first_count, global const uint *second,
                               uint second_count, uint taken)
{
    uint low = taken > second_count ? taken - second_count : 0,
         high = taken < first_count ? taken : first_count;
    while (low < high) {
        const uint middle = (low + high) / 2;
        if (COMES_BEFORE(first[middle], second[taken - 1 - middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What item `item` of `items` does to make of `from`, with runs of `run` words, `to`, with runs of 2 run. */
static inline void merge_runs(global const uint *from, global uint *to, uint count, uint run, uint item,
                              uint items)
{
    const uint end = (uint)((ulong)count * (item + 1) / items);
    for (uint n = (uint)((ulong)count * item / items); n < end;) {
        const uint begin = n & ~(2 * run - 1), left = count - begin;
        const uint first_count = left < run ? left : run;
        const uint second_count = left - first_count < run ? left - first_count : run;
        global const uint *first = from + begin, *second = first + first_count;
        const uint both = begin + first_count + second_count, stop = end < both ? end : both;
        uint a = merge_split(first, first_count, second, second_count, n - begin), b = n - begin - a;
        for (; n < stop; n++)
            to[n] = b == second_count || (a < first_count && COMES_BEFORE(first[a], second[b])) ? first[a++]
                                                                                                : second[b++];
    }
}

#endif
