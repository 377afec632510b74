/* Recipe: the config of a species as the numbers that kernels/shared/loading.h works with. */
#ifndef RADIXPIC_PARTICLES_RECIPE_H
#define RADIXPIC_PARTICLES_RECIPE_H

#include "domain/grid.h"
#include "shared/loading.h"

/* Most terms. Every factor 1 + a cos of a density adds a mode, takes it off or does neither, and signs fold:
 * n factors of an axis have (3^n + 1)/2, more than those of two axes together. */
enum { RECIPE_MOST_TERMS = (6561 + 1) / 2 + CONFIG_MAX_PERTURBATIONS };
_Static_assert(CONFIG_MAX_PERTURBATIONS == 8, "3^8 = 6561");

/* A recipe, its table of terms and its tables of formulas, on the host. */
struct recipe_table {
    struct recipe recipe;
    struct cosine terms[RECIPE_MOST_TERMS];
    uint32_t term_count;
    double *tables; /* struct profile_tables says where they begin; never empty */
    size_t length;  /* of `tables` */
};

/* Fills `table`: the product of each axis' density perturbations is multiplied out into one sum of cosines,
 * of which the integral is known in closed form; formulas are tabulated, that of the density with its
 * integrals along y, and of these along x. STATUS_USAGE when a density would be negative somewhere (an
 * amplitude beyond 1), STATUS_FAILED without memory. The caller destroys it. */
STATUS_CHECKED enum status recipe_table_create(const struct grid *grid, const struct species_config *species,
                                               struct recipe_table *table);

void recipe_table_destroy(struct recipe_table *table);

#endif
