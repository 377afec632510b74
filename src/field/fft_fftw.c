/* FFT by FFTW on the host, in the order of the queue: on a CPU device in its own memory, elsewhere in a copy.
 *
 * Plans are estimated, not measured: a measured plan depends on the moment's timing, and with it the last
 * bits of every result. Rows and columns are planned apart, which an estimate gets right: it is as fast as a
 * measured two-dimensional plan, and up to 1.8 times as fast as an estimated one.
 */
#include "field/fft_backend.h"

#include <fftw3.h>
#include <stdlib.h>

/* Rows (along y) go between reals and modes, columns (along x) stay in place. */
struct single_plans {
    fftwf_plan rows_forward, columns_forward, columns_inverse, rows_inverse;
};
struct double_plans {
    fftw_plan rows_forward, columns_forward, columns_inverse, rows_inverse;
};

/* One set is made, that of the precision. */
struct fftw_plans {
    struct single_plans in_single;
    struct double_plans in_double;
    size_t real_stride, modes_stride; /* bytes between the arrays of a pair */
};

static void destroy_plans(void *plans)
{
    struct fftw_plans *made = plans;
    const fftwf_plan in_single[] = {made->in_single.rows_forward, made->in_single.columns_forward,
                                    made->in_single.columns_inverse, made->in_single.rows_inverse};
    const fftw_plan in_double[] = {made->in_double.rows_forward, made->in_double.columns_forward,
                                   made->in_double.columns_inverse, made->in_double.rows_inverse};
    for (int n = 0; n < 4; n++) {
        if (in_single[n])
            fftwf_destroy_plan(in_single[n]);
        if (in_double[n])
            fftw_destroy_plan(in_double[n]);
    }
    free(made);
}

/* These two are called by the device, in the order of its queue. OpenCL promises buffers at least the
 * alignment of its longest type, 128 bytes, which is more than plans for vector instructions ask for. */
static void execute_forward(const void *context, void *const *memory)
{
    const struct fftw_plans *plans = context;
    void *real = memory[0], *modes = memory[1];
    if (plans->in_double.rows_forward) {
        fftw_execute_dft_r2c(plans->in_double.rows_forward, real, modes);
        fftw_execute_dft(plans->in_double.columns_forward, modes, modes);
    } else {
        fftwf_execute_dft_r2c(plans->in_single.rows_forward, real, modes);
        fftwf_execute_dft(plans->in_single.columns_forward, modes, modes);
    }
}

static void execute_inverse(const void *context, void *const *memory)
{
    const struct fftw_plans *plans = context;
    void *real = memory[0], *modes = memory[1];
    if (plans->in_double.rows_inverse) {
        fftw_execute_dft(plans->in_double.columns_inverse, modes, modes);
        fftw_execute_dft_c2r(plans->in_double.rows_inverse, modes, real);
    } else {
        fftwf_execute_dft(plans->in_single.columns_inverse, modes, modes);
        fftwf_execute_dft_c2r(plans->in_single.rows_inverse, modes, real);
    }
}

static void execute_inverse_pair(const void *context, void *const *memory)
{
    const struct fftw_plans *plans = context;
    char *real = memory[0], *modes = memory[1];
    execute_inverse(context, memory);
    execute_inverse(context, (void *const[]){real + plans->real_stride, modes + plans->modes_stride});
}

/* Its time is in the region of the caller. */
static enum status call(struct fft *fft, host_function *function, struct buffer *real, struct buffer *modes)
{
    return device_call_host(fft->device, function, fft->plans, (struct buffer *const[]){real, modes}, 2,
                            STAGE_OTHER, 0);
}

static enum status forward(struct fft *fft, struct buffer *real, struct buffer *modes)
{
    return call(fft, execute_forward, real, modes);
}

static enum status inverse(struct fft *fft, struct buffer *modes, struct buffer *real)
{
    return call(fft, execute_inverse, real, modes);
}

static enum status inverse_pair(struct fft *fft, struct buffer *modes, struct buffer *real)
{
    return call(fft, execute_inverse_pair, real, modes);
}

/* Estimating leaves the arrays alone; FFTW only looks at where they are. Row i of modes_y modes follows row
 * i-1; a column has a stride of modes_y. */
static bool plan_in_single(struct single_plans *plans, int nx, int ny, float *real, fftwf_complex *modes)
{
    const int modes_y = ny / 2 + 1;
    plans->rows_forward =
        fftwf_plan_many_dft_r2c(1, &ny, nx, real, NULL, 1, ny, modes, NULL, 1, modes_y, FFTW_ESTIMATE);
    plans->columns_forward = fftwf_plan_many_dft(1, &nx, modes_y, modes, NULL, modes_y, 1, modes, NULL,
                                                 modes_y, 1, FFTW_FORWARD, FFTW_ESTIMATE);
    plans->columns_inverse = fftwf_plan_many_dft(1, &nx, modes_y, modes, NULL, modes_y, 1, modes, NULL,
                                                 modes_y, 1, FFTW_BACKWARD, FFTW_ESTIMATE);
    plans->rows_inverse =
        fftwf_plan_many_dft_c2r(1, &ny, nx, modes, NULL, 1, modes_y, real, NULL, 1, ny, FFTW_ESTIMATE);
    return plans->rows_forward && plans->columns_forward && plans->columns_inverse && plans->rows_inverse;
}

/* The same plans in double precision. */
static bool plan_in_double(struct double_plans *plans, int nx, int ny, double *real, fftw_complex *modes)
{
    const int modes_y = ny / 2 + 1;
    plans->rows_forward =
        fftw_plan_many_dft_r2c(1, &ny, nx, real, NULL, 1, ny, modes, NULL, 1, modes_y, FFTW_ESTIMATE);
    plans->columns_forward = fftw_plan_many_dft(1, &nx, modes_y, modes, NULL, modes_y, 1, modes, NULL,
                                                modes_y, 1, FFTW_FORWARD, FFTW_ESTIMATE);
    plans->columns_inverse = fftw_plan_many_dft(1, &nx, modes_y, modes, NULL, modes_y, 1, modes, NULL,
                                                modes_y, 1, FFTW_BACKWARD, FFTW_ESTIMATE);
    plans->rows_inverse =
        fftw_plan_many_dft_c2r(1, &ny, nx, modes, NULL, 1, modes_y, real, NULL, 1, ny, FFTW_ESTIMATE);
    return plans->rows_forward && plans->columns_forward && plans->columns_inverse && plans->rows_inverse;
}

static enum status make_plans(struct fftw_plans *plans, const struct grid *grid, enum precision precision,
                              void *real, void *modes)
{
    const int nx = (int)grid->nx, ny = (int)grid->ny;
    const bool made = precision == PRECISION_DOUBLE ? plan_in_double(&plans->in_double, nx, ny, real, modes)
                                                    : plan_in_single(&plans->in_single, nx, ny, real, modes);
    if (!made)
        return status_fail(STATUS_FAILED, "FFTW makes no plan for %d x %d cells", nx, ny);
    return STATUS_OK;
}

enum status fft_fftw_create(struct fft *fft, const struct grid *grid)
{
    struct fftw_plans *plans = calloc(1, sizeof *plans);
    fft->name = "FFTW";
    fft->forward = forward;
    fft->inverse = inverse;
    fft->inverse_pair = inverse_pair;
    fft->destroy_plans = destroy_plans;
    fft->plans = plans;

    void *real = fftw_malloc(fft->real_bytes);
    void *modes = fftw_malloc(fft->modes_bytes);
    enum status status = STATUS_OK;
    if (plans && real && modes) {
        plans->real_stride = buffer_view_stride(fft->real_bytes);
        plans->modes_stride = buffer_view_stride(fft->modes_bytes);
        status = make_plans(plans, grid, fft->precision, real, modes);
    } else {
        status = status_fail(STATUS_FAILED, "no memory to plan a Fourier transform of %u x %u cells",
                             grid->nx, grid->ny);
    }
    fftw_free(modes);
    fftw_free(real);
    return status;
}
