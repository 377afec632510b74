/* PIC sort: section 4.2 of P. Helluy, "A portable implementation of the radix sort algorithm in OpenCL",
 * 2011: sorting weakly disordered particles by a short key in p=2 passes against a long key in p=6, its
 * Table 7. */
#ifndef RADIXPIC_EXPERIMENTS_PIC_SORT_H
#define RADIXPIC_EXPERIMENTS_PIC_SORT_H

#include "base/status.h"

/* radixpic bench pic-sort; argv[0] is "radixpic bench pic-sort". STATUS_FAILED when a result is not a stable
 * sort. */
STATUS_CHECKED enum status experiment_pic_sort(int argc, char **argv);

#endif
