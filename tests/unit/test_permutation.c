/* Permutation: the cells of a table that fit local memory: those before the limit, and at it. */
#include "experiments/permutation/permutation.h"
#include "support/test_support.h"

TEST(cells_that_do_not_fit_are_left_out_but_for_the_first)
{
    static const struct {
        uint32_t dimensions;
        size_t local_memory;
        uint32_t smallest_left_out, kept;
    } cases[] = {{7, 65536, 0, 3}, /* 4^7 words */
                 {7, 49152, 4, 2},
                 {7, 8747, 3, 1}, /* a byte less than 3^7 words */
                 {8, 100, 3, 1}}; /* the first is then refused as one that was asked for */
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        struct permutation_table table = {
            .dimensions = cases[n].dimensions, .cell_sides = {2, 3, 4}, .cell_count = 3, .volume_count = 1};
        assert_int_equal(permutation_fit_cells(&table, cases[n].local_memory), cases[n].smallest_left_out);
        assert_int_equal(table.cell_count, cases[n].kept);
        for (uint32_t k = 0; k < table.cell_count; k++)
            assert_int_equal(table.cell_sides[k], 2 + k);
    }
}

TEST_MAIN(NULL, NULL)
