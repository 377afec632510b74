/* Check: the rules that tie several keys together, a file for each topic, and what they have in common. */
#ifndef RADIXPIC_CONFIG_CHECK_H
#define RADIXPIC_CONFIG_CHECK_H

#include "config/complaints.h"
#include "config/formula.h"

/* All rules. */
void check_config(struct reading *reading);

/* Rules of one topic each: that of check_ranges() is numbers that are too large or too small for what a run
 * does with them. */
void check_species(struct reading *reading);
void check_fields(struct reading *reading);
void check_electromagnetic(struct reading *reading);
void check_collisions(struct reading *reading);
void check_output(struct reading *reading);
void check_ranges(struct reading *reading);

/* ---- in common ---- */

/* No item of the list before this one has its name, the first member of items of `size` bytes. */
void check_name(struct reading *reading, const char *list, const char *what, const void *items, size_t size,
                uint32_t index);

/* There is a species of that name; the complaint shows one, and `others` that the key takes too. */
void check_species_name(struct reading *reading, const char *name, const char *others);

/* The fields of an output, at `key` of `path`, are those that the solver has. */
void check_field_list(struct reading *reading, const char *path, const char *key,
                      const struct field_list *fields);

/* The values of a formula at nodes are finite and at least `least`, and not 0 everywhere where that is 0.
 * Stores the greatest modulus. `values` is NULL without memory. */
void check_values(struct reading *reading, const struct nodes *nodes, const double *values, double least,
                  double *most);

/* Evaluates a formula at the nodes, at t = 0, for check_values(). */
void check_formula(struct reading *reading, const struct nodes *nodes, const char *formula, double least,
                   double *most);

/* The formulas of E and B of fields.GROUP, `initial` or `external`, are finite on the grid at t = 0. */
void check_field_formulas(struct reading *reading, const char *group);

/* The speed that hardly a particle exceeds. */
double greatest_speed(const struct species_config *species);

/* Whether the ends of a range are in order, and a double holds their difference. */
bool check_ends(struct reading *reading, const double range[2], bool may_be_equal);

#endif
