/* Permutation tables: the volumes and cells of the paper's Tables 1 to 5. */
#ifndef RADIXPIC_EXPERIMENTS_PERMUTATION_TABLES_H
#define RADIXPIC_EXPERIMENTS_PERMUTATION_TABLES_H

#include "ndpa/ndpa_shape.h"

#include <stddef.h>

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
};

/* Table `number`, from 1 on. The paper gives numbers of elements, of which these sides are ours. Table 2 has
 * a volume of 4,194,394 elements, which no sides divisible by 4 have: 4,194,304 is meant. Table 3 gets a
 * smaller volume before its own one. */
const struct permutation_table *permutation_table(uint32_t number);

/* Takes away the cells of the table, p^N elements of 4 bytes, that do not fit so many bytes of local memory,
 * but for the first. Returns the side of the smallest that was taken away, 0 where all stay. */
uint32_t permutation_fit_cells(struct permutation_table *table, size_t local_memory);

/* A volume of the table in one of its cells, elements of 4 bytes. */
struct ndpa_shape permutation_shape(const struct permutation_table *table, uint32_t volume, uint32_t cell);

uint64_t permutation_elements(uint32_t dimensions, const uint32_t *sides);

#endif
