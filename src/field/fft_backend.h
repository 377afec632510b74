/* FFT, inside: what fft.c knows of the two libraries that do the work. For this room only. */
#ifndef RADIXPIC_FIELD_FFT_BACKEND_H
#define RADIXPIC_FIELD_FFT_BACKEND_H

#include "field/fft.h"

struct fft {
    const char *name;
    enum status (*run)(const struct fft *fft, enum fft_way way, struct buffer *real, struct buffer *modes);
    void *plans;           /* the library's */
    struct device *device; /* not owned */
    struct grid grid;
    enum precision precision;
    bool pairs;
    size_t real_bytes, modes_bytes; /* of one array */
};

/* Set name, run and plans; the rest is set. *unsupported: VkFFT has no transform of these lengths on this
 * device. */
STATUS_CHECKED enum status fft_vkfft_create(struct fft *fft, bool *unsupported);
STATUS_CHECKED enum status fft_fftw_create(struct fft *fft);

#endif
