/* Dimensions: species whose velocities have the component w, in every stepper. */
#include "support/step_scene.h"

static void check_tilted(const struct tested *tested, struct scene_kind kind)
{
    const int steps = test_is_small() ? 1 : 3;
    struct scene scene;
    kind.has_w = kind.tilted = true;
    if (!has_precision(kind.precision))
        return;
    scene_create(&kind, tested->kind->layout, true, 0, &scene);
    struct stepper stepper = stepper_for(tested, USED, &scene);
    for (int step = 1; step <= steps; step++) {
        struct sorted_particles before = state_read(&scene);
        step_once(&stepper, &scene, USED, true);
        const struct push_sums sums = read_sums(&stepper, USED, &scene.sorted.particles);
        struct sorted_particles after = state_read(&scene);
        check_sums(&scene, &before, &sums);
        check_moved(tested, &scene, &before, &after, NULL);
    }
    device_close(&scene.device);
}

/* B in any direction, vectors and tiles that are full and not. */
TEST(velocities_in_three_dimensions)
{
    const uint32_t counts[] = {33, 1, 17, 1000, 4097};
    for (size_t c = 0; c < (test_is_small() ? 1 : sizeof counts / sizeof counts[0]); c++)
        for (int n = 0; n < KINDS; n++)
            check_tilted(any_grid[n], field_scene(4, 3, counts[c], PRECISION_SINGLE, SHAPE_CIC, 0.7, 0.3, 1));
    if (!test_is_small())
        check_tilted(&windows, field_scene(32, 33, 13000, PRECISION_SINGLE, SHAPE_CIC, 0.5, 0.1, 2));
}

/* Where B is along z, w changes no bit of the others, and stays what it was. */
TEST(w_changes_no_bit_of_the_others)
{
    needs_speed();
    for (int n = 0; n < KINDS; n++) {
        struct sorted_particles after[2];
        for (int has_w = 0; has_w < 2; has_w++) {
            struct scene_kind kind = field_scene(4, 3, 4097, PRECISION_SINGLE, SHAPE_CIC, 0.7, 0.3, 1);
            struct scene scene;
            kind.has_w = has_w;
            scene_create(&kind, any_grid[n]->kind->layout, true, 0, &scene);
            struct stepper stepper = stepper_for(any_grid[n], USED, &scene);
            for (int step = 1; step <= 3; step++)
                step_once(&stepper, &scene, USED, step == 2);
            after[has_w] = state_read(&scene);
            device_close(&scene.device);
        }
        const size_t count = after[0].particles.count;
        assert_memory_equal(after[1].cell, after[0].cell, count * sizeof *after[0].cell);
        assert_memory_equal(after[1].offset, after[0].offset, count * sizeof *after[0].offset);
        assert_memory_equal(after[1].velocity, after[0].velocity, count * sizeof *after[0].velocity);
        for (size_t p = 0; p < count; p++)
            assert_true(after[1].w[p] == sorted_particles_w(after[1].id[p]));
    }
}

TEST_MAIN(open_device, close_device)
