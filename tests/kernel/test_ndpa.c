/* In-place permutation against the definition: every element of the permuted volume, looked for where the
 * index map says, is the one that the axes say. Elements are their own linear indices, so none is mistaken
 * for another. */
#include "support/device_fixture.h"

#include "experiments/permutation/ndpa.h"

enum { GUARD_ELEMENTS = 16 }; /* behind each volume, never to be touched */

/* A volume and, behind it, what must stay. */
static uint32_t *make_volume(const struct ndpa_shape *shape)
{
    const uint64_t count = ndpa_elements(shape) + GUARD_ELEMENTS;
    uint32_t *volume = test_array(count, sizeof *volume);
    for (uint64_t n = 0; n < count; n++)
        volume[n] = (uint32_t)n;
    return volume;
}

/* Where an element of the permuted volume comes from, written out as numpy.transpose defines it. */
static uint64_t original_index(const struct ndpa_shape *shape, const uint32_t *sides, const uint32_t *axes,
                               uint64_t n)
{
    uint32_t permuted[NDPA_MAX_DIMENSIONS], from[NDPA_MAX_DIMENSIONS];
    uint64_t rest = n, index = 0;
    for (uint32_t k = 0; k < shape->dimensions; k++)
        permuted[k] = sides[axes[k]];
    for (uint32_t k = shape->dimensions; k-- > 0; rest /= permuted[k])
        from[axes[k]] = (uint32_t)(rest % permuted[k]);
    for (uint32_t k = 0; k < shape->dimensions; k++)
        index = index * shape->sides[k] + from[k];
    return index;
}

static void check_permuted(const struct ndpa_shape *shape, const uint32_t *axes, const uint32_t *volume)
{
    uint32_t permuted[NDPA_MAX_DIMENSIONS], subscript[NDPA_MAX_DIMENSIONS];
    const uint64_t count = ndpa_elements(shape);
    for (uint32_t k = 0; k < shape->dimensions; k++)
        permuted[k] = shape->sides[axes[k]];
    for (uint64_t n = 0; n < count; n++) {
        ndpa_subscript(shape->dimensions, permuted, n, subscript);
        const uint64_t place = ndpa_place(shape, axes, subscript);
        const uint64_t expected = original_index(shape, shape->sides, axes, n);
        if (volume[place] != expected)
            fail_msg("element %llu of the permuted volume is not element %llu of the original one",
                     (unsigned long long)n, (unsigned long long)expected);
    }
    for (uint64_t n = count; n < count + GUARD_ELEMENTS; n++)
        assert_int_equal(volume[n], n);
}

/* What each kind is given and what comes of it. */
struct scene {
    struct ndpa_shape shape;
    uint32_t group_items;
    size_t bytes; /* with the guard */
    uint32_t *original, *met;
    struct buffer *volume;
};

static struct scene scene_create(const struct ndpa_shape *shape, uint32_t group_items)
{
    const size_t bytes = ndpa_bytes(shape) + GUARD_ELEMENTS * sizeof(uint32_t);
    return (struct scene){
        *shape, group_items, bytes, make_volume(shape), test_array(1, bytes), test_buffer(bytes, NULL)};
}

/* One permutation of the volume as it lies, which allocates nothing. */
static void permute(struct scene *scene, enum ndpa_kind kind, const uint32_t *axes, const uint32_t *expected)
{
    struct ndpa *ndpa = NULL;
    struct device *owner = NULL;
    assert_ok(device_branch(device, &owner));
    assert_ok(ndpa_create(owner, &scene->shape, axes, kind, scene->group_items, &ndpa));
    const size_t held = device_bytes_held(device);
    device_most_bytes_held(device);
    assert_ok(ndpa_permute(ndpa, scene->volume));
    assert_ok(buffer_read(scene->volume, 0, scene->bytes, scene->met));
    assert_memory_equal(scene->met, expected, scene->bytes);
    assert_int_equal(device_most_bytes_held(device), held);
    device_close(&owner);
}

/* Every kind there and, by the inverse axes, back, beside the host's. */
static void check_axes(struct scene *scene, const uint32_t *axes)
{
    uint32_t inverse[NDPA_MAX_DIMENSIONS];
    uint32_t *expected = make_volume(&scene->shape);
    assert_ok(ndpa_permute_host(&scene->shape, axes, expected));
    check_permuted(&scene->shape, axes, expected);
    for (uint32_t k = 0; k < scene->shape.dimensions; k++)
        inverse[axes[k]] = k;
    assert_ok(buffer_write(scene->volume, 0, scene->bytes, scene->original));
    for (int kind = 0; kind < NDPA_KINDS; kind++) {
        permute(scene, (enum ndpa_kind)kind, axes, expected);
        permute(scene, (enum ndpa_kind)kind, inverse, scene->original);
    }
}

/* A scene of its own for one permutation: axis k of the permuted volume is (k + shift), or reversed. */
static void check_shape(const struct ndpa_shape *shape, uint32_t group_items, bool reversed, uint32_t shift)
{
    const uint32_t dimensions = shape->dimensions;
    uint32_t axes[NDPA_MAX_DIMENSIONS];
    struct scene scene = scene_create(shape, group_items);
    for (uint32_t k = 0; k < dimensions; k++)
        axes[k] = (reversed ? dimensions - 1 - k : k + shift) % dimensions;
    check_axes(&scene, axes);
}

/* The axes as the digits of a number; whether each of them stands there once. */
static bool axes_of(uint32_t number, uint32_t dimensions, uint32_t *axes)
{
    uint32_t seen = 0;
    for (uint32_t k = 0; k < dimensions; k++, number /= dimensions) {
        axes[k] = number % dimensions;
        seen |= 1U << axes[k];
    }
    return seen == (1U << dimensions) - 1;
}

/* Unequal sides: 1, 3, 2, 1, 3, ... cells. The last axis has `last` cells. */
static struct ndpa_shape shape_of(uint32_t dimensions, uint32_t p, uint32_t last)
{
    struct ndpa_shape shape = {.dimensions = dimensions, .cell_side = p};
    static const uint32_t cells[] = {1, 3, 2};
    for (uint32_t k = 0; k + 1 < dimensions; k++)
        shape.sides[k] = p * (dimensions > 5 && k > 2 ? 1 : cells[k % 3]);
    shape.sides[dimensions - 1] = p * last;
    return shape;
}

static void check_all_axes(uint32_t dimensions, uint32_t p, uint32_t last)
{
    const struct ndpa_shape shape = shape_of(dimensions, p, last);
    const double numbers = pow(dimensions, dimensions);
    uint32_t axes[NDPA_MAX_DIMENSIONS];
    struct scene scene = scene_create(&shape, 0);
    for (uint32_t number = 0; number < numbers; number++)
        if (axes_of(number, dimensions, axes))
            check_axes(&scene, axes);
}

/* A program has the dimensions and the side of a cell: the tests take few of both. */
TEST(all_axes_of_2_to_4_dimensions)
{
    needs_speed();
    static const uint32_t cases[][2] = {{2, 2}, {2, 5}, {3, 4}, {4, 3}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
        check_all_axes(cases[n][0], cases[n][1], 5);
}

/* The reversed axes, and some that mix: rotations, and a swap of the first two. */
TEST(some_axes_beyond)
{
    static const struct {
        uint32_t dimensions, p;
    } cases[] = {{5, 2}, {7, 3}, {8, 2}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const uint32_t dimensions = cases[n].dimensions;
        const struct ndpa_shape shape = shape_of(dimensions, cases[n].p, 3);
        if (test_is_small() && n > 0)
            break;
        if (ndpa_cell_elements(&shape) * sizeof(uint32_t) > device_info(device)->local_memory)
            continue;
        check_shape(&shape, 0, true, 0);
        check_shape(&shape, 0, false, 1);
        check_shape(&shape, 0, false, dimensions - 2);
        uint32_t swapped[NDPA_MAX_DIMENSIONS] = {1, 0, 2, 3, 4, 5, 6, 7};
        struct scene scene = scene_create(&shape, 0);
        check_axes(&scene, swapped);
    }
}

/* Rows of several bars, the last of them shorter; of many groups. */
TEST(long_rows)
{
    needs_speed();
    static const struct ndpa_shape shapes[] = {
        {2, {10, 5 * 607}, 5},           {2, {4, 30002}, 2},        {3, {8, 16, 4 * 151}, 4},
        {3, {4 * 31, 4 * 29, 4 * 9}, 4}, {4, {3, 6, 9, 3 * 67}, 3}, {2, {62, 31 * 13}, 31},
    };
    for (size_t n = 0; n < sizeof shapes / sizeof shapes[0]; n++)
        check_shape(&shapes[n], 0, true, 0);
}

/* Items that share cells and bars, as on a GPU, on any device: more than a cell has elements, or fewer, and
 * no divisor of either. */
TEST(groups_of_any_size)
{
    static const struct {
        struct ndpa_shape shape;
        uint32_t items;
    } cases[] = {{{2, {10, 35}, 5}, 7},
                 {{3, {12, 8, 4 * 17}, 4}, 32},
                 {{4, {6, 3, 9, 12}, 3}, 2},
                 {{5, {2, 4, 2, 6, 10}, 2}, 256}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
        check_shape(&cases[n].shape, cases[n].items, false, cases[n].shape.dimensions - 1);
}

/* Tables are small beside the volume, and the other kinds hold next to nothing. */
TEST(nothing_of_the_volumes_size)
{
    needs_speed();
    const struct ndpa_shape shape = {4, {33, 33, 33, 33}, 3};
    const uint32_t axes[] = {3, 2, 1, 0};
    struct buffer *volume = test_buffer(ndpa_bytes(&shape), NULL);
    assert_ok(buffer_fill(volume, 1));
    for (int kind = 0; kind < NDPA_KINDS; kind++) {
        struct ndpa *ndpa = NULL;
        struct device *owner = NULL;
        const size_t held = device_bytes_held(device);
        device_most_bytes_held(device);
        assert_ok(device_branch(device, &owner));
        assert_ok(ndpa_create(owner, &shape, axes, (enum ndpa_kind)kind, 0, &ndpa));
        assert_ok(ndpa_permute(ndpa, volume));
        const size_t more = device_most_bytes_held(device) - held;
        assert_true(more <= (kind == NDPA_TABLES ? ndpa_bytes(&shape) / 500 : 256));
        device_close(&owner);
        assert_int_equal(device_bytes_held(device), held);
    }
}

/* ---- what is refused ---- */

static void assert_usage(const struct ndpa_shape *shape, const uint32_t *axes, const char *word)
{
    struct ndpa *ndpa = NULL;
    assert_int_equal(ndpa_create(device, shape, axes, NDPA_TABLES, 0, &ndpa), STATUS_USAGE);
    assert_null(ndpa);
    assert_sentence_holds(word);
}

TEST(shapes_that_cannot_be)
{
    const uint32_t axes[NDPA_MAX_DIMENSIONS] = {2, 1, 0}, line[NDPA_MAX_DIMENSIONS] = {0};
    const struct ndpa_shape good = {3, {4, 8, 12}, 4};
    const size_t held = device_bytes_held(device);
    assert_usage(&(struct ndpa_shape){3, {4, 9, 12}, 4}, axes, "side 9 of the volume's axis 1");
    assert_usage(&(struct ndpa_shape){3, {4, 0, 12}, 4}, axes, "side 0");
    assert_usage(&(struct ndpa_shape){1, {4}, 4}, line, "2 to 8 dimensions");
    assert_usage(&(struct ndpa_shape){9, {4}, 4}, line, "2 to 8 dimensions");
    assert_usage(&(struct ndpa_shape){3, {4, 8, 12}, 1}, axes, "side of a cell");
    assert_usage(&(struct ndpa_shape){3, {4096, 4096, 256}, 4}, axes, "at most 4294967295 elements");
    assert_usage(&(struct ndpa_shape){3, {1024, 1024, 1024}, 1024}, axes, "local memory");
    assert_usage(&good, (const uint32_t[]){2, 1, 3}, "axis 3");
    assert_usage(&good, (const uint32_t[]){2, 1, 2}, "axis 2 stands twice");
    assert_int_equal(device_bytes_held(device), held);
}

TEST(a_volume_too_short)
{
    const struct ndpa_shape shape = {3, {4, 8, 12}, 4};
    struct buffer *less = test_buffer(ndpa_bytes(&shape) - 4, NULL);
    struct ndpa *ndpa = NULL;
    assert_ok(ndpa_create(device, &shape, (const uint32_t[]){2, 1, 0}, NDPA_BARS, 0, &ndpa));
    assert_int_equal(ndpa_permute(ndpa, less), STATUS_FAILED);
}

TEST_MAIN(open_device, close_device)
