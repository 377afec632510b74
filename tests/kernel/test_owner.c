/* Device handles: what is made through one dies with it, in reverse order; and devices that only count. */
#include "support/device_fixture.h"
#include "support/test_support.h"

static char closed[8];
static size_t closings;

static void note(void *object)
{
    closed[closings++] = *(const char *)object;
}

TEST(closes_in_reverse_order)
{
    static char a = 'a', b = 'b', c = 'c', d = 'd';
    struct device *branch = NULL, *twig = NULL;
    assert_ok(device_branch(device, &branch));
    assert_ok(device_at_close(branch, note, &a));
    assert_ok(device_branch(branch, &twig));
    assert_ok(device_at_close(branch, note, &b));
    assert_ok(device_at_close(twig, note, &c));
    assert_ok(device_at_close(twig, note, &d));
    device_close(&branch);
    assert_null(branch);
    assert_int_equal(closings, 4);
    assert_memory_equal(closed, "bdca", 4);
}

TEST(frees_what_a_branch_holds)
{
    const size_t held = device_bytes_held(device);
    struct device *branch = NULL;
    struct buffer *early = NULL, *late = NULL, *view = NULL;
    void *memory = NULL;
    uint64_t *numbers = NULL;
    assert_ok(device_branch(device, &branch));
    assert_ok(buffer_create(branch, 3 * BUFFER_VIEW_ALIGNMENT, "early", &early));
    assert_ok(buffer_view(early, BUFFER_VIEW_ALIGNMENT, 8, &view));
    assert_ok(buffer_create(branch, 100, "late", &late));
    assert_ok(host_memory_create(branch, 64, &memory));
    assert_ok(DEVICE_NEW_ARRAY(branch, numbers, 1000));
    for (size_t n = 0; n < 1000; n++)
        assert_int_equal(numbers[n], 0);
    assert_int_equal(device_bytes_held(device), held + 3 * BUFFER_VIEW_ALIGNMENT + 100);
    buffer_destroy(&late); /* before its owner */
    assert_int_equal(device_bytes_held(device), held + 3 * BUFFER_VIEW_ALIGNMENT);
    device_close(&branch);
    assert_int_equal(device_bytes_held(device), held);
}

/* A swap leaves each buffer with its owner: closing one owner keeps what came from it to the other. */
TEST(swaps_between_owners)
{
    struct device *branch = NULL;
    struct buffer *kept = NULL, *closing = NULL;
    const uint32_t mine = 1, others = 2;
    uint32_t value = 0;
    assert_ok(device_branch(device, &branch));
    assert_ok(buffer_create(device, sizeof mine, "kept", &kept));
    assert_ok(buffer_create(branch, 2 * sizeof mine, "closing", &closing));
    assert_ok(buffer_write(kept, 0, sizeof mine, &mine));
    assert_ok(buffer_write(closing, 0, sizeof others, &others));
    buffer_swap(kept, closing);
    device_close(&branch);
    assert_int_equal(buffer_bytes(kept), 2 * sizeof mine);
    assert_ok(buffer_read(kept, 0, sizeof value, &value));
    assert_int_equal(value, others);
    buffer_destroy(&kept);
}

TEST(counts_without_a_device)
{
    struct device *counting = NULL;
    struct buffer *large = NULL, *small = NULL;
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    uint32_t value = 7;
    void *memory = NULL;
    assert_ok(device_open_counting(device_info(device), &counting));
    assert_true(device_is_counting(counting));
    assert_false(device_is_counting(device));
    assert_ok(buffer_create(counting, (size_t)1 << 50, "more than there is", &large));
    assert_ok(buffer_create(counting, 8, "little", &small));
    assert_int_equal(device_bytes_held(counting), ((size_t)1 << 50) + 8);
    buffer_destroy(&large);
    assert_int_equal(device_bytes_held(counting), 8);
    assert_int_equal(device_most_bytes_held(counting), ((size_t)1 << 50) + 8);
    assert_ok(program_build(counting, "permute.cl", PRECISION_SINGLE, &program, "%s", ""));
    assert_ok(kernel_create(program, "no such kernel", &kernel));
    assert_ok(KERNEL_LAUNCH(kernel, ((struct launch){1, 1, STAGE_OTHER, 0}), small));
    assert_ok(buffer_fill(small, 3));
    assert_ok(buffer_read(small, 0, sizeof value, &value));
    assert_int_equal(value, 0);
    assert_ok(buffer_map(small, &memory));
    assert_ok(buffer_unmap(small, memory));
    assert_ok(device_fork(counting));
    assert_ok(device_use(counting, QUEUE_SIDE));
    assert_ok(device_join(counting));
    assert_ok(device_finish(counting));
    device_close(&counting);
}

TEST_MAIN(open_device, close_device)
