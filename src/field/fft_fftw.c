/* FFT by FFTW in mapped memory: on a CPU device that is the device's own memory, elsewhere a copy.
 *
 * Plans are estimated, not measured: a measured plan depends on the moment's timing, and with it the last
 * bits of every result.
 */
#include "field/fft_backend.h"

#include <fftw3.h>
#include <stdlib.h>

/* One pair is made, that of the precision; the other stays NULL. */
struct fftw_plans {
    fftwf_plan forward_single, inverse_single;
    fftw_plan forward_double, inverse_double;
};

static void destroy_plans(void *plans)
{
    struct fftw_plans *made = plans;
    if (made->forward_single)
        fftwf_destroy_plan(made->forward_single);
    if (made->inverse_single)
        fftwf_destroy_plan(made->inverse_single);
    if (made->forward_double)
        fftw_destroy_plan(made->forward_double);
    if (made->inverse_double)
        fftw_destroy_plan(made->inverse_double);
    free(made);
}

static void execute_forward(const struct fft *fft, void *real, void *modes)
{
    const struct fftw_plans *plans = fft->plans;
    if (fft->precision == PRECISION_DOUBLE)
        fftw_execute_dft_r2c(plans->forward_double, real, modes);
    else
        fftwf_execute_dft_r2c(plans->forward_single, real, modes);
}

static void execute_inverse(const struct fft *fft, void *real, void *modes)
{
    const struct fftw_plans *plans = fft->plans;
    if (fft->precision == PRECISION_DOUBLE)
        fftw_execute_dft_c2r(plans->inverse_double, modes, real);
    else
        fftwf_execute_dft_c2r(plans->inverse_single, modes, real);
}

static enum status with_mapped(struct fft *fft, struct buffer *real, struct buffer *modes,
                               void (*execute)(const struct fft *, void *, void *))
{
    /* What is still in the queue has timers of its own. */
    TRY(device_finish(fft->device));
    const double start = timer_now();
    void *real_memory = NULL, *modes_memory = NULL;
    TRY(buffer_map(real, &real_memory));
    enum status status = buffer_map(modes, &modes_memory);
    if (status == STATUS_OK) {
        execute(fft, real_memory, modes_memory);
        status = buffer_unmap(modes, modes_memory);
    }
    const enum status unmapped = buffer_unmap(real, real_memory);
    device_add_time(fft->device, STAGE_FIELD, timer_now() - start, fft->bytes);
    return status != STATUS_OK ? status : unmapped;
}

static enum status forward(struct fft *fft, struct buffer *real, struct buffer *modes)
{
    return with_mapped(fft, real, modes, execute_forward);
}

static enum status inverse(struct fft *fft, struct buffer *modes, struct buffer *real)
{
    return with_mapped(fft, real, modes, execute_inverse);
}

/* Estimating leaves the arrays alone; FFTW only looks at where they are. */
static enum status make_plans(struct fftw_plans *plans, const struct grid *grid, enum precision precision,
                              void *real, void *modes)
{
    const int nx = (int)grid->nx, ny = (int)grid->ny;
    const unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;
    bool made = false;
    if (precision == PRECISION_DOUBLE) {
        plans->forward_double = fftw_plan_dft_r2c_2d(nx, ny, real, modes, flags);
        plans->inverse_double = fftw_plan_dft_c2r_2d(nx, ny, modes, real, flags);
        made = plans->forward_double && plans->inverse_double;
    } else {
        plans->forward_single = fftwf_plan_dft_r2c_2d(nx, ny, real, modes, flags);
        plans->inverse_single = fftwf_plan_dft_c2r_2d(nx, ny, modes, real, flags);
        made = plans->forward_single && plans->inverse_single;
    }
    if (!made)
        return status_fail(STATUS_FAILED, "FFTW makes no plan for %d x %d cells", nx, ny);
    return STATUS_OK;
}

enum status fft_fftw_create(struct fft *fft, const struct grid *grid)
{
    fft->name = "FFTW";
    fft->forward = forward;
    fft->inverse = inverse;
    fft->destroy_plans = destroy_plans;
    fft->plans = calloc(1, sizeof(struct fftw_plans));

    void *real = fftw_malloc(grid_cells(grid) * precision_bytes(fft->precision));
    void *modes = fftw_malloc(fft_complex_bytes(grid, fft->precision));
    enum status status = STATUS_OK;
    if (!fft->plans || !real || !modes)
        status = status_fail(STATUS_FAILED, "no memory to plan a Fourier transform of %u x %u cells",
                             grid->nx, grid->ny);
    else
        status = make_plans(fft->plans, grid, fft->precision, real, modes);
    fftw_free(modes);
    fftw_free(real);
    return status;
}
