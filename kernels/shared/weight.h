/* Weight: of how many real particles each particle stands for, over the mean of its species. In runs where a
 * species has weights (WEIGHTS) it is the last argument of kernels that sum over particles. Device only.
 */
#ifndef SHARED_WEIGHT_H
#define SHARED_WEIGHT_H

#ifndef WEIGHTS
#error "WEIGHTS must be set"
#endif

#if WEIGHTS
#define WEIGHT_ARGUMENT , global const real *restrict weight
#define WEIGHT_MEMBER   , weight /* of a struct, the last one */
#define WEIGHT_AT(p)    weight[p]

/* Lane l has the weight of particle first + particle[l], or 0 where that is not below `number`. */
static inline reals load_weights(global const real *weight, uint first, uint number, ints particle)
{
    reals weights = (reals)0;
    for (uint l = 0; l < LANES; l++) {
        const int p = ((const int *)&particle)[l];
        if (p < (int)number)
            ((real *)&weights)[l] = weight[first + (uint)p];
    }
    return weights;
}
#else
#define WEIGHT_ARGUMENT
#define WEIGHT_MEMBER
#define WEIGHT_AT(p) (real)1
#endif

#endif
