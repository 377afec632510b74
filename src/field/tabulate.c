/* Tabulate: the places of local nodes in the box, and values that are not finite. */
#include "field/tabulate.h"

#include "config/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum status require_finite(const struct formula_table *table)
{
    for (size_t n = 0; n < (size_t)table->rows * table->columns; n++)
        if (!isfinite(table->values[n]))
            return status_fail(STATUS_FAILED, "the formula %s is %g at x = %g, y = %g, t = %g", table->text,
                               table->values[n], table->of_row[n / table->columns],
                               table->of_column[n % table->columns], table->third);
    return STATUS_OK;
}

enum status tabulate(const struct slab *slab, const char *key, const char *formula, double time,
                     double *values)
{
    const struct grid *box = &slab->box;
    const uint32_t rows = slab->local.nx;
    double *places = malloc((rows + (size_t)box->ny) * sizeof *places);
    if (!places)
        return status_fail(STATUS_FAILED, "%s: no memory for the formula %s", key, formula);
    for (uint32_t i = 0; i < rows; i++)
        places[i] = slab_global_row(slab, i) * box->dx;
    for (uint32_t j = 0; j < box->ny; j++)
        places[rows + j] = j * box->dy;
    const struct formula_table table = {.text = formula,
                                        .names = "xyt",
                                        .length = (const double[]){box->lx, box->ly},
                                        .rows = rows,
                                        .columns = box->ny,
                                        .of_row = places,
                                        .of_column = places + rows,
                                        .third = time,
                                        .values = values};
    enum status status = formula_tabulate(&table);
    TRY_IF_OK(require_finite(&table));
    if (status != STATUS_OK)
        status = status_fail(status, "%s: %s", key, status_message());
    free(places);
    return status;
}

void tabulate_rows(const struct slab *slab, const double *box, double *values)
{
    const size_t ny = slab->box.ny;
    for (uint32_t i = 0; i < slab->local.nx; i++)
        memcpy(values + i * ny, box + slab_global_row(slab, i) * ny, ny * sizeof *values);
}
