/* Profile: walk the nodes. */
#include "config/profile.h"

#include "config/formula.h"

#include <string.h>

enum { LEAST_INTERVALS = 1024, MOST_INTERVALS = 4096 };

bool profile_is_given(const char *formula, const char *none)
{
    return formula[0] != '\0' && strcmp(formula, none) != 0;
}

uint32_t profile_intervals(uint32_t cells)
{
    const uint32_t parts = (LEAST_INTERVALS + cells - 1) / cells;
    return cells > MOST_INTERVALS ? MOST_INTERVALS : cells * parts;
}

size_t profile_nodes(const uint32_t cells[2])
{
    return (profile_intervals(cells[0]) + (size_t)1) * (profile_intervals(cells[1]) + 1);
}

bool profile_tabulate(const char *text, const uint32_t cells[2], const double length[2], double *values)
{
    char why[FORMULA_WHY_LENGTH];
    const uint32_t along_x = profile_intervals(cells[0]), along_y = profile_intervals(cells[1]);
    struct formula *formula = formula_open(text, length, why);
    for (uint32_t i = 0; formula && i <= along_x; i++)
        for (uint32_t j = 0; j <= along_y; j++)
            *values++ = formula_at(formula, i * length[0] / along_x, j * length[1] / along_y);
    formula_close(formula);
    return formula != NULL;
}
