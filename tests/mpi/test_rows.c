/* Rows: every row arrives where it belongs, for any two divisions, and nothing else is touched. */
#include "support/mpi_support.h"

#include "parallel/rows.h"

enum { COLUMNS = 3, MOST_ROWS = 20 };

static double number(uint32_t row, uint32_t column)
{
    return 100 * row + column + 0.5;
}

static const double untouched = -1;

/* Rows of this rank, or what lies beside them, with a row of nothing at the end. */
static double *range_create(const struct row_division *division, int filled)
{
    const uint32_t begin = division->first[ranks.rank], end = division->first[ranks.rank + 1];
    const size_t numbers = (size_t)(end - begin + 1) * division->stride;
    double *range = test_array(1, numbers * sizeof *range);
    for (size_t n = 0; n < numbers; n++)
        range[n] = untouched;
    for (uint32_t row = begin; filled && row < end; row++)
        for (uint32_t column = 0; column < COLUMNS; column++)
            range[(size_t)(row - begin) * division->stride + column] = number(row, column);
    return range;
}

static void check_move(const struct row_division *here, const struct row_division *there)
{
    struct row_exchange *exchange = NULL;
    struct device *owner = NULL;
    assert_ok(device_open_counting(&(struct device_info){0}, &owner));
    assert_ok(rows_create(&ranks, owner, COLUMNS, here, there, &exchange));
    for (int back = 0; back < 2; back++) {
        const struct row_division *from = back ? there : here, *to = back ? here : there;
        double *source = range_create(from, 1), *target = range_create(to, 0);
        double *expected = range_create(to, 1);
        rows_move(exchange, back, source, target);
        const size_t rows = to->first[ranks.rank + 1] - to->first[ranks.rank] + 1;
        assert_memory_equal(target, expected, rows * to->stride * sizeof *target);
    }
    device_close(&owner);
}

/* Divisions of MOST_ROWS rows: even, all on one of the ranks, or with rows for every other rank alone. */
static void divide(int way, uint32_t *first)
{
    for (int rank = 0; rank <= ranks.size; rank++) {
        if (way < ranks.size)
            first[rank] = rank > way ? MOST_ROWS : 0;
        else if (way == ranks.size)
            first[rank] = (uint32_t)(MOST_ROWS * rank / ranks.size);
        else
            first[rank] = rank == ranks.size ? MOST_ROWS : (uint32_t)(rank / 2 * 2 * MOST_ROWS / ranks.size);
    }
}

TEST(rows_go_where_they_belong)
{
    uint32_t *first = test_array((size_t)ranks.size + 1, sizeof *first);
    uint32_t *other_first = test_array((size_t)ranks.size + 1, sizeof *other_first);
    for (int way = 0; way < ranks.size + 2; way++)
        for (int other = 0; other < ranks.size + 2; other++)
            for (uint32_t gap = 0; gap < 3; gap++) {
                divide(way, first);
                divide(other, other_first);
                check_move(&(struct row_division){first, COLUMNS + gap},
                           &(struct row_division){other_first, COLUMNS + 2 - gap});
            }
}

MPI_TEST_MAIN(NULL, NULL)
