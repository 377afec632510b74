/* Tabulate: a formula of the config, or numbers of the whole box, on the nodes of a local grid. */
#ifndef RADIXPIC_FIELD_TABULATE_H
#define RADIXPIC_FIELD_TABULATE_H

#include "base/status.h"
#include "domain/slab.h"

/* values[nx * ny] <- a formula of x, y and t, by all processors. STATUS_FAILED, with the key that it stands
 * at, where it is not finite or cannot be read. */
STATUS_CHECKED enum status tabulate(const struct slab *slab, const char *key, const char *formula,
                                    double time, double *values);

/* values[nx * ny] <- on the local grid those on the nodes of the whole box. */
void tabulate_rows(const struct slab *slab, const double *box, double *values);

#endif
