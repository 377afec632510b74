/* The proof of plans. Before a run uses a plan, each array of each batch of known functions is transformed
 * forward and back, and the results are compared: a library that makes something else of a plan than it was
 * asked for would say nothing.
 *
 * A known function is a product of one chirp along x and one along y. A chirp of n nodes is, up to a shift,
 *     s(i) = cos(pi a i^2/n),  of modes  S(m) = sqrt(n) cos(pi b m^2/n - c)
 * where a = b = 1 and c = pi/4 for even n; for odd n, a = 2, b = 2 (1/4 modulo n), and c = 0 or pi/2 for n =
 * 1 or 3 modulo 4 (quadratic Gauss sums). So nodes are about as large as each other, and modes too, and one
 * that is lost, moved or added twice shows. The shift, which makes modes complex, and a factor differ from
 * array to array.
 */
#include <float.h>
#include <math.h>

#include "field/fft.h"

/* What a transform takes or leaves: arrays[nx][row] of reals or complex numbers, each x[i] y[j]. */
struct side {
    bool is_real;
    uint32_t row;
    const double *x, *y; /* complex */
    struct buffer *buffer;
    size_t stride; /* bytes from one array to the next */
    double size;   /* root mean square of an array, at most */
    double scale;  /* of what a transform leaves here */
};

struct proof {
    const struct fft *fft;
    struct side nodes, modes;
    double *x, *y, *x_modes, *y_modes; /* a chirp along each axis, and its modes; complex */
    double *known, *found;             /* an array */
    struct buffer *real;               /* of the call: transforms along x alone are in place */
};

/* line[length], and the first `count` of its modes; both complex. */
static void chirp(uint64_t length, uint64_t shift, double factor, uint64_t count, double *line, double *modes)
{
    const uint64_t n = length, half = (n + 1) / 2, quarter = half * half % n; /* 1/2 and 1/4 modulo odd n */
    const uint64_t a = n % 2 == 0 ? 1 : 2, b = n % 2 == 0 ? 1 : 2 * quarter;
    const double c = n % 2 == 0 ? M_PI / 4 : n % 4 == 1 ? 0 : M_PI / 2, unit = M_PI / (double)n;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t at = (i + shift) % n;
        line[2 * at] = factor * cos(unit * (double)(a * i * i % (2 * n)));
        line[2 * at + 1] = 0;
    }
    for (uint64_t m = 0; m < count; m++) {
        const double phase = unit * (double)(b * (m * m % (2 * n)) % (2 * n)) - c;
        const double size = factor * sqrt((double)n) * cos(phase);
        const double angle = -2 * unit * (double)(m * shift % n);
        modes[2 * m] = size * cos(angle);
        modes[2 * m + 1] = size * sin(angle);
    }
}

/* known[] <- an array of this side. A transform along x alone takes any complex numbers along y. */
static void set_known(const struct proof *proof, const struct side *side, uint32_t array)
{
    const struct fft *fft = proof->fft;
    const uint32_t nx = fft->grid.nx, ny = fft->axes & FFT_ALONG_Y ? fft->grid.ny : fft->columns;
    double *value = proof->known;
    chirp(nx, array + 1, 1, nx, proof->x, proof->x_modes);
    chirp(ny, array + 2, 1 + array / 8.0, fft->columns, proof->y, proof->y_modes);
    for (uint32_t i = 0; i < nx; i++)
        for (uint32_t j = 0; j < side->row; j++) {
            const double *const x = side->x + 2 * i, *const y = side->y + 2 * j;
            *value++ = x[0] * y[0] - x[1] * y[1];
            if (!side->is_real)
                *value++ = x[0] * y[1] + x[1] * y[0];
        }
}

static size_t numbers_of(const struct proof *proof, const struct side *side)
{
    return (size_t)proof->fft->grid.nx * side->row * (side->is_real ? 1 : 2);
}

static size_t first_of(const struct proof *proof, const struct side *side, uint32_t array)
{
    return array * side->stride / precision_bytes(proof->fft->precision);
}

/* A transform's error is some epsilon times the root mean square of what it leaves: 32 covers the largest of
 * all errors, and Bluestein's longer transforms. */
static enum status compare(const struct proof *proof, const struct side *side, uint32_t arrays)
{
    const struct fft *fft = proof->fft;
    const double epsilon = fft->precision == PRECISION_DOUBLE ? DBL_EPSILON : FLT_EPSILON;
    for (uint32_t array = 0; array < arrays; array++) {
        const size_t count = numbers_of(proof, side);
        const double bound = 32 * epsilon * side->scale * side->size * (1 + array / 8.0);
        set_known(proof, side, array);
        TRY(buffer_read_reals(side->buffer, fft->precision, first_of(proof, side, array), count,
                              proof->found));
        for (size_t e = 0; e < count; e++)
            if (!(fabs(proof->found[e] - side->scale * proof->known[e]) <= bound))
                return status_fail(
                    STATUS_FAILED,
                    "%s is wrong on this device: of %u x %u cells it transforms array %u of %u "
                    "to %g where %g is right (number %zu of its %s); take another version of "
                    "it, or another library by fields.transforms",
                    fft->name, fft->grid.nx, fft->grid.ny, array + 1, arrays, proof->found[e],
                    side->scale * proof->known[e], e, side == &proof->modes ? "modes" : "nodes");
    }
    return STATUS_OK;
}

/* What a transform is to leave is NaN before, so that it must write everything. */
static enum status prove_direction(struct proof *proof, enum fft_direction direction, uint32_t arrays)
{
    const struct fft *fft = proof->fft;
    const struct side *const from = direction == FFT_FORWARD ? &proof->nodes : &proof->modes;
    const struct side *const to = direction == FFT_FORWARD ? &proof->modes : &proof->nodes;
    TRY(buffer_fill(to->buffer, 0x7fc00000));
    for (uint32_t array = 0; array < arrays; array++) {
        set_known(proof, from, array);
        TRY(buffer_write_reals(from->buffer, fft->precision, first_of(proof, from, array),
                               numbers_of(proof, from), proof->known));
    }
    TRY(device_region_begin(fft->device));
    TRY(device_region_end(fft->device, STAGE_START_OTHER, 0,
                          fft->run(fft, direction, arrays, proof->real, proof->modes.buffer)));
    return compare(proof, to, arrays);
}

static enum status create(struct device *scratch, const struct fft *fft, struct proof *proof)
{
    const uint32_t nx = fft->grid.nx, ny = fft->grid.ny, columns = fft->columns;
    const uint32_t arrays = fft->batch[fft->batch[FFT_INVERSE] > fft->batch[FFT_FORWARD]]; /* the most */
    const bool along_x = fft->axes & FFT_ALONG_X, along_y = fft->axes & FFT_ALONG_Y;
    const size_t most = 2 * (size_t)nx * (columns > ny / 2 ? columns : ny / 2 + 1);
    struct buffer *modes = NULL;
    proof->fft = fft;
    TRY(DEVICE_NEW_ARRAY(scratch, proof->x, 2 * (size_t)nx));
    TRY(DEVICE_NEW_ARRAY(scratch, proof->y, 2 * ((size_t)ny + columns)));
    TRY(DEVICE_NEW_ARRAY(scratch, proof->x_modes, 2 * (size_t)nx));
    TRY(DEVICE_NEW_ARRAY(scratch, proof->y_modes, 2 * (size_t)columns));
    TRY(DEVICE_NEW_ARRAY(scratch, proof->known, most));
    TRY(DEVICE_NEW_ARRAY(scratch, proof->found, most));
    const size_t modes_stride = buffer_view_stride(fft->modes_bytes);
    const size_t nodes_stride = along_y ? buffer_view_stride(fft->real_bytes) : modes_stride;
    TRY(buffer_create(scratch, arrays * modes_stride, "modes of known waves", &modes));
    TRY(buffer_create(scratch, along_y ? arrays * nodes_stride : sizeof(double), "known waves",
                      &proof->real));
    const double x_size = sqrt(along_x ? nx : 1), y_size = sqrt(along_y ? ny : columns);
    proof->nodes = (struct side){.is_real = along_y,
                                 .row = along_y ? ny : columns,
                                 .x = proof->x,
                                 .y = along_y ? proof->y : proof->y_modes,
                                 .buffer = along_y ? proof->real : modes,
                                 .stride = nodes_stride,
                                 .size = along_y ? 1 : y_size,
                                 .scale = (double)(along_x ? nx : 1) * (along_y ? ny : 1)};
    proof->modes = (struct side){.row = columns,
                                 .x = along_x ? proof->x_modes : proof->x,
                                 .y = proof->y_modes,
                                 .buffer = modes,
                                 .stride = modes_stride,
                                 .size = x_size * y_size,
                                 .scale = 1};
    return STATUS_OK;
}

static enum status prove(struct device *scratch, const struct fft *fft)
{
    struct proof proof;
    TRY(create(scratch, fft, &proof));
    if (device_is_counting(scratch)) /* the memory is counted */
        return STATUS_OK;
    for (enum fft_direction direction = 0; direction < FFT_DIRECTIONS; direction++) {
        TRY(prove_direction(&proof, direction, 1));
        if (fft->batch[direction] > 1)
            TRY(prove_direction(&proof, direction, fft->batch[direction]));
    }
    return STATUS_OK;
}

enum status fft_prove(const struct fft *fft)
{
    struct device *scratch = NULL;
    TRY(device_branch(fft->device, &scratch));
    return device_close_after(&scratch, prove(scratch, fft));
}
