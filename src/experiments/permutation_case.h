/* Permutation case: one volume in cells of one size, permuted by every kernel. */
#ifndef RADIXPIC_EXPERIMENTS_PERMUTATION_CASE_H
#define RADIXPIC_EXPERIMENTS_PERMUTATION_CASE_H

#include "experiments/samples.h"
#include "ndpa/ndpa.h"

/* In the order of the rows: those that are compared with first. */
enum permutation_kernel {
    PERMUTATION_SERIAL,  /* of the host, one thread */
    PERMUTATION_NUMPY,   /* of the host, into a new array */
    PERMUTATION_THREADS, /* these are the kinds of ndpa/ndpa.h */
    PERMUTATION_CB,
    PERMUTATION_BB,
    PERMUTATION_RLBB,
    PERMUTATION_KERNELS
};

/* "serial", "numpy", "threads", "CB", "BB", "RLBB"; static strings. */
const char *permutation_kernel_name(enum permutation_kernel kernel);
bool permutation_on_host(enum permutation_kernel kernel);

struct permutation_result {
    bool ran, verified;    /* numpy's is not verified: it only serves as a clock */
    struct samples wall;   /* seconds from the launch until it is done */
    struct samples device; /* of that on the device's clock; none on the host */
};

struct permutation_case {
    struct ndpa_shape shape;
    uint32_t axes[NDPA_MAX_DIMENSIONS];
    uint32_t repeats;
    struct samples copy; /* of the volume, on the device */
    struct permutation_result results[PERMUTATION_KERNELS];
};

/* Times and verifies all kernels but numpy, whose result the caller brings. The others' elements are compared
 * with the definition in ndpa/ndpa_shape.h; `verified` says what came of it. */
STATUS_CHECKED enum status permutation_case_run(struct device *device, struct permutation_case *one);

/* The median time of `over` by that of `kernel`; 0 where one of them did not run. */
double permutation_speedup(const struct permutation_case *one, enum permutation_kernel over,
                           enum permutation_kernel kernel);

/* GB/s of a volume read and written: by the device's clock, on the host by the wall's; 0 without a time. */
double permutation_bandwidth(const struct permutation_case *one, enum permutation_kernel kernel);
double permutation_copy_bandwidth(const struct permutation_case *one);

#endif
