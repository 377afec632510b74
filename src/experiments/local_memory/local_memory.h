/* Local memory: what the parts of the experiment share, and launches of kernels/local_memory.cl. No launch
 * waits; each is timed as STAGE_OTHER unless its description says otherwise. */
#ifndef RADIXPIC_EXPERIMENTS_LOCAL_MEMORY_H
#define RADIXPIC_EXPERIMENTS_LOCAL_MEMORY_H

#include "experiments/bench.h"
#include "shared/local_memory.h"

/* Items and elements of the groups: BLOCK, TILE, TILE_ROWS and SQUARE of the kernels. */
struct local_shape {
    uint32_t block, tile, tile_rows, square;
};

/* The shape for a device; `block` 0 leaves that to the device too. STATUS_USAGE where its groups may not have
 * so many items. */
STATUS_CHECKED enum status local_shape_of(const struct device_info *info, uint32_t block,
                                          struct local_shape *shape);

/* The kernels, built for a shape. */
STATUS_CHECKED enum status local_program_build(struct device *device, const struct local_shape *shape,
                                               struct program **program);

/* ---- the experiment ---- */

enum local_part { PART_FILTER, PART_TRANSPOSE, PART_STENCIL, PART_ATOMICS, PART_REFINE, LOCAL_PARTS };

struct options {
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
    const struct options *options;
    struct local_shape shape;
    struct program *program; /* of the shape */
    uint32_t threshold;      /* of refine: the density above which a cell has a child grid */
};

enum { BEHIND = 9 }; /* words behind every array of results, which must stay as they are */

/* One timed kernel. */
struct rung {
    const char *part, *version; /* names */
    char size[48];              /* of the problem, as printed */
    double work;                /* of one run, in 1e9 `unit`s a second */
    const char *unit;           /* GB/s, Gflop/s, Gop/s, Gcells/s */
    enum stage stage;           /* that has the time */
    struct subject subject;
};

/* Times the subject and writes its rows, beside the rung's words with `more`. */
STATUS_CHECKED enum status ladder_time(const struct ladder *ladder, const struct rung *rung, const char *more,
                                       struct times *times);

/* The same, and prints the rung's row of a table; the head of such a table. */
STATUS_CHECKED enum status ladder_climb(const struct ladder *ladder, const struct rung *rung);
void ladder_print_head(const struct ladder *ladder, const char *title_format, ...)
    __attribute__((format(printf, 2, 3)));

/* The parts, each a bench_case() with the ladder as its context. Every result is judged by the host. */
enum status ladder_filter(struct bench *bench, void *ladder);
enum status ladder_transpose(struct bench *bench, void *ladder);
enum status ladder_stencil(struct bench *bench, void *ladder);
enum status ladder_atomics(struct bench *bench, void *ladder);
enum status ladder_refine(struct bench *bench, void *ladder);

#endif
