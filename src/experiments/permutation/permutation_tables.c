/* Permutation tables: numbers. */
#include "experiments/permutation/permutation.h"

#include <string.h>

const struct permutation_table permutation_tables[PERMUTATION_TABLES] = {
    {1, 3, {2, 4}, 2, {{8, 8, 8}, {16, 16, 16}, {32, 32, 32}, {64, 64, 64}, {128, 128, 128}}, 5, {0}},
    {2, 4, {2, 4}, 2, {{8, 8, 8, 8}, {16, 16, 16, 16}, {32, 32, 32, 32}, {32, 32, 64, 64}}, 4, {0}},
    {3, 5, {2, 3}, 2, {{12, 12, 12, 12, 12}, {36, 42, 42, 42, 42}}, 2, {0}},
    {4, 6, {2}, 1, {{10, 10, 10, 10, 10, 10}}, 1, {0}},
    {5, 7, {2}, 1, {{10, 10, 10, 10, 10, 10, 10}}, 1, {0}},
};

uint32_t permutation_fit_cells(struct permutation_table *table, size_t local_memory)
{
    uint32_t kept = 0, smallest = 0;
    for (uint32_t n = 0; n < table->cell_count; n++) {
        const uint32_t side = table->cell_sides[n];
        const struct ndpa_shape cell = {.dimensions = table->dimensions, .cell_side = side};
        if (n == 0 || ndpa_cell_elements(&cell) <= local_memory / sizeof(uint32_t))
            table->cell_sides[kept++] = side;
        else if (smallest == 0 || side < smallest)
            smallest = side;
    }
    table->cell_count = kept;
    return smallest;
}

struct ndpa_shape permutation_shape(const struct permutation_table *table, uint32_t volume, uint32_t cell)
{
    struct ndpa_shape shape = {.dimensions = table->dimensions,
                               .cell_side = table->cell_sides[cell],
                               .element_bytes = sizeof(uint32_t)};
    memcpy(shape.sides, table->sides[volume], sizeof shape.sides);
    return shape;
}
