/* The cells of a table that fit local memory: those before the limit, and at it. */
#include "experiments/permutation/permutation.h"
#include "support/test_support.h"

/* Sides 2, 3 and 4 in N dimensions. */
static struct permutation_table table_of(uint32_t dimensions)
{
    return (struct permutation_table){
        .dimensions = dimensions, .cell_sides = {2, 3, 4}, .cell_count = 3, .volume_count = 1};
}

TEST(test_all_fit)
{
    struct permutation_table table = table_of(7);
    assert_int_equal(permutation_fit_cells(&table, 65536), 0); /* 4^7 words */
    assert_int_equal(table.cell_count, 3);
}

TEST(test_those_that_do_not_fit_are_left_out)
{
    struct permutation_table table = table_of(7);
    assert_int_equal(permutation_fit_cells(&table, 49152), 4);
    assert_int_equal(table.cell_count, 2);
    assert_int_equal(table.cell_sides[0], 2);
    assert_int_equal(table.cell_sides[1], 3);
    table = table_of(7);
    assert_int_equal(permutation_fit_cells(&table, 8747), 3); /* a byte less than 3^7 words */
    assert_int_equal(table.cell_count, 1);
    assert_int_equal(table.cell_sides[0], 2);
}

/* It then is refused as one that was asked for. */
TEST(test_the_first_stays)
{
    struct permutation_table table = table_of(8);
    assert_int_equal(permutation_fit_cells(&table, 100), 3);
    assert_int_equal(table.cell_count, 1);
    assert_int_equal(table.cell_sides[0], 2);
}

TEST_MAIN(NULL, NULL)
