/* FFT: real two-dimensional transforms of node arrays on the device, by VkFFT on the device or by FFTW on the
 * host.
 *
 * Forward: F(m, n) = sum over (i, j) of f(i, j) exp(-2 pi i (m i/nx + n j/ny)), unnormalised, for m in [0,
 * nx) and n in [0, ny/2], element (ny/2 + 1)*m + n of a complex array (pairs of reals). Inverse: the same sum
 * with +i over all modes, so forward then inverse multiplies by nx*ny.
 */
#ifndef RADIXPIC_FIELD_FFT_H
#define RADIXPIC_FIELD_FFT_H

#include "parallel/gather.h"

enum fft_direction {
    FFT_FORWARD, /* real (real[nx*ny], kept) -> modes */
    FFT_INVERSE, /* modes (contents lost) -> real */
    FFT_DIRECTIONS
};

/* Of a transform that ranks share, the half that a rank has by itself: along y the rows of its local grid,
 * between reals and modes; along x its modes along y, in place. */
enum fft_axes { FFT_ALONG_Y = 1, FFT_ALONG_X = 2, FFT_ALONG_BOTH = 3 };

/* A transform. Its function and plans are for this room only. */
struct fft {
    char name[32];                  /* "VkFFT 1.3.4", "FFTW 3.3.10"; "none" on a counting device */
    uint64_t bytes;                 /* that the transform of one array must move */
    size_t real_bytes, modes_bytes; /* of one array of reals, and of modes */
    struct device *device;          /* not owned */
    struct grid grid;
    enum fft_axes axes;
    uint32_t columns; /* of a row of modes: ny/2 + 1, or where ranks divide them fft_columns() */
    enum precision precision;
    uint32_t batch[FFT_DIRECTIONS]; /* arrays that may be transformed at once */
    enum status (*run)(const struct fft *fft, enum fft_direction direction, uint32_t arrays,
                       struct buffer *real, struct buffer *modes);
    void *plans; /* the library's */
};

/* Transforms along both axes, with `columns` modes along y (ny/2 + 1), or one half, of a rank's `columns`.
 * TRANSFORMS_AUTO takes FFTW on CPU devices and, elsewhere, VkFFT where it has a transform of these lengths.
 * Plans are made here, never in a step, and proved; they are the same in every run, so results are too: of
 * one array, and of as many as `batch` has for each direction. The handle, at its end, waits for the device.
 */
STATUS_CHECKED enum status fft_create(struct device *device, const struct grid *grid, enum fft_axes axes,
                                      uint32_t columns, enum precision precision,
                                      enum transform_library library, const uint32_t batch[FFT_DIRECTIONS],
                                      struct fft **fft);

/* Makes VkFFT's plans for a run that will with these `options` (device_begin_library()), so that the driver
 * has their kernels. They are not proved and never run. */
STATUS_CHECKED enum status fft_build(struct device *device, const char *options);

/* The transform of the whole box, shared by all ranks (fft_shared.c). Real arrays are those of the rank's
 * local grid, and modes those in the rank's columns, [fft_first_column(rank), fft_first_column(rank + 1)) of
 * all modes along y, in an array [nx][fft_columns(rank)], of which the rest is 0. fft_run() is then
 * collective, and waits. Forward it adds, first of all, to the own rows what other ranks left for them beside
 * theirs. Inverse it sets the rows beside the own ones, too. It is called within a region, which it ends and
 * begins again where it waits. A block for a rank goes in parts of some part_bytes, so that sending and
 * receiving overlap. */
STATUS_CHECKED enum status fft_create_shared(const struct rank_place *place, enum gather_transport transport,
                                             size_t part_bytes, enum transform_library library,
                                             const uint32_t batch[FFT_DIRECTIONS], struct fft **fft);
enum { FFT_PART_BYTES = 1 << 23 };

/* Of the ny/2 + 1 modes along y: the first of `rank`, their end for rank_count; and the length of its rows,
 * which are its modes and zeros behind them. */
uint32_t fft_first_column(const struct grid *grid, int rank_count, int rank);
uint32_t fft_columns(const struct grid *grid, int rank_count, int rank);

/* Bytes of a complex array: nx * columns pairs of reals; where there is no column as many as for one. */
size_t fft_complex_bytes(const struct grid *grid, uint32_t columns, enum precision precision);

/* Transforms one array, or a batch, which takes hardly longer on a GPU: each further array begins
 * buffer_view_stride() of the bytes of one after the last, in both buffers. Only enqueues, but for FFTW on a
 * device that is no CPU: see device_call_host(). The caller times the transforms, several at once, with
 * device_region_begin() and _end(). */
STATUS_CHECKED enum status fft_run(struct fft *fft, enum fft_direction direction, uint32_t arrays,
                                   struct buffer *real, struct buffer *modes);

/* For fft_create(): set name, run and plans; the rest is set. *unsupported: VkFFT has no transform of these
 * lengths on this device. */
STATUS_CHECKED enum status fft_vkfft_create(struct fft *fft, bool *unsupported);
STATUS_CHECKED enum status fft_fftw_create(struct fft *fft);

/* Fails where a plan does not transform known functions rightly, forward and back (fft_proof.c). The time is
 * of STAGE_START_OTHER. */
STATUS_CHECKED enum status fft_prove(const struct fft *fft);

#endif
