/* FFT by FFTW on the host, in the order of the queue: on a CPU device in its own memory, elsewhere in a copy.
 *
 * Plans are estimated, not measured: a measured plan depends on the moment's timing, and with it the last
 * bits of every result. Rows and columns are planned apart, which an estimate gets right: it is as fast as a
 * measured two-dimensional plan, and up to 1.8 times as fast as an estimated one. A plan is of a block of
 * them, and threads share the blocks: which thread has which block changes no bit.
 */
#include "field/fft.h"

#include "base/integers.h"
#include "base/pool.h"

#include <fftw3.h>
#include <string.h>

/* Rows (along y) go between reals and modes, columns (along x) stay in place. */
enum { ROWS_FORWARD, COLUMNS_FORWARD, COLUMNS_INVERSE, ROWS_INVERSE, PLANS };

/* Rows or columns of a block: so many that it begins a multiple of 64 bytes behind the first one, where plans
 * for vector instructions can be used for it, too. */
enum { BLOCK_ROWS = 16, BLOCK_COLUMNS = 8 };

/* At least: tens of microseconds, several times what it takes to wake a thread. */
enum { NODES_PER_THREAD = 1 << 13 };

/* The rows or columns of an array. The rest, fewer than a block, is transformed first: a short block at the
 * end would keep the other threads waiting. */
struct blocks {
    uint32_t length, rest, count;
    size_t real_step, modes_step; /* bytes from one row or column to the next */
};

/* One set is made, that of the precision. */
struct fftw_plans {
    fftwf_plan in_single[PLANS][2]; /* of a block, and of the rest */
    fftw_plan in_double[PLANS][2];
    struct blocks blocks[PLANS];
    size_t real_stride, modes_stride; /* bytes from one array to the next */
    pool_piece *transform_block;
    uint64_t nodes;   /* of an array */
    uint32_t threads; /* at most */
    struct call {
        const struct fftw_plans *plans;
        enum fft_direction direction;
        uint32_t arrays;
    } one[FFT_DIRECTIONS], batch[FFT_DIRECTIONS]; /* what the device calls the function with */
};

/* What threads share: one plan for all blocks of all arrays. */
struct work {
    const struct fftw_plans *plans;
    int plan;
    void *const *memory;
};

struct block {
    void *real, *modes;
    bool is_rest;
};

static struct block find_block(const struct work *work, size_t n)
{
    const struct fftw_plans *plans = work->plans;
    const struct blocks *blocks = &plans->blocks[work->plan];
    const size_t array = n / blocks->count, number = n % blocks->count;
    const bool has_rest = blocks->rest > 0, is_rest = has_rest && number == 0;
    const size_t begin = (is_rest ? blocks->count - 1 : number - has_rest) * blocks->length;
    return (struct block){(char *)work->memory[0] + array * plans->real_stride + begin * blocks->real_step,
                          (char *)work->memory[1] + array * plans->modes_stride + begin * blocks->modes_step,
                          is_rest};
}

/* FFTW's functions of both precisions differ in their prefix only. OpenCL promises buffers at least the
 * alignment of its longest type, 128 bytes. Estimating leaves the arrays alone: FFTW looks at where they are.
 * Row i of modes_y modes follows row i-1; a column has a stride of modes_y. */
#define DEFINE_FOR(precision, fftw)                                                                          \
    static fftw##_plan plan_##precision(const struct fft *fft, int plan, int many, void *real, void *modes)  \
    {                                                                                                        \
        const int nx = (int)fft->grid.nx, ny = (int)fft->grid.ny, modes_y = (int)fft->columns;               \
        if (plan == ROWS_FORWARD)                                                                            \
            return fftw##_plan_many_dft_r2c(1, &ny, many, real, NULL, 1, ny, modes, NULL, 1, modes_y,        \
                                            FFTW_ESTIMATE);                                                  \
        if (plan == ROWS_INVERSE)                                                                            \
            return fftw##_plan_many_dft_c2r(1, &ny, many, modes, NULL, 1, modes_y, real, NULL, 1, ny,        \
                                            FFTW_ESTIMATE);                                                  \
        return fftw##_plan_many_dft(1, &nx, many, modes, NULL, modes_y, 1, modes, NULL, modes_y, 1,          \
                                    plan == COLUMNS_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);  \
    }                                                                                                        \
    static void transform_block_##precision(const void *context, size_t n)                                   \
    {                                                                                                        \
        const struct work *work = context;                                                                   \
        const struct block block = find_block(work, n);                                                      \
        const fftw##_plan plan = work->plans->in_##precision[work->plan][block.is_rest];                     \
        if (work->plan == ROWS_FORWARD)                                                                      \
            fftw##_execute_dft_r2c(plan, block.real, block.modes);                                           \
        else if (work->plan == ROWS_INVERSE)                                                                 \
            fftw##_execute_dft_c2r(plan, block.modes, block.real);                                           \
        else                                                                                                 \
            fftw##_execute_dft(plan, block.modes, block.modes);                                              \
    }
DEFINE_FOR(single, fftwf)
DEFINE_FOR(double, fftw)

/* Called by the device, in the order of its queue. */
static void transform(const void *context, void *const *memory)
{
    static const int order[FFT_DIRECTIONS][2] = {
        [FFT_FORWARD] = {ROWS_FORWARD, COLUMNS_FORWARD}, [FFT_INVERSE] = {COLUMNS_INVERSE, ROWS_INVERSE}};
    const struct call *call = context;
    const struct fftw_plans *plans = call->plans;
    const uint32_t threads = at_most(call->arrays * plans->nodes / NODES_PER_THREAD, plans->threads);
    for (int n = 0; n < 2; n++) {
        const struct work work = {plans, order[call->direction][n], memory};
        pool_share(threads, (size_t)call->arrays * plans->blocks[work.plan].count, plans->transform_block,
                   &work);
    }
}

static void destroy_plans(void *plans)
{
    struct fftw_plans *made = plans;
    for (int n = 0; n < 2 * PLANS; n++) {
        if (made->in_single[n / 2][n % 2])
            fftwf_destroy_plan(made->in_single[n / 2][n % 2]);
        if (made->in_double[n / 2][n % 2])
            fftw_destroy_plan(made->in_double[n / 2][n % 2]);
    }
}

/* Its time is in the region of the caller. */
static enum status run(const struct fft *fft, enum fft_direction direction, uint32_t arrays,
                       struct buffer *real, struct buffer *modes)
{
    const struct fftw_plans *plans = fft->plans;
    return device_call_host(fft->device, transform,
                            arrays > 1 ? &plans->batch[direction] : &plans->one[direction],
                            (struct buffer *const[]){real, modes});
}

static bool make_plans(const struct fft *fft, struct fftw_plans *plans, void *real, void *modes)
{
    const bool is_double = fft->precision == PRECISION_DOUBLE;
    for (int plan = 0; plan < PLANS; plan++) {
        const struct blocks *blocks = &plans->blocks[plan];
        const uint32_t many[2] = {blocks->count > (blocks->rest > 0) ? blocks->length : 0, blocks->rest};
        for (int n = 0; n < 2; n++) {
            if (many[n] > 0 && is_double)
                plans->in_double[plan][n] = plan_double(fft, plan, (int)many[n], real, modes);
            else if (many[n] > 0)
                plans->in_single[plan][n] = plan_single(fft, plan, (int)many[n], real, modes);
            if (many[n] > 0 && !plans->in_double[plan][n] && !plans->in_single[plan][n])
                return false;
        }
    }
    return true;
}

static struct blocks cut(uint32_t whole, uint32_t length, size_t real_step, size_t modes_step)
{
    return (struct blocks){length, whole % length, divide_up(whole, length), real_step, modes_step};
}

enum status fft_fftw_create(struct fft *fft)
{
    const struct device_info *info = device_info(fft->device);
    const size_t real_bytes = precision_bytes(fft->precision);
    struct fftw_plans *plans = NULL;
    TRY(DEVICE_NEW(fft->device, plans));
    plans->real_stride = buffer_view_stride(fft->real_bytes);
    plans->modes_stride = buffer_view_stride(fft->modes_bytes);
    plans->transform_block =
        fft->precision == PRECISION_DOUBLE ? transform_block_double : transform_block_single;
    plans->nodes = grid_cells(&fft->grid);
    plans->threads = info->is_cpu ? info->compute_units : UINT32_MAX;
    if (fft->axes & FFT_ALONG_Y)
        plans->blocks[ROWS_FORWARD] = plans->blocks[ROWS_INVERSE] =
            cut(fft->grid.nx, BLOCK_ROWS, fft->grid.ny * real_bytes, fft->columns * 2 * real_bytes);
    if (fft->axes & FFT_ALONG_X)
        plans->blocks[COLUMNS_FORWARD] = plans->blocks[COLUMNS_INVERSE] =
            cut(fft->columns, BLOCK_COLUMNS, 0, 2 * real_bytes);
    for (enum fft_direction direction = 0; direction < FFT_DIRECTIONS; direction++) {
        plans->one[direction] = (struct call){plans, direction, 1};
        plans->batch[direction] = (struct call){plans, direction, fft->batch[direction]};
    }
    snprintf(fft->name, sizeof fft->name, "FFTW %.*s", (int)strcspn(fftw_version + 5, "-"),
             fftw_version + 5); /* "fftw-3.3.10-sse2-avx" */
    fft->run = run;
    fft->plans = plans;
    void *real = fftw_malloc(fft->real_bytes), *modes = fftw_malloc(fft->modes_bytes);
    const bool made = real && modes && make_plans(fft, plans, real, modes);
    fftw_free(modes);
    fftw_free(real);
    TRY(device_at_close(fft->device, destroy_plans, plans));
    return made ? STATUS_OK
                : status_fail(STATUS_FAILED, "FFTW makes no plan for %u x %u cells", fft->grid.nx,
                              fft->grid.ny);
}
