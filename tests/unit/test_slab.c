/* Slab: which row of the box each row of the local grid stands for, by walking around the ring. */
#include "support/test_support.h"

#include "domain/slab.h"

enum { MOST_ROWS = 14 };

static struct grid box_of(uint32_t rows)
{
    return grid_make(&(struct grid_config){.cells = {rows, 3}, .length = {0.7 * rows, 5}});
}

/* Own rows, ghost rows on both sides and the lost row are fewer than the box has: else all of it is there. */
static bool should_be_whole(const struct grid *box, uint32_t rows, uint32_t ghost)
{
    return ghost == 0 || rows + 2 * ghost + 1 >= box->nx;
}

static void check_local_grid(const struct grid *box, uint32_t first_row, uint32_t rows, uint32_t ghost)
{
    const struct slab slab = slab_make(box, first_row, rows, ghost);
    const bool whole = should_be_whole(box, rows, ghost);
    assert_true(slab_is_whole(&slab) == whole);
    assert_int_equal(slab.first_row, first_row);
    assert_int_equal(slab.rows, rows);
    assert_int_equal(slab.ghost, whole ? 0 : ghost);
    assert_int_equal(slab.box.nx, box->nx);
    assert_int_equal(slab.local.nx, whole ? box->nx : rows + 2 * ghost + 1);
    assert_int_equal(slab.local.ny, box->ny);
    assert_near(slab.local.dx, box->dx, 0);
    assert_near(slab.local.dy, box->dy, 0);
    assert_near(slab.local.ly, box->ly, 0);
    assert_near(slab.local.lx, slab.local.nx * box->dx, 1e-14 * box->lx); /* a rounding or two */
    assert_int_equal(slab_own_cells(&slab), rows * box->ny);
}

static void check_rows(const struct grid *box, uint32_t first_row, uint32_t rows, uint32_t ghost)
{
    const struct slab slab = slab_make(box, first_row, rows, ghost);
    const uint32_t above = slab_is_whole(&slab) ? box->nx : rows + ghost; /* own ones and those above */
    uint32_t row = first_row;
    for (uint32_t local = 0; local < above; local++) {
        assert_int_equal(slab_global_row(&slab, local), row);
        row = row + 1 == box->nx ? 0 : row + 1;
    }
    for (uint32_t local = 0; local < slab.local.nx; local++)
        assert_int_equal(slab_is_lost(&slab, local), local == above);
    if (slab_is_whole(&slab))
        return;
    assert_int_equal(slab_lost_row(&slab), above);
    row = first_row;
    for (uint32_t local = slab.local.nx - 1; local > above; local--) {
        row = row == 0 ? box->nx - 1 : row - 1;
        assert_int_equal(slab_global_row(&slab, local), row);
    }
}

/* Every slab of every small box, with every number of ghost rows. */
TEST(local_rows_have_the_cells_of_those_around_the_ring)
{
    for (uint32_t nx = 1; nx <= MOST_ROWS; nx++) {
        const struct grid box = box_of(nx);
        for (uint32_t first_row = 0; first_row < nx; first_row++)
            for (uint32_t rows = 1; first_row + rows <= nx; rows++)
                for (uint32_t ghost = 0; ghost <= nx; ghost += ghost == 0 ? SLAB_LEAST_GHOST : 1) {
                    check_local_grid(&box, first_row, rows, ghost);
                    check_rows(&box, first_row, rows, ghost);
                }
    }
}

/* Numbers whose sums do not fit 32 bits. */
TEST(more_ghost_rows_than_any_box_make_it_whole)
{
    const struct grid box = box_of(8);
    const struct slab slab = slab_make(&box, 2, 3, UINT32_MAX);
    assert_true(slab_is_whole(&slab));
    assert_int_equal(slab.local.nx, 8);
}

TEST_MAIN(NULL, NULL)
