/* FFT, inside: what fft.c knows of the two libraries that do the work. For this room only. */
#ifndef RADIXPIC_FIELD_FFT_BACKEND_H
#define RADIXPIC_FIELD_FFT_BACKEND_H

#include "field/fft.h"

/* A transform: the library's functions, its plans, and the work that one transform is. */
struct fft {
    const char *name;
    enum status (*forward)(struct fft *fft, struct buffer *real, struct buffer *modes);
    enum status (*inverse)(struct fft *fft, struct buffer *modes, struct buffer *real);
    enum status (*inverse_pair)(struct fft *fft, struct buffer *modes, struct buffer *real);
    void (*destroy_plans)(void *plans); /* also of plans half made */
    void *plans;                        /* the library's; NULL until made */
    struct device *device;              /* not owned */
    enum precision precision;
    bool pairs;
    size_t real_bytes, modes_bytes; /* of one array */
};

/* Fill name, functions and plans; the rest is set. After a failure the caller destroys what
 * `plans` holds. *unsupported: VkFFT has no transform of these lengths on this device. */
STATUS_CHECKED enum status fft_vkfft_create(struct fft *fft, const struct grid *grid, bool *unsupported);
STATUS_CHECKED enum status fft_fftw_create(struct fft *fft, const struct grid *grid);

#endif
