/* Local memory: every kernel of the bench against the host, with sizes that no group is a multiple of. */
#include "support/device_fixture.h"

#include "experiments/local_memory/local_memory.h"

/* One as a GPU would have it, and one that nothing is a multiple of. */
static const struct local_shape shapes[] = {{64, 32, 8, 16}, {37, 6, 3, 3}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static struct local_memory parts_of(int shape)
{
    struct local_memory all = {.shape = shapes[shape]};
    assert_ok(local_program_build(device, &all.shape, &all.program));
    return all;
}

/* ---- parts of the bench ---- */

/* A part of the bench, which judges what its kernels wrote, and what lies behind that. */
static void check_part(enum status (*part)(struct bench *, void *), struct local_memory all,
                       struct options options)
{
    struct experiment once = experiment_local_memory;
    once.warm_ups = 0;
    struct bench bench = {
        .experiment = &once, .device = device, .part = device, .info = device_info(device), .repeats = 1};
    all.bench = &bench;
    all.options = &options;
    assert_ok(bench_case(&bench, part, &all));
    if (bench.is_wrong)
        fail_msg("length %u, %u x %u, product of %u, %u operations, %u cells over %u", options.length,
                 options.cells[0], options.cells[1], options.product, options.operations, options.coarse,
                 all.threshold);
}

TEST(lines_are_filtered_but_for_their_ends)
{
    static const uint32_t lengths[] = {1, 2, 3, 4, 5, 8, 63, 64, 65, 66, 126, 188, 128, 1000, 1003};
    const size_t count = test_is_small() ? 12 : sizeof lengths / sizeof lengths[0];
    for (int s = 0; s < SHAPES; s++) {
        const struct local_memory all = parts_of(s);
        for (size_t n = 0; n < count; n++)
            check_part(local_memory_filter, all, (struct options){.length = lengths[n]});
    }
}

TEST(matrices_of_any_size_are_transposed_and_multiplied)
{
    enum { SMALL_SIZES = 5 };
    static const uint32_t sizes[][2] = {{1, 1},   {2, 70},  {71, 1},   {16, 16}, {17, 33}, {3, 50},
                                        {50, 10}, {32, 32}, {100, 37}, {33, 64}, {45, 31}, {31, 35}};
    for (int s = 0; s < SHAPES; s++) {
        const struct local_memory all = parts_of(s);
        for (size_t n = 0; n < (test_is_small() ? SMALL_SIZES : sizeof sizes / sizeof sizes[0]); n++) {
            const struct options options = {.cells = {sizes[n][0], sizes[n][1]},
                                            .product = test_is_small() ? 17 : sizes[n][1]};
            check_part(local_memory_transpose, all, options);
            check_part(local_memory_stencil, all, options);
        }
    }
}

TEST(atomic_functions_lose_nothing)
{
    for (int s = test_is_small(); s < SHAPES; s++)
        check_part(local_memory_atomics, parts_of(s),
                   (struct options){.operations = 1}); /* a group of each */
}

/* Many groups at once on one word: a read and a write that are not one operation would show. */
TEST(contention_loses_nothing)
{
    needs_speed();
    check_part(local_memory_atomics, parts_of(0), (struct options){.operations = 1 << 18});
}

/* By every way that the device has. */
TEST(cells_over_the_threshold_are_refined)
{
    const uint32_t of_a_cell = refinement_density(21, 16 * 4 + 8, 16 * 9 + 8); /* which is not over it */
    const uint32_t thresholds[] = {0, REFINEMENT_PEAK / 64, of_a_cell, REFINEMENT_PEAK};
    struct local_memory all = parts_of(0);
    for (int n = 0; n < (test_is_small() ? 2 : 4); n++) {
        all.threshold = thresholds[n];
        check_part(local_memory_refine, all, (struct options){.coarse = 1});
        check_part(local_memory_refine, all, (struct options){.coarse = test_is_small() ? 6 : 21});
    }
}

/* At its radius, 3/4 of the half width, the ring is highest; it is lower on both sides, and the same in all
 * directions. */
TEST(the_density_is_a_ring)
{
    const uint32_t cells = 40, middle = 8 * cells, radius = middle / 4 * 3;
    assert_int_equal(refinement_density(cells, middle + radius, middle), REFINEMENT_PEAK);
    assert_int_equal(refinement_density(cells, middle, middle - radius), REFINEMENT_PEAK);
    assert_true(refinement_density(cells, middle, middle) < REFINEMENT_PEAK / 64);
    assert_true(refinement_density(cells, 2 * middle, middle) < REFINEMENT_PEAK / 64);
    assert_true(refinement_density(cells, 2 * middle, middle) > 0);
}

/* ---- shapes ---- */

TEST(shapes_fit_the_device)
{
    static const size_t limits[] = {64, 100, 128, 256, 1024, 4096};
    struct local_shape shape;
    for (size_t n = 0; n < sizeof limits / sizeof limits[0]; n++) {
        const struct device_info info = {.name = "one", .group_limit = limits[n]};
        assert_ok(local_shape_of(&info, 0, &shape));
        assert_true(shape.block >= 3 && shape.block <= limits[n]);
        assert_true(shape.tile % shape.tile_rows == 0 && shape.tile * shape.tile_rows <= limits[n]);
        assert_true(shape.square >= 1 && shape.square * shape.square <= limits[n]);
        assert_ok(local_shape_of(&info, 48, &shape));
        assert_int_equal(shape.block, 48);
        assert_refuses(local_shape_of(&info, 5000, &shape), "--block: one has groups of at most");
    }
    const struct device_info small = {.name = "one", .group_limit = 1};
    assert_int_equal(local_shape_of(&small, 0, &shape), STATUS_FAILED);
}

TEST_MAIN(open_device, close_device)
