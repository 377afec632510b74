/* Filter: the transfer function mode by mode, and the same bits whatever the tile. */
#include "support/device_fixture.h"

#include "field/filter.h"
#include "support/field_support.h"

/* Even and odd, and the narrowest; of the last one some modes are enough. */
static const uint32_t grids[][2] = {{8, 6}, {7, 5}, {2, 2}, {2, 9}, {33, 64}};

/* Without a tile; that of GPUs, which holds the smaller grids whole; and some that the grids are no multiples
 * of. */
static const struct filter_tile tiles[] = {{0}, {16, 32, 4}, {3, 5, 1}, {4, 7, 2}, {1, 1, 1}, {6, 2, 6}};

static const uint32_t sizes[][2] = {{1, 1},   {2, 2},   {2, 9},   {1, 70},  {45, 1},
                                    {16, 32}, {17, 33}, {33, 64}, {37, 101}};

enum {
    GRIDS = sizeof grids / sizeof grids[0],
    TILES = sizeof tiles / sizeof tiles[0],
    SIZES = sizeof sizes / sizeof sizes[0]
};

/* How many of the grids, sizes, tiles and passes are tried. */
static uint32_t few_or(uint32_t few, uint32_t all)
{
    return test_is_small() ? few : all;
}

struct bench {
    struct grid grid;
    enum precision precision;
    size_t cells;
    struct filter *filter;
    struct buffer *whole, *rho; /* a view of it, as components of fields are */
};

static struct bench bench_create(uint32_t nx, uint32_t ny, enum precision precision, struct filter_tile tile)
{
    struct bench b = {.grid = field_grid(nx, ny, 3.0, 5.0), .precision = precision, .cells = (size_t)nx * ny};
    assert_ok(filter_create(device, &b.grid, precision, &tile, &b.filter));
    b.whole = test_buffer(b.cells * precision_bytes(precision), NULL);
    assert_ok(buffer_view(b.whole, 0, b.cells * precision_bytes(precision), &b.rho));
    return b;
}

/* The density after the filter, read back. */
static double *filtered(struct bench *b, struct deposit_config deposit, const double *density)
{
    assert_ok(buffer_write_reals(b->rho, b->precision, 0, b->cells, density));
    assert_ok(filter_apply(b->filter, &deposit, b->rho));
    return field_read(b->whole, b->precision, b->cells);
}

/* Mode (mx, my) keeps its shape and shrinks by cos^2(kx dx/2) cos^2(ky dy/2) a pass; the compensator of N
 * passes multiplies it by (1 + N sin^2(kx dx/2)) (1 + N sin^2(ky dy/2)). Numbers up to 1, of a few roundings
 * a pass and the rounded input: 4 epsilon a pass, and never more than 1e-13 or 1e-6. The compensator's
 * weights along an axis, of both signs, have sizes that add up to 1 + N, by which it enlarges them. */
static void check_mode(struct bench *b, uint32_t mx, uint32_t my, struct deposit_config deposit)
{
    const uint32_t passes = deposit.filter_passes;
    double *wave = field_wave(&b->grid, mx, my, 0.4);
    double *result = filtered(b, deposit, wave);
    const double x = M_PI * mx / b->grid.nx, y = M_PI * my / b->grid.ny;
    const double given_back = (1 + passes * pow(sin(x), 2)) * (1 + passes * pow(sin(y), 2));
    const double enlarged = deposit.filter_compensator ? pow(1 + passes, 2) : 1;
    const double most = b->precision == PRECISION_DOUBLE ? 1e-13 : 1e-6;
    for (size_t n = 0; n < b->cells; n++)
        wave[n] *= pow(cos(x) * cos(y), 2 * passes) * (deposit.filter_compensator ? given_back : 1);
    const double error = field_largest_difference(result, wave, b->cells);
    if (!(error <= enlarged * fmin(most, 4 * passes * test_epsilon(b->precision))))
        fail_msg("mode (%u, %u) of %u x %u, %u passes, compensator %d: off by %.3g", mx, my, b->grid.nx,
                 b->grid.ny, passes, deposit.filter_compensator, error);
}

TEST(modes_shrink_by_the_transfer_function)
{
    for (int p = 0; p < 2; p++)
        for (uint32_t g = 0; g < few_or(GRIDS - 1, GRIDS); g++) {
            struct bench b = bench_create(grids[g][0], grids[g][1], field_precisions[p], tiles[0]);
            const uint32_t step = b.cells > 100 ? 61 : 1; /* 61 comes to every row and column */
            for (uint32_t mode = 0; mode < b.cells; mode += step)
                for (uint32_t passes = 1; passes <= few_or(1, 5); passes += 2)
                    for (int with = 0; with < 2; with++)
                        check_mode(
                            &b, mode / grids[g][1], mode % grids[g][1],
                            (struct deposit_config){.filter_passes = passes, .filter_compensator = with});
        }
}

/* Tiles are a matter of speed: not a bit depends on them, in double precision of some. */
TEST(every_tile_has_the_same_bits)
{
    for (int p = 0; p < 2; p++)
        for (uint32_t s = 0; s < few_or(7, SIZES); s++) {
            double *expected = NULL;
            for (uint32_t t = 0; t < few_or(3, field_precisions[p] == PRECISION_DOUBLE ? 3 : TILES); t++) {
                struct bench b = bench_create(sizes[s][0], sizes[s][1], field_precisions[p], tiles[t]);
                double *density = field_random(b.cells);
                for (size_t n = 0; n < b.cells; n++)
                    density[n] /= 3; /* so that sums round */
                double *result = filtered(&b, (struct deposit_config){.filter_passes = 3}, density);
                if (expected)
                    assert_memory_equal(result, expected, b.cells * sizeof *result);
                else
                    expected = result;
            }
        }
}

/* No tile for a CPU, whose local memory is ordinary memory, nor where one has no room. */
TEST(the_device_chooses_the_tile)
{
    struct device_info gpu = {.is_gpu = true, .local_memory = 49152, .group_limit = 1024};
    const struct device_info cpu = {.is_cpu = true, .local_memory = 49152, .group_limit = 4096};
    assert_int_equal(filter_tile_of(&cpu, PRECISION_SINGLE).rows, 0);
    const struct filter_tile tile = filter_tile_of(&gpu, PRECISION_SINGLE);
    assert_true(tile.rows > 0 && tile.columns > 0 && tile.rows % tile.item_rows == 0);
    gpu.local_memory = (size_t)(tile.rows + 2) * (tile.columns + 2) * sizeof(float);
    assert_int_equal(filter_tile_of(&gpu, PRECISION_SINGLE).rows, tile.rows);
    assert_int_equal(filter_tile_of(&gpu, PRECISION_DOUBLE).rows, 0);
    gpu.group_limit = tile.rows / tile.item_rows * tile.columns - 1;
    assert_int_equal(filter_tile_of(&gpu, PRECISION_SINGLE).rows, 0);
}

TEST(a_tile_without_room_is_refused)
{
    const struct grid grid = field_grid(8, 8, 1.0, 1.0);
    struct filter *filter = NULL;
    const struct filter_tile large = {1 << 14, 1 << 14, 1 << 14}, many_items = {1 << 14, 1, 1};
    assert_fails(filter_create(device, &grid, PRECISION_SINGLE, &large, &filter),
                 "no room for the filter's tile of 16384 x 16384 nodes");
    assert_fails(filter_create(device, &grid, PRECISION_SINGLE, &many_items, &filter),
                 "no room for the filter's tile of 16384 x 1 nodes");
    assert_null(filter);
}

TEST(no_pass_changes_nothing)
{
    struct bench b = bench_create(7, 5, PRECISION_SINGLE, tiles[0]);
    double *density = field_random(b.cells);
    const struct buffer *before = b.rho;
    double *result = filtered(&b, (struct deposit_config){.filter_compensator = true}, density);
    assert_ptr_equal(b.rho, before);
    assert_memory_equal(result, density, b.cells * sizeof *density);
}

TEST_MAIN(open_device, close_device)
