/* Points: the fields at points of the box, interpolated linearly along both axes between the four nodes
 * around each, whatever the shape of the particles. The host interpolates, in double precision. A rank takes
 * the nodes of its own rows; of the nodes of a point the two in a row have one owner, so the values of all
 * ranks, added, are the same bits as on one. */
#ifndef RADIXPIC_OUTPUT_POINTS_H
#define RADIXPIC_OUTPUT_POINTS_H

#include "output/view.h"

struct points;

/* For the `count` points `at`, which it does not own, with room for so many slots. It dies with the device
 * handle. */
STATUS_CHECKED enum status points_create(struct device *device, const struct config *config, uint32_t count,
                                         const double (*at)[2], uint32_t slots, struct points **points);

/* Takes the values of the nodes to a slot (enqueued); those of fields that nothing has asked for mean
 * nothing. All slots are read before the rank's rows change. */
STATUS_CHECKED enum status points_measure(struct points *points, const struct view *view, uint32_t slot);

/* Brings slots `first` to before first + count to the host. Blocking. */
STATUS_CHECKED enum status points_read(struct points *points, uint32_t first, uint32_t count);

/* The rank's share of the values in a slot that was read: [components][count], of all fields that
 * the solver has (field_first()). */
double *points_values(struct points *points, uint32_t slot);

#endif
