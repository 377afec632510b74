/* FFT: real two-dimensional transforms of node arrays on the device, by VkFFT on the device or by FFTW in
 * mapped memory.
 *
 * Forward: F(m, n) = sum over (i, j) of f(i, j) exp(-2 pi i (m i/nx + n j/ny)), unnormalised, for m in [0,
 * nx) and n in [0, ny/2], element (ny/2 + 1)*m + n of a complex array (pairs of reals). Inverse: the same sum
 * with +i over all modes, so forward then inverse multiplies by nx*ny.
 */
#ifndef RADIXPIC_FIELD_FFT_H
#define RADIXPIC_FIELD_FFT_H

#include "device/device.h"
#include "domain/grid.h"

struct fft;

/* SOLVER_AUTO takes FFTW on CPU devices and, elsewhere, VkFFT where it has a transform of these lengths.
 * Plans are made here, never in a step; they are the same in every run, so results are too. The caller
 * destroys it. */
STATUS_CHECKED enum status fft_create(struct device *device, const struct grid *grid,
                                      enum precision precision, enum solver_kind solver, struct fft **fft);
void fft_destroy(struct fft **fft);

/* "VkFFT" or "FFTW". */
const char *fft_name(const struct fft *fft);

/* Bytes of a complex array: nx * (ny/2 + 1) pairs of reals. */
size_t fft_complex_bytes(const struct grid *grid, enum precision precision);

/* real (real[nx*ny], kept) -> modes. VkFFT enqueues only; FFTW waits for the device. Timed as STAGE_FIELD. */
STATUS_CHECKED enum status fft_forward(struct fft *fft, struct buffer *real, struct buffer *modes);

/* modes (contents lost) -> real. */
STATUS_CHECKED enum status fft_inverse(struct fft *fft, struct buffer *modes, struct buffer *real);

#endif
