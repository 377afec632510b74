/* Columns: numbers of particles, and arrays of two dimensions, from .npy files, .csv files with a header
 * line, and HDF5 by openPMD. STATUS_USAGE with the path where a file is none of these. */
#ifndef RADIXPIC_OUTPUT_COLUMNS_H
#define RADIXPIC_OUTPUT_COLUMNS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { COLUMN_X, COLUMN_U = 2, COLUMN_WEIGHT = 5, COLUMN_CELL, COLUMNS = 8 };
enum { NODES_MOST = 1 << 20 /* an array has fewer along each axis */ };

struct columns {
    const char *path;
    const char *place;        /* in HDF5: a path, or the end of one in the newest iteration */
    uint64_t all;             /* particles that there must be */
    uint64_t first, count;    /* those to read */
    double unit[COLUMNS];     /* by which numbers are divided, */
    double si[COLUMNS];       /* and those of HDF5 */
    double *numbers[COLUMNS]; /* [count], for free() also after a failure; NULL: there is no such column */
    bool is_macro;            /* momenta are those of macro-particles */
    double seconds;           /* from the positions to the velocities */
};

/* Opens a file that is one. */
STATUS_CHECKED enum status columns_open(const char *path, FILE **file);

/* What the file calls a column. */
const char *columns_name(const char *path, int column);

STATUS_CHECKED enum status columns_read(struct columns *columns);

/* *values <- an array [shape[0]][shape[1]] of a .npy or HDF5 file, for free() also after a failure. */
STATUS_CHECKED enum status columns_read_array(const char *path, const char *place, uint64_t shape[2],
                                              double **values);

/* ---- of columns.c and columns_hdf5.c ---- */

STATUS_CHECKED enum status columns_require(const struct columns *columns, uint64_t found);
STATUS_CHECKED enum status columns_read_hdf5(struct columns *columns);
STATUS_CHECKED enum status columns_read_hdf5_array(const char *path, const char *place, uint64_t shape[2],
                                                   double **values);

#endif
