/* Device fixture: one open device for all tests of a program, by TEST_MAIN(open_device, close_device), and a
 * branch of it for each test: with the branch goes what the test made. */
#ifndef RADIXPIC_TEST_DEVICE_FIXTURE_H
#define RADIXPIC_TEST_DEVICE_FIXTURE_H

#include "support/test_support.h"

#include "device/device.h"

static struct device *opened_device, *device;

static int open_device(void **state)
{
    (void)state;
    if (device_open(test_device_spec(), 0, 0, &opened_device) != STATUS_OK) {
        fprintf(stderr, "%s\n", status_message());
        return -1;
    }
    device = opened_device;
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    device_close(&opened_device);
    return 0;
}

static inline int open_branch(void **state)
{
    (void)state;
    return device_branch(opened_device, &device) == STATUS_OK ? 0 : -1;
}

static inline int close_branch(void **state)
{
    device_close(&device);
    device = opened_device;
    return free_arrays(state);
}

static inline bool has_precision(enum precision precision)
{
    return precision == PRECISION_SINGLE || device_info(device)->has_fp64;
}

static inline enum precision best_precision(void)
{
    return has_precision(PRECISION_DOUBLE) ? PRECISION_DOUBLE : PRECISION_SINGLE;
}

/* One rounding of the precision, relative. */
static inline double test_epsilon(enum precision precision)
{
    return precision == PRECISION_SINGLE ? 0x1p-23 : 0x1p-52;
}

/* Kernels built from now on are optimised, or not. Those of GPUs run on a CPU in tests alone, and PoCL, which
 * reads this variable at every build, compiles them in less time so. PoCL 6 ends the process by a failed
 * assertion where a kernel that is not optimised declares local memory that it does not use: PoCL 3 alone. */
static inline void test_optimise(bool is_wanted)
{
    if (is_wanted || strncmp(device_info(device)->driver, "3.", 2) != 0)
        unsetenv("POCL_EXTRA_BUILD_FLAGS");
    else
        setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 1);
}

/* An array of the test with these bytes; with any, where `contents` is NULL. */
static inline struct buffer *test_buffer(size_t bytes, const void *contents)
{
    struct buffer *buffer = NULL;
    assert_ok(buffer_create(device, bytes, "an array of the test", &buffer));
    if (contents)
        assert_ok(buffer_write(buffer, 0, bytes, contents));
    return buffer;
}

#undef TEST
#define TEST(name) TEST_WITH(name, open_branch, close_branch)

#endif
