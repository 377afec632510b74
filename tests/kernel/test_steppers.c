/* Steppers: each against the host's twin of a step, tiled in both of its layouts: cells as digits, and
 * windows.
 *
 * Building their kernels takes a CPU device some seconds. They are the same for scenes that agree in
 * precision, shape, components and ghost rows, in having a magnetic field or none, and in the bits of a digit
 * or the span of a window. So scenes do where their test is about something else: most small grids have 10
 * key bits, and windows 492 cells a tile, or 128; no grid has a field in double precision but for the wide
 * shapes.
 */
#include "support/step_scene.h"

enum { LONGEST_TILE = 4096 };

/* ---- one step ---- */

static void check_steps(const struct tested *tested, struct scene *scene, int steps)
{
    struct stepper stepper = stepper_for(tested, USED, scene);
    for (int step = 1; step <= steps; step++)
        check_step(tested, &stepper, USED, step % 2, scene);
}

/* A measure alone, in another slot, has the sums of the step after it, to the bit. */
static void check_measured(const struct tested *tested, struct stepper *stepper, uint32_t species,
                           bool measure, struct scene *scene)
{
    const struct particles *list = &scene->sorted.particles;
    struct sorted_particles before = state_read(scene);
    assert_ok(stepper->kind->measure(stepper, &scene->fields, species, &scene->sorted.particles));
    const struct push_sums alone = read_sums(stepper, species, list);
    check_sums(scene, &before, &alone);
    stepper->slot = (stepper->slot + 7) % SUM_SLOTS;
    check_step(tested, stepper, species, measure, scene);
    if (!measure)
        stepper->slot = (stepper->slot + SUM_SLOTS - 7) % SUM_SLOTS;
    const struct push_sums sums = read_sums(stepper, species, list);
    assert_memory_equal(&sums, &alone, sizeof sums);
}

struct step_case {
    const struct tested *tested;
    struct scene_kind kind;
    int steps;
};

static void check_cases(const struct step_case *cases, size_t number)
{
    for (size_t n = 0; n < number; n++) {
        struct scene scene;
        if (!has_precision(cases[n].kind.precision))
            continue;
        scene_create(&cases[n].kind, cases[n].tested->kind, true, 0, &scene);
        check_steps(cases[n].tested, &scene, cases[n].steps);
        device_close(&scene.device);
    }
}
#define CHECK_CASES(cases) check_cases(cases, sizeof(cases) / sizeof(cases)[0])

/* ---- grids of any size ---- */

/* ngp without a magnetic field, the others with one: windows have tsc in single precision, and any_count()
 * has cic with a field in single precision and without in double. The wide shapes reach around axes of 2, 3
 * and 5 cells. Under oclgrind a few particles of the shapes that read the most nodes are enough, of which a
 * step of the one is measured and of the other not. */
TEST(all_shapes)
{
    const bool small = test_is_small();
    const uint32_t count = small ? 100 : 5003,
                   grids[][2] = {{2, small ? 5 : 400}, {400, 2}, {3, 311}, {200, 5}};
    for (int n = 0; n < SHAPE_COUNT * KINDS * (small ? 1 : 4); n++) {
        const enum shape_kind shape = (enum shape_kind)(n % SHAPE_COUNT);
        const struct tested *tested = any_grid[n / SHAPE_COUNT % KINDS];
        const int grid = n / SHAPE_COUNT / KINDS;
        const uint32_t fewest = (uint32_t)SHAPE_NODES_OF((int)shape) / 2;
        if ((small && shape != SHAPE_CIC && shape != SHAPE_CUBIC) || grids[grid][0] < fewest ||
            grids[grid][1] < fewest)
            continue;
        const enum precision p = shape >= SHAPE_TSC && !small ? best_precision() : PRECISION_SINGLE;
        const struct scene_kind kind = field_scene(grids[grid][0], grids[grid][1], count, p, shape,
                                                   shape == SHAPE_NGP ? 0 : grid - 0.9, 0.1, 1);
        struct scene scene;
        scene_create(&kind, tested->kind, true, 0, &scene);
        struct stepper stepper = stepper_for(tested, USED, &scene);
        const int first = small && shape == SHAPE_CIC ? 2 : 1, last = small && shape != SHAPE_CIC ? 1 : 2;
        for (int step = first; step <= last; step++)
            check_measured(tested, &stepper, USED, step % 2, &scene);
        device_close(&scene.device);
    }
}

/* Every stepper of any grid. */
static void check_any_grid(struct scene_kind kind)
{
    for (int n = 0; n < KINDS; n++)
        check_cases(&(struct step_case){any_grid[n], kind, 3}, 1);
}

/* Around one vector, one item's share, one tile and several a chunk; chunks shorter than a vector. Digits of
 * 2 and 10 bits. */
TEST(any_count)
{
    needs_speed();
    const uint32_t counts[] = {1,   2,   15,   16,   17,   31,   32,    33,   127,
                               128, 129, 1000, 4095, 4096, 4097, 10000, 50000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        check_any_grid(field_scene(2, 2, counts[c], PRECISION_SINGLE, SHAPE_CIC, 0.5, 0.7, 1));
        check_any_grid(field_scene(32, 32, counts[c], best_precision(), SHAPE_CIC, 0, 0, 1));
    }
}

/* Several chunks share the hot cell, all others are nearly empty; and up to 19 and 1,900 cells a step, around
 * the box once or very often. */
TEST(hot_cells_and_far_particles)
{
    needs_speed();
    for (enum precision p = PRECISION_SINGLE; p <= PRECISION_DOUBLE; p++) {
        check_any_grid(field_scene(32, 32, 20011, p, SHAPE_CIC, 0, 0.5, 0.1));
        check_any_grid(field_scene(32, 32, 20011, p, SHAPE_CIC, 0, 0.9, 0.1));
        check_any_grid(field_scene(32, 32, 60, p, SHAPE_CIC, 0, 0.5, 3));
        for (double speed = 10; speed <= 1000; speed *= 100) {
            check_any_grid(field_scene(32, 32, 9001, p, SHAPE_CIC, 0, 0.1, speed));
            check_any_grid(field_scene(2, 400, 9001, p, SHAPE_CIC, 0, 0.1, speed));
        }
    }
}

/* Digits of 2, 4, 8 and 12 bits, the last in three rounds of ranking: too few tiles for windows whatever
 * their length. Cells that several items turn into places, and a table too large for many chunks. */
TEST(smaller_and_larger_grids)
{
    needs_speed();
    const enum precision best = best_precision();
    const struct step_case cases[] = {
        {&radix, field_scene(2, 2, 5003, best, SHAPE_CIC, 0, 0.1, 1), 2},
        {&chunked, field_scene(2, 2, 5003, best, SHAPE_CIC, 0, 0.1, 1), 2},
        {&digits, field_scene(2, 2, 5003, best, SHAPE_CIC, 0, 0.1, 1), 2},
        {&digits, field_scene(4, 3, 5003, PRECISION_SINGLE, SHAPE_CIC, 0.5, 0.7, 1), 3},
        {&digits, field_scene(16, 12, 5003, best, SHAPE_CIC, 0, 0.1, 1), 4},
        {&digits, field_scene(64, 64, 3001, best, SHAPE_CIC, 0, 0.1, 2), 3},
        {&radix, field_scene(257, 131, 50021, best, SHAPE_CIC, 0, 0.1, 1), 3},
        {&chunked, field_scene(257, 131, 50021, best, SHAPE_CIC, 0, 0.1, 1), 3},
        {&radix, field_scene(2048, 2048, 20011, PRECISION_DOUBLE, SHAPE_CIC, 0, 0.1, 100), 2},
        {&chunked, field_scene(2048, 2048, 20011, PRECISION_DOUBLE, SHAPE_CIC, 0, 0.1, 100), 2}};
    CHECK_CASES(cases);
}

/* ---- windows ---- */

/* The fewest tiles for which windows fit; ngp, and a shape whose field is not staged; long rows, short rows,
 * as few rows as a band looks around; whole tiles and one particle more or less; more cells than the scan has
 * items; hot cells that several chunks begin in. */
TEST(windows_on_any_grid)
{
    needs_speed();
    enum { MANY = 50021 };
    const enum precision best = best_precision(), single = PRECISION_SINGLE;
    const struct step_case cases[] = {
        {&windows, field_scene(48, 41, 16000, best, SHAPE_CIC, 0.5, 0.1, 2), 2},
        {&windows, field_scene(64, 100, MANY, best, SHAPE_NGP, 0.9, 0, 1), 3},
        {&windows, field_scene(64, 100, MANY, single, SHAPE_CIC, 0, 0, 1), 3},
        {&windows, field_scene(64, 100, MANY, best, SHAPE_CIC, 0.9, 0, 1), 3},
        {&windows, field_scene(64, 100, MANY, single, SHAPE_TSC, 0.9, 0, 1), 3},
        {&windows, field_scene(3, 2133, MANY, best, SHAPE_CIC, 0, 0, 1), 3},
        {&windows, field_scene(2, 3200, MANY, best, SHAPE_CIC, 0, 0, 1), 3},
        {&windows, field_scene(3200, 2, MANY, best, SHAPE_CIC, 0.5, 0, 1), 3},
        {&windows, field_scene(64, 100, 12 * LONGEST_TILE + 1, best, SHAPE_CIC, 0, 0, 1), 2},
        {&windows, field_scene(64, 100, 13 * LONGEST_TILE - 1, best, SHAPE_CIC, 0, 0, 1), 2},
        {&windows, field_scene(64, 100, 13 * LONGEST_TILE, best, SHAPE_CIC, 0, 0, 1), 2},
        {&windows, field_scene(186, 180, 68 * LONGEST_TILE - 99, best, SHAPE_CIC, 0, 0.1, 1), 2},
        {&windows, field_scene(64, 100, 50011, best, SHAPE_CIC, 0, 0.5, 0.1), 3},
        {&windows, field_scene(64, 100, 50011, best, SHAPE_CIC, 0, 0.9, 2), 3}};
    CHECK_CASES(cases);
}

/* Tiles ranked by direction (kernels/shared/directions.h): windows of a few columns, on grids of long, short
 * and few rows; tiles in one cell, and behind it so few particles that most are of cells behind the window;
 * and far particles. With 128 rows the field finds no room in 48 KiB in the move. The last has a cell of more
 * chunks than an item of the scan goes through (MOST_ALONE in tiled_scan.cl). */
TEST(windows_of_a_few_columns)
{
    needs_speed();
    enum { MANY = 50 * LONGEST_TILE, LEAST = 49 * LONGEST_TILE + 1 };
    const enum precision best = best_precision(), single = PRECISION_SINGLE;
    const struct step_case cases[] = {
        {&windows, field_scene(64, 100, MANY, best, SHAPE_CIC, 0, 0, 1), 3},
        {&windows, field_scene(128, 100, 26 * LONGEST_TILE, single, SHAPE_CIC, 0, 0, 1), 3},
        {&windows, field_scene(64, 100, MANY - 1, best, SHAPE_CIC, 0.5, 0.1, 0.2), 2},
        {&windows, field_scene(64, 100, LEAST, best, SHAPE_CIC, 0, 0.1, 0.3), 2},
        {&windows, field_scene(64, 100, LEAST + 95, best, SHAPE_CIC, 0, 0.1, 0.3), 2},
        {&windows, field_scene(2, 3200, LEAST + 32, best, SHAPE_CIC, 0, 0.1, 0.3), 2},
        {&windows, field_scene(3200, 2, LEAST + 30, best, SHAPE_CIC, 0, 0.1, 0.3), 2},
        {&windows, field_scene(3, 2134, LEAST + 4, best, SHAPE_CIC, 0, 0, 1), 2},
        {&windows, field_scene(64, 100, MANY, best, SHAPE_CIC, 0, 0.5, 0.3), 2},
        {&windows, field_scene(64, 100, MANY, best, SHAPE_CIC, 0, 0.745, 0.3), 2},
        {&windows, field_scene(64, 100, MANY, best, SHAPE_CIC, 0, 0.99, 0.3), 2},
        {&windows, field_scene(64, 100, MANY, best, SHAPE_CIC, 0, 0.1, 3), 2},
        {&windows, field_scene(64, 100, MANY, best, SHAPE_CIC, 0, 0.1, 90), 2},
        {&windows, field_scene(64, 100, MANY, best, SHAPE_CIC, 0, 0.1, 2700), 2},
        {&windows, field_scene(64, 100, 280 * LONGEST_TILE, single, SHAPE_CIC, 0, 0.96, 0.3), 2}};
    CHECK_CASES(cases);
}

/* Some leave their window, nearly all do, and go around the box. */
TEST(strays)
{
    needs_speed();
    const double speeds[] = {2, 20, 200, 2000};
    for (size_t n = 0; n < sizeof speeds / sizeof speeds[0]; n++) {
        const enum precision p = n % 2 ? PRECISION_DOUBLE : PRECISION_SINGLE;
        const double speed = speeds[n];
        const struct step_case cases[] = {
            {&windows, field_scene(64, 100, 50021, p, SHAPE_CIC, 0, 0.1, speed), 3},
            {&windows, field_scene(3, 2133, 50021, p, SHAPE_CIC, 0, 0.1, speed), 2}};
        CHECK_CASES(cases);
    }
}

/* Where particles go that gather in a few cells. Some two thirds of those are strays, so of the first
 * cells some have as many as are compared with each other, some one more, which a group sorts; one has nearly
 * all. */
static uint32_t target_of(uint32_t p)
{
    enum { MANY = 200, CELLS = 40, FIRST = 600, APART = 7, FULL = 4000, LAST = 200 };
    uint32_t cell = 0;
    for (; cell < CELLS && p >= MANY - cell; cell++)
        p -= MANY - cell;
    return cell < CELLS ? FIRST + APART * cell : p < FULL ? LAST + APART : LAST;
}

/* All go to the middles of a few cells, nearly all as strays, and then on from there; under oclgrind a
 * quarter, and the others stay. A cell holds those of each band of rows, then the strays, each in their old
 * order. */
TEST(all_into_few_cells)
{
    enum { STRIDE = 17 /* has no common factor with either count */ };
    const struct scene_kind kind = test_is_small() ? exact_scene(32, 33, 8300, best_precision(), 0, 0, 0)
                                                   : exact_scene(3, 2133, 50011, best_precision(), 0, 0, 0);
    const uint32_t ny = kind.ny, apart = test_is_small() ? 4 : 1, going = kind.count / apart;
    struct scene scene;
    scene_create(&kind, windows.kind, true, 0, &scene);
    struct sorted_particles *sorted = &scene.sorted;
    for (uint32_t p = 0; p < kind.count; p++) {
        const bool goes = p % apart == 0;
        const uint32_t target = target_of((uint32_t)((uint64_t)(p / apart) * STRIDE % going));
        const double way[2] = {target / ny + 0.5 - sorted->cell[p] / ny - sorted->offset[p][0],
                               target % ny + 0.5 - sorted->cell[p] % ny - sorted->offset[p][1]};
        sorted->velocity[p][0] = goes ? way[0] * scene.slab.local.dx / scene.time_step : 0;
        sorted->velocity[p][1] = goes ? way[1] * scene.slab.local.dy / scene.time_step : 0;
    }
    sorted_particles_upload(sorted);
    check_steps(&windows, &scene, 1);
    struct sorted_particles met = state_read(&scene);
    uint32_t descents = 0;
    for (uint32_t p = 1; p < kind.count; p++) {
        const bool same = met.cell[p] == met.cell[p - 1];
        descents = same ? descents + (met.id[p] < met.id[p - 1]) : 0;
        assert_true(descents <= 3 * 3); /* a band may begin on either end of the grid */
    }
    if (!test_is_small())
        check_steps(&windows, &scene, 2);
    device_close(&scene.device);
}

/* ---- the component w ---- */

/* B in any direction, vectors and tiles that are full and not. */
TEST(velocities_in_three_dimensions)
{
    const uint32_t counts[] = {33, 1, 17, 1000, 4097};
    const bool small = test_is_small();
    for (size_t c = 0; c < (small ? 1 : sizeof counts / sizeof counts[0]); c++)
        for (int n = 0; n < KINDS; n++) {
            const struct scene_kind kind = field_scene(small ? 4 : 32, small ? 3 : 20, counts[c],
                                                       PRECISION_SINGLE, SHAPE_CIC, 0.7, 0.3, 1);
            check_cases(&(struct step_case){any_grid[n], with_w(kind), small ? 1 : 3}, 1);
        }
    const struct scene_kind kind = field_scene(64, 100, 50021, PRECISION_SINGLE, SHAPE_CIC, 0.5, 0.1, 2);
    check_cases(&(struct step_case){&windows, with_w(kind), 3}, !small);
}

/* ---- all of them ---- */

/* Each stepper in a scene of its own. */
static const struct {
    const struct tested *tested;
    uint32_t nx, ny, count;
} scenes_of[] = {
    {&radix, 16, 12, 3001}, {&chunked, 16, 12, 3001}, {&digits, 32, 20, 9001}, {&windows, 64, 100, 50021}};
enum { SCENES = sizeof scenes_of / sizeof scenes_of[0] };

static struct scene_kind kind_of(int n, enum precision precision, double cluster, double speed)
{
    return field_scene(scenes_of[n].nx, scenes_of[n].ny, scenes_of[n].count, precision, SHAPE_CIC, 0, cluster,
                       speed);
}

/* The smaller species decides how far windows reach, the larger how much room there is. The second has w. B
 * is there since the kernels of w are then those of velocities_in_three_dimensions(). */
static void check_two_species(int s, const uint32_t counts[2])
{
    const struct tested *tested = scenes_of[s].tested;
    const int larger = counts[1] > counts[0];
    struct scene scenes[2];
    struct stepper stepper;
    for (int n = 0; n < 2; n++) {
        struct scene_kind kind = kind_of(s, PRECISION_SINGLE, 0.1, 1 + n);
        kind.count = counts[n];
        kind.magnetic = 0.7;
        kind.has_w = n == 1;
        scene_create(&kind, tested->kind, true, 0, &scenes[n]);
    }
    struct stepper_setup setup = scene_setup(&scenes[larger]);
    setup.fewest = counts[!larger];
    setup.sorts[false] = setup.sorts[true] = true;
    assert_ok(stepper_create(scenes[0].device, tested->kind, &setup, &stepper));
    for (uint32_t n = 0; n < 2; n++)
        assert_ok(stepper_list_changed(&stepper, n, &scenes[n].sorted.particles));
    for (int step = 1; step <= 3; step++)
        for (uint32_t n = 0; n < 2; n++)
            check_measured(tested, &stepper, n, step % 2, &scenes[n]);
    for (int n = 2; n-- > 0;)
        device_close(&scenes[n].device);
}

TEST(two_species)
{
    needs_speed();
    for (int s = 0; s < SCENES; s++) {
        const uint32_t count = scenes_of[s].count;
        const bool is_windows = scenes_of[s].tested == &windows;
        check_two_species(s, (const uint32_t[]){is_windows ? count : 150, count + 10000});
        check_two_species(s, (const uint32_t[]){count + 10000, is_windows ? count : 1});
    }
}

/* Non-finite values stay in their cell, spoil the sums, and no other particle. */
TEST(not_a_number)
{
    needs_speed();
    for (int n = 0; n < SCENES; n++) {
        const struct scene_kind kind = kind_of(n, best_precision(), 0, 1);
        struct scene scene;
        scene_create(&kind, scenes_of[n].tested->kind, true, 0, &scene);
        scene.sorted.velocity[123][0] = (double)NAN;
        scene.sorted.velocity[200][1] = (double)INFINITY;
        scene.sorted.velocity[201][0] = 1e30;
        sorted_particles_upload(&scene.sorted);
        check_steps(scenes_of[n].tested, &scene, 3);
        device_close(&scene.device);
    }
}

/* A hair before a cell's edge along some axes: 1 minus the hair rounds to 1, which is offset 0 of the old
 * cell. */
TEST(an_offset_that_rounds_up)
{
    needs_speed();
    for (int n = 0; n < 6 * SCENES; n++) {
        struct scene_kind kind = kind_of(n / 6, n % 2 ? PRECISION_DOUBLE : PRECISION_SINGLE, 0, 1);
        struct scene scene;
        if (!has_precision(kind.precision))
            continue;
        kind.exact = true;
        scene_create(&kind, scenes_of[n / 6].tested->kind, true, 0, &scene);
        for (uint32_t p = 0; p < kind.count; p++)
            for (int axis = 0; axis < 2; axis++) {
                scene.sorted.offset[p][axis] = 0;
                scene.sorted.velocity[p][axis] = (n % 6 / 2 + 1) >> axis & 1 && p % 2 == 0 ? -0x1p-70 : 0;
            }
        sorted_particles_upload(&scene.sorted);
        check_steps(scenes_of[n / 6].tested, &scene, 1);
        struct sorted_particles after = state_read(&scene);
        assert_memory_equal(after.cell, scene.sorted.cell, kind.count * sizeof *after.cell);
        device_close(&scene.device);
    }
}

/* The same particles give the same bits, with ids or without, measured or not; and with w, where B is along
 * z, which then stays what it was. */
static void check_same_bits(const struct tested *tested, struct scene_kind kind, int runs, bool then_has_w)
{
    struct sorted_particles after;
    struct push_sums first;
    for (int run = 0; run < runs; run++) {
        struct scene scene;
        kind.has_w = then_has_w && run > 0;
        scene_create(&kind, tested->kind, then_has_w || run % 2 == 0, 0, &scene);
        const struct particles *list = &scene.sorted.particles;
        struct stepper stepper = stepper_for(tested, USED, &scene);
        for (int step = 1; step <= 3; step++)
            step_once(&stepper, &scene, USED, run % 3 == 0 || step == 3);
        const struct push_sums sums = read_sums(&stepper, USED, list);
        if (run == 0) {
            after = state_read(&scene);
            first = sums;
            for (uint32_t p = 0; p < kind.count; p++)
                after.w[p] = sorted_particles_w(after.id[p]);
        } else {
            assert_memory_equal(&sums, &first, then_has_w ? 0 : sizeof first);
            sorted_particles_check(&after, list);
        }
        device_close(&scene.device);
    }
}

TEST(the_same_bits_every_time)
{
    needs_speed();
    for (int n = 0; n < SCENES; n++)
        for (double speed = 1; speed <= (scenes_of[n].tested == &windows ? 100 : 1); speed *= 10)
            check_same_bits(scenes_of[n].tested, kind_of(n, PRECISION_SINGLE, 0.3, speed), 5, false);
    for (int n = 0; n < KINDS; n++)
        check_same_bits(any_grid[n], field_scene(32, 20, 4097, PRECISION_SINGLE, SHAPE_CIC, 0.7, 0.3, 1), 2,
                        true);
}

/* No more particles than the capacity, and none: the same memory, as a counting device foretells. */
TEST(counts_and_bytes_up_to_the_capacity)
{
    needs_speed();
    for (int n = 0; n < SCENES; n++) {
        const struct scene_kind kind = kind_of(n, PRECISION_SINGLE, 0, 1);
        const struct tested *tested = scenes_of[n].tested;
        struct scene scene;
        struct stepper stepper, counted;
        struct device *counting = NULL;
        scene_create(&kind, tested->kind, true, 0, &scene);
        struct particles *list = &scene.sorted.particles;
        struct stepper_setup setup = scene_setup(&scene);
        setup.capacity--;
        assert_ok(stepper_create(scene.device, tested->kind, &setup, &stepper));
        assert_fails(stepper_list_changed(&stepper, 0, list), "test");
        setup.capacity++;
        const size_t before = device_bytes_held(device);
        assert_ok(device_open_counting(device_info(device), &counting));
        assert_ok(stepper_create(scene.device, tested->kind, &setup, &stepper));
        assert_ok(stepper_create(counting, tested->kind, &setup, &counted));
        const size_t held = device_bytes_held(device);
        assert_int_equal(held - before, device_bytes_held(counting));
        for (int step = 0; step < 4; step++) {
            if (step == 2) {
                list->count = 0;
                assert_ok(buffer_fill(list->cell_offsets, 0));
            }
            assert_ok(stepper_list_changed(&stepper, 0, list));
            step_once(&stepper, &scene, 0, true);
        }
        state_read(&scene);
        assert_int_equal(device_bytes_held(device), held);
        device_close(&counting);
        device_close(&scene.device);
    }
}

/* GPUs have a program for each kernel of the tiled step, CPUs one for all. */
TEST(a_program_for_each_kernel)
{
    static const char *const names[] = {"step_count", "step_measure_and_count", "step_move",
                                        "step_order_strays", "step_move_strays"};
    const int count = sizeof names / sizeof names[0];
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    for (int wanted = 1; wanted <= count; wanted++) {
        assert_ok(program_build(device, "tiled_step.cl", PRECISION_SINGLE, &program,
                                "-D KEYS=16 -D ITEMS=32 -D SCAN_ITEMS=64 -D DIGIT_BITS=7 -D BY_DIRECTION=1 "
                                "-D SPAN=40 -D FUSE_PRODUCTS=1 -D SHAPE_ORDER=1 -D VELOCITIES=2 "
                                "-D STAGES_FIELD=0 -D COUNT_CELLS=0 -D MOST_COMPARED=128 -D FELT=2 "
                                "-D ELECTROMAGNETIC=0 -D MAGNETIC=0 -D DITHERS=1 -D HAS_GHOST_ROWS=0 "
                                "-D WEIGHTS=0 -D WORK=0 -D PUSHER=0 -D KERNEL=%d",
                                wanted));
        for (int n = 1; n <= count; n++)
            if (n == wanted)
                assert_ok(kernel_create(program, names[n - 1], &kernel));
            else
                assert_int_not_equal(kernel_create(program, names[n - 1], &kernel), STATUS_OK);
    }
}

TEST_MAIN(open_device, close_device)
