/* FFT: the choice between VkFFT and FFTW. */
#include "field/fft.h"

#include "base/integers.h"

#include <inttypes.h>

size_t fft_complex_bytes(const struct grid *grid, uint32_t columns, enum precision precision)
{
    return (size_t)grid->nx * at_least(columns, 1) * 2 * precision_bytes(precision);
}

uint32_t fft_first_column(const struct grid *grid, int rank_count, int rank)
{
    return (uint32_t)((uint64_t)(grid->ny / 2 + 1) * (uint64_t)rank / (uint64_t)rank_count);
}

/* VkFFT plans a transform along the columns, too, which is never run. It has them of small primes alone. Rows
 * of powers of two would put all numbers of a column in few lines of a CPU's cache. */
uint32_t fft_columns(const struct grid *grid, int rank_count, int rank)
{
    static const uint32_t primes[] = {2, 3, 5, 7, 11, 13};
    const uint32_t own =
        fft_first_column(grid, rank_count, rank + 1) - fft_first_column(grid, rank_count, rank);
    for (uint32_t columns = own > 1 || own == 0 ? own : 2;; columns++) {
        uint32_t rest = columns;
        for (size_t n = 0; n < sizeof primes / sizeof primes[0]; n++)
            while (rest > 1 && rest % primes[n] == 0)
                rest /= primes[n];
        if (rest <= 1 && (columns % 32 != 0 || columns == 0))
            return columns;
    }
}

/* Enqueued transforms use the plans, which go next. */
static void wait_for_device(void *device)
{
    const enum status reported_later = device_finish(device); /* by the next call that waits */
    (void)reported_later;
}

static bool takes_vkfft(const struct device *device, enum transform_library library)
{
    return library == TRANSFORMS_VKFFT || (library == TRANSFORMS_AUTO && !device_info(device)->is_cpu);
}

/* VkFFT's kernels follow from these numbers. */
#define OPTIONS "%" SCNu32 " %" SCNu32 " %d %" SCNu32 " %d %d %" SCNu32 " %" SCNu32

/* *unsupported: there is no such transform of VkFFT. On a counting device nothing is planned. */
static enum status plan_vkfft(struct fft *fft, enum transform_library library, bool *unsupported)
{
    char options[128];
    snprintf(options, sizeof options, OPTIONS, fft->grid.nx, fft->grid.ny, (int)fft->axes, fft->columns,
             (int)fft->precision, (int)library, fft->batch[FFT_FORWARD], fft->batch[FFT_INVERSE]);
    *unsupported = false;
    TRY(device_begin_library(fft->device, options));
    const enum status status =
        device_is_counting(fft->device) ? STATUS_OK : fft_vkfft_create(fft, unsupported);
    device_end_library(fft->device, status == STATUS_OK || *unsupported);
    return status;
}

static enum status make_plans(struct fft *fft, enum transform_library library)
{
    bool unsupported = true;
    if (takes_vkfft(fft->device, library)) {
        const enum status status = plan_vkfft(fft, library, &unsupported);
        if (!unsupported || library == TRANSFORMS_VKFFT)
            return status;
        /* VkFFT has no transform of some long odd lengths where the local memory is small. */
    }
    return device_is_counting(fft->device) ? STATUS_OK : fft_fftw_create(fft);
}

/* A transform that is not planned yet. */
static enum status begin_fft(struct device *device, const struct grid *grid, enum fft_axes axes,
                             uint32_t columns, enum precision precision, const uint32_t batch[FFT_DIRECTIONS],
                             struct fft **fft)
{
    const size_t real_bytes = grid_cells(grid) * precision_bytes(precision);
    const size_t modes_bytes = fft_complex_bytes(grid, columns, precision);
    TRY(DEVICE_NEW(device, *fft));
    **fft = (struct fft){.name = "none",
                         /* along y real numbers become modes, along x modes become modes in place */
                         .bytes = real_bytes + 3 * (uint64_t)modes_bytes,
                         .real_bytes = real_bytes,
                         .modes_bytes = modes_bytes,
                         .device = device,
                         .grid = *grid,
                         .axes = axes,
                         .columns = columns,
                         .precision = precision,
                         .batch = {batch[FFT_FORWARD], batch[FFT_INVERSE]}};
    return STATUS_OK;
}

enum status fft_build(struct device *device, const char *options)
{
    struct grid grid = {0};
    int axes = 0, precision = 0, library = 0;
    uint32_t columns = 0, batch[FFT_DIRECTIONS];
    bool unsupported;
    struct fft *fft;
    if (sscanf(options, OPTIONS, &grid.nx, &grid.ny, &axes, &columns, &precision, &library,
               &batch[FFT_FORWARD], &batch[FFT_INVERSE]) != 8)
        return status_fail(STATUS_USAGE, "'%s' are no options of a transform", options);
    TRY(begin_fft(device, &grid, (enum fft_axes)axes, columns, (enum precision)precision, batch, &fft));
    return plan_vkfft(fft, (enum transform_library)library, &unsupported);
}

enum status fft_create(struct device *device, const struct grid *grid, enum fft_axes axes, uint32_t columns,
                       enum precision precision, enum transform_library library,
                       const uint32_t batch[FFT_DIRECTIONS], struct fft **fft)
{
    TRY(begin_fft(device, grid, axes, columns, precision, batch, fft));
    if (columns == 0)
        return STATUS_OK;
    TRY(make_plans(*fft, library));
    TRY(fft_prove(*fft));
    return device_at_close(device, wait_for_device, device);
}

enum status fft_run(struct fft *fft, enum fft_direction direction, uint32_t arrays, struct buffer *real,
                    struct buffer *modes)
{
    if (arrays != 1 && arrays != fft->batch[direction])
        return status_fail(STATUS_FAILED, "%u arrays are no batch of %u", arrays, fft->batch[direction]);
    return fft->run ? fft->run(fft, direction, arrays, real, modes) : STATUS_OK;
}
