/* Stepper: which one a method takes on a device and grid. */
#include "support/test_support.h"

#include "step/tiled_layout.h"

/* The tiled step where there are digits for cells or windows, of GPUs; else the radix step is to be taken. */
TEST(takes_what_fits)
{
    enum { MANY = 2000000 };
    const struct device_info gpu = {
        .is_gpu = true, .local_memory = 32768, .group_limit = 256, .compute_units = 4};
    const struct device_info cpu = {.is_cpu = true, .group_limit = 1, .compute_units = 4};
    struct device_info tiny = gpu;
    tiny.local_memory = 4096;
    const struct {
        const struct device_info *info;
        uint32_t side, fewest, reach;
        enum step_method method;
        const struct stepper_kind *kind; /* NULL: refused */
    } cases[] = {{&gpu, 32, 1, 1, STEP_TILED, &tiled_step},
                 {&gpu, 32, 1, 3, STEP_TILED, &tiled_step},
                 {&gpu, 300, MANY, 2, STEP_FUSED, &tiled_step},
                 {&gpu, 300, MANY, 2, STEP_AUTO, &tiled_step},
                 {&gpu, 300, MANY, 3, STEP_TILED, NULL},
                 {&gpu, 300, MANY, 3, STEP_FUSED, &radix_step},
                 {&gpu, 300, MANY, 3, STEP_AUTO, &radix_step},
                 {&gpu, 300, 10000, 1, STEP_TILED, NULL},
                 {&gpu, 300, 10000, 1, STEP_FUSED, &radix_step},
                 {&gpu, 300, 10000, 1, STEP_AUTO, &radix_step},
                 {&tiny, 32, 1, 1, STEP_TILED, NULL},
                 {&tiny, 32, 1, 1, STEP_FUSED, &radix_step},
                 {&tiny, 32, 1, 1, STEP_AUTO, &radix_step},
                 {&gpu, 32, 1, 1, STEP_CHUNKED, &chunked_step},
                 {&gpu, 32, 1, 1, STEP_RADIX, &radix_step},
                 {&cpu, 300, 10000, 3, STEP_AUTO, &chunked_step},
                 {&cpu, 32, 1, 3, STEP_FUSED, &chunked_step}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const uint32_t side = cases[n].side;
        const struct stepper_setup setup = {
            .grid = grid_make(&(struct grid_config){.cells = {side, side}, .length = {1, 1}}),
            .own_rows = side,
            .sorts = {true, false},
            .species_count = 2,
            .capacity = MANY,
            .fewest = cases[n].fewest,
            .reach = {cases[n].reach, 1}};
        const struct stepper_kind *kind = NULL;
        const enum status status = stepper_choose(cases[n].method, cases[n].info, &setup, &kind);
        assert_int_equal(status, cases[n].kind ? STATUS_OK : STATUS_USAGE);
        if (cases[n].kind) {
            assert_ptr_equal(kind, cases[n].kind);
            assert_int_equal(stepper_layout(cases[n].method, cases[n].info),
                             kind->layout[cases[n].info->is_cpu]);
            continue;
        }
        struct device *counting = NULL;
        struct stepper stepper;
        assert_sentence_holds("radix fits");
        assert_sentence_holds(cases[n].reach > 2 ? "more than two cells" : "local memory");
        assert_ok(device_open_counting(cases[n].info, &counting));
        assert_int_equal(stepper_create(counting, &tiled_step, &setup, &stepper), STATUS_USAGE);
        device_close(&counting);
    }
}

/* Tiles of few particles a cell have more cells: first the field finds no room in local memory, then the
 * rows; the count has the field in as many cells as find room. */
TEST(tiles_by_direction_where_they_fit)
{
    const struct device_info gpu = {
        .is_gpu = true, .local_memory = 49152, .group_limit = 1024, .compute_units = 132};
    const struct {
        uint32_t a_cell;
        enum shape_kind shape;
        enum precision precision;
        bool fits, stages_field;
        uint32_t count_cells;
        uint32_t felt;
        bool sums_work;
    } cases[] = {
        {32, SHAPE_CIC, PRECISION_SINGLE, true, true, 259, 2, false},
        {32, SHAPE_NGP, PRECISION_SINGLE, true, true, 259, 2, false},
        {32, SHAPE_TSC, PRECISION_SINGLE, true, false, 0, 2, false},
        {32, SHAPE_CIC, PRECISION_DOUBLE, true, false, 0, 2, false},
        {16, SHAPE_CIC, PRECISION_SINGLE, true, false, 515, 2, false},
        {8, SHAPE_CIC, PRECISION_SINGLE, false, false, 0, 2, false},
        {64, SHAPE_CIC, PRECISION_SINGLE, true, true, 131, 6, false},
        {32, SHAPE_CIC, PRECISION_SINGLE, true, false, 259, 6, false},
        {16, SHAPE_CIC, PRECISION_SINGLE, true, false, 382, 6, false},
        {16, SHAPE_CIC, PRECISION_SINGLE, true, false, 372, 6, true}}; /* two sums of 128 items more */
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const uint32_t side = 1024, count = side * side * cases[n].a_cell;
        const struct stepper_setup setup = {
            .grid = grid_make(&(struct grid_config){.cells = {side, side}, .length = {1, 1}}),
            .own_rows = side,
            .shape = cases[n].shape,
            .precision = cases[n].precision,
            .capacity = count,
            .fewest = count,
            .reach = {1, 1},
            .felt = cases[n].felt,
            .sums_work = cases[n].sums_work};
        struct tiled_layout layout;
        const char *why = "";
        assert_int_equal(tiled_layout_make(&gpu, &setup, &layout, &why), cases[n].fits);
        assert_int_equal(layout.by_direction, cases[n].fits);
        assert_int_equal(layout.stages_field, cases[n].stages_field);
        assert_int_equal(layout.count_cells, cases[n].count_cells);
    }
}

/* By direction a list has at most 2^30 particles; of more the reason is said. */
TEST(long_lists_take_the_radix_step)
{
    const struct device_info gpu = {
        .is_gpu = true, .local_memory = 49152, .group_limit = 1024, .compute_units = 132};
    for (uint32_t more = 0; more < 2; more++) {
        const struct stepper_setup setup = {
            .grid = grid_make(&(struct grid_config){.cells = {512, 512}, .length = {1, 1}}),
            .own_rows = 512,
            .capacity = (UINT32_C(1) << 30) + more,
            .fewest = UINT32_C(1) << 30,
            .reach = {1, 1},
            .felt = 2};
        const struct stepper_kind *kind = NULL;
        char why[STEPPER_WHY_LENGTH];
        assert_ok(stepper_choose(STEP_FUSED, &gpu, &setup, &kind));
        assert_ptr_equal(kind, more ? &radix_step : &tiled_step);
        if (more)
            assert_int_equal(stepper_choose(STEP_TILED, &gpu, &setup, &kind), STATUS_USAGE);
        stepper_explain(STEP_FUSED, &gpu, &setup, why);
        assert_int_equal(more, strstr(why, "a list has more than 2^30 particles") != NULL);
        stepper_explain(STEP_RADIX, &gpu, &setup, why);
        assert_string_equal(why, "");
    }
}

/* Up to four whole tiles for each compute unit; with cells as digits. */
TEST(short_lists_take_half_as_long_tiles)
{
    const struct device_info gpu = {
        .is_gpu = true, .local_memory = 49152, .group_limit = 1024, .compute_units = 132};
    const uint32_t few = 4 * 132 * 128 * 32;
    for (uint32_t more = 0; more < 2; more++) {
        const struct stepper_setup setup = {
            .grid = grid_make(&(struct grid_config){.cells = {32, 32}, .length = {1, 1}}),
            .own_rows = 32,
            .fewest = few + more,
            .reach = {1, 1}};
        struct tiled_layout layout;
        const char *why = "";
        assert_true(tiled_layout_make(&gpu, &setup, &layout, &why));
        assert_int_equal(tile_length(&layout.tiles), 128 * (more ? 32 : 16));
    }
}

TEST_MAIN(NULL, NULL)
