/* Formulas: those of a config's velocities, which may be of u and v together, at nodes, and what follows from
 * them; and those of fields.external, which of them change in time, and what they say on the nodes. */
#ifndef RADIXPIC_CONFIG_FORMULAS_H
#define RADIXPIC_CONFIG_FORMULAS_H

#include "config/config.h"
#include "config/formula_source.h"

/* The factor of the density that begins with one of the velocities: of it alone, or of u and v. */
struct density_part {
    uint32_t axis, axes; /* the first of them, and how many */
    struct nodes nodes;
};

struct density_part density_part(const struct velocities_config *velocities, uint32_t axis);

/* values[nodes_count()] <- it. False without memory. */
bool density_tabulate(const struct velocities_config *velocities, const struct density_part *part,
                      double *values);

/* Sets drift, thermal (standard deviations) and lost by a density that can be loaded. False: no memory. */
bool density_measure(struct velocities_config *velocities);

/* ---- fields.external and fields.initial ---- */

/* Whether there is one, with t in it. */
bool formula_has_time(const struct config *config, const char *text);

/* *source <- one of fields.external as kernels/external.cl has it: formula_source(). */
bool external_source(const struct config *config, const char *text, char **source,
                     char why[FORMULA_WHY_LENGTH]);

/* *source <- a formula of the values of a species' particles as kernels have it, which include
 * shared/particle_values.h: formula_source(). Formulas have w where the species has it, and c in an
 * electromagnetic run. */
bool particle_formula_source(const struct config *config, const struct species_config *species,
                             const char *text, char **source, char why[FORMULA_WHY_LENGTH]);

#define MOST_DIVERGENCE 1e-3 /* as of a formula with few digits */

struct field_survey {
    const char *infinite;    /* "E" or "B", which is not finite somewhere; NULL: both are */
    double most_electric[2]; /* |Ex|, |Ey| */
    double most_magnetic;    /* |B|; NaN where one is not finite */
    double divergence; /* the largest |div B|, in units of the largest |dBx/dx| + |dBy/dy|, which counts as
                        * at least 1e-6 |B| in a cell */
    double place[2], time; /* where it is, or where one is not finite */
};

/* Of `count` fields in a row in the config, E and B of fields.external or a single one, which then is B here,
 * or of those of a file, of which values[3 * count] stand in place of formulas, or are NULL.
 * |B| of fields.external is with fields.magnetic, and with fields.initial as it is at t = 0.
 * On up to 128 nodes along an axis, at equal distances, and where there is t at five times of the run. Across
 * the ends of the box too, where the formulas begin again. */
struct field_survey field_survey(const struct config *config,
                                 const char (*formulas)[3][CONFIG_FORMULA_LENGTH], double *const *values,
                                 uint32_t count);

#endif
