/* Field table: the quantities on the nodes of the grid, one row each. The words of a config, the arrays, the
 * exchange between ranks, the check for non-finite values, every output and the library loop over its rows.
 */
#ifndef RADIXPIC_CONFIG_FIELD_TABLE_H
#define RADIXPIC_CONFIG_FIELD_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* What sets a field: the solver in each step; the deposit, and the sum over ranks and the filter; or the
 * solver where an output asks for it. */
enum field_provider { FIELD_OF_SOLVER, FIELD_OF_DEPOSIT, FIELD_ON_REQUEST };

/* Columns: name; word in a config; components, along x and y; openPMD record; powers of length, mass, time
 * and current in its unit; member of struct units; time level, in steps after n; provider; name in messages.
 */
/* clang-format off */
#define FIELD_TABLE(ROW)                                                                                     \
    ROW(E,   "E",   2, "E",              1, 1, -3, -1, electric_field, 0, FIELD_OF_SOLVER,  "field E")       \
    ROW(PHI, "phi", 1, "phi",            2, 1, -3, -1, potential,      0, FIELD_ON_REQUEST, "potential")     \
    ROW(RHO, "rho", 1, "chargeDensity", -3, 0,  1,  1, charge_density, 0, FIELD_OF_DEPOSIT, "charge density")

#define FIELD_NAME(name, ...)                    FIELD_##name,
#define FIELD_WORD(name, word, ...)              {word, FIELD_##name},
#define FIELD_PLACES(name, word, components, ...) FIELD_FIRST_##name, FIELD_LAST_##name = FIELD_FIRST_##name + (components) - 1,

/* The rows, and behind them what snapshots may hold too: the charge density of each species, and moments. */
enum field { FIELD_TABLE(FIELD_NAME) FIELDS, FIELD_SPECIES_RHO = FIELDS, FIELD_MOMENTS, FIELD_CHOICES };

/* The components of all fields, one field after the other. */
enum { FIELD_TABLE(FIELD_PLACES) FIELD_COMPONENTS };
/* clang-format on */

struct field_row {
    const char *word;
    uint32_t components;
    uint32_t first; /* component of all FIELD_COMPONENTS */
    const char *record;
    double dimension[7]; /* openPMD's unitDimension */
    size_t unit;         /* offset of a double in struct units */
    double time_level;   /* steps after n */
    enum field_provider provider;
    const char *name;
};

extern const struct field_row field_table[FIELDS];

/* "x" or "y", which stands behind the name of a component; "" for a field of one component. */
static inline const char *field_axis(enum field field, uint32_t component)
{
    return field_table[field].components == 1 ? "" : component == 0 ? "x" : "y";
}

/* The bits of a field's components in a set of them, component c of all FIELD_COMPONENTS being 1 << c. */
#define FIELD_BITS(name) ((2u << FIELD_LAST_##name) - (1u << FIELD_FIRST_##name))

#endif
