/* Box array: its numbers beside a place of the box, and the length that its file says. */
#include "input/box_array.h"

#include <math.h>

/* A place of the box, from 0 to 1, along an axis of an array, which repeats with the box: *before and *behind
 * <- the numbers beside, as places in array->values. Returns how much of the latter. */
static double find_beside(const struct columns_array *array, int axis, double place, uint64_t *before,
                          uint64_t *behind)
{
    const uint64_t count = array->shape[axis], stride = array->stride[axis];
    double at = fmod(place * (double)count - array->first[axis], (double)count);
    at += at < 0 ? (double)count : 0;
    *before = (uint64_t)at % count * stride;
    *behind = ((uint64_t)at + 1) % count * stride;
    return at - floor(at);
}

double box_array_at(const struct columns_array *array, double x, double y)
{
    uint64_t left, right, a, b;
    const double along_x = find_beside(array, 0, x, &left, &right), up = find_beside(array, 1, y, &a, &b);
    const double *low = array->values + left, *high = array->values + right;
    const double before = low[a] + up * (low[b] - low[a]);
    return before + along_x * (high[a] + up * (high[b] - high[a]) - before);
}

enum status box_array_check_length(const struct config *config, const struct columns_array *array)
{
    const double own[2] = {array->unit / units_make(&config->units).length, 1}, tolerance = 1e-5;
    const double *box = config->grid.length;
    bool fits = false;
    for (int unit = 0; unit < 2; unit++)
        fits |= fabs(own[unit] * array->length[0] - box[0]) <= tolerance * box[0] &&
                fabs(own[unit] * array->length[1] - box[1]) <= tolerance * box[1];
    if (fits || (array->length[0] == 0 && array->length[1] == 0))
        return STATUS_OK;
    return status_fail(
        STATUS_USAGE,
        "%s: gridSpacing of %s: expected a box of %g x %g, found one of %g x %g, by gridUnitSI "
        "and `units` of %g x %g",
        array->path, array->place, box[0], box[1], array->length[0], array->length[1],
        own[0] * array->length[0], own[0] * array->length[1]);
}
