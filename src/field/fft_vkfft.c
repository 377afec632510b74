/* FFT by VkFFT on the device. The only file outside device/ that sees OpenCL headers, because VkFFT takes
 * native handles. */
#include "field/fft_backend.h"

#define VKFFT_BACKEND 3 /* OpenCL */
#include <vkFFT.h>

/* VkFFT's word for the plans of one shape. */
struct application {
    VkFFTApplication handle;
    bool initialised;
    uint64_t real_bytes, modes_bytes;
};

/* VkFFT keeps pointers to the handles and sizes, so they live as long as its applications. */
struct vkfft_plans {
    struct application one, pair; /* both ways; two arrays at once, only the inverse */
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
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
    if (made->one.initialised)
        deleteVkFFT(&made->one.handle);
    if (made->pair.initialised)
        deleteVkFFT(&made->pair.handle);
    free(made);
}

static enum status transform(struct fft *fft, struct application *application, int direction,
                             struct buffer *real, struct buffer *modes)
{
    struct vkfft_plans *plans = fft->plans;
    cl_mem real_memory = buffer_native(real), modes_memory = buffer_native(modes);
    VkFFTLaunchParams launch = {
        .commandQueue = &plans->queue, .buffer = &modes_memory, .inputBuffer = &real_memory};
    return vkfft_check(fft, VkFFTAppend(&application->handle, direction, &launch), "to enqueue a transform");
}

static enum status forward(struct fft *fft, struct buffer *real, struct buffer *modes)
{
    struct vkfft_plans *plans = fft->plans;
    return transform(fft, &plans->one, -1, real, modes);
}

static enum status inverse(struct fft *fft, struct buffer *modes, struct buffer *real)
{
    struct vkfft_plans *plans = fft->plans;
    return transform(fft, &plans->one, 1, real, modes);
}

static enum status inverse_pair(struct fft *fft, struct buffer *modes, struct buffer *real)
{
    struct vkfft_plans *plans = fft->plans;
    return transform(fft, &plans->pair, 1, real, modes);
}

static bool is_unsupported(VkFFTResult result)
{
    return result == VKFFT_ERROR_UNSUPPORTED_RADIX || result == VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH ||
           result == VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH_R2C;
}

/* VkFFT's first axis is the one whose elements are neighbours in memory: y. A pair is two planes of a third
 * axis, which is not transformed. */
static enum status plan(struct fft *fft, const struct grid *grid, uint64_t arrays,
                        struct application *application, bool *unsupported)
{
    struct vkfft_plans *plans = fft->plans;
    const size_t real_stride = buffer_view_stride(fft->real_bytes) / precision_bytes(fft->precision);
    const size_t modes_stride = buffer_view_stride(fft->modes_bytes) / (2 * precision_bytes(fft->precision));
    application->real_bytes = arrays * buffer_view_stride(fft->real_bytes);
    application->modes_bytes = arrays * buffer_view_stride(fft->modes_bytes);
    const VkFFTConfiguration configuration = {
        .FFTdim = 2,
        .size = {grid->ny, grid->nx, arrays},
        .device = &plans->device,
        .context = &plans->context,
        .performR2C = 1,
        .doublePrecision = fft->precision == PRECISION_DOUBLE,
        .isInputFormatted = 1,
        .inverseReturnToInputBuffer = 1,
        .makeInversePlanOnly = arrays > 1,
        .inputBufferStride = {grid->ny, real_stride, arrays * real_stride},
        .inputBufferSize = &application->real_bytes,
        .bufferStride = {grid->ny / 2 + 1, modes_stride, arrays * modes_stride},
        .bufferSize = &application->modes_bytes,
    };
    const VkFFTResult result = initializeVkFFT(&application->handle, configuration);
    *unsupported = is_unsupported(result);
    application->initialised = result == VKFFT_SUCCESS; /* else VkFFT has freed everything itself */
    return vkfft_check(fft, result, "to plan a transform");
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
    fft->inverse_pair = inverse_pair;
    fft->destroy_plans = destroy_plans;
    fft->plans = plans;

    const struct device_native native = device_native(fft->device);
    plans->device = native.device;
    plans->context = native.context;
    plans->queue = native.queue;
    TRY(plan(fft, grid, 1, &plans->one, unsupported));
    return fft->pairs ? plan(fft, grid, 2, &plans->pair, unsupported) : STATUS_OK;
}
