/* FFT by FFTW on the host, in the order of the queue: on a CPU device in its own memory, elsewhere in a copy.
 *
 * Plans are estimated, not measured: a measured plan depends on the moment's timing, and with it the last
 * bits of every result. Rows and columns are planned apart, which an estimate gets right: it is as fast as a
 * measured two-dimensional plan, and up to 1.8 times as fast as an estimated one.
 */
#include "field/fft.h"

#include <fftw3.h>
#include <string.h>

/* Rows (along y) go between reals and modes, columns (along x) stay in place. */
enum { ROWS_FORWARD, COLUMNS_FORWARD, COLUMNS_INVERSE, ROWS_INVERSE, PLANS };

/* One set is made, that of the precision. */
struct fftw_plans {
    fftwf_plan in_single[PLANS];
    fftw_plan in_double[PLANS];
    size_t real_stride, modes_stride; /* bytes from one array to the next */
    struct call {
        const struct fftw_plans *plans;
        enum fft_way way;
        uint32_t arrays;
    } one[FFT_WAYS], batch[FFT_WAYS]; /* what the device calls the function with */
};

/* FFTW's functions of both precisions differ in their prefix only. Those of transforms are called by the
 * device, in the order of its queue. OpenCL promises buffers at least the alignment of its longest type, 128
 * bytes, which is more than plans for vector instructions ask for. Estimating leaves the arrays alone: FFTW
 * looks at where they are. Row i of modes_y modes follows row i-1; a column has a stride of modes_y. */
#define DEFINE_FOR(precision, fftw, number)                                                                  \
    static bool plan_##precision(fftw##_plan plans[PLANS], const struct fft *fft, void *memory, void *modes) \
    {                                                                                                        \
        const int nx = (int)fft->grid.nx, ny = (int)fft->grid.ny, modes_y = (int)fft->columns;               \
        number *const real = memory;                                                                         \
        if (fft->axes & FFT_ALONG_X) {                                                                       \
            plans[COLUMNS_FORWARD] = fftw##_plan_many_dft(1, &nx, modes_y, modes, NULL, modes_y, 1, modes,   \
                                                          NULL, modes_y, 1, FFTW_FORWARD, FFTW_ESTIMATE);    \
            plans[COLUMNS_INVERSE] = fftw##_plan_many_dft(1, &nx, modes_y, modes, NULL, modes_y, 1, modes,   \
                                                          NULL, modes_y, 1, FFTW_BACKWARD, FFTW_ESTIMATE);   \
            if (!plans[COLUMNS_FORWARD] || !plans[COLUMNS_INVERSE])                                          \
                return false;                                                                                \
        }                                                                                                    \
        if (!(fft->axes & FFT_ALONG_Y))                                                                      \
            return true;                                                                                     \
        plans[ROWS_FORWARD] =                                                                                \
            fftw##_plan_many_dft_r2c(1, &ny, nx, real, NULL, 1, ny, modes, NULL, 1, modes_y, FFTW_ESTIMATE); \
        plans[ROWS_INVERSE] =                                                                                \
            fftw##_plan_many_dft_c2r(1, &ny, nx, modes, NULL, 1, modes_y, real, NULL, 1, ny, FFTW_ESTIMATE); \
        return plans[ROWS_FORWARD] && plans[ROWS_INVERSE];                                                   \
    }                                                                                                        \
    static void transform_##precision(const void *context, void *const *memory)                              \
    {                                                                                                        \
        const struct call *call = context;                                                                   \
        const struct fftw_plans *plans = call->plans;                                                        \
        const bool forward = call->way == FFT_FORWARD;                                                       \
        const fftw##_plan along_x = plans->in_##precision[forward ? COLUMNS_FORWARD : COLUMNS_INVERSE];      \
        const fftw##_plan along_y = plans->in_##precision[forward ? ROWS_FORWARD : ROWS_INVERSE];            \
        for (uint32_t n = 0; n < call->arrays; n++) {                                                        \
            void *const real = (char *)memory[0] + n * plans->real_stride;                                   \
            void *const modes = (char *)memory[1] + n * plans->modes_stride;                                 \
            if (along_y && forward)                                                                          \
                fftw##_execute_dft_r2c(along_y, real, modes);                                                \
            if (along_x)                                                                                     \
                fftw##_execute_dft(along_x, modes, modes);                                                   \
            if (along_y && !forward)                                                                         \
                fftw##_execute_dft_c2r(along_y, modes, real);                                                \
        }                                                                                                    \
    }
DEFINE_FOR(single, fftwf, float)
DEFINE_FOR(double, fftw, double)

static void destroy_plans(void *plans)
{
    struct fftw_plans *made = plans;
    for (int n = 0; n < PLANS; n++) {
        if (made->in_single[n])
            fftwf_destroy_plan(made->in_single[n]);
        if (made->in_double[n])
            fftw_destroy_plan(made->in_double[n]);
    }
}

/* Its time is in the region of the caller. */
static enum status run(const struct fft *fft, enum fft_way way, uint32_t arrays, struct buffer *real,
                       struct buffer *modes)
{
    const struct fftw_plans *plans = fft->plans;
    return device_call_host(
        fft->device, fft->precision == PRECISION_DOUBLE ? transform_double : transform_single,
        arrays > 1 ? &plans->batch[way] : &plans->one[way], (struct buffer *const[]){real, modes});
}

enum status fft_fftw_create(struct fft *fft)
{
    struct fftw_plans *plans = NULL;
    TRY(DEVICE_NEW(fft->device, plans));
    plans->real_stride = buffer_view_stride(fft->real_bytes);
    plans->modes_stride = buffer_view_stride(fft->modes_bytes);
    for (enum fft_way way = 0; way < FFT_WAYS; way++) {
        plans->one[way] = (struct call){plans, way, 1};
        plans->batch[way] = (struct call){plans, way, fft->batch[way]};
    }
    snprintf(fft->name, sizeof fft->name, "FFTW %.*s", (int)strcspn(fftw_version + 5, "-"),
             fftw_version + 5); /* "fftw-3.3.10-sse2-avx" */
    fft->run = run;
    fft->plans = plans;
    void *real = fftw_malloc(fft->real_bytes), *modes = fftw_malloc(fft->modes_bytes);
    const bool made = real && modes &&
                      (fft->precision == PRECISION_DOUBLE ? plan_double(plans->in_double, fft, real, modes)
                                                          : plan_single(plans->in_single, fft, real, modes));
    fftw_free(modes);
    fftw_free(real);
    TRY(device_at_close(fft->device, destroy_plans, plans));
    return made ? STATUS_OK
                : status_fail(STATUS_FAILED, "FFTW makes no plan for %u x %u cells", fft->grid.nx,
                              fft->grid.ny);
}
