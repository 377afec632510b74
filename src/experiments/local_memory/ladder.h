/* Ladder: what the parts of the local memory experiment share. */
#ifndef RADIXPIC_EXPERIMENTS_LADDER_H
#define RADIXPIC_EXPERIMENTS_LADDER_H

#include "experiments/bench.h"
#include "experiments/local_memory/local_kernels.h"

enum local_part { PART_FILTER, PART_TRANSPOSE, PART_STENCIL, PART_ATOMICS, PART_REFINE, LOCAL_PARTS };

struct local_memory_options {
    struct common_options common;
    uint32_t parts;      /* bit set */
    uint32_t length;     /* of the line */
    uint32_t cells[2];   /* of the matrix to transpose and of the grid of the 2D filter */
    uint32_t product;    /* rows and columns of the matrices to multiply */
    uint32_t operations; /* of an atomic function, at least */
    uint32_t coarse;     /* cells along x and y of the grid to refine */
    uint32_t block;      /* 0: chosen from the device */
};

struct ladder {
    struct bench *bench;
    const struct local_memory_options *options;
    struct local_shape shape;
    struct local_kernels *kernels;
};

/* One timed kernel. */
struct rung {
    const char *part, *version; /* names */
    char size[48];              /* of the problem, as printed */
    double work;                /* of one run, in 1e9 `unit`s a second */
    const char *unit;           /* GB/s, Gflop/s, Gop/s, Gcells/s */
    enum stage stage;           /* that has the time */
};

/* Times the subject and writes its rows, beside the rung's words with `more`. */
STATUS_CHECKED enum status ladder_time(const struct ladder *ladder, const struct rung *rung, const char *more,
                                       struct subject subject, struct times *times);

/* The same, and prints the rung's row of a table; the head of such a table. */
STATUS_CHECKED enum status ladder_climb(const struct ladder *ladder, const struct rung *rung,
                                        struct subject subject);
void ladder_print_head(const struct ladder *ladder, const char *title);
void ladder_print_left_out(const char *version, const char *why);

/* An array of `count` words on the device of the case. */
STATUS_CHECKED enum status ladder_array(const struct ladder *ladder, size_t count, struct buffer **array);

/* The parts, each a bench_case() with the ladder as its context. */
STATUS_CHECKED enum status ladder_filter(struct bench *bench, void *ladder);
STATUS_CHECKED enum status ladder_transpose(struct bench *bench, void *ladder);
STATUS_CHECKED enum status ladder_stencil(struct bench *bench, void *ladder);
STATUS_CHECKED enum status ladder_atomics(struct bench *bench, void *ladder);
STATUS_CHECKED enum status ladder_refine(struct bench *bench, void *ladder);

#endif
