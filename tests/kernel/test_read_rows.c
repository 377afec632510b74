/* Read rows: the same bytes in one piece of memory as a blocking read brings, on the way of a CPU and on that
 * of a GPU. */
#include "support/device_fixture.h"

#include "device/internal.h"

/* A buffer of numbers 0, 1, ..., of which rows are read. */
static void check_rows(const struct buffer_rows *rows)
{
    const size_t stride = rows->stride / sizeof(uint32_t), begin = rows->begin / sizeof(uint32_t);
    const size_t words = rows->bytes / sizeof(uint32_t), all = (rows->first + rows->count) * stride + 1;
    uint32_t *numbers = test_array(all, sizeof *numbers);
    uint32_t *read = test_array(rows->count * words + 1, sizeof *read);
    for (size_t n = 0; n < all; n++)
        numbers[n] = (uint32_t)n;
    struct buffer *buffer = test_buffer(all * sizeof *numbers, numbers);
    read[rows->count * words] = 12345;
    assert_ok(buffer_read_rows(buffer, rows, read));
    for (size_t n = 0; n < rows->count * words; n++)
        assert_int_equal(read[n], (rows->first + n / words) * stride + begin + n % words);
    assert_int_equal(read[rows->count * words], 12345);
    buffer_destroy(&buffer);
}

TEST(rows_are_read_on_both_ways)
{
    /* None, one, a little, and more than the pinned memory holds, with a rest. */
    static const struct buffer_rows rows[] = {
        {0, 8, 8, 0, 0},      {0, 8, 8, 0, 1},          {0, 8, 8, 5, 1000},        {0, 8, 8, 0, 10000001},
        {8, 8, 16, 3, 77777}, {16, 16, 32, 1, 2100001}, {0, 16, 32, 0, (1 << 20)}, {4, 8, 12, 17, 5600000}};
    const bool is_cpu = device->core->info.is_cpu;
    for (int way = 0; way < 2; way++) {
        device->core->info.is_cpu = way == 0;
        for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
            check_rows(&rows[n]);
    }
    device->core->info.is_cpu = is_cpu;
}

TEST_MAIN(open_device, close_device)
