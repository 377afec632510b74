/* Sorted list: a copy of a species' list, or of particles chosen of it, for a snapshot or checkpoint. */
#ifndef RADIXPIC_OUTPUT_SORTED_LIST_H
#define RADIXPIC_OUTPUT_SORTED_LIST_H

#include "hdf5/hdf5_file.h"
#include "output/selection.h"
#include "output/view.h"

/* A list in memory of a file, as long as the file lives: any thread may read it while the run goes on. */
struct sorted_list {
    const struct species_config *species;
    enum precision precision;
    uint64_t step;
    struct slab slab;
    uint32_t count;       /* particles of this rank */
    uint64_t all, before; /* particles of all ranks, and of the ranks before this one */
    double weight; /* real particles that each stands for; those of a sample stand for the whole species */
    uint64_t first_id;            /* of the species' particles, so that ids are unique among all species */
    uint32_t *cell_offsets;       /* [own cells + 1] */
    const void *data[ATTRIBUTES]; /* attribute_bytes() each, in the order of the cells; NULL: there is none */
};

/* Collective. Copies the list, with a selection the chosen particles, into memory of the file; NULL after a
 * failure, which the file has: also when the cell offsets do not hold the particles. Of a file without data
 * the whole species is counted. */
struct sorted_list *sorted_list_copy(struct hdf5_file *file, const struct view *view, uint32_t species,
                                     const struct selection *selection);

/* The cell of the local grid that particle j is in. */
uint32_t sorted_list_cell(const struct sorted_list *list, uint64_t j);

#endif
