/* Phase volume: the array of counts of one item of output.phase_space: its shape on the device, and where the
 * chunks of the written array are in it.
 *
 * On the device the axes are in the order of the config's `axes`, in C order. Where another order is asked
 * for, the volume is permuted in place (ndpa/ndpa_shape.h): its sides are then multiples of the side of an
 * NDPA cell, and a chunk of the written array is such a cell, with its elements in their final order. So the
 * permutation among the cells is no work at all: it is where in the file each chunk is written.
 */
#ifndef RADIXPIC_OUTPUT_PHASE_VOLUME_H
#define RADIXPIC_OUTPUT_PHASE_VOLUME_H

#include "config/config.h"

#include <stddef.h>

struct phase_volume {
    uint32_t dimensions;
    uint32_t bins[CONFIG_PHASE_AXES];  /* in the order of `axes` */
    uint32_t sides[CONFIG_PHASE_AXES]; /* on the device, in that order: bins, rounded up where permuted */
    uint32_t axes[CONFIG_PHASE_AXES];  /* axis k of the written array is axis axes[k] of the config's */
    uint32_t cell_side;                /* of chunks, and of NDPA cells */
    bool is_permuted;

    uint32_t shape[CONFIG_PHASE_AXES];  /* of the written array: shape[k] = bins[axes[k]] */
    uint32_t chunk[CONFIG_PHASE_AXES];  /* sides of its chunks: cell_side, or the whole side if shorter */
    uint32_t chunks[CONFIG_PHASE_AXES]; /* their number along each axis */
};

/* Of an item that check_config() accepted. */
struct phase_volume phase_volume_make(const struct phase_space_config *phase_space);

/* Elements on the device, which the padding can make more than 32 bits count. */
uint64_t phase_volume_elements(const struct phase_volume *volume);

/* Elements of a chunk, and the number of chunks. */
uint32_t phase_volume_chunk_elements(const struct phase_volume *volume);
uint64_t phase_volume_chunks(const struct phase_volume *volume);

/* The stride of an axis on the device, in elements; 0 where f is no function of it. */
uint32_t phase_volume_stride(const struct phase_volume *volume, const struct phase_space_config *phase_space,
                             enum phase_axis axis);

/* values[phase_volume_chunk_elements()] <- chunk `number` (in C order) of the written array, in C order,
 * from the device's volume of counts; 0 beyond the end of the array. */
void phase_volume_read_chunk(const struct phase_volume *volume, const uint32_t *counts, uint64_t number,
                             uint64_t *values);

#endif
