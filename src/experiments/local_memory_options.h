/* Local memory options: what `radixpic bench local-memory` was asked for. */
#ifndef RADIXPIC_EXPERIMENTS_LOCAL_MEMORY_OPTIONS_H
#define RADIXPIC_EXPERIMENTS_LOCAL_MEMORY_OPTIONS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum local_part { PART_FILTER, PART_TRANSPOSE, PART_STENCIL, PART_ATOMICS, PART_REFINE, LOCAL_PARTS };

struct local_memory_options {
    const char *device, *csv_path; /* csv_path may be NULL */
    bool parts[LOCAL_PARTS];
    uint32_t length;     /* of the line */
    uint32_t cells[2];   /* of the matrix to transpose and of the grid of the 2D filter */
    uint32_t product;    /* rows and columns of the matrices to multiply */
    uint32_t operations; /* of an atomic function, at least */
    uint32_t coarse;     /* cells along x and y of the grid to refine */
    uint32_t block;      /* 0: chosen from the device */
    uint32_t repeats;
};

/* Fills `options` with the defaults and what argv says; the texts belong to argv. *done is set where --help
 * was printed. */
STATUS_CHECKED enum status local_memory_options_parse(int argc, char **argv,
                                                      struct local_memory_options *options, bool *done);

#endif
