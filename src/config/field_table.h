/* Field table: the quantities on the nodes of the grid, one row each. Config words, arrays, the exchange
 * between ranks, the check for non-finite values, outputs and the library loop over its rows. */
#ifndef RADIXPIC_CONFIG_FIELD_TABLE_H
#define RADIXPIC_CONFIG_FIELD_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Which equations the fields follow: fields.solver, src/field/solver.h. */
enum solver_name { SOLVER_ELECTROSTATIC, SOLVER_ELECTROMAGNETIC, SOLVERS };

/* What sets a field: the solver in each step; the deposit, and the sum over ranks and the filter; or the
 * solver where an output asks for it. */
enum field_provider { FIELD_OF_SOLVER, FIELD_OF_DEPOSIT, FIELD_ON_REQUEST };

/* Columns: name; word in a config; components with the electrostatic solver, and
 * with the electromagnetic one, along x, y and z; openPMD record; powers of length, mass, time and current in
 * its unit; member of struct units; time level, in steps after n; provider; name in messages. */
/* clang-format off */
#define FIELD_TABLE(ROW)                                                                                     \
    ROW(E,   "E",   2, 3, "E",              1, 1, -3, -1, electric_field,  0,    FIELD_OF_SOLVER,  "field E")   \
    ROW(B,   "B",   0, 3, "B",              0, 1, -2, -1, magnetic_field,  0,    FIELD_OF_SOLVER,  "field B")   \
    ROW(PHI, "phi", 1, 1, "phi",            2, 1, -3, -1, potential,       0,    FIELD_ON_REQUEST, "potential") \
    ROW(RHO, "rho", 1, 1, "chargeDensity", -3, 0,  1,  1, charge_density,  0,    FIELD_OF_DEPOSIT, "charge density") \
    ROW(J,   "J",   0, 3, "J",             -2, 0,  0,  1, current_density, -0.5, FIELD_OF_DEPOSIT, "current density J")

#define FIELD_NAME(name, ...)                    FIELD_##name,
#define FIELD_WORD(name, word, ...)              {word, FIELD_##name},

/* The rows, and behind them what snapshots may hold too: the charge density of each species, and moments. */
enum field { FIELD_TABLE(FIELD_NAME) FIELDS, FIELD_SPECIES_RHO = FIELDS, FIELD_MOMENTS, FIELD_CHOICES };

/* The most components that the fields of a solver have together. */
#define FIELD_COUNT(name, word, few, components, ...)  + (components)
enum { FIELD_COMPONENTS = 0 FIELD_TABLE(FIELD_COUNT) };
/* clang-format on */

struct field_row {
    const char *word;
    uint32_t components[SOLVERS]; /* 0: the solver has no such field */
    const char *record;
    double dimension[7]; /* openPMD's unitDimension */
    size_t unit;         /* offset of a double in struct units */
    double time_level;   /* steps after n */
    enum field_provider provider;
    const char *name;
};

extern const struct field_row field_table[FIELDS];

/* The openPMD record of the field that a config calls so; every other name is its own. */
const char *field_record(const char *name);

static inline uint32_t field_components(enum solver_name solver, enum field field)
{
    return field_table[field].components[solver];
}

/* The number of a field's first component among those of all fields, one field after the other, in the order
 * of the table; of FIELDS, how many there are, at most FIELD_COMPONENTS. */
static inline uint32_t field_first(enum solver_name solver, enum field field)
{
    uint32_t first = 0;
    for (enum field f = 0; f < field; f++)
        first += field_components(solver, f);
    return first;
}

/* "x", "y" or "z", which stands behind the name of a component; "" for a field of one component. */
static inline const char *field_axis(enum solver_name solver, enum field field, uint32_t component)
{
    static const char *const axes[] = {"x", "y", "z"};
    return field_components(solver, field) == 1 ? "" : axes[component];
}

/* A set of fields has the bit 1 << f for field f; a set of components the bit 1 << c for component c. */
static inline unsigned field_component_bits(enum solver_name solver, unsigned fields)
{
    unsigned bits = 0;
    for (enum field f = 0; f < FIELDS; f++)
        if (fields >> f & 1)
            bits |= ((1u << field_components(solver, f)) - 1) << field_first(solver, f);
    return bits;
}

#endif
