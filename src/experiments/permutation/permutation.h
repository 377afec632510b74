/* Permutation: a table of the paper as data. */
#ifndef RADIXPIC_EXPERIMENTS_PERMUTATION_H
#define RADIXPIC_EXPERIMENTS_PERMUTATION_H

#include <stddef.h>
#include <stdint.h>

enum {
    PERMUTATION_MAX_DIMENSIONS = 8,
    PERMUTATION_MAX_VOLUMES = 5, /* of a table */
    PERMUTATION_MAX_CELLS = 4,   /* kinds of cells in a table */
    PERMUTATION_TABLES = 5
};

struct permutation_table {
    uint32_t number; /* in the paper; 0: none of them */
    uint32_t dimensions;
    uint32_t cell_sides[PERMUTATION_MAX_CELLS], cell_count; /* the paper's block size is a side^dimensions */
    uint32_t sides[PERMUTATION_MAX_VOLUMES][PERMUTATION_MAX_DIMENSIONS], volume_count;
    uint32_t axes[PERMUTATION_MAX_DIMENSIONS]; /* to run; 0 in the paper's tables */
};

/* Takes away the cells of the table, p^N elements of 4 bytes, that do not fit so many bytes of local memory,
 * but for the first. Returns the side of the smallest that was taken away, 0 where all stay. */
uint32_t permutation_fit_cells(struct permutation_table *table, size_t local_memory);

#endif
