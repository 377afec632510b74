/* Tabulate: pieces of some rows, for each of which the formula is compiled anew: a parser is for one thread.
 */
#include "field/tabulate.h"

#include "base/pool.h"
#include "config/formula.h"

#include <math.h>

enum { PIECE_NODES = 4096 };

struct table {
    const struct slab *slab;
    const char *key, *text;
    double time;
    double *values;
    uint32_t rows; /* of a piece */
};

static enum status fill_row(const struct table *table, struct formula *formula, uint32_t row)
{
    const struct grid *box = &table->slab->box;
    double *values = table->values + (size_t)row * box->ny;
    const double x = slab_global_row(table->slab, row) * box->dx;
    for (uint32_t j = 0; j < box->ny; j++) {
        const double y = j * box->dy;
        values[j] = formula_at(formula, (const double[]){x, y, table->time});
        if (!isfinite(values[j]))
            return status_fail(STATUS_FAILED, "%s: the formula %s is %g at x = %g, y = %g, t = %g",
                               table->key, table->text, values[j], x, y, table->time);
    }
    return STATUS_OK;
}

static enum status fill_piece(void *context, size_t n, void *scratch)
{
    const struct table *table = context;
    const struct grid *box = &table->slab->box;
    const uint32_t begin = (uint32_t)n * table->rows, rows = table->slab->local.nx - begin;
    char why[FORMULA_WHY_LENGTH];
    struct formula *formula = formula_open(table->text, "xyt", (const double[]){box->lx, box->ly}, why);
    if (!formula)
        return status_fail(STATUS_FAILED, "%s: the formula %s: %s", table->key, table->text, why);
    enum status status = STATUS_OK;
    (void)scratch;
    for (uint32_t row = 0; row < table->rows && row < rows && status == STATUS_OK; row++)
        status = fill_row(table, formula, begin + row);
    formula_close(formula);
    return status;
}

enum status tabulate(const struct slab *slab, const char *key, const char *formula, double time,
                     double *values)
{
    const uint32_t rows = (PIECE_NODES + slab->box.ny - 1) / slab->box.ny;
    struct table table = {slab, key, formula, time, values, rows};
    const struct pool_work work = {.make = fill_piece, .context = &table};
    return pool_run(&work, (slab->local.nx + rows - 1) / rows);
}
