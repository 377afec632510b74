/* Permutation tables: numbers. */
#include "experiments/permutation/permutation_tables.h"

#include <string.h>

const struct permutation_table *permutation_table(uint32_t number)
{
    static const struct permutation_table tables[PERMUTATION_TABLES] = {
        {.number = 1,
         .dimensions = 3,
         .cell_sides = {2, 4},
         .cell_count = 2,
         .sides = {{8, 8, 8}, {16, 16, 16}, {32, 32, 32}, {64, 64, 64}, {128, 128, 128}},
         .volume_count = 5},
        {.number = 2,
         .dimensions = 4,
         .cell_sides = {2, 4},
         .cell_count = 2,
         .sides = {{8, 8, 8, 8}, {16, 16, 16, 16}, {32, 32, 32, 32}, {32, 32, 64, 64}},
         .volume_count = 4},
        {.number = 3,
         .dimensions = 5,
         .cell_sides = {2, 3},
         .cell_count = 2,
         .sides = {{12, 12, 12, 12, 12}, {36, 42, 42, 42, 42}},
         .volume_count = 2},
        {.number = 4,
         .dimensions = 6,
         .cell_sides = {2},
         .cell_count = 1,
         .sides = {{10, 10, 10, 10, 10, 10}},
         .volume_count = 1},
        {.number = 5,
         .dimensions = 7,
         .cell_sides = {2},
         .cell_count = 1,
         .sides = {{10, 10, 10, 10, 10, 10, 10}},
         .volume_count = 1},
    };
    return &tables[number - 1];
}

uint32_t permutation_fit_cells(struct permutation_table *table, size_t local_memory)
{
    uint32_t kept = 0, smallest = 0;
    for (uint32_t n = 0; n < table->cell_count; n++) {
        const uint32_t side = table->cell_sides[n];
        uint64_t bytes = sizeof(uint32_t);
        for (uint32_t k = 0; k < table->dimensions && bytes <= local_memory; k++)
            bytes *= side;
        if (bytes <= local_memory || n == 0)
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

uint64_t permutation_elements(uint32_t dimensions, const uint32_t *sides)
{
    uint64_t elements = 1;
    for (uint32_t k = 0; k < dimensions; k++)
        elements *= sides[k];
    return elements;
}
