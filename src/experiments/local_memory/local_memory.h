/* Local memory: what the parts of the experiment share. */
#ifndef RADIXPIC_EXPERIMENTS_LOCAL_MEMORY_H
#define RADIXPIC_EXPERIMENTS_LOCAL_MEMORY_H

#include "experiments/bench.h"
#include "shared/local_memory.h"

/* Items and elements of the groups: BLOCK, TILE, TILE_ROWS and SQUARE of the kernels. */
struct local_shape {
    uint32_t block, tile, tile_rows, square;
};

/* The shape for a device, which chooses where `block` is 0. STATUS_USAGE: its groups are smaller. */
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

/* What the parts have in common. */
struct local_memory {
    struct bench *bench;
    const struct options *options;
    struct local_shape shape;
    struct program *program; /* of the shape */
    uint32_t threshold;      /* of refine: the density above which a cell has a child grid */
};

enum { BEHIND = 9 }; /* words behind every array of results, which must stay as they are */

enum work_kind { WORK_BYTES, WORK_FLOPS, WORK_OPERATIONS, WORK_CELLS, WORK_KINDS };

/* One timed kernel. */
struct timing {
    const char *part, *version;
    char size[48]; /* of the problem, as printed, and further words of the case */
    double work;   /* of one run */
    enum work_kind kind;
    struct subject subject;
};

/* Takes it and reports its row of the table. */
extern const struct bench_table timing_table;
STATUS_CHECKED enum status timing_report(const struct local_memory *all, const struct timing *timing);

/* The parts, each a bench_case() of the struct local_memory. Every result is judged by the host. */
enum status local_memory_filter(struct bench *bench, void *local_memory);
enum status local_memory_transpose(struct bench *bench, void *local_memory);
enum status local_memory_stencil(struct bench *bench, void *local_memory);
enum status local_memory_atomics(struct bench *bench, void *local_memory);
enum status local_memory_refine(struct bench *bench, void *local_memory);

#endif
