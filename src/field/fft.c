/* FFT: the choice between VkFFT and FFTW. */
#include "field/fft_backend.h"

#include <stdlib.h>

size_t fft_complex_bytes(const struct grid *grid, enum precision precision)
{
    return (size_t)grid->nx * (grid->ny / 2 + 1) * 2 * precision_bytes(precision);
}

static void destroy_plans(struct fft *fft)
{
    if (fft->plans)
        fft->destroy_plans(fft->plans);
    fft->plans = NULL;
}

enum status fft_create(struct device *device, const struct grid *grid, enum precision precision,
                       enum solver_kind solver, bool pairs, struct fft **fft)
{
    *fft = NULL;
    struct fft *created = calloc(1, sizeof *created);
    if (!created)
        return status_fail(STATUS_FAILED, "no memory for the plans of a Fourier transform");
    created->device = device;
    created->precision = precision;
    created->pairs = pairs;
    created->real_bytes = grid_cells(grid) * precision_bytes(precision);
    created->modes_bytes = fft_complex_bytes(grid, precision);

    const bool on_host = solver == SOLVER_FFTW || (solver == SOLVER_AUTO && device_info(device)->is_cpu);
    bool unsupported = false;
    enum status status =
        on_host ? fft_fftw_create(created, grid) : fft_vkfft_create(created, grid, &unsupported);
    if (unsupported && solver == SOLVER_AUTO) {
        /* VkFFT has no transform of some long odd lengths where the local memory is small. */
        destroy_plans(created);
        status = fft_fftw_create(created, grid);
    }
    if (status != STATUS_OK)
        fft_destroy(&created);
    *fft = created;
    return status;
}

void fft_destroy(struct fft **fft)
{
    if (!*fft)
        return;
    /* Enqueued transforms use the plans. A failure is not lost: the next call that waits reports it. */
    const enum status reported_later = device_finish((*fft)->device);
    (void)reported_later;
    destroy_plans(*fft);
    free(*fft);
    *fft = NULL;
}

const char *fft_name(const struct fft *fft)
{
    return fft->name;
}

uint64_t fft_bytes(const struct fft *fft)
{
    /* Along y real numbers become modes, along x modes become modes in place. */
    return (uint64_t)fft->real_bytes + 3 * (uint64_t)fft->modes_bytes;
}

enum status fft_forward(struct fft *fft, struct buffer *real, struct buffer *modes)
{
    return fft->forward(fft, real, modes);
}

enum status fft_inverse(struct fft *fft, struct buffer *modes, struct buffer *real)
{
    return fft->inverse(fft, modes, real);
}

enum status fft_inverse_pair(struct fft *fft, struct buffer *modes, struct buffer *real)
{
    return fft->inverse_pair(fft, modes, real);
}
