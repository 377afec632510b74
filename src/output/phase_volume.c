/* Phase volume: shapes and strides. */
#include "output/phase_volume.h"

#include "config/phase_axes.h"

#include <string.h>

/* So that a chunk has 4,096 elements: enough for HDF5 to compress, and few enough for local memory. */
static const uint32_t cell_sides[CONFIG_PHASE_AXES + 1] = {0, 4096, 64, 16, 8};

static uint32_t round_up(uint32_t value, uint32_t step)
{
    return (value + step - 1) / step * step;
}

struct phase_volume phase_volume_make(const struct phase_space_config *phase_space)
{
    const uint32_t dimensions = phase_space->axis_count;
    struct phase_volume volume = {.dimensions = dimensions, .cell_side = cell_sides[dimensions]};
    for (uint32_t k = 0; k < dimensions; k++) {
        volume.axes[k] = phase_axis_find(phase_space, phase_axis_written(phase_space, k));
        volume.is_permuted |= volume.axes[k] != k;
        volume.bins[k] = phase_space->axes[k].bins;
    }
    for (uint32_t k = 0; k < dimensions; k++) {
        const uint32_t size = volume.bins[volume.axes[k]];
        volume.sides[k] = volume.is_permuted ? round_up(volume.bins[k], volume.cell_side) : volume.bins[k];
        volume.shape[k] = size;
        volume.chunk[k] = size < volume.cell_side ? size : volume.cell_side;
        volume.chunks[k] = (size + volume.chunk[k] - 1) / volume.chunk[k];
    }
    return volume;
}

static uint64_t product(const uint32_t *factors, uint32_t count)
{
    uint64_t all = 1;
    for (uint32_t k = 0; k < count; k++)
        all *= factors[k];
    return all;
}

uint64_t phase_volume_elements(const struct phase_volume *volume)
{
    return product(volume->sides, volume->dimensions);
}

uint32_t phase_volume_chunk_elements(const struct phase_volume *volume)
{
    return (uint32_t)product(volume->chunk, volume->dimensions);
}

uint64_t phase_volume_chunks(const struct phase_volume *volume)
{
    return product(volume->chunks, volume->dimensions);
}

static uint64_t stride_of(const struct phase_volume *volume, uint32_t axis)
{
    uint64_t stride = 1;
    for (uint32_t k = axis + 1; k < volume->dimensions; k++)
        stride *= volume->sides[k];
    return stride;
}

uint32_t phase_volume_stride(const struct phase_volume *volume, const struct phase_space_config *phase_space,
                             enum phase_axis axis)
{
    const uint32_t k = phase_axis_find(phase_space, axis);
    return k < volume->dimensions ? (uint32_t)stride_of(volume, k) : 0;
}

void phase_volume_read_chunk(const struct phase_volume *volume, const uint32_t *counts, uint64_t number,
                             uint64_t *values)
{
    uint64_t strides[CONFIG_PHASE_AXES], begin = 0;
    uint32_t extent[CONFIG_PHASE_AXES] = {0}; /* of the chunk within the array */
    for (uint32_t k = volume->dimensions; k-- > 0; number /= volume->chunks[k]) {
        const uint32_t along = (uint32_t)(number % volume->chunks[k]),
                       rest = volume->shape[k] - along * volume->chunk[k];
        extent[k] = rest < volume->chunk[k] ? rest : volume->chunk[k];
        strides[k] = stride_of(volume, k);
        begin += along * volume->cell_side * stride_of(volume, volume->axes[k]);
    }
    const uint32_t elements = phase_volume_chunk_elements(volume),
                   row = volume->chunk[volume->dimensions - 1];
    memset(values, 0, elements * sizeof *values);
    for (uint32_t first = 0; first < elements; first += row) {
        uint64_t place = begin;
        bool is_inside = true;
        uint32_t rest = first / row;
        for (uint32_t k = volume->dimensions - 1; k-- > 0; rest /= volume->chunk[k]) {
            const uint32_t along = rest % volume->chunk[k];
            is_inside &= along < extent[k];
            place += along * strides[k];
        }
        for (uint32_t n = 0; n < extent[volume->dimensions - 1] && is_inside; n++)
            values[first + n] = counts[place + n];
    }
}
