/* Step bench options: the command line of radixpic bench step. */
#ifndef RADIXPIC_EXPERIMENTS_STEP_BENCH_OPTIONS_H
#define RADIXPIC_EXPERIMENTS_STEP_BENCH_OPTIONS_H

#include "experiments/step_point.h"

struct step_bench_options {
    const char *device, *csv_path;
    struct step_setup
        setup; /* length[0] is 0 where cells of the usual size are wanted, length[1] is not filled in */
    bool sweep;
    uint64_t least_particles, most_particles; /* of a sweep */
};

/* Fills `options` with the defaults and what argv says; the texts belong to argv. *done is set where --help
 * was printed. */
STATUS_CHECKED enum status step_bench_options_parse(int argc, char **argv, struct step_bench_options *options,
                                                    bool *done);

#endif
