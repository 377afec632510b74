/* Recipe: the config of a species as the numbers that kernels/shared/loading.h works with. */
#ifndef RADIXPIC_LOAD_RECIPE_H
#define RADIXPIC_LOAD_RECIPE_H

#include "domain/grid.h"
#include "shared/loading.h"

/* A recipe and its table of terms, on the host. */
struct recipe_table {
    struct recipe recipe;
    struct cosine *terms; /* term_count of them, owned */
    uint32_t term_count;
};

/* Fills `table`: the product of each axis' density perturbations is multiplied out into one sum of cosines,
 * of which the integral is known in closed form. STATUS_USAGE when a density would be negative somewhere (an
 * amplitude beyond 1). The caller destroys the table, also after a failure. */
STATUS_CHECKED enum status recipe_table_create(const struct grid *grid, const struct species_config *species,
                                               struct recipe_table *table);
void recipe_table_destroy(struct recipe_table *table);

#endif
