/* Device fixture: one open device for all tests of a program, for cmocka_run_group_tests(tests, open_device,
 * close_device). */
#ifndef RADIXPIC_TEST_DEVICE_FIXTURE_H
#define RADIXPIC_TEST_DEVICE_FIXTURE_H

#include "support/test_support.h"

#include "device/device.h"

static struct device *device;

static int open_device(void **state)
{
    (void)state;
    if (device_open(test_device_spec(), &device) != STATUS_OK) {
        fprintf(stderr, "%s\n", status_message());
        return -1;
    }
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    device_close(&device);
    return 0;
}

#endif
