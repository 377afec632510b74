/* Deposit: particles at random in the cells of one grid, deposited in every way, timed and judged. */
#ifndef RADIXPIC_EXPERIMENTS_DEPOSIT_H
#define RADIXPIC_EXPERIMENTS_DEPOSIT_H

#include "experiments/bench.h"
#include "field/deposit_atomic.h"

enum deposit_column {
    SORTED,          /* cell by cell, from the list in order */
    SORT_AND_SORTED, /* the same of the shuffled list, which is sorted before */
    ATOMIC_ORDERED,  /* atomic additions, from the list in order */
    ATOMIC_SHUFFLED,
    COLUMNS
};

struct options {
    struct common_options common;
    uint32_t particles;
    struct option_list per_cell;
    uint32_t shapes; /* bit set */
    enum precision precision;
    enum atomic_way way;
};

/* One number of particles per cell, of one shape. */
struct deposit_point {
    const struct options *options;
    enum shape_kind shape;
    uint32_t cells[2];
    double per_cell;
    enum atomic_way way; /* that was taken */
    struct times times[COLUMNS];
    bool verified;
    char verdict[256]; /* what was wrong */
};

/* Fills in the rest: a bench_case() of a point with options, shape, cells and nothing wrong so far. */
STATUS_CHECKED enum status deposit_point_time(struct bench *bench, void *deposit_point);

#endif
