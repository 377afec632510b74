/* Sorted list: what the file of a snapshot or checkpoint needs of the list of one species. */
#ifndef RADIXPIC_OUTPUT_SORTED_LIST_H
#define RADIXPIC_OUTPUT_SORTED_LIST_H

#include "output/hdf5_file.h"
#include "output/view.h"

#include <math.h>

struct sorted_list {
    const struct view *view;
    uint32_t species;
    const struct particles *particles;
    uint64_t all, before;   /* particles of all ranks, and of those before this one */
    uint32_t *cell_offsets; /* owned: [own cells + 1], a copy of the device's */
    double *values;         /* owned: room for a piece of a real attribute, by particles_read() */
};

/* Collective: a failure is that of all ranks. Also when the cell offsets do not hold the particles. The
 * caller destroys the list in any case. */
STATUS_CHECKED enum status sorted_list_create(const struct view *view, uint32_t species,
                                              struct sorted_list *list);
void sorted_list_destroy(struct sorted_list *list);

/* The cell of the local grid that particle j is in. */
uint32_t sorted_list_cell(const struct sorted_list *list, uint64_t j);

/* The type of an attribute's numbers in the file and on the host. */
static inline hid_t attribute_type(enum precision precision, enum attribute attribute)
{
    return attribute_table[attribute].is_real ? hdf5_real(precision) : H5T_NATIVE_UINT64;
}

/* Whether a particle may have this value. */
static inline bool attribute_accepts(enum attribute attribute, double value)
{
    return attribute == ATTRIBUTE_OFFSET ? value >= 0 && value < 1 : isfinite(value) != 0;
}

#endif
