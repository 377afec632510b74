/* Child queue: the device's own queue, on which its kernels launch other kernels (OpenCL 2.0). */

/* The headers are those of OpenCL 1.2 everywhere else. The one function of 2.0 is weak, so that the program
 * still links with a loader of 1.2. */
#undef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 200
#include "device/internal.h"

#pragma weak clCreateCommandQueueWithProperties

/* What one launch may take in the queue: how much a device takes of it, it does not tell. */
enum { LAUNCH_BYTES = 1024 };

enum status device_child_queue(struct device *device, uint32_t wanted, uint32_t *fit)
{
    *fit = device->core->child_launches;
    if (device->core->child_queue)
        return STATUS_OK;
    if (!device->core->info.can_enqueue || !clCreateCommandQueueWithProperties)
        return status_fail(STATUS_FAILED, "%s: kernels cannot launch kernels: no device-side enqueue",
                           device->core->info.name);
    cl_uint most = 0;
    TRY(opencl_check(
        device,
        clGetDeviceInfo(device->core->id, CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, sizeof most, &most, NULL),
        "asking how large its on-device queue may be"));
    const cl_uint launches = wanted < most / LAUNCH_BYTES ? wanted : most / LAUNCH_BYTES;
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES,
                                              CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT |
                                                  CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                                              CL_QUEUE_SIZE, (cl_queue_properties)launches * LAUNCH_BYTES, 0};
    cl_int error = CL_SUCCESS;
    device->core->child_queue =
        clCreateCommandQueueWithProperties(device->core->context, device->core->id, properties, &error);
    TRY(opencl_check(device, error, "creating its on-device queue"));
    *fit = device->core->child_launches = launches;
    return STATUS_OK;
}
