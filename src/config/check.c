/* Check: the rules of sorting, and what the rules of several topics have in common. */
#include "config/check.h"

#include "base/integers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- in common ---- */

void check_name(struct reading *reading, const char *list, const char *what, const void *items, size_t size,
                uint32_t index)
{
    const char *name = (const char *)items + size * index;
    for (uint32_t j = 0; j < index; j++)
        if (strcmp(name, (const char *)items + size * j) == 0 && at(reading, "%s.%u.name", list, index))
            complain(reading, NULL, "expected one %s of a name, found %s twice", what, name);
}

bool check_ends(struct reading *reading, const double range[2], bool may_be_equal)
{
    if ((range[0] < range[1] || (may_be_equal && range[0] == range[1])) && isfinite(range[1] - range[0]))
        return true;
    complain(reading, NULL, "expected [low, high], low %s high and their difference finite, found [%g, %g]",
             may_be_equal ? "at most" : "below", range[0], range[1]);
    return false;
}

void check_species_name(struct reading *reading, const char *name, const char *others)
{
    const struct config *config = reading->config;
    if (species_find(config, name) == config->species_count && is_sound(reading, "species") &&
        is_sound(reading, reading->path))
        complain(reading, NULL, "expected the name of a species, such as %s%s, found %s",
                 config->species[0].name, others, name);
}

void check_values(struct reading *reading, const struct nodes *nodes, const double *values, double least,
                  double *most)
{
    const char *where = nodes->length ? "box" : "range";
    const size_t count = nodes_count(nodes);
    char second[64] = "";
    size_t n = 0;
    *most = 0;
    if (!values) {
        complain(reading, NULL, "no memory to evaluate the formula");
        return;
    }
    for (; n < count && isfinite(values[n]) && values[n] >= least; n++)
        *most = fmax(*most, fabs(values[n]));
    if (nodes->names[1])
        snprintf(second, sizeof second, ", %c = %g", nodes->names[1], nodes_place(nodes, 1, n));
    if (n < count)
        complain(reading, NULL, "expected a %s everywhere in the %s, found %g at %c = %g%s",
                 least == 0 ? "number of at least 0" : "finite number", where, values[n], nodes->names[0],
                 nodes_place(nodes, 0, n), second);
    else if (least == 0 && *most == 0)
        complain(reading, NULL, "expected a number above 0 somewhere in the %s, found 0 everywhere", where);
}

void check_formula(struct reading *reading, const struct nodes *nodes, const char *formula, double least,
                   double *most)
{
    double *values = malloc(nodes_count(nodes) * sizeof *values);
    const bool are_there = values && nodes_tabulate(nodes, formula, false, values);
    check_values(reading, nodes, are_there ? values : NULL, least, most);
    free(values);
}

/* ---- sorting ---- */

static void check_sort(struct reading *reading, const struct grid_config *grid,
                       const struct sort_config *sort)
{
    const uint64_t cells = (uint64_t)grid->cells[0] * grid->cells[1];
    if (at(reading, "grid.cells") && cells > CONFIG_MAX_CELLS)
        complain(reading, NULL, "expected a product of at most %u, found %" PRIu64 " cells", CONFIG_MAX_CELLS,
                 cells);
    if (!at(reading, "grid.cells") || !at(reading, "sort.key_bits"))
        return;
    /* b of the short key: as many bits as number every cell */
    const uint32_t least = at_least(bits_below(cells), 1);
    const uint32_t bits = sort->key_bits == SORT_AUTO ? least : sort->key_bits;
    if (bits < least)
        complain(reading, NULL, "expected %u to 32, or auto, to number %u x %u cells, found %u", least,
                 grid->cells[0], grid->cells[1], bits);
    else if (at(reading, "sort.passes") && sort->passes > bits)
        complain(reading, NULL, "expected 1 to %u, the bits of the key, found %u", bits, sort->passes);
}

void check_config(struct reading *reading)
{
    check_sort(reading, &reading->config->grid, &reading->config->sort);
    check_fields(reading);
    check_collisions(reading);
    check_output(reading);
    check_species(reading);
    check_ranges(reading); /* of particles as fast as profiles make them */
    check_electromagnetic(reading);
}
