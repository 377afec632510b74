/* Merge sort: passes of kernels/shared/merge_sort.h, compiled for the host, the items one after the other. */
#include "support/test_support.h"

static uint64_t comparisons;
#define COMES_BEFORE(a, b) (comparisons++, (a) < (b))
#define global
#include "shared/merge_sort.h"

enum { MOST = 1 << 16 };

/* As a group sorts; passes go to and fro. Returns the number of passes. */
static uint32_t sort(uint *list, uint *spare, uint32_t count, uint32_t items)
{
    uint *from = list, *to = spare;
    uint32_t passes = 0;
    comparisons = 0;
    for (uint32_t run = 1; run < count; run *= 2, passes++) {
        for (uint32_t item = 0; item < items; item++)
            merge_runs(from, to, count, run, item, items);
        uint *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != list)
        memcpy(list, from, count * sizeof *list);
    return passes;
}

/* Words in order, backwards and mixed, for groups of fewer and of more items than there are words. A pass
 * compares once for a word, and for each start of an item or of a merge as often as a bisection halves. */
TEST(sorts_with_n_log_n_comparisons)
{
    uint *list = test_array(MOST, sizeof *list), *spare = test_array(MOST, sizeof *spare);
    for (uint32_t items = 1; items <= 256; items *= 4)
        for (uint32_t count = 1; count <= MOST; count += 1 + count / 3)
            for (int order = 0; order < 3; order++) {
                uint64_t lost = 0; /* a sum over all words before less that after */
                for (uint32_t n = 0; n < count; n++) {
                    list[n] = order == 0 ? n : order == 1 ? ~n : n * UINT32_C(2654435769);
                    lost += (uint64_t)list[n] * list[n];
                }
                const uint32_t passes = sort(list, spare, count, items);
                for (uint32_t n = 0; n < count; n++) {
                    assert_true(n == 0 || list[n - 1] < list[n]);
                    lost -= (uint64_t)list[n] * list[n];
                }
                assert_true(lost == 0);
                assert_true(comparisons <= (uint64_t)passes * (2 * count + items * (uint64_t)passes));
            }
}

TEST_MAIN(NULL, NULL)
