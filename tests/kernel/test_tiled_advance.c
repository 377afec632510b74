/* Tiled advance against the plain step, in both of its layouts: cells as digits, and windows. */
#include "support/slab_scene.h"

#include "push/tiled_advance.h"

/* Building the step's kernels takes a CPU device some seconds. They are the same for scenes that agree in
 * precision, shape and ghost rows, and in the bits of a digit or the span of a window. So scenes do where
 * their test is about something else: small grids have 4 or 10 key bits; windows are those of 6,400 cells and
 * 13 tiles or, of reach {1, 1}, of 1,056 cells a tile.
 */

/* Grids of up to 1,024 cells, and up to 4,096 where the list is short. */
static const struct tested digits = {ADVANCE_TILED, true, {2, 2}};
/* Grids of more than 4,096 cells, for which no digit is long enough, with a tile for each 600 cells at most.
 */
static const struct tested windows = {ADVANCE_TILED, false, {2, 2}};
static const struct tested near_windows = {ADVANCE_TILED, false, {1, 1}};
static const struct tested far_windows = {ADVANCE_TILED, false, {5, 13}};

enum { LONGEST_TILE = 4096 };

static enum precision best_precision(void)
{
    return has_precision(PRECISION_DOUBLE) ? PRECISION_DOUBLE : PRECISION_SINGLE;
}

/* ---- cells as digits ---- */

static void all_shapes_with_and_without_b(void **state)
{
    (void)state;
    const enum precision precision = best_precision();
    const uint32_t count = test_count(5003);
    for (enum shape_kind shape = SHAPE_NGP; shape <= SHAPE_TSC; shape++)
        for (enum precision p = PRECISION_SINGLE; p <= PRECISION_DOUBLE && has_precision(p); p++) {
            compare_kinds(&digits, &(struct scene_kind){2, 5, count, p, shape, 0, 0.1, 1}, 2);
            compare_kinds(&digits, &(struct scene_kind){5, 2, count, p, shape, 0.4, 0, 1}, 2);
            compare_kinds(&digits, &(struct scene_kind){3, 5, count, p, shape, -0.9, 0, 1}, 2);
        }
    compare_kinds(&digits, &(struct scene_kind){2, 2, count, precision, SHAPE_TSC, 0, 0.1, 1}, 2);
}

/* Around one item's share, one tile and several a chunk. */
static void any_count(void **state)
{
    (void)state;
    const uint32_t counts[] = {1, 31, 32, (LONGEST_TILE - 1), LONGEST_TILE, LONGEST_TILE + 1, 10000, 50000};
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++)
        for (size_t n = 0; n < sizeof counts / sizeof counts[0] && has_precision(precision); n++) {
            compare_kinds(&digits, &(struct scene_kind){4, 3, counts[n], precision, SHAPE_CIC, 0.5, 0, 1}, 3);
            compare_kinds(&digits, &(struct scene_kind){32, 32, counts[n], precision, SHAPE_CIC, 0, 0, 1}, 3);
        }
}

static void a_hot_cell_and_empty_ones(void **state)
{
    (void)state;
    const enum precision precision = best_precision();
    compare_kinds(&digits, &(struct scene_kind){32, 32, 20011, precision, SHAPE_CIC, 0, 0.5, 0.1}, 3);
    compare_kinds(&digits, &(struct scene_kind){32, 32, 60, precision, SHAPE_CIC, 0, 0.5, 3}, 3);
}

/* Up to 19 and 1,900 cells a step: around the box once or very often. */
static void far_and_around_the_box(void **state)
{
    (void)state;
    const enum precision precision = best_precision();
    for (double speed = 10; speed <= 1000; speed *= 100) {
        compare_kinds(&digits, &(struct scene_kind){32, 32, 9001, precision, 1, 0, 0.1, speed}, 3);
        compare_kinds(&digits, &(struct scene_kind){2, 400, 9001, precision, 1, 0.2, 0.1, speed}, 3);
    }
}

/* 11 and 12 bits, in three rounds of ranking: too few tiles for windows whatever their length. */
static void long_digits(void **state)
{
    (void)state;
    const enum precision precision = best_precision();
    compare_kinds(&digits, &(struct scene_kind){40, 50, 2000, precision, SHAPE_CIC, 0, 0.1, 2}, 3);
    compare_kinds(&digits, &(struct scene_kind){64, 64, 3001, precision, SHAPE_CIC, 0, 0.1, 2}, 3);
}

/* ---- windows ---- */

/* Each in one precision, cic in both. */
static void windows_of_all_shapes(void **state)
{
    (void)state;
    const enum precision best = best_precision();
    const struct {
        enum precision precision;
        enum shape_kind shape;
        double magnetic;
    } cases[] = {{best, SHAPE_NGP, 0.9},
                 {PRECISION_SINGLE, SHAPE_CIC, 0},
                 {best, SHAPE_CIC, 0},
                 {PRECISION_SINGLE, SHAPE_TSC, 0.9}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
        compare_kinds(
            &windows,
            &(struct scene_kind){64, 100, 50021, cases[n].precision, cases[n].shape, cases[n].magnetic, 0, 1},
            3);
}

/* Windows of more than a thousand columns: a tile or two are enough. */
static void windows_of_few_tiles(void **state)
{
    (void)state;
    compare_kinds(&near_windows, &(struct scene_kind){32, 33, 1100, best_precision(), SHAPE_CIC, 0.5, 0.1, 2},
                  2);
}

/* Long rows, short rows, as few rows as a band looks around; whole tiles and one particle more or less; more
 * cells than the scan has items. */
static void windows_on_any_grid(void **state)
{
    (void)state;
    const enum precision precision = best_precision();
    const uint32_t many = 50021;
    compare_kinds(&windows, &(struct scene_kind){3, 2133, many, precision, SHAPE_CIC, 0, 0, 1}, 3);
    compare_kinds(&windows, &(struct scene_kind){2, 3200, many, precision, SHAPE_CIC, 0, 0, 1}, 3);
    compare_kinds(&windows, &(struct scene_kind){3200, 2, many, precision, SHAPE_CIC, 0.5, 0, 1}, 3);
    const uint32_t counts[] = {12 * LONGEST_TILE + 1, 13 * LONGEST_TILE - 1, 13 * LONGEST_TILE};
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++)
        compare_kinds(&windows, &(struct scene_kind){64, 100, counts[n], precision, SHAPE_CIC, 0, 0, 1}, 2);
    compare_kinds(&windows,
                  &(struct scene_kind){186, 180, 68 * LONGEST_TILE - 99, precision, SHAPE_CIC, 0, 0.1, 1}, 2);
}

/* Whatever is said of how far particles go, up to all rows of the grid: what is wrong makes strays. */
static void windows_of_any_reach(void **state)
{
    (void)state;
    const struct tested none = {ADVANCE_TILED, false, {0, 0}}, all = {ADVANCE_TILED, false, {3, 40}};
    const struct {
        const struct tested *tested;
        uint32_t nx, ny, count;
    } cases[] = {{&none, 64, 99, 24001},  {&near_windows, 64, 99, 24001}, {&far_windows, 64, 100, 100000},
                 {&all, 3, 1500, 100000}, {&windows, 2, 3200, 50021},     {&near_windows, 3168, 2, 24001}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
        compare_kinds(cases[n].tested,
                      &(struct scene_kind){cases[n].nx, cases[n].ny, cases[n].count, best_precision(),
                                           SHAPE_CIC, 0, 0.1, 4},
                      2);
}

/* As many tiles as make chunks of two, and a short one at the end. Devices of very many compute units would
 * want tens of millions of particles. */
static void windows_of_several_tiles(void **state)
{
    (void)state;
    enum { GROUPS_PER_UNIT = 32, MOST_TILES = 2100 }; /* the first as in tiled_advance.c */
    const uint32_t tiles = 2 * GROUPS_PER_UNIT * device_info(device)->compute_units + 1;
    if (tiles > MOST_TILES)
        skip();
    const uint32_t count = LONGEST_TILE * tiles - 1234;
    compare_kinds(&windows, &(struct scene_kind){3, 1500, count, best_precision(), SHAPE_CIC, 0.5, 0, 1}, 2);
}

/* A hot cell that several chunks begin in, among cells that are nearly empty. */
static void windows_around_a_hot_cell(void **state)
{
    (void)state;
    const enum precision precision = best_precision();
    compare_kinds(&windows, &(struct scene_kind){64, 100, 50011, precision, SHAPE_CIC, 0, 0.5, 0.1}, 3);
    compare_kinds(&windows, &(struct scene_kind){64, 100, 50011, precision, SHAPE_CIC, 0, 0.9, 2}, 3);
}

/* Some leave their window, nearly all do, and go around the box. */
static void strays(void **state)
{
    (void)state;
    for (enum precision precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++)
        for (double speed = 2; speed <= 2000 && has_precision(precision); speed *= 10) {
            compare_kinds(&windows, &(struct scene_kind){64, 100, 50021, precision, 1, 0, 0.1, speed}, 3);
            compare_kinds(&windows, &(struct scene_kind){3, 2133, 50021, precision, 1, 0.2, 0.1, speed}, 2);
        }
}

/* Sends every particle of a scene to the middle of one cell, without a field. */
static void send_to(struct scene *scene, uint32_t target)
{
    const struct grid *grid = &scene->grid;
    struct sorted_particles *sorted = &scene->sorted;
    const double length[2] = {grid->dx, grid->dy};
    for (uint32_t p = 0; p < scene->kind.count; p++) {
        const uint32_t from[2] = {sorted->cell[p] / grid->ny, sorted->cell[p] % grid->ny};
        const uint32_t to[2] = {target / grid->ny, target % grid->ny};
        for (int axis = 0; axis < 2; axis++) {
            const double way =
                (double)to[axis] - from[axis] + 0.5 + 1e-3 * (p % 256) - sorted->offset[p][axis];
            sorted->velocity[p][axis] = test_rounded(scene->kind.precision, way * length[axis] / time_step);
        }
    }
    scene->kind.speed = 2.0 * (grid->nx + grid->ny); /* for the tolerances */
    sorted_particles_upload(sorted);
    assert_ok(buffer_fill(scene->fields.ex, 0));
    assert_ok(buffer_fill(scene->fields.ey, 0));
}

/* A cell holds those of each band of rows, then the strays, each in their old order. */
static void check_descents(const struct state *state, uint32_t count)
{
    uint32_t descents = 0;
    for (uint32_t p = 1; p < count; p++)
        descents += state->id[p] < state->id[p - 1];
    assert_true(descents <= 3 * (2 * windows.reach[0] + 1)); /* a band may begin on either end of the grid */
}

/* All into one cell, nearly all as strays, and then on from there. */
static void all_into_one_cell(void **state)
{
    (void)state;
    enum { TARGET = 2345, COUNT = 50011 };
    struct scene_pair pair;
    pair_create(&(struct scene_kind){3, 2133, COUNT, best_precision(), SHAPE_CIC, 0, 0, 1}, &pair);
    send_to(&pair.plain, TARGET);
    send_to(&pair.fused, TARGET);
    compare_steps(&windows, &pair, 1, 1);
    struct state met = state_read(&pair.fused);
    assert_int_equal(met.cell_offsets[TARGET], 0);
    assert_int_equal(met.cell_offsets[TARGET + 1], COUNT);
    check_descents(&met, COUNT);
    state_free(&met);
    compare_steps(&windows, &pair, 1, 2);
    pair_destroy(&pair);
}

/* ---- both ---- */

/* The smaller species decides how far the windows reach, the larger how much room there is. */
static void two_species(void **state)
{
    (void)state;
    const struct {
        struct tested tested;
        uint32_t nx, ny, counts[SPECIES];
    } cases[] = {{digits, 32, 20, {150, 10000}},
                 {digits, 32, 20, {10000, 1}},
                 {windows, 64, 100, {50021, 60001}},
                 {windows, 64, 100, {70001, 50021}}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct scene_pair pairs[SPECIES];
        for (int n = 0; n < SPECIES; n++)
            pair_create(&(struct scene_kind){cases[c].nx, cases[c].ny, cases[c].counts[n], best_precision(),
                                             SHAPE_CIC, 0.5, 0.1, 1 + n},
                        &pairs[n]);
        compare_steps(&cases[c].tested, pairs, SPECIES, 3);
        for (int n = 0; n < SPECIES; n++)
            pair_destroy(&pairs[n]);
    }
}

static void not_a_number(void **state)
{
    (void)state;
    const enum precision precision = best_precision();
    check_not_a_number(&digits, &(struct scene_kind){32, 20, 1000, precision, SHAPE_CIC, 0.5, 0, 1});
    check_not_a_number(&windows, &(struct scene_kind){64, 100, 50021, precision, SHAPE_CIC, 0.5, 0, 1});
}

static void an_offset_that_rounds_up(void **state)
{
    (void)state;
    for (int axes = 1; axes <= 3; axes++) {
        const bool along[2] = {axes & 1, axes & 2};
        check_hair(&digits, &(struct scene_kind){4, 4, 400, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1}, along);
        check_hair(&windows, &(struct scene_kind){64, 100, 50021, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1},
                   along);
    }
}

static void the_same_bits_every_time(void **state)
{
    (void)state;
    check_same_bits(&digits, &(struct scene_kind){32, 20, 40001, PRECISION_SINGLE, SHAPE_CIC, 0.5, 0.3, 1},
                    4);
    for (double speed = 1; speed <= 100; speed *= 10) /* few strays to nearly all */
        check_same_bits(
            &windows, &(struct scene_kind){64, 100, 50011, PRECISION_SINGLE, SHAPE_CIC, 0.5, 0.3, speed}, 6);
}

/* Long slabs, the shortest with the fewest ghost rows, a single own row. */
static void ghost_rows(void **state)
{
    (void)state;
    const enum precision precision = best_precision();
    check_with_ghosts(&digits, &(struct scene_kind){40, 24, 20011, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1}, 4);
    check_with_ghosts(&digits, &(struct scene_kind){40, 24, 20011, precision, SHAPE_CIC, 0, 0, 1}, 4);
    check_with_ghosts(&digits, &(struct scene_kind){7, 80, 3000, precision, SHAPE_CIC, 0, 0.5, 1}, 2);
    check_with_ghosts(&digits, &(struct scene_kind){8, 2, 3000, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1}, 3);
}

/* With as many, more and fewer ghost rows than windows reach; a single own row. */
static void ghost_rows_and_windows(void **state)
{
    (void)state;
    const enum precision precision = best_precision();
    check_with_ghosts(&windows, &(struct scene_kind){65, 100, 50021, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1},
                      2);
    check_with_ghosts(&windows, &(struct scene_kind){65, 100, 50021, precision, SHAPE_CIC, 0, 0, 1}, 2);
    check_with_ghosts(&near_windows, &(struct scene_kind){73, 88, 24001, precision, SHAPE_CIC, 0, 0.3, 1},
                      10);
    check_with_ghosts(&far_windows, &(struct scene_kind){65, 100, 100000, precision, SHAPE_CIC, 0, 0, 1}, 2);
    check_with_ghosts(&windows, &(struct scene_kind){8, 914, 50021, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1}, 3);
}

static void counts_up_to_the_capacity(void **state)
{
    (void)state;
    check_capacity(&digits, &(struct scene_kind){32, 20, 3000, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1});
    check_capacity(&windows, &(struct scene_kind){64, 100, 50021, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1});
}

static void takes_the_bytes_it_foretells(void **state)
{
    (void)state;
    check_bytes(&digits, &(struct scene_kind){4, 3, 1000, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1});
    check_bytes(&digits, &(struct scene_kind){32, 32, 9001, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 1});
    check_bytes(&windows, &(struct scene_kind){64, 100, 50021, PRECISION_SINGLE, SHAPE_CIC, 0, 0, 2});
}

static struct advance_setup setup_of(uint32_t nx, uint32_t ny, uint32_t fewest, uint32_t capacity)
{
    return (struct advance_setup){.grid =
                                      grid_make(&(struct grid_config){.cells = {nx, ny}, .length = {1, 1}}),
                                  .own_rows = nx,
                                  .time_step = time_step,
                                  .species_count = SPECIES,
                                  .capacity = capacity,
                                  .fewest = fewest};
}

/* Neither a digit for each cell nor windows, on this device or any other: the plain step is to be taken. */
static void supports_what_fits(void **state)
{
    (void)state;
    const struct device_info small = {
        .is_gpu = true, .local_memory = 32768, .group_limit = 256, .compute_units = 4};
    const struct device_info tiny = {
        .is_gpu = true, .local_memory = 4096, .group_limit = 256, .compute_units = 4};
    const struct advance_setup short_list = setup_of(300, 300, 10000, 1000000),
                               long_list = setup_of(300, 300, 1000000, 1000000),
                               few_cells = setup_of(32, 32, 1, 1);
    assert_true(tiled_advance_supports(&small, &few_cells));
    assert_true(tiled_advance_supports(&small, &long_list));
    assert_false(tiled_advance_supports(&small, &short_list));
    assert_false(tiled_advance_supports(&tiny, &few_cells));
    assert_int_equal(advance_kind_for(&small, &long_list), ADVANCE_TILED);
    assert_int_equal(advance_kind_for(&small, &short_list), ADVANCE_NONE);
    struct tiled_advance *advance = NULL;
    assert_int_equal(tiled_advance_create(device, &short_list, &advance), STATUS_USAGE);
    assert_null(advance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes_with_and_without_b),
        cmocka_unit_test(any_count),
        cmocka_unit_test(a_hot_cell_and_empty_ones),
        cmocka_unit_test(far_and_around_the_box),
        cmocka_unit_test(long_digits),
        cmocka_unit_test(windows_of_all_shapes),
        cmocka_unit_test(windows_of_few_tiles),
        cmocka_unit_test(windows_on_any_grid),
        cmocka_unit_test(windows_of_any_reach),
        cmocka_unit_test(windows_of_several_tiles),
        cmocka_unit_test(windows_around_a_hot_cell),
        cmocka_unit_test(strays),
        cmocka_unit_test(all_into_one_cell),
        cmocka_unit_test(two_species),
        cmocka_unit_test(not_a_number),
        cmocka_unit_test(an_offset_that_rounds_up),
        cmocka_unit_test(the_same_bits_every_time),
        cmocka_unit_test(ghost_rows),
        cmocka_unit_test(ghost_rows_and_windows),
        cmocka_unit_test(counts_up_to_the_capacity),
        cmocka_unit_test(takes_the_bytes_it_foretells),
        cmocka_unit_test(supports_what_fits),
    };
    /* For tools under which kernels run a thousand times slower. */
    const struct CMUnitTest few[] = {cmocka_unit_test(all_shapes_with_and_without_b),
                                     cmocka_unit_test(windows_of_few_tiles)};
    if (getenv("RADIXPIC_TEST_SMALL"))
        return cmocka_run_group_tests(few, open_device, close_device);
    return cmocka_run_group_tests(tests, open_device, close_device);
}
