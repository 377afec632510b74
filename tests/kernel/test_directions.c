/* The tiled step with tiles ranked by direction (kernels/shared/directions.h): windows of a few columns, on
 * grids of long, short and few rows, and what is a stray in them. */
#include "support/step_scene.h"

enum { LONGEST_TILE = 4096, MANY = 50 * LONGEST_TILE };

static void check(const struct scene_kind *kind, int steps)
{
    struct scene scene;
    if (!has_precision(kind->precision))
        return;
    scene_create(kind, LAYOUT_SOA, true, 0, &scene);
    struct stepper stepper = stepper_for(&windows, USED, &scene);
    for (int step = 1; step <= steps; step++) {
        struct sorted_particles before = state_read(&scene);
        step_once(&stepper, &scene, USED, step % 2);
        struct sorted_particles after = state_read(&scene);
        check_moved(&windows, &scene, &before, &after, NULL);
    }
    device_close(&scene.device);
}

TEST(any_grid_and_count)
{
    if (test_is_small())
        skip();
    const enum precision best = best_precision(), single = PRECISION_SINGLE;
    const struct scene_kind kinds[] = {field_scene(64, 100, MANY, single, SHAPE_CIC, 0, 0, 1),
                                       /* in 48 KiB the field finds no room in the move */
                                       field_scene(128, 100, MANY, single, SHAPE_CIC, 0, 0, 1),
                                       field_scene(64, 100, MANY + 1, best, SHAPE_CIC, 0.5, 0.1, 0.3),
                                       field_scene(64, 100, MANY - 1, best, SHAPE_TSC, 0, 0.1, 0.2),
                                       field_scene(64, 100, MANY - 4000, best, SHAPE_CIC, 0, 0.1, 0.3),
                                       field_scene(2, 3200, MANY + 33, best, SHAPE_CIC, 0, 0.1, 0.3),
                                       field_scene(3200, 2, MANY + 31, best, SHAPE_CIC, 0, 0.1, 0.3),
                                       field_scene(3, 2133, MANY + 5, best, SHAPE_CIC, 0, 0, 1)};
    for (size_t n = 0; n < sizeof kinds / sizeof kinds[0]; n++)
        check(&kinds[n], 3);
}

/* Tiles in one cell, and behind it so few particles that most are of cells behind the window. */
TEST(dense_cells_and_voids)
{
    if (test_is_small())
        skip();
    for (double cluster = 0.5; cluster < 1; cluster += 0.245) {
        const struct scene_kind kind =
            field_scene(64, 100, MANY, best_precision(), SHAPE_CIC, 0, cluster, 0.3);
        check(&kind, 3);
    }
}

/* A cell of more chunks than an item of the scan goes through (MOST_ALONE in tiled_scan.cl). */
TEST(a_cell_of_many_chunks)
{
    if (test_is_small())
        skip();
    const struct scene_kind kind =
        field_scene(64, 100, 280 * LONGEST_TILE, PRECISION_SINGLE, SHAPE_CIC, 0, 0.96, 0.3);
    check(&kind, 2);
}

TEST(far_particles)
{
    if (test_is_small())
        skip();
    for (double speed = 3; speed < 4000; speed *= 30) {
        const struct scene_kind kind = field_scene(64, 100, MANY, best_precision(), SHAPE_CIC, 0, 0.1, speed);
        check(&kind, 2);
    }
}

TEST_MAIN(open_device, close_device)
