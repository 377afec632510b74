/* Choose: several processes of a machine share its devices. PoCL is asked to show two for one processor, so
 * that there are several CPU devices wherever PoCL is the CPU's driver. */
#include "support/test_support.h"

#include "device/device.h"

#include <CL/cl.h>
#include <dlfcn.h>
#include <string.h>

enum { MOST = 64 };

/* What stands in the place of the names of all devices, where it is set. */
static const char *false_name;

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *needed)
{
    cl_int (*ask)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    *(void **)&ask = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    if (what != CL_DEVICE_NAME || !false_name || !value)
        return ask(device, what, size, value, needed);
    strncpy(value, false_name, size);
    return CL_SUCCESS;
}

static struct device_info devices[MOST];
static size_t device_count;

static void assert_opens(const char *spec, uint32_t share, const struct device_info *expected)
{
    struct device *device = NULL;
    assert_ok(device_open(spec, share, 0, &device));
    const struct device_info *found = device_info(device);
    assert_int_equal(found->platform_index, expected->platform_index);
    assert_int_equal(found->device_index, expected->device_index);
    assert_string_equal(found->name, expected->name);
    device_close(&device);
}

/* All devices, by their numbers. */
static int list_devices(void **state)
{
    (void)state;
    setenv("POCL_DEVICES", "basic pthread", 1);
    for (unsigned platform = 0; platform < 8; platform++) {
        for (unsigned number = 0; number < 16 && device_count < MOST; number++) {
            char spec[32];
            struct device *device = NULL;
            snprintf(spec, sizeof spec, "%u:%u", platform, number);
            if (device_open(spec, 0, 0, &device) == STATUS_OK)
                devices[device_count++] = *device_info(device);
            device_close(&device);
        }
    }
    return device_count > 0 ? 0 : -1;
}

static bool is_cpu(const struct device_info *info)
{
    return info->is_cpu;
}

static bool is_gpu(const struct device_info *info)
{
    return info->is_gpu;
}

static bool is_of_first_platform(const struct device_info *info)
{
    return strcmp(info->platform, devices[0].platform) == 0;
}

/* Twice around those that fit, in their order. Returns how many they are. */
static uint32_t assert_shared(const char *spec, bool (*fits)(const struct device_info *info))
{
    uint32_t fitting = 0;
    for (size_t n = 0; n < device_count; n++)
        fitting += fits(&devices[n]);
    for (uint32_t share = 0, n = 0; share < 2 * fitting; share++, n++) {
        while (!fits(&devices[n % device_count]))
            n++;
        assert_opens(spec, share, &devices[n % device_count]);
    }
    return fitting;
}

TEST(devices_of_a_kind_are_shared_in_turn)
{
    const uint32_t cpus = assert_shared("cpu", is_cpu), gpus = assert_shared("gpu", is_gpu);
    if (gpus > 0)
        assert_shared("auto", is_gpu);
    else if (cpus == device_count)
        assert_shared("auto", is_cpu);
    print_message("%u CPU devices, %u GPUs\n", cpus, gpus);
}

TEST(devices_of_a_name_are_shared_in_turn)
{
    assert_true(assert_shared(devices[0].platform, is_of_first_platform) > 0);
}

TEST(a_device_by_its_numbers_is_that_one)
{
    for (size_t n = 0; n < device_count; n++) {
        char spec[32];
        snprintf(spec, sizeof spec, "%u:%u", devices[n].platform_index, devices[n].device_index);
        for (uint32_t share = 0; share < 3; share++)
            assert_opens(spec, share, &devices[n]);
    }
}

TEST(what_fits_none_is_refused_for_any_share)
{
    static const char *const specs[] = {"abacus", "1000:0", " 0:0",         "0: 0",
                                        "0:+0",   "0:",     "4294967296:0", "0:0x"};
    struct device *device = NULL;
    for (uint32_t share = 0; share < 3; share++)
        for (size_t n = 0; n < sizeof specs / sizeof specs[0]; n++)
            assert_int_equal(device_open(specs[n], share, 0, &device), STATUS_NO_DEVICE);
    assert_int_equal(device_open("", 1, 0, &device), STATUS_NO_DEVICE);
}

TEST(names_are_escaped)
{
    struct device *device = NULL;
    false_name = "a\x1B[31m\nb";
    assert_ok(device_open("auto", 0, 0, &device));
    assert_string_equal(device_info(device)->name, "a\\x1B[31m\\x0Ab");
    device_close(&device);
    false_name = NULL;
}

TEST_MAIN(list_devices, NULL)
