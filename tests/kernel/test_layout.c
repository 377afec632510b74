/* layout: every algorithm in both layouts against the host, the transposition of any matrix, and the host's
 * own versions against what their results must be. */
#include "support/device_fixture.h"

#include "experiments/layout/layout.h"

/* A list of one element, lengths that are no multiple of anything, groups that are not full. */
static const struct layout_size sizes[] = {{64, 1},   {64, 2},   {1, 33},  {65, 16},
                                           {130, 37}, {192, 64}, {3, 128}, {3, 333}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* How many types, from int on, the device has. */
static enum layout_type types(void)
{
    return device_info(device)->has_fp64 ? LAYOUT_TYPES : LAYOUT_DOUBLE;
}

static void *room_for(enum layout_type type, struct layout_size size)
{
    return test_array(layout_bytes(type, size), 1);
}

static double element(enum layout_type type, const void *elements, size_t n)
{
    return type == LAYOUT_INT     ? ((const int32_t *)elements)[n]
           : type == LAYOUT_FLOAT ? (double)((const float *)elements)[n]
                                  : ((const double *)elements)[n];
}

static bool is_power_of_two(uint32_t length)
{
    return (length & (length - 1)) == 0;
}

/* The bench judges every result, and what lies behind it, by the host. */
static void check_point(struct layout_point point, uint32_t wanted)
{
    struct bench bench = {.experiment = &experiment_layout,
                          .device = device,
                          .part = device,
                          .info = device_info(device),
                          .repeats = 1};
    point.wanted = wanted;
    assert_ok(bench_case(&bench, layout_point_measure, &point));
    for (enum layout_what what = TRANSPOSE; what < WHATS; what++)
        if ((wanted >> what & 1U) != 0 && !point.times[what].verified)
            fail_msg("operation %d, input %d, way %d, of %u arrays of %u %s", point.operation,
                     point.input_kind, what, point.size.arrays, point.size.length,
                     layout_type_names[point.type]);
}

TEST(device_is_the_host)
{
    const uint32_t all = (1U << WHATS) - 1;
    for (enum layout_type type = LAYOUT_INT; type < types(); type++)
        for (int n = 0; n < SIZES * LAYOUT_OPERATIONS * LAYOUT_INPUTS; n++) {
            const struct layout_point point = {.operation = (enum layout_operation)(n % LAYOUT_OPERATIONS),
                                               .input_kind =
                                                   (enum layout_input)(n / LAYOUT_OPERATIONS % LAYOUT_INPUTS),
                                               .type = type,
                                               .size = sizes[n / LAYOUT_OPERATIONS / LAYOUT_INPUTS]};
            if (point.operation == LAYOUT_BITONIC_SORT && !is_power_of_two(point.size.length))
                continue;
            if (point.operation != LAYOUT_PREFIX_SUM)
                check_point(point, all);
            else if (point.input_kind != LAYOUT_RANDOM) /* whose sums would not fit an int */
                check_point(point, all & ~(1U << QUICKSORT));
        }
}

TEST(transposes)
{
    static const uint32_t sides[] = {1, 2, 31, 32, 33, 64, 100};
    enum { SIDES = sizeof sides / sizeof sides[0] };
    for (enum layout_type type = LAYOUT_INT; type < types(); type++)
        for (int n = 0; n < SIDES * SIDES; n++)
            check_point((struct layout_point){.type = type, .size = {sides[n / SIDES], sides[n % SIDES]}},
                        1U << TRANSPOSE);
}

TEST(inputs_are_the_papers_and_the_host_sums_ones)
{
    enum { ARRAYS = 3, LENGTH = 40 };
    const struct layout_size size = {ARRAYS, LENGTH};
    for (enum layout_type type = LAYOUT_INT; type < LAYOUT_TYPES; type++) {
        void *rows = room_for(type, size);
        uint32_t rises = 0, falls = 0;
        for (enum layout_input input = LAYOUT_ONES; input < LAYOUT_INPUTS; input++) {
            layout_fill(type, input, size, rows);
            for (uint32_t n = 0; n < ARRAYS * LENGTH; n++) {
                const double value = element(type, rows, n);
                const double before = n % LENGTH ? element(type, rows, n - 1) : value;
                const bool upwards = input == LAYOUT_BY_TURNS && n / LENGTH % 2 == 1;
                if (input == LAYOUT_ONES)
                    assert_true(value == 1);
                else if (input == LAYOUT_RANDOM)
                    rises += value > before, falls += value < before;
                else if (n % LENGTH)
                    assert_true(upwards ? before <= value : before > value);
            }
        }
        layout_fill(type, LAYOUT_ONES, size, rows);
        layout_apply(type, LAYOUT_PREFIX_SUM, size, rows);
        for (uint32_t n = 0; n < ARRAYS * LENGTH; n++)
            assert_true(element(type, rows, n) == n % LENGTH + 1);
        assert_in_range(rises, 35, 85); /* of 117 neighbours, half of which rise on average */
        assert_in_range(falls, 35, 85);
    }
}

ASCENDING(ascending, double)

/* Many equal numbers, which no input of the bench has beside others. */
TEST(the_host_sorts_equal_numbers)
{
    static const uint32_t lengths[] = {1, 2, 16, 17, 128, 333};
    for (enum layout_type type = LAYOUT_INT; type < LAYOUT_TYPES; type++)
        for (int n = 0; n < 6; n++) {
            const struct layout_size size = {3, lengths[n]};
            const size_t bytes = layout_bytes(type, size), count = (size_t)size.arrays * size.length;
            double *values = test_array(count, sizeof *values);
            void *numbers = room_for(type, size), *expected = room_for(type, size),
                 *sorted = room_for(type, size);
            for (size_t k = 0; k < count; k++)
                layout_set(type, numbers, k, values[k] = (double)(k * k % 29) - 14);
            for (uint32_t i = 0; i < size.arrays; i++)
                qsort(values + (size_t)i * size.length, size.length, sizeof *values, ascending);
            for (size_t k = 0; k < count; k++)
                layout_set(type, expected, k, values[k]);
            for (enum layout_operation sort = LAYOUT_BUBBLE_SORT; sort <= LAYOUT_QUICKSORT; sort++) {
                if (sort == LAYOUT_BITONIC_SORT && !is_power_of_two(size.length))
                    continue;
                memcpy(sorted, numbers, bytes);
                layout_apply(type, sort, size, sorted);
                assert_memory_equal(sorted, expected, bytes);
            }
        }
}

TEST_MAIN(open_device, close_device)
