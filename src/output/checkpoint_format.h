/* Checkpoint format: what writing and reading must agree on.
 *
 *     attributes of the file: version, step, first_energy, ranks, ghost
 *     /config                 uint8[bytes]            YAML, as config_echo() writes it
 *     /first_rows             uint32[ranks + 1]       of the ranks, and the number of rows
 *     /capacities             uint64[ranks][species]  of the main lists
 *     /particles/SPECIES/LIST/cell_counts  uint32[nx][ny]
 *     /particles/SPECIES/LIST/offset       real[N][2], in the order of the cells
 *     /particles/SPECIES/LIST/velocity     real[N][2]
 *     /particles/SPECIES/LIST/id           uint64[N], of species with ids
 */
#ifndef RADIXPIC_OUTPUT_CHECKPOINT_FORMAT_H
#define RADIXPIC_OUTPUT_CHECKPOINT_FORMAT_H

#include "output/checkpoint.h"

#include <hdf5.h>

static const char *const checkpoint_list_names[CHECKPOINT_LISTS] = {"main", "guests"};

/* The type of a real in the file and on the host. */
static inline hid_t checkpoint_real(enum precision precision)
{
    return precision == PRECISION_SINGLE ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

/* Where a particle may be in its cell; neither is not-a-number. */
static inline bool checkpoint_is_offset(double value)
{
    return value >= 0 && value < 1;
}

#endif
