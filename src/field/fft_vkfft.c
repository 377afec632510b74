/* FFT by VkFFT on the device. The only file outside device/ that sees OpenCL headers, because VkFFT takes
 * native handles. */
#include "field/fft_backend.h"

#define VKFFT_BACKEND 3 /* OpenCL */
#include <vkFFT.h>

/* VkFFT keeps pointers to the handles and sizes, so they live as long as its application. */
struct vkfft_plans {
    VkFFTApplication application;
    bool initialised;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    uint64_t real_bytes, modes_bytes;
};

/* The result numbers are those of VkFFT's enum VkFFTResult; these names cover what a grid or a device can
 * cause. */
static const char *result_name(VkFFTResult result)
{
    switch (result) {
    case VKFFT_ERROR_MALLOC_FAILED:
        return "no host memory";
    case VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH_R2C:
        return "an odd number of cells along y this long does not fit the device's local memory; take an "
               "even number, or fields.solver: fftw";
    case VKFFT_ERROR_UNSUPPORTED_RADIX:
    case VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH:
        return "it has no transform of this length; take other numbers of cells, or fields.solver: fftw";
    case VKFFT_ERROR_FAILED_TO_ALLOCATE:
    case VKFFT_ERROR_FAILED_TO_CREATE_BUFFER:
    case VKFFT_ERROR_FAILED_TO_ALLOCATE_MEMORY:
        return "no device memory";
    case VKFFT_ERROR_FAILED_TO_CREATE_PROGRAM:
    case VKFFT_ERROR_FAILED_TO_COMPILE_PROGRAM:
        return "its kernels do not build on this device; take fields.solver: fftw";
    case VKFFT_ERROR_FAILED_TO_LAUNCH_KERNEL:
        return "a kernel could not be launched";
    default:
        return "see VkFFTResult in vkFFT.h";
    }
}

static enum status vkfft_check(const struct fft *fft, VkFFTResult result, const char *action)
{
    if (result == VKFFT_SUCCESS)
        return STATUS_OK;
    return status_fail(STATUS_FAILED, "%s: VkFFT fails %s: %s (VkFFTResult %d)",
                       device_info(fft->device)->name, action, result_name(result), (int)result);
}

static void destroy_plans(void *plans)
{
    struct vkfft_plans *made = plans;
    if (made->initialised)
        deleteVkFFT(&made->application);
    free(made);
}

static enum status transform(struct fft *fft, int direction, struct buffer *real, struct buffer *modes)
{
    struct vkfft_plans *plans = fft->plans;
    cl_mem real_memory = buffer_native(real), modes_memory = buffer_native(modes);
    VkFFTLaunchParams launch = {
        .commandQueue = &plans->queue, .buffer = &modes_memory, .inputBuffer = &real_memory};
    TRY(device_region_begin(fft->device));
    const VkFFTResult result = VkFFTAppend(&plans->application, direction, &launch);
    TRY(device_region_end(fft->device, STAGE_FIELD, fft->bytes));
    return vkfft_check(fft, result, "to enqueue a transform");
}

static enum status forward(struct fft *fft, struct buffer *real, struct buffer *modes)
{
    return transform(fft, -1, real, modes);
}

static enum status inverse(struct fft *fft, struct buffer *modes, struct buffer *real)
{
    return transform(fft, 1, real, modes);
}

static bool is_unsupported(VkFFTResult result)
{
    return result == VKFFT_ERROR_UNSUPPORTED_RADIX || result == VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH ||
           result == VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH_R2C;
}

enum status fft_vkfft_create(struct fft *fft, const struct grid *grid, bool *unsupported)
{
    struct vkfft_plans *plans = calloc(1, sizeof *plans);
    *unsupported = false;
    if (!plans)
        return status_fail(STATUS_FAILED, "no memory for the plans of VkFFT");
    fft->name = "VkFFT";
    fft->forward = forward;
    fft->inverse = inverse;
    fft->destroy_plans = destroy_plans;
    fft->plans = plans;

    const struct device_native native = device_native(fft->device);
    plans->device = native.device;
    plans->context = native.context;
    plans->queue = native.queue;
    plans->real_bytes = grid_cells(grid) * (uint64_t)precision_bytes(fft->precision);
    plans->modes_bytes = fft_complex_bytes(grid, fft->precision);
    /* VkFFT's first axis is the one whose elements are neighbours in memory: y. */
    const VkFFTConfiguration configuration = {
        .FFTdim = 2,
        .size = {grid->ny, grid->nx, 1},
        .device = &plans->device,
        .context = &plans->context,
        .performR2C = 1,
        .doublePrecision = fft->precision == PRECISION_DOUBLE,
        .isInputFormatted = 1,
        .inverseReturnToInputBuffer = 1,
        .inputBufferStride = {grid->ny, grid_cells(grid), grid_cells(grid)},
        .inputBufferSize = &plans->real_bytes,
        .bufferSize = &plans->modes_bytes,
    };
    const VkFFTResult result = initializeVkFFT(&plans->application, configuration);
    *unsupported = is_unsupported(result);
    plans->initialised = result == VKFFT_SUCCESS; /* after a failure VkFFT has freed everything itself */
    return vkfft_check(fft, result, "to plan a transform");
}
