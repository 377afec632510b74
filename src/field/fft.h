/* FFT: real two-dimensional transforms of node arrays on the device, by VkFFT on the device or by FFTW on the
 * host.
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
 * Plans are made here, never in a step; they are the same in every run, so results are too. `pairs`: make
 * those of fft_inverse_pair() too. The caller destroys it, which waits for the device. */
STATUS_CHECKED enum status fft_create(struct device *device, const struct grid *grid,
                                      enum precision precision, enum solver_kind solver, bool pairs,
                                      struct fft **fft);
void fft_destroy(struct fft **fft);

/* "VkFFT" or "FFTW". */
const char *fft_name(const struct fft *fft);

/* Bytes of a complex array: nx * (ny/2 + 1) pairs of reals. */
size_t fft_complex_bytes(const struct grid *grid, enum precision precision);

/* Bytes that the transform of one array must move. */
uint64_t fft_bytes(const struct fft *fft);

/* The transforms only enqueue, but for FFTW on a device that is no CPU: see device_call_host(). The caller
 * times them, several at once, with device_region_begin() and _end(). */

/* real (real[nx*ny], kept) -> modes. */
STATUS_CHECKED enum status fft_forward(struct fft *fft, struct buffer *real, struct buffer *modes);

/* modes (contents lost) -> real. */
STATUS_CHECKED enum status fft_inverse(struct fft *fft, struct buffer *modes, struct buffer *real);

/* The same for two arrays at once, as light as one on a GPU: the second begins buffer_view_stride() of the
 * bytes of one array after the first, in `modes` and in `real`. */
STATUS_CHECKED enum status fft_inverse_pair(struct fft *fft, struct buffer *modes, struct buffer *real);

#endif
