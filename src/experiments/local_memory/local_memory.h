/* Local memory: launches of kernels/local_memory.cl, each rung of the ladder one call, and what the parts of
 * the experiment share. No launch waits; each is timed as STAGE_OTHER unless its description says otherwise.
 */
#ifndef RADIXPIC_EXPERIMENTS_LOCAL_MEMORY_H
#define RADIXPIC_EXPERIMENTS_LOCAL_MEMORY_H

#include "experiments/bench.h"
#include "shared/local_memory.h"

/* Items and elements of the groups; what the kernels call BLOCK, TILE, TILE_ROWS and SQUARE. */
struct local_shape {
    uint32_t block, tile, tile_rows, square;
};

/* The shape for a device; `block` 0 leaves that to the device too. STATUS_USAGE where its groups may not have
 * so many items. */
STATUS_CHECKED enum status local_shape_of(const struct device_info *info, uint32_t block,
                                          struct local_shape *shape);

struct local_kernels;

STATUS_CHECKED enum status local_kernels_create(struct device *device, struct local_shape shape,
                                                struct local_kernels **kernels);

/* ---- the filter of a line ---- */

enum line_version {
    LINE_PLAIN, /* without local memory */
    LINE_V1,    /* juxtaposed blocks; the length is a multiple of the block */
    LINE_V2,    /* juxtaposed, any length */
    LINE_V3,    /* overlapping blocks; the length less 2 is a multiple of the block less 2 */
    LINE_V4,    /* overlapping, any length */
    LINE_VERSIONS
};

/* The greatest length up to `length` that a version takes, 0 where there is none. */
uint32_t local_line_length(enum line_version version, uint32_t block, uint32_t length);

/* out[i] = in[i-1]/4 + in[i]/2 + in[i+1]/4 for 0 < i < length - 1, floats; the two ends of `out` stay as they
 * are. `length` is one that local_line_length() returns, at least 1. */
STATUS_CHECKED enum status local_line_run(struct local_kernels *kernels, enum line_version version,
                                          uint32_t length, const struct buffer *in, struct buffer *out);

/* ---- the transpose ---- */

enum turn_version {
    TURN_NAIVE,  /* without local memory */
    TURN_TILED,  /* through tiles */
    TURN_PADDED, /* through tiles whose rows have a word more */
    TURN_VERSIONS
};

/* `in` of rows x columns floats, row by row; `out` of columns x rows. */
STATUS_CHECKED enum status local_turn_run(struct local_kernels *kernels, enum turn_version version,
                                          uint32_t rows, uint32_t columns, const struct buffer *in,
                                          struct buffer *out);

/* ---- the matrix product ---- */

enum product_version {
    PRODUCT_PLAIN, /* without local memory */
    PRODUCT_TILED, /* with a loop over tiles */
    PRODUCT_VERSIONS
};

struct product_size {
    uint32_t rows, inner, columns;
};

/* c = a b of floats, a of rows x inner, b of inner x columns, row by row. */
STATUS_CHECKED enum status local_product_run(struct local_kernels *kernels, enum product_version version,
                                             struct product_size size, const struct buffer *a,
                                             const struct buffer *b, struct buffer *c);

/* ---- atomic functions ---- */

enum atomic_scope { SCOPE_DEVICE, SCOPE_GROUP, ATOMIC_SCOPES };

/* One launch: `groups` groups of a block of items make `rounds` operations each, operation n = round * items
 * + item on word item % addresses, of the device or of the item's group. */
struct atomic_case {
    enum atomic_function function;
    enum atomic_scope scope;
    uint32_t addresses, groups, rounds;
};

/* Operations of a launch, and the words it leaves behind. */
uint32_t local_atomics_operations(const struct local_kernels *kernels, const struct atomic_case *chosen);
uint32_t local_atomics_words(const struct atomic_case *chosen);

/* The word that operation n goes to. */
uint32_t local_atomics_word(const struct local_kernels *kernels, const struct atomic_case *chosen,
                            uint32_t n);

/* What the words are before the first operation; what operation n of the host makes of one is
 * local_atomics_apply(), in any order but for xchg. */
uint32_t local_atomics_initial(enum atomic_function function);
uint32_t local_atomics_apply(enum atomic_function function, uint32_t word, uint32_t n, uint32_t address);

/* `words` are filled with local_atomics_initial() by the caller before; `returned` has a word for each
 * operation of xchg. */
STATUS_CHECKED enum status local_atomics_run(struct local_kernels *kernels, const struct atomic_case *chosen,
                                             struct buffer *words, struct buffer *returned);

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
    uint32_t cells, threshold;
    struct buffer *values, *listed, *counts;
};

/* Builds what REFINE_BY_PARENT needs besides, once. STATUS_FAILED where the device has no device-side
 * enqueue, or has it and takes these kernels not; the other ways are as good as before. */
STATUS_CHECKED enum status local_refine_prepare(struct local_kernels *kernels);

/* values[cell] = sum of refinement_density() over the child's cells where the density in the middle is above
 * the threshold (everywhere if uniform), else REFINEMENT_CELLS times that; *refined is how many children
 * there were. Host-enqueued it waits between the parent and its children, whose number the host must know.
 * REFINE_BY_PARENT prepares itself and waits at the end; a child that could not be launched is STATUS_FAILED.
 * Timed as a whole as STAGE_OTHER, the launches as STAGE_FIELD. */
STATUS_CHECKED enum status local_refine_run(struct local_kernels *kernels, enum refine_way way,
                                            const struct refinement *refinement, uint32_t *refined);

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
