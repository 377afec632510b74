/* FFT by VkFFT on the device, which takes native handles: so this file outside device/ has OpenCL headers. */
#include "field/fft.h"

#define VKFFT_BACKEND 3 /* OpenCL */
#include <vkFFT.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* VkFFT's word for the plans of one shape. */
struct application {
    VkFFTApplication handle;
    uint64_t real_bytes, modes_bytes;
    bool one_by_one; /* it transforms an array of a batch at a time */
};

/* VkFFT keeps pointers to the handles and sizes, so they live as long as its applications. */
struct vkfft_plans {
    struct application one, batch[FFT_DIRECTIONS]; /* of one array in both directions; of several in one */
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
};

/* Results of VkFFT's enum VkFFTResult: these names cover what a grid or a device can cause. */
static const char *result_name(VkFFTResult result)
{
    switch (result) {
    case VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH_R2C:
        return "an odd number of cells along y this long does not fit the device's local memory; take an "
               "even number, or fields.transforms: fftw";
    case VKFFT_ERROR_UNSUPPORTED_RADIX:
    case VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH:
        return "it has no transform of this length; take other numbers of cells, or fields.transforms: fftw";
    case VKFFT_ERROR_FAILED_TO_ALLOCATE:
    case VKFFT_ERROR_FAILED_TO_CREATE_BUFFER:
    case VKFFT_ERROR_FAILED_TO_ALLOCATE_MEMORY:
        return "no device memory";
    case VKFFT_ERROR_FAILED_TO_CREATE_PROGRAM:
    case VKFFT_ERROR_FAILED_TO_COMPILE_PROGRAM:
        return "its kernels do not build on this device; take fields.transforms: fftw";
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

static void delete_application(void *application)
{
    deleteVkFFT(&((struct application *)application)->handle);
}

/* Array n of a buffer, which may be a view itself; to be released. NULL: there is none. */
static cl_mem array_of(struct buffer *buffer, uint32_t n, size_t bytes)
{
    cl_mem memory = buffer_native(buffer), whole = NULL;
    size_t begin = 0;
    if (clGetMemObjectInfo(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL) != CL_SUCCESS ||
        clGetMemObjectInfo(memory, CL_MEM_OFFSET, sizeof begin, &begin, NULL) != CL_SUCCESS)
        return NULL;
    const cl_buffer_region region = {begin + n * buffer_view_stride(bytes), bytes};
    return clCreateSubBuffer(whole ? whole : memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region,
                             NULL);
}

static enum status append(const struct fft *fft, enum fft_direction direction,
                          struct application *application, cl_mem real, cl_mem modes)
{
    struct vkfft_plans *plans = fft->plans;
    VkFFTLaunchParams launch = {.commandQueue = &plans->queue, .buffer = &modes, .inputBuffer = &real};
    return vkfft_check(fft, VkFFTAppend(&application->handle, direction == FFT_FORWARD ? -1 : 1, &launch),
                       "to enqueue a transform");
}

/* Enqueued transforms keep the arrays that they take. */
static enum status run_one_by_one(const struct fft *fft, enum fft_direction direction, uint32_t arrays,
                                  struct buffer *real, struct buffer *modes)
{
    struct vkfft_plans *plans = fft->plans;
    enum status status = STATUS_OK;
    for (uint32_t n = 0; n < arrays && status == STATUS_OK; n++) {
        cl_mem real_array = fft->axes == FFT_ALONG_X ? NULL : array_of(real, n, fft->real_bytes);
        cl_mem modes_array = array_of(modes, n, fft->modes_bytes);
        status = modes_array && (real_array || fft->axes == FFT_ALONG_X)
                     ? append(fft, direction, &plans->one, real_array, modes_array)
                     : status_fail(STATUS_FAILED,
                                   "%s: OpenCL makes no sub-buffer of array %u of a batch of transforms",
                                   device_info(fft->device)->name, n);
        if (real_array)
            (void)clReleaseMemObject(real_array);
        if (modes_array)
            (void)clReleaseMemObject(modes_array);
    }
    return status;
}

static enum status run(const struct fft *fft, enum fft_direction direction, uint32_t arrays,
                       struct buffer *real, struct buffer *modes)
{
    struct vkfft_plans *plans = fft->plans;
    struct application *application = arrays > 1 ? &plans->batch[direction] : &plans->one;
    return application->one_by_one
               ? run_one_by_one(fft, direction, arrays, real, modes)
               : append(fft, direction, application, buffer_native(real), buffer_native(modes));
}

/* Builds kernels. VkFFT writes their numbers in the locale C of the whole process, and restores the one
 * before by a pointer that setlocale() has made invalid, unless it was C. */
static VkFFTResult initialize_in_locale(VkFFTApplication *handle, VkFFTConfiguration configuration)
{
    char *locale = strdup(setlocale(LC_ALL, NULL));
    if (!locale)
        return VKFFT_ERROR_MALLOC_FAILED;
    setlocale(LC_ALL, "C");
    const VkFFTResult result = initializeVkFFT(handle, configuration);
    setlocale(LC_ALL, locale);
    free(locale);
    return result;
}

/* VkFFT's first axis is y, along which elements are neighbours in memory. Several arrays, which go in one
 * direction, are planes of a third axis. Axes that are not transformed are omitted by name: of axes beyond
 * FFTdim VkFFT 1.2 makes a batch, 1.3 nothing. */
static VkFFTResult initialize(struct fft *fft, uint64_t arrays, enum fft_direction direction,
                              struct application *application)
{
    struct vkfft_plans *plans = fft->plans;
    const struct grid *grid = &fft->grid;
    const size_t real_stride = buffer_view_stride(fft->real_bytes) / precision_bytes(fft->precision);
    const size_t modes_stride = buffer_view_stride(fft->modes_bytes) / (2 * precision_bytes(fft->precision));
    application->real_bytes = arrays * buffer_view_stride(fft->real_bytes);
    application->modes_bytes = arrays * buffer_view_stride(fft->modes_bytes);
    const bool in_place = fft->axes == FFT_ALONG_X;
    const VkFFTConfiguration configuration = {
        .FFTdim = arrays > 1 ? 3 : 2,
        .omitDimension = {in_place, fft->axes == FFT_ALONG_Y, arrays > 1},
        .size = {in_place ? fft->columns : grid->ny, grid->nx, arrays},
        .device = &plans->device,
        .context = &plans->context,
        .performR2C = !in_place,
        .doublePrecision = fft->precision == PRECISION_DOUBLE,
        .isInputFormatted = !in_place,
        .inverseReturnToInputBuffer = !in_place,
        .makeForwardPlanOnly = arrays > 1 && direction == FFT_FORWARD,
        .makeInversePlanOnly = arrays > 1 && direction == FFT_INVERSE,
        .inputBufferStride = {grid->ny, real_stride, arrays * real_stride},
        .inputBufferSize = &application->real_bytes,
        .bufferStride = {fft->columns, modes_stride, arrays * modes_stride},
        .bufferSize = &application->modes_bytes,
    };
    return initialize_in_locale(&application->handle, configuration);
}

/* A long axis takes several passes. VkFFT keeps several arrays between the passes in a buffer of its own, but
 * forgets the space between arrays and writes beyond the buffer's end: so such arrays go one by one. */
static enum status plan(struct fft *fft, uint64_t arrays, enum fft_direction direction,
                        struct application *application, bool *unsupported)
{
    const double start = timer_now();
    const VkFFTResult result = initialize(fft, arrays, direction, application);
    application->one_by_one =
        result == VKFFT_SUCCESS && arrays > 1 && application->handle.configuration.allocateTempBuffer;
    device_add_time(fft->device, STAGE_START_KERNELS, timer_now() - start, 0);
    *unsupported = result == VKFFT_ERROR_UNSUPPORTED_RADIX || result == VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH ||
                   result == VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH_R2C;
    TRY(vkfft_check(fft, result, "to plan a transform")); /* else VkFFT has freed everything itself */
    return device_at_close(fft->device, delete_application, application);
}

enum status fft_vkfft_create(struct fft *fft, bool *unsupported)
{
    const struct device_native native = device_native(fft->device);
    struct vkfft_plans *plans = NULL;
    *unsupported = false;
    TRY(DEVICE_NEW(fft->device, plans));
    plans->device = native.device;
    plans->context = native.context;
    plans->queue = native.queue;
    const int version = VkFFTGetVersion(); /* 10304 is 1.3.4 */
    snprintf(fft->name, sizeof fft->name, "VkFFT %d.%d.%d", version / 10000, version / 100 % 100,
             version % 100);
    fft->run = run;
    fft->plans = plans;
    TRY(plan(fft, 1, FFT_FORWARD, &plans->one, unsupported));
    for (enum fft_direction direction = 0; direction < FFT_DIRECTIONS; direction++)
        if (fft->batch[direction] > 1)
            TRY(plan(fft, fft->batch[direction], direction, &plans->batch[direction], unsupported));
    return STATUS_OK;
}
