/* Box array: its numbers beside a place of the box, and the length that its file says. */
#include "input/box_array.h"

#include <math.h>
#include <stdlib.h>

/* The numbers beside a place along an axis, as places in the array's values, and how much of the latter. */
struct beside {
    uint64_t before, behind;
    double part;
};

/* Of a place of the box, from 0 to 1. */
static struct beside find_beside(const struct columns_array *array, int axis, double place)
{
    const uint64_t count = array->shape[axis], stride = array->stride[axis];
    double at = fmod(place * (double)count - array->first[axis], (double)count);
    at += at < 0 ? (double)count : 0;
    return (struct beside){(uint64_t)at % count * stride, ((uint64_t)at + 1) % count * stride,
                           at - floor(at)};
}

enum status box_array_at_nodes(const struct columns_array *array, const uint32_t intervals[2], uint32_t more,
                               double *values)
{
    const uint32_t nx = intervals[0] + more, ny = intervals[1] + more;
    struct beside *along_y = malloc(ny * sizeof *along_y);
    if (!along_y)
        return status_fail(STATUS_FAILED, "%s: no memory to read it", array->path);
    for (uint32_t j = 0; j < ny; j++)
        along_y[j] = find_beside(array, 1, (double)j / intervals[1]);
    for (uint32_t i = 0; i < nx; i++) {
        const struct beside x = find_beside(array, 0, (double)i / intervals[0]);
        const double *low = array->values + x.before, *high = array->values + x.behind;
        for (uint32_t j = 0; j < ny; j++) {
            const struct beside y = along_y[j];
            const double before = low[y.before] + y.part * (low[y.behind] - low[y.before]);
            const double behind = high[y.before] + y.part * (high[y.behind] - high[y.before]);
            *values++ = before + x.part * (behind - before);
        }
    }
    free(along_y);
    return STATUS_OK;
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
