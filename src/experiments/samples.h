/* Samples: repeated timings of one thing, and what is quoted of them. */
#ifndef RADIXPIC_EXPERIMENTS_SAMPLES_H
#define RADIXPIC_EXPERIMENTS_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

enum { SAMPLES_MAX = 1000 };

struct samples {
    size_t count;
    double seconds[SAMPLES_MAX];
};

/* Adds one timing; beyond SAMPLES_MAX it is dropped. */
void samples_add(struct samples *samples, double seconds);

/* What is quoted of timings, or of what follows from them; `quartile` is the lower one, of timings alone. */
struct spread {
    double median, least, most, quartile;
    uint32_t count;
};

/* Of no timing all are 0. The median of an even number is the mean of the two in the middle. */
struct spread spread_of(const struct samples *samples);
struct spread spread_of_one(double value);
struct spread spread_scaled(struct spread values, double scale);

/* The spread of `work` over each: the longest time gives the least rate. */
struct spread spread_rate(double work, struct spread seconds);

/* "0.123 [0.120, 0.130]", all times `scale`. Returns `text`. */
enum { SPREAD_TEXT = 96 };
const char *spread_text(struct spread values, double scale, char text[SPREAD_TEXT]);

/* amount / seconds, 0 where there are no seconds. */
static inline double per_second(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds : 0;
}

#endif
