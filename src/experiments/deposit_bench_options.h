/* Deposit bench options: the command line of radixpic bench deposit. */
#ifndef RADIXPIC_EXPERIMENTS_DEPOSIT_BENCH_OPTIONS_H
#define RADIXPIC_EXPERIMENTS_DEPOSIT_BENCH_OPTIONS_H

#include "config/config.h"
#include "field/deposit_atomic.h"

enum { DEPOSIT_BENCH_MAX_POINTS = 32, DEPOSIT_BENCH_SHAPES = 3 };

struct deposit_bench_options {
    const char *device, *csv_path;
    uint32_t particles;
    uint32_t per_cell[DEPOSIT_BENCH_MAX_POINTS];
    uint32_t point_count; /* each has a grid of 2 x 2 cells at least, and of as many as a config may have */
    bool shapes[DEPOSIT_BENCH_SHAPES]; /* by enum shape_kind */
    enum precision precision;
    enum atomic_way way;
    uint32_t repeats;
};

/* The powers of two nearest to a square grid with `per_cell` of so many particles in a cell, or up to twice
 * as many. False where there is none of 2 x 2 cells to CONFIG_MAX_CELLS. */
bool deposit_bench_cells(uint32_t particles, uint32_t per_cell, uint32_t cells[2]);

/* Fills `options` with the defaults and what argv says; the texts belong to argv. *done is set where --help
 * was printed. */
STATUS_CHECKED enum status deposit_bench_options_parse(int argc, char **argv,
                                                       struct deposit_bench_options *options, bool *done);

#endif
