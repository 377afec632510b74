/* Local memory parts: what the tables of the ladder share, and one function for each part. */
#ifndef RADIXPIC_EXPERIMENTS_LOCAL_MEMORY_PARTS_H
#define RADIXPIC_EXPERIMENTS_LOCAL_MEMORY_PARTS_H

#include "experiments/local_memory_kernels.h"
#include "experiments/local_memory_options.h"
#include "experiments/samples.h"

#include <stdio.h>

/* What is run now. */
struct ladder {
    struct local_memory_options options;
    struct device *device;
    struct local_shape shape;
    struct local_kernels *kernels;
    double copy; /* of the device, GB/s */
    bool verified;
    FILE *csv;
};

/* One timed kernel. */
struct rung {
    const char *part, *version; /* names */
    char size[48];              /* of the problem, as printed */
    const char *scope;          /* of an atomic function, else "" */
    uint32_t addresses;         /* of an atomic function, else 0 */
    double work;                /* of one run, in 1e9 `unit`s a second */
    const char *unit;           /* GB/s, Gflop/s, Gop/s, Gcells/s */
    bool verified;
    struct samples times;
};

/* Enqueues one run, timed as STAGE_OTHER. */
typedef enum status ladder_run(struct ladder *ladder, void *context);

/* Times run(ladder, context), after a warm-up, into rung->times. */
STATUS_CHECKED enum status ladder_time(struct ladder *ladder, ladder_run *run, void *context,
                                       struct rung *rung);

/* 1e9 units a second in the median; 0 where nothing was timed. */
double rung_rate(const struct rung *rung);

/* The line over, and the rows of, a table of rungs with a size. */
void ladder_print_head(const struct ladder *ladder, const char *title);
void ladder_print(const struct ladder *ladder, const struct rung *rung);

/* Notes the rung in the CSV file, if there is one, and in the verdict. */
void ladder_note(struct ladder *ladder, const struct rung *rung);

/* A device array of `count` floats or words, from `numbers` where they are given; the caller destroys it. */
STATUS_CHECKED enum status ladder_array(struct ladder *ladder, size_t count, const void *numbers,
                                        struct buffer **array);

/* The parts, each with its tables. */
STATUS_CHECKED enum status ladder_filter(struct ladder *ladder);
STATUS_CHECKED enum status ladder_transpose(struct ladder *ladder);
STATUS_CHECKED enum status ladder_stencil(struct ladder *ladder);
STATUS_CHECKED enum status ladder_atomics(struct ladder *ladder);
STATUS_CHECKED enum status ladder_refine(struct ladder *ladder);

#endif
