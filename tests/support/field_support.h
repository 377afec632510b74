/* Field support: grids, numbers and sums that the tests of the field room share. Include test_support.h
 * first. */
#ifndef RADIXPIC_FIELD_SUPPORT_H
#define RADIXPIC_FIELD_SUPPORT_H

#include "device/device.h"
#include "domain/grid.h"

#include <string.h>

static const enum precision field_precisions[] = {PRECISION_SINGLE, PRECISION_DOUBLE};
static const enum transform_library transform_libraries[] = {TRANSFORMS_VKFFT, TRANSFORMS_FFTW};

static inline struct grid field_grid(uint32_t nx, uint32_t ny, double lx, double ly)
{
    const struct grid_config config = {.cells = {nx, ny}, .length = {lx, ly}};
    return grid_make(&config);
}

static inline double *field_numbers(size_t count)
{
    double *numbers = test_array(count, sizeof *numbers);
    return numbers;
}

/* Multiples of 2^-20 in [-1, 1): exact in both precisions, the same in every run. */
static inline double *field_random(size_t count)
{
    double *numbers = field_numbers(count);
    uint64_t state = 88172645463325252U;
    for (size_t n = 0; n < count; n++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        numbers[n] = (double)(int64_t)(state >> 43) * 0x1p-20 - 1.0;
    }
    return numbers;
}

static inline double *field_read(const struct buffer *buffer, enum precision precision, size_t count)
{
    double *numbers = field_numbers(count);
    assert_ok(buffer_read_reals(buffer, precision, 0, count, numbers));
    return numbers;
}

/* mode[0], mode[1] = real and imaginary part of sum f(i, j) exp(-2 pi i (mx i/nx + my j/ny)), term by term.
 * The angle is reduced in integers and the sums are long, so that this is the better of the two in a
 * comparison. */
static inline void field_direct_mode(const struct grid *grid, const double *f, int64_t mx, int64_t my,
                                     double mode[2])
{
    long double whole = 0.0L, imaginary = 0.0L;
    const int64_t nx = grid->nx, ny = grid->ny;
    for (int64_t i = 0; i < nx; i++)
        for (int64_t j = 0; j < ny; j++) {
            const int64_t turn = (mx * i % nx * ny + my * j % ny * nx) % (nx * ny);
            const double angle = -2 * M_PI * (double)turn / (double)(nx * ny);
            whole += (long double)f[ny * i + j] * (long double)cos(angle);
            imaginary += (long double)f[ny * i + j] * (long double)sin(angle);
        }
    mode[0] = (double)whole;
    mode[1] = (double)imaginary;
}

/* The modes that can be asked for, of both signs and up to Nyquist; `count` of them. */
static inline const int32_t (*field_all_modes(const struct grid *grid, uint32_t *count))[2]
{
    const int32_t half_x = (int32_t)(grid->nx / 2), half_y = (int32_t)(grid->ny / 2);
    int32_t(*wanted)[2] = test_array((size_t)(2 * half_x + 1) * (size_t)(2 * half_y + 1), sizeof *wanted);
    *count = 0;
    for (int32_t mx = -half_x; mx <= half_x; mx++)
        for (int32_t my = -half_y; my <= half_y; my++, (*count)++) {
            wanted[*count][0] = mx;
            wanted[*count][1] = my;
        }
    return (const int32_t(*)[2])wanted;
}

/* That these, of which each begins `stride` numbers after the last, are the modes of a field, over the number
 * of cells. */
static inline void field_check_modes(const struct grid *grid, const double *field, uint32_t count,
                                     const int32_t (*wanted)[2], const double *modes, size_t stride,
                                     double tolerance)
{
    for (uint32_t n = 0; n < count; n++) {
        double expected[2];
        field_direct_mode(grid, field, wanted[n][0], wanted[n][1], expected);
        assert_near(modes[stride * n], expected[0] / grid_cells(grid), tolerance);
        assert_near(modes[stride * n + 1], expected[1] / grid_cells(grid), tolerance);
    }
}

/* cos(2 pi (mx i/nx + my j/ny) - phase) on the nodes */
static inline double *field_wave(const struct grid *grid, int64_t mx, int64_t my, double phase)
{
    double *wave = field_numbers(grid_cells(grid));
    const int64_t nx = grid->nx, ny = grid->ny;
    for (int64_t i = 0; i < nx; i++)
        for (int64_t j = 0; j < ny; j++) {
            const int64_t turn = (mx * i % nx * ny + my * j % ny * nx) % (nx * ny);
            wave[ny * i + j] = cos(2 * M_PI * (double)turn / (double)(nx * ny) - phase);
        }
    return wave;
}

static inline double field_largest_difference(const double *a, const double *b, size_t count)
{
    double largest = 0.0;
    for (size_t n = 0; n < count; n++) {
        const double difference = fabs(a[n] - b[n]);
        if (!(difference <= largest)) /* not-a-number too */
            largest = difference;
    }
    return largest;
}

#endif
