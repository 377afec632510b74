/* Samples: order statistics. */
#include "experiments/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void samples_add(struct samples *samples, double value)
{
    if (samples->count < SAMPLES_MAX)
        samples->seconds[samples->count++] = value;
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

struct spread spread_of(const struct samples *samples)
{
    double ordered[SAMPLES_MAX];
    const size_t count = samples->count;
    if (count == 0)
        return (struct spread){0};
    memcpy(ordered, samples->seconds, count * sizeof *ordered);
    qsort(ordered, count, sizeof *ordered, ascending);
    return (struct spread){.median = 0.5 * (ordered[(count - 1) / 2] + ordered[count / 2]),
                           .quartile = ordered[count / 4],
                           .least = ordered[0],
                           .most = ordered[count - 1],
                           .count = (uint32_t)count};
}

struct spread spread_of_one(double value)
{
    return (struct spread){.median = value, .quartile = value, .least = value, .most = value, .count = 1};
}

struct spread spread_scaled(struct spread values, double scale)
{
    return (struct spread){.median = scale * values.median,
                           .quartile = scale * values.quartile,
                           .least = scale * values.least,
                           .most = scale * values.most,
                           .count = values.count};
}

struct spread spread_rate(double work, struct spread seconds)
{
    return (struct spread){.median = per_second(work, seconds.median),
                           .least = per_second(work, seconds.most),
                           .most = per_second(work, seconds.least),
                           .count = seconds.count};
}

const char *spread_text(struct spread values, double scale, char text[SPREAD_TEXT])
{
    snprintf(text, SPREAD_TEXT, "%.3f [%.3f, %.3f]", scale * values.median, scale * values.least,
             scale * values.most);
    return text;
}
