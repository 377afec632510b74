/* NDPA: any permutation of the axes of an N-dimensional array of words, in place, on the device.
 *
 * What lies where before and after is in ndpa_shape.h: elements move inside their cells of p^N, out of
 * place in local memory and back to where the cell lies; cells stay, and ndpa_place() finds an element of the
 * permuted volume. Nothing of the volume's size is allocated: a NDPA_TABLES holds tables of a cell's size,
 * and of the number of bars over about its root, the others a few words.
 *
 * A file that is written chunk by chunk takes the cells as they lie. The inverse axes bring a volume back.
 */
#ifndef RADIXPIC_EXPERIMENTS_NDPA_H
#define RADIXPIC_EXPERIMENTS_NDPA_H

#include "device/device.h"
#include "experiments/permutation/ndpa_shape.h"

/* All give the same volume. */
enum ndpa_kind {
    NDPA_THREADS, /* a work-item takes a cell, as in the paper, and computes where its elements are */
    NDPA_CELLS,   /* as many items as a cell has elements take it together; a CPU's item takes cells alone */
    NDPA_BARS,   /* a group takes a bar: consecutive cells along the last axis, so that it reads whole rows */
    NDPA_TABLES, /* rote learning: bars, with what costs divisions read from tables */
    NDPA_KINDS
};

struct ndpa;

/* For volumes of this shape on this device, with `group_items` items in a group, or as many as the device and
 * a cell allow where that is less; 0: what suits the device. STATUS_USAGE as ndpa_check(), and where a cell
 * does not fit local memory. */
STATUS_CHECKED enum status ndpa_create(struct device *device, const struct ndpa_shape *shape,
                                       const uint32_t *axes, enum ndpa_kind kind, uint32_t group_items,
                                       struct ndpa **ndpa);

/* Permutes a volume in place. STATUS_FAILED where `volume` is shorter than the shape says. (Non-blocking;
 * timed as STAGE_OUTPUT.) */
STATUS_CHECKED enum status ndpa_permute(struct ndpa *ndpa, struct buffer *volume);

#endif
