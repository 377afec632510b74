/* Deposit bench point: particles at random in the cells of one grid, deposited in every way, timed and
 * judged. */
#ifndef RADIXPIC_EXPERIMENTS_DEPOSIT_BENCH_POINT_H
#define RADIXPIC_EXPERIMENTS_DEPOSIT_BENCH_POINT_H

#include "experiments/samples.h"
#include "field/deposit_atomic.h"

enum deposit_column {
    COLUMN_SORTED,          /* cell by cell, from the list in order */
    COLUMN_SORT_AND_SORTED, /* the same of the shuffled list, which is sorted before */
    COLUMN_ATOMIC_ORDERED,  /* atomic additions, from the list in order */
    COLUMN_ATOMIC_SHUFFLED,
    DEPOSIT_COLUMNS
};

struct deposit_setup {
    uint32_t particles;
    uint32_t cells[2];
    enum shape_kind shape;
    enum precision precision;
    enum atomic_way way;
    uint32_t repeats;
};

struct deposit_point {
    struct samples seconds[DEPOSIT_COLUMNS]; /* on the device's clock, from the first kernel to the last */
    uint64_t bytes[DEPOSIT_COLUMNS];         /* that had to move */
    enum atomic_way way;                     /* that was taken */
    bool verified;
    char verdict[256]; /* what was wrong, "" when nothing was */
};

/* A result that is wrong is no failure of this function: see `verified`. */
STATUS_CHECKED enum status deposit_point_run(const struct deposit_setup *setup, struct device *device,
                                             struct deposit_point *point);

#endif
