/* Step room: the steppers on the rows of a rank. Particles that leave go to the ghost rows or the lost row
 * and are counted beforehand, and places are left open for those that arrive. */
#include "support/step_scene.h"

enum { MOST_ARRIVALS = 600 };

/* Arrivals by cell, at either end of the own rows; anywhere in them without ghost rows. */
struct arrivals {
    uint32_t *of_cell; /* [cells] */
    uint32_t *rows, *counts, reached;
    struct arrival_gaps gaps;
};

static void arrivals_create(struct scene *scene, uint64_t seed, struct arrivals *arrivals)
{
    const uint32_t nx = scene->slab.local.nx, ny = scene->slab.local.ny, own = scene->slab.rows;
    const uint32_t edge = scene->slab.ghost ? scene->slab.ghost : own;
    *arrivals = (struct arrivals){.of_cell = test_array((size_t)nx * ny, sizeof *arrivals->of_cell),
                                  .rows = test_array(nx, sizeof *arrivals->rows),
                                  .counts = test_array((size_t)own * ny, sizeof *arrivals->counts)};
    for (uint32_t i = 0; i < nx; i++) {
        const bool is_reached = i < own && (i < edge || own - i <= edge);
        arrivals->rows[i] = is_reached ? arrivals->reached++ : ARRIVALS_NONE;
        for (uint32_t j = 0; is_reached && j < ny; j++) {
            const uint32_t many = test_random(&seed) < 0.1 ? (uint32_t)(9 * test_random(&seed)) : 0;
            const uint32_t left = MOST_ARRIVALS - arrivals->gaps.count, n = many < left ? many : left;
            arrivals->of_cell[i * ny + j] = arrivals->counts[arrivals->rows[i] * ny + j] = n;
            arrivals->gaps.count += n;
        }
    }
    arrivals->gaps.rows = test_buffer(nx * sizeof *arrivals->rows, arrivals->rows);
    arrivals->gaps.counts =
        test_buffer((size_t)arrivals->reached * ny * sizeof *arrivals->counts, arrivals->counts);
}

/* Places left open: the last of each cell, as many as arrive there. */
static bool *open_places(const struct arrivals *arrivals, const struct sorted_particles *after)
{
    const uint32_t count = after->particles.count;
    bool *is_open = test_array(count, sizeof *is_open);
    for (uint32_t p = count, in_cell = 0, open = 0; p-- > 0;) {
        in_cell = p + 1 < count && after->cell[p] == after->cell[p + 1] ? in_cell + 1 : 1;
        is_open[p] = in_cell <= arrivals->of_cell[after->cell[p]];
        open += is_open[p];
        if (p == 0)
            assert_int_equal(open, arrivals->gaps.count);
    }
    return is_open;
}

/* How many were announced to leave for each cell beside the own ones. Where a stepper says where leaving
 * particles begin at least those were that come from two rows at either end, which `before` tells by their
 * ids. */
static void check_leavers(const struct scene *scene, const struct stepper *stepper,
                          const struct sorted_particles *before, const struct sorted_particles *after)
{
    enum { EDGE = 2 };
    const uint32_t own = slab_own_cells(&scene->slab), ny = scene->slab.local.ny, rows = scene->slab.rows;
    const uint32_t *begin = stepper->leaving_begins[USED];
    uint32_t *most = test_array(after->cells - own, sizeof *most), staying = 0;
    uint32_t *least = begin ? test_array(after->cells - own, sizeof *least) : most;
    bool *is_inner = test_array(scene->ids + MOST_ARRIVALS, sizeof *is_inner);
    for (uint32_t p = 0; p < before->particles.count; p++)
        is_inner[before->id[p]] = before->cell[p] / ny >= EDGE && before->cell[p] / ny + EDGE < rows;
    for (uint32_t p = 0; p < after->particles.count; p++)
        if (after->cell[p] >= own) {
            most[after->cell[p] - own]++;
            if (begin && !is_inner[after->id[p]])
                least[after->cell[p] - own]++;
        } else {
            staying++;
        }
    if (begin)
        assert_int_equal(*begin, staying);
    for (uint32_t cell = 0; cell < after->cells - own; cell++)
        assert_in_range(stepper->leavers[cell], least[cell], most[cell]);
}

/* A step with arrivals. Returns the list with places left open. */
static struct sorted_particles step_with_gaps(struct stepper *stepper, struct scene *scene,
                                              const struct sorted_particles *before, bool measure,
                                              const struct arrivals *arrivals)
{
    struct particles *list = &scene->sorted.particles;
    assert_ok(stepper->kind->count(stepper, &scene->fields, USED, measure, list));
    assert_ok(stepper_leavers(stepper, USED, list));
    assert_ok(stepper_move(stepper, &scene->fields, USED, &arrivals->gaps, list));
    assert_ok(device_join(scene->device));
    list->count += arrivals->gaps.count;
    struct sorted_particles after = state_read(scene);
    check_leavers(scene, stepper, before, &after);
    return after;
}

/* Arrivals take their places, and those in other rows leave. */
static void bring_in(struct stepper *stepper, struct scene *scene, const bool *is_open,
                     struct sorted_particles *after, uint64_t first_id)
{
    struct particles *list = &scene->sorted.particles;
    uint64_t seed = first_id;
    uint32_t staying = 0;
    for (uint32_t p = 0; p < list->count; p++) {
        staying += after->cell[p] < slab_own_cells(&scene->slab);
        if (!is_open[p])
            continue;
        after->id[p] = first_id++;
        for (int axis = 0; axis < 2; axis++) {
            after->offset[p][axis] = (2 * floor(16 * test_random(&seed)) + 1) / 32;
            after->velocity[p][axis] = floor(16 * (3 * test_random(&seed) - 1.5)) / 16;
        }
    }
    list->count = staying;
    sorted_particles_write(after, list);
    assert_ok(stepper_list_changed(stepper, USED, list));
}

/* Two steps in which particles leave and arrive, and one into an empty list. Scenes in double precision have
 * w. What is without ids tests/mpi/test_many_ranks.c has, in the ions. */
static void check_gaps(const struct tested *tested, struct scene_kind kind)
{
    enum { STEPS = 3 };
    struct scene scene;
    kind.has_w = kind.precision == PRECISION_DOUBLE;
    scene_create(&kind, tested->kind, true, MOST_ARRIVALS, &scene);
    struct stepper stepper = stepper_for(tested, USED, &scene);
    for (int step = 1; step <= STEPS; step++) {
        struct sorted_particles before = state_read(&scene);
        struct arrivals arrivals;
        arrivals_create(&scene, 100 * kind.count + (uint64_t)step, &arrivals);
        struct sorted_particles after = step_with_gaps(&stepper, &scene, &before, step == STEPS, &arrivals);
        bool *is_open = open_places(&arrivals, &after);
        check_moved(tested, &scene, &before, &after, is_open);
        if (step == STEPS - 1) { /* nothing stays */
            after.particles.count = 0;
            scene.sorted.particles.count = 0;
        }
        bring_in(&stepper, &scene, is_open, &after, scene.ids);
        scene.ids += arrivals.gaps.count;
    }
    const struct push_sums sums = read_sums(&stepper, USED, &scene.sorted.particles);
    assert_true(sums.kinetic_energy == 0 && sums.momentum[0] == 0 && sums.momentum[1] == 0);
    device_close(&scene.device);
}

static void check_all_gaps(const struct tested *tested, const struct scene_kind *kinds, size_t number)
{
    for (size_t n = 0; n < number; n++)
        check_gaps(tested, kinds[n]);
}

/* Long slabs, the shortest with the fewest ghost rows, a single own row, more ghost rows than own ones; slabs
 * without a lost row, whose other rows are all those of the box. Few, some and most leave. */
TEST(rows_of_any_stepper)
{
    const enum precision single = PRECISION_SINGLE, best = best_precision();
    const struct scene_kind kinds[] = {exact_scene(40, 24, test_count(20011), single, 0, 4, 0),
                                       exact_scene(10, 60, 3000, single, 0, 4, 0),
                                       exact_scene(12, 60, 17, single, 0, 4, 0),
                                       exact_scene(40, 24, test_count(20011), best, 0, 4, 0),
                                       exact_scene(11, 80, 3000, best, 0, 4, 0),
                                       exact_scene(40, 24, test_count(20011), single, 0, 0, 13),
                                       exact_scene(2, 300, 300, single, 0, 0, 1)};
    for (int n = 0; n < KINDS; n++)
        check_all_gaps(any_grid[n], kinds, sizeof kinds / sizeof kinds[0]);
}

/* With as many cells in own rows, so that their kernels are the same, in many rows and in one; no lost row.
 */
TEST(rows_and_windows)
{
    needs_speed();
    const enum precision single = PRECISION_SINGLE, best = best_precision();
    const struct scene_kind kinds[] = {exact_scene(65, 100, 50021, best, 0.3, 2, 0),
                                       exact_scene(6, 6000, 50021, best, 0, 2, 0),
                                       exact_scene(65, 100, 50021, single, 0.3, 0, 30)};
    check_all_gaps(&windows, kinds, sizeof kinds / sizeof kinds[0]);
}

TEST_MAIN(open_device, close_device)
