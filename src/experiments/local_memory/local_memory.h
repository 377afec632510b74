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

enum atomic_scope { SCOPE_DEVICE, SCOPE_GROUP, ATOMIC_SCOPES };

struct local_kernels {
    struct device *device; /* not owned */
    struct local_shape shape;
    struct program *program;
    struct kernel *atomics[ATOMIC_SCOPES], *parent, *child;
    struct kernel *enqueuing_parent; /* NULL before local_refine_prepare() */
    uint32_t launches;               /* that the device's own queue holds */
};

STATUS_CHECKED enum status local_kernels_create(struct device *device, struct local_shape shape,
                                                struct local_kernels **kernels);

/* ---- refinement ---- */

enum refine_way {
    REFINE_UNIFORM,    /* a child grid for every cell, in one launch */
    REFINE_TOGETHER,   /* one launch for the child grids of all cells over the threshold */
    REFINE_ONE_BY_ONE, /* a launch for each child grid */
    REFINE_BY_PARENT,  /* a launch for each child grid, by the item that finds its cell over the threshold */
    REFINE_WAYS
};

/* The coarse grid of cells x cells, and where its kernels write: a word for each cell, and two more in
 * `counts`. */
struct refinement {
    struct local_kernels *kernels;
    enum refine_way way;
    uint32_t cells, threshold;
    struct buffer *values, *listed, *counts;
    uint32_t *found;  /* the values on the host, which are judged */
    uint32_t refined; /* how many children the last run made */
};

/* Builds what REFINE_BY_PARENT needs besides, once. STATUS_FAILED where the device has no device-side
 * enqueue, or has it and takes these kernels not; the other ways are as good as before. */
STATUS_CHECKED enum status local_refine_prepare(struct local_kernels *kernels);

/* Of a struct refinement: values[cell] = sum of refinement_density() over the child's cells where the density
 * in the middle is above the threshold (everywhere if uniform), else REFINEMENT_CELLS times that.
 * Host-enqueued it waits between the parent and its children, whose number the host must know.
 * REFINE_BY_PARENT prepares itself and waits at the end; a child that could not be launched is STATUS_FAILED.
 * Timed as a whole as STAGE_OTHER, the launches as STAGE_FIELD. */
STATUS_CHECKED enum status local_refine_run(void *refinement);

/* Whether those found are the values, and `refined` the children, that local_refine_run() must leave. */
bool local_refine_right(const struct refinement *grid);

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
void ladder_print_head(const struct ladder *ladder, const char *title_format, ...)
    __attribute__((format(printf, 2, 3)));

/* The parts, each a bench_case() with the ladder as its context. Every result is judged by the host. */
enum status ladder_filter(struct bench *bench, void *ladder);
enum status ladder_transpose(struct bench *bench, void *ladder);
enum status ladder_stencil(struct bench *bench, void *ladder);
enum status ladder_atomics(struct bench *bench, void *ladder);
enum status ladder_refine(struct bench *bench, void *ladder);

#endif
