/* Samples: repeated timings of one thing, and the figures quoted of them. */
#ifndef RADIXPIC_EXPERIMENTS_SAMPLES_H
#define RADIXPIC_EXPERIMENTS_SAMPLES_H

#include "base/status.h"
#include "device/device.h"

#include <stddef.h>

enum { SAMPLES_MAX = 1000 };

struct samples {
    size_t count;
    double seconds[SAMPLES_MAX];
};

/* Adds one timing; beyond SAMPLES_MAX it is dropped. */
void samples_add(struct samples *samples, double seconds);

/* Of at least one timing; 0 without any. The median of an even number is the mean of the two in the middle.
 */
double samples_median(const struct samples *samples);
double samples_minimum(const struct samples *samples);
double samples_maximum(const struct samples *samples);

/* "67.1 MB", "800 B": how much was copied, for people. Returns `text`. */
enum { SAMPLES_SIZE_TEXT = 32 };
const char *samples_size(size_t bytes, char text[SAMPLES_SIZE_TEXT]);

/* Times `repeats` copies of `bytes` between two new device arrays, after a warm-up; a copy moves twice that.
 */
STATUS_CHECKED enum status samples_of_copy(struct device *device, size_t bytes, uint32_t repeats,
                                           struct samples *samples);

#endif
