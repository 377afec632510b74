/* Phase space: counts of every subset of axes, in several orders, against a histogram of the host. */
#include "support/sorted_particles.h"

#include "output/outputs.h"
#include "output/phase_space.h"
#include "support/device_fixture.h"

enum { NX = 12, NY = 10, KINDS = PHASE_AXIS_W + 1, MOST_BINS = 4 * 70 * 65 * 5 };

/* What the items are made of. x and y leave rows and columns out. */
static const uint32_t bins_of[KINDS] = {3, 4, 70, 65, 5};
static const double ranges[KINDS][2] = {{0.8, 4.4}, {0.7, 6.3}, {-1, 2.25}, {-0.7, 0.9}, {-1.5, 1}};
static const uint32_t first_cell[2] = {2, 1}, cells_of_bin[2] = {3, 2};

static struct species_config species[] = {{.name = "other"}, {.name = "test", .particles = 1, .density = 1}};
static struct phase_space_config items[3];
static struct config config = {
    .grid = {.cells = {NX, NY}, .length = {4.8, 7}},
    .time = {.step = 0.1, .steps = 7},
    .species_count = 2,
    .species = species,
    .output.phase_space = items,
};

/* An item with the axes whose bits are set, written in the order turned by `turn` places, or reversed. */
static struct phase_space_config make_item(unsigned axes, unsigned turn, bool reversed)
{
    struct phase_space_config item = {.species = "test", .every = 1};
    for (enum phase_axis axis = PHASE_AXIS_X; axis <= PHASE_AXIS_W; axis++) {
        if (!(axes >> axis & 1U))
            continue;
        item.axes[item.axis_count++] = (struct phase_axis_config){
            .axis = axis, .bins = bins_of[axis], .range = {ranges[axis][0], ranges[axis][1]}};
    }
    item.order_count = item.axis_count;
    for (uint32_t k = 0; k < item.axis_count; k++)
        item.order[k] = item.axes[reversed ? item.axis_count - 1 - k : (k + turn) % item.axis_count].axis;
    return item;
}

/* ---- particles ---- */

/* Edges of bins, the numbers beside them, and what is no velocity. */
static void set_special_velocities(struct sorted_particles *sorted)
{
    const enum precision precision = sorted->precision;
    uint32_t p = 0;
    for (int axis = 0; axis < 2; axis++) {
        const double *range = ranges[PHASE_AXIS_U + axis];
        const uint32_t bins = bins_of[PHASE_AXIS_U + axis];
        for (uint32_t k = 0; k <= bins && p + 3 < sorted->particles.count; k++) {
            const double edge = test_rounded(precision, range[0] + k * ((range[1] - range[0]) / bins));
            const double step = 2 * test_epsilon(precision) * fmax(fabs(edge), 0.01);
            for (int side = -1; side <= 1; side++)
                sorted->velocity[p++][axis] = test_rounded(precision, edge + side * step);
        }
        const double others[] = {INFINITY, -INFINITY, NAN, 1e30, -1e30, 5e9, -5e9};
        for (size_t n = 0; n < sizeof others / sizeof others[0] && p < sorted->particles.count; n++)
            sorted->velocity[p++][axis] = others[n];
    }
}

/* ---- the histogram of the host ---- */

/* The bin of a particle along an axis; bins or more where it is outside. */
static uint32_t bin_of(const struct sorted_particles *sorted, const struct slab *slab, uint32_t p,
                       enum phase_axis axis)
{
    const uint32_t row = sorted->cell[p] / NY, column = sorted->cell[p] % NY;
    if (axis == PHASE_AXIS_X && row >= slab->rows)
        return UINT32_MAX; /* in a ghost row: another rank's */
    if (phase_axis_is_space(axis)) {
        const uint32_t cell = axis == PHASE_AXIS_X ? slab->first_row + row : column;
        return cell < first_cell[axis] ? UINT32_MAX : (cell - first_cell[axis]) / cells_of_bin[axis];
    }
    const double low = ranges[axis][0], scale = bins_of[axis] / (ranges[axis][1] - low);
    const double velocity = axis == PHASE_AXIS_W ? sorted->w[p] : sorted->velocity[p][axis - PHASE_AXIS_U];
    double place = (velocity - low) * scale;
    if (sorted->precision == PRECISION_SINGLE) {
        const volatile float difference = (float)velocity - (float)low;
        const volatile float product = difference * (float)scale;
        place = (double)product;
    }
    return place >= 0 && place < bins_of[axis] ? (uint32_t)place : UINT32_MAX;
}

/* Adds the particles to counts[] in the order that the item is written in; returns how many were inside. */
static uint64_t add_histogram(const struct sorted_particles *sorted, const struct slab *slab,
                              const struct phase_space_config *item, uint32_t *counts)
{
    uint64_t inside = 0;
    for (uint32_t p = 0; p < sorted->particles.count; p++) {
        uint64_t place = 0;
        bool is_inside = sorted->cell[p] / NY < slab->rows;
        for (uint32_t k = 0; k < item->axis_count; k++) {
            const uint32_t bins = bins_of[item->order[k]], bin = bin_of(sorted, slab, p, item->order[k]);
            is_inside &= bin < bins;
            place = place * bins + (bin < bins ? bin : 0);
        }
        counts[place] += is_inside;
        inside += is_inside;
    }
    return inside;
}

/* ---- scenes ---- */

struct scene {
    struct slab slab;
    struct sorted_particles sorted;
    struct particles lists[2]; /* of species "other", which has none, and "test" */
    struct view view;
    void *spaces;
};

/* Rows `first` on of the box, and a list of `count` particles in them and in `ghost` rows beside them. */
static void scene_create(uint32_t first, uint32_t rows, uint32_t ghost, enum precision precision,
                         uint32_t count, bool aos, struct scene *scene)
{
    static const struct communicator alone = {.size = 1, .local_size = 1};
    const struct grid box = grid_make(&config.grid);
    *scene = (struct scene){.slab = slab_make(&box, first, rows, ghost)};
    sorted_particles_make(precision, grid_cells(&scene->slab.local), count, 0.3, 3, &scene->sorted);
    scene->sorted.particles.count = count;
    scene->sorted.species.velocities.dimensions = 3;
    set_special_velocities(&scene->sorted);
    sorted_particles_list(device, &scene->slab.local, aos ? LAYOUT_AOS : LAYOUT_SOA, count, &scene->sorted,
                          &scene->sorted.particles);
    config.precision = precision;
    scene->lists[0].species = &config.species[0];
    scene->lists[1] = scene->sorted.particles;
    scene->view = (struct view){
        .config = &config, .communicator = &alone, .slab = &scene->slab, .particles = scene->lists};
}

/* Returns how many particles were inside. */
static uint64_t check_item(struct scene *scene, uint32_t index)
{
    const struct phase_space_config *item = &config.output.phase_space[index];
    const struct phase_volume volume = phase_volume_make(item);
    static uint32_t expected[MOST_BINS], found[MOST_BINS];
    memset(expected, 0, sizeof expected);
    memset(found, 0, sizeof found);
    const uint64_t inside = add_histogram(&scene->sorted, &scene->slab, item, expected);
    assert_true(volume.elements <= MOST_BINS);
    int exponent;
    assert_ok(phase_space_count(scene->spaces, &scene->view, index, &scene->lists[1], found, &exponent));
    assert_memory_equal(found, expected, sizeof found);
    return inside;
}

/* Of what check_item() made the device do: velocities are read for axes that need them alone. */
static void check_bytes(const struct scene *scene, uint32_t index)
{
    const struct phase_space_config *item = &config.output.phase_space[index];
    const uint64_t values = scene->sorted.particles.count * precision_bytes(config.precision);
    bool in_plane = false, has_w = false;
    for (uint32_t k = 0; k < item->axis_count; k++) {
        in_plane |= item->axes[k].axis == PHASE_AXIS_U || item->axes[k].axis == PHASE_AXIS_V;
        has_w |= item->axes[k].axis == PHASE_AXIS_W;
    }
    const uint64_t read = (in_plane ? 2 * values : 0) + (has_w ? values : 0);
    assert_int_equal(device_timers(device)->stages[STAGE_OUTPUT].bytes, read);
}

/* Creates what the config asks for; a device that counts holds as much. */
static void create_spaces(struct device *owner, void **spaces)
{
    struct device *counting = NULL;
    void *foretold = NULL;
    const size_t held = device_bytes_held(device);
    assert_ok(phase_spaces_create(owner, &config, spaces));
    assert_ok(device_open_counting(device_info(device), &counting));
    assert_ok(phase_spaces_create(counting, &config, &foretold));
    assert_int_equal(device_bytes_held(counting), device_bytes_held(device) - held);
    device_close(&counting);
}

/* Every subset of up to four axes, each in three orders. */
static void check_subsets(uint32_t first, uint32_t rows, uint32_t ghost, enum precision precision,
                          uint32_t count, bool aos)
{
    struct scene scene;
    if (!has_precision(precision))
        return;
    scene_create(first, rows, ghost, precision, count, aos, &scene);
    config.output.phase_space_count = 3;
    for (unsigned axes = 1; axes < (1U << KINDS) - 1; axes++) {
        struct device *own = NULL;
        assert_ok(device_branch(device, &own));
        config.output.phase_space[0] = make_item(axes, 0, false);
        config.output.phase_space[1] = make_item(axes, 1, false);
        config.output.phase_space[2] = make_item(axes, 0, true);
        create_spaces(own, &scene.spaces);
        for (uint32_t index = 0; index < 3; index++) {
            device_reset_timers(device);
            assert_in_range(check_item(&scene, index), 1, count - 1);
            check_bytes(&scene, index);
        }
        device_close(&own);
    }
}

/* Of the whole box, and of rows 5 to 8 of 12 with ghost rows: particles in those are counted elsewhere. */
TEST(every_subset_of_axes)
{
    check_subsets(0, NX, 0, PRECISION_SINGLE, test_count(20011), false);
    check_subsets(0, NX, 0, PRECISION_DOUBLE, test_count(3001), true);
    check_subsets(5, 4, 2, PRECISION_SINGLE, test_count(5003), false);
}

/* Slabs whose rows are few of an item's or none, on local grids that begin with them. */
TEST(slabs_with_part_of_the_range)
{
    static const uint32_t ends[] = {0, 1, 3, 4, 11, NX};
    config.output.phase_space_count = 1;
    config.output.phase_space[0] = make_item(1U << PHASE_AXIS_X | 1U << PHASE_AXIS_V, 0, true);
    for (size_t n = 0; n + 1 < sizeof ends / sizeof ends[0]; n++) {
        struct scene scene;
        scene_create(ends[n], ends[n + 1] - ends[n], 0, PRECISION_SINGLE, 1000, false, &scene);
        create_spaces(device, &scene.spaces);
        /* the item has rows 2 to 10 */
        assert_int_equal(check_item(&scene, 0) > 0, n == 1 || n == 2 || n == 3);
    }
}

/* When which item is written, tests/cli/test_phase_space.py sees. */
TEST(what_is_never_due_is_not_created)
{
    void *spaces = NULL;
    config.output.phase_space_count = 1;
    config.output.phase_space[0] = make_item(1, 0, false);
    assert_true(outputs_is_ever_due(&phase_space_output, &config));
    config.output.phase_space[0].every = 0;
    assert_false(outputs_is_ever_due(&phase_space_output, &config));
    assert_ok(phase_spaces_create(device, &config, &spaces));
    assert_null(spaces);
}

TEST_MAIN(open_device, close_device)
