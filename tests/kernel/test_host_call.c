/* Host call and views of buffers: the order of the queue and of the buffers, queued and waiting. */
#include "support/device_fixture.h"

enum { NUMBERS = 3 };

/* memory[n][0] becomes 10 times itself plus n. */
static void note_places(const void *context, void *const *memory)
{
    assert_null(context);
    for (uint32_t n = 0; n < HOST_CALL_BUFFERS; n++) {
        uint32_t *numbers = memory[n];
        numbers[0] = 10 * numbers[0] + n;
    }
}

static uint32_t first_number(const struct buffer *buffer)
{
    uint32_t number = 0;
    assert_ok(buffer_read(buffer, 0, sizeof number, &number));
    return number;
}

static void check_places(void)
{
    struct buffer *made[HOST_CALL_BUFFERS];
    for (size_t n = 0; n < HOST_CALL_BUFFERS; n++)
        made[n] = test_buffer(NUMBERS * sizeof(uint32_t), NULL);
    for (size_t first = 0; first < HOST_CALL_BUFFERS; first++) {
        struct buffer *const given[] = {made[first], made[1 - first]};
        for (size_t n = 0; n < HOST_CALL_BUFFERS; n++)
            assert_ok(buffer_fill(given[n], 7)); /* enqueued: the call must come after it, */
        assert_ok(device_call_host(device, note_places, NULL, given));
        assert_ok(device_call_host(device, note_places, NULL, given));
        for (size_t n = 0; n < HOST_CALL_BUFFERS; n++) /* and the read after both */
            assert_int_equal(first_number(given[n]), 700 + 11 * n);
    }
}

static void check_timed(void)
{
    struct buffer *given[HOST_CALL_BUFFERS];
    for (size_t n = 0; n < HOST_CALL_BUFFERS; n++)
        given[n] = test_buffer(sizeof(uint32_t), NULL);
    device_reset_timers(device);
    assert_ok(device_region_begin(device));
    assert_ok(device_call_host(device, note_places, NULL, given));
    assert_ok(device_region_end(device, STAGE_FIELD, 4, STATUS_OK));
    const struct stage_time *field = &device_timers(device)->stages[STAGE_FIELD];
    assert_int_equal(field->launches, 1);
    assert_int_equal(field->bytes, 4);
    assert_true(field->seconds > 0.0);
}

TEST(every_buffer_has_its_place_and_calls_are_timed)
{
    check_places();
    check_timed();
    assert_false(device_queue_host_calls(device, false)); /* and where a call waits */
    check_places();
    check_timed();
    device_queue_host_calls(device, true);
}

TEST(a_view_is_part_of_its_buffer)
{
    const size_t bytes = NUMBERS * sizeof(uint32_t), stride = buffer_view_stride(bytes);
    const size_t before = device_bytes_held(device);
    struct buffer *whole = test_buffer(2 * stride, NULL), *view = NULL;
    assert_ok(buffer_view(whole, stride, bytes, &view));
    assert_int_equal(buffer_bytes(view), bytes);
    assert_int_equal(device_bytes_held(device), before + 2 * stride); /* a view takes nothing */
    assert_ok(buffer_fill(whole, 5));
    assert_ok(buffer_fill(view, 6));
    const size_t offsets[] = {0, stride - 4, stride, stride + 8, stride + 12};
    const uint32_t expected[] = {5, 5, 6, 6, 5};
    for (size_t n = 0; n < sizeof offsets / sizeof offsets[0]; n++) {
        uint32_t number = 0;
        assert_ok(buffer_read(whole, offsets[n], sizeof number, &number));
        assert_int_equal(number, expected[n]);
    }
    assert_int_equal(first_number(view), 6);
    buffer_destroy(&view);
    assert_int_equal(device_bytes_held(device), before + 2 * stride);
    buffer_destroy(&whole);
    assert_int_equal(device_bytes_held(device), before);
}

TEST(strides_hold_what_they_should)
{
    assert_int_equal(buffer_view_stride(1), BUFFER_VIEW_ALIGNMENT);
    assert_int_equal(buffer_view_stride(BUFFER_VIEW_ALIGNMENT), BUFFER_VIEW_ALIGNMENT);
    assert_int_equal(buffer_view_stride(BUFFER_VIEW_ALIGNMENT + 1), 2 * BUFFER_VIEW_ALIGNMENT);
}

TEST_MAIN(open_device, close_device)
