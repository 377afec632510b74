/* Columns: numbers of particles, and arrays of two dimensions, from .npy files, .csv files with a header
 * line, and HDF5 by openPMD. STATUS_USAGE with the path where a file is none of these. */
#ifndef RADIXPIC_INPUT_COLUMNS_H
#define RADIXPIC_INPUT_COLUMNS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { COLUMN_X, COLUMN_U = 2, COLUMN_WEIGHT = 5, COLUMN_CELL, COLUMNS = 8 };
enum { NODES_MOST = 1 << 28 /* numbers of an array */ };

struct columns {
    const char *path;
    const char *place;        /* in HDF5: a path, or the end of one in the newest iteration */
    uint64_t all;             /* particles that there must be */
    uint64_t first, count;    /* the particles to read */
    double unit[COLUMNS];     /* numbers of a column are divided by this */
    double si[COLUMNS];       /* numbers of HDF5, in SI units, are divided by this */
    double *numbers[COLUMNS]; /* [count], for free() also after a failure; NULL: there is no such column */
    char axes[3];             /* of HDF5: its letters of the axes here; the third is not in the plane */
    bool is_cut;              /* positions along the third are there, and are not read */
    bool is_macro;            /* momenta are of macro-particles, not of real ones */
    double seconds;           /* from the positions to the velocities */
    double mass;              /* of each real particle in kg; 0: HDF5 does not say one for all */
};

/* An array of two dimensions, and where it says that its numbers lie; pairs are (along x, along y). */
struct columns_array {
    const char *path, *place; /* as in struct columns */
    uint64_t shape[2];
    uint64_t stride[2]; /* from a number to the next one along an axis */
    double first[2];    /* the place of the first number, in steps from one to the next */
    double length[2];   /* of the box, in lengths of `unit` m; 0: it is not said, or the unit is not */
    double unit;
    double si;      /* the numbers times this are in SI units; NaN: it is not said */
    double *values; /* for free() also after a failure */
};

/* E and B of one iteration of an HDF5 file. */
struct columns_fields {
    const char *path;
    const char *place;             /* the path of an iteration; "": the newest that has one of them */
    double dimension[2][7];        /* of E and of B, openPMD's unitDimension */
    double states;                 /* that the numbers are means of; 0: it is not said */
    struct columns_array array[6]; /* Ex to Bz along the axes here; `values` is NULL of what is not there */
};

/* The name of a column in the file, of which columns_read() has found the axes. */
const char *columns_name(const struct columns *columns, int column);

STATUS_CHECKED enum status columns_read(struct columns *columns);

/* Reads an array, which has a number at least, of a .npy or HDF5 file: path and place are given. */
STATUS_CHECKED enum status columns_read_array(struct columns_array *array);

/* Reads both fields, or the one that the file has: path, place and dimension are given. */
STATUS_CHECKED enum status columns_read_fields(struct columns_fields *fields);

/* ---- of columns.c and columns_hdf5.c ---- */

STATUS_CHECKED enum status columns_require(const struct columns *columns, uint64_t found);
STATUS_CHECKED enum status columns_read_hdf5(struct columns *columns);
STATUS_CHECKED enum status columns_read_hdf5_array(struct columns_array *array);

static inline bool columns_may_hold(const uint64_t shape[2])
{
    const double count = (double)shape[0] * (double)shape[1];
    return count >= 1 && count <= NODES_MOST;
}

#endif
