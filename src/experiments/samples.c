/* Samples: order statistics, and the copy that every table is held against. */
#include "experiments/samples.h"

#include <stdlib.h>
#include <string.h>

void samples_add(struct samples *samples, double seconds)
{
    if (samples->count < SAMPLES_MAX)
        samples->seconds[samples->count++] = seconds;
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double samples_median(const struct samples *samples)
{
    double ordered[SAMPLES_MAX];
    const size_t count = samples->count;
    if (count == 0)
        return 0;
    memcpy(ordered, samples->seconds, count * sizeof *ordered);
    qsort(ordered, count, sizeof *ordered, ascending);
    return count % 2 ? ordered[count / 2] : 0.5 * (ordered[count / 2 - 1] + ordered[count / 2]);
}

double samples_minimum(const struct samples *samples)
{
    double smallest = samples->count ? samples->seconds[0] : 0;
    for (size_t n = 1; n < samples->count; n++)
        if (samples->seconds[n] < smallest)
            smallest = samples->seconds[n];
    return smallest;
}

double samples_maximum(const struct samples *samples)
{
    double largest = samples->count ? samples->seconds[0] : 0;
    for (size_t n = 1; n < samples->count; n++)
        if (samples->seconds[n] > largest)
            largest = samples->seconds[n];
    return largest;
}

const char *samples_size(size_t bytes, char text[SAMPLES_SIZE_TEXT])
{
    static const char *const units[] = {"B", "KB", "MB", "GB"};
    double amount = (double)bytes;
    size_t unit = 0;
    for (; unit < 3 && amount >= 999.95; unit++) /* which would be printed as 1000.0 */
        amount *= 1e-3;
    snprintf(text, SAMPLES_SIZE_TEXT, unit > 0 ? "%.1f %s" : "%.0f %s", amount, units[unit]);
    return text;
}

enum status samples_of_copy(struct device *device, size_t bytes, uint32_t repeats, struct samples *samples)
{
    struct buffer *from = NULL, *to = NULL;
    enum status status = STATUS_OK;
    *samples = (struct samples){0};
    TRY_CLEANUP(buffer_create(device, bytes, "the source of a copy", &from));
    TRY_CLEANUP(buffer_create(device, bytes, "the target of a copy", &to));
    TRY_CLEANUP(buffer_fill(from, 1)); /* both arrays are touched before anything is timed */
    TRY_CLEANUP(buffer_fill(to, 0));
    for (uint32_t n = 0; n < repeats + 1; n++) {
        device_reset_timers(device);
        TRY_CLEANUP(buffer_copy(from, to, bytes, STAGE_OTHER));
        TRY_CLEANUP(device_finish(device));
        if (n > 0)
            samples_add(samples, device_timers(device)->stages[STAGE_OTHER].seconds);
    }
cleanup:
    buffer_destroy(&from);
    buffer_destroy(&to);
    return status;
}
