/* Permutation: a table of the paper as data, and one volume in cells of one size, permuted by every kernel.
 */
#ifndef RADIXPIC_EXPERIMENTS_PERMUTATION_H
#define RADIXPIC_EXPERIMENTS_PERMUTATION_H

#include "experiments/bench.h"
#include "ndpa/ndpa.h"

enum {
    PERMUTATION_MAX_DIMENSIONS = 8,
    PERMUTATION_MAX_VOLUMES = 5, /* of a table */
    PERMUTATION_MAX_CELLS = 4,   /* kinds of cells in a table */
    PERMUTATION_TABLES = 5
};

struct permutation_table {
    uint32_t number; /* in the paper; 0: none of them */
    uint32_t dimensions;
    uint32_t cell_sides[PERMUTATION_MAX_CELLS], cell_count; /* the paper's block size is a side^dimensions */
    uint32_t sides[PERMUTATION_MAX_VOLUMES][PERMUTATION_MAX_DIMENSIONS], volume_count;
    uint32_t axes[PERMUTATION_MAX_DIMENSIONS]; /* to run; 0 in the paper's tables */
};

/* Takes away the cells of the table, p^N elements of 4 bytes, that do not fit so many bytes of local memory,
 * but for the first. Returns the side of the smallest that was taken away, 0 where all stay. */
uint32_t permutation_fit_cells(struct permutation_table *table, size_t local_memory);

/* In the order of the rows: those that are compared with first. */
enum kernel_kind {
    SERIAL,  /* of the host, one thread */
    NUMPY,   /* of the host, into a new array: not verified, it only serves as a clock */
    THREADS, /* these are the kinds of ndpa/ndpa.h */
    CB,
    BB,
    RLBB,
    KERNELS
};

/* One volume in cells of one size. */
struct volume_case {
    struct ndpa_shape shape;
    const uint32_t *axes;
    struct times times[KERNELS]; /* wall.count 0: did not run */
    uint32_t *expected, *met;    /* while it is timed: on the host, after one permutation */
    struct buffer *volume;
    struct ndpa *ndpa; /* the kernel that is timed; NULL: the host's */
};

/* Times and verifies all kernels but numpy, whose result the caller brings: a bench_case() of the
 * volume_case. Elements are compared with the definition in ndpa/ndpa_shape.h. */
STATUS_CHECKED enum status volume_case_time(struct bench *bench, void *volume_case);

/* Times numpy.transpose(volume, axes).copy() of 32-bit elements inside a Python of its own, `repeats` times
 * after a warm-up; sides and axes are "8,8,8" and "2,1,0". `python` is a program to run, or NULL: python3 or
 * /usr/bin/python3, the first that gives times. The spread is of no timing where none does, for want of numpy
 * or of memory. */
struct spread permutation_by_numpy(const char *python, const char *sides, const char *axes, uint32_t repeats);

#endif
