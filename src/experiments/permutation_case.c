/* Permutation case: timing and verifying. */
#include "experiments/permutation_case.h"

#include <stdlib.h>
#include <string.h>

enum { WARM_UPS = 2 };

const char *permutation_kernel_name(enum permutation_kernel kernel)
{
    static const char *const names[PERMUTATION_KERNELS] = {"serial", "numpy", "threads", "CB", "BB", "RLBB"};
    return names[kernel];
}

bool permutation_on_host(enum permutation_kernel kernel)
{
    return kernel == PERMUTATION_SERIAL || kernel == PERMUTATION_NUMPY;
}

/* ---- volumes: each element is its own linear index ---- */

static void fill(const struct ndpa_shape *shape, uint32_t *volume)
{
    const uint32_t count = (uint32_t)ndpa_elements(shape);
    for (uint32_t n = 0; n < count; n++)
        volume[n] = n;
}

/* Element after element of the permuted volume. */
static bool is_permuted(const struct ndpa_shape *shape, const uint32_t *axes, const uint32_t *volume)
{
    uint32_t sides[NDPA_MAX_DIMENSIONS], subscript[NDPA_MAX_DIMENSIONS], original[NDPA_MAX_DIMENSIONS];
    const uint64_t count = ndpa_elements(shape);
    ndpa_permuted_sides(shape->dimensions, shape->sides, axes, sides);
    for (uint64_t n = 0; n < count; n++) {
        ndpa_subscript(shape->dimensions, sides, n, subscript);
        for (uint32_t k = 0; k < shape->dimensions; k++)
            original[axes[k]] = subscript[k];
        if (volume[ndpa_place(shape, axes, subscript)] !=
            ndpa_index(shape->dimensions, shape->sides, original))
            return false;
    }
    return true;
}

/* ---- the host ---- */

/* `expected` is the host's volume after one permutation. */
static enum status run_serial(struct permutation_case *one, uint32_t *expected)
{
    struct permutation_result *result = &one->results[PERMUTATION_SERIAL];
    for (uint32_t n = 0; n < one->repeats + WARM_UPS; n++) {
        const double start = timer_now();
        TRY(ndpa_permute_host(&one->shape, one->axes, expected));
        if (n >= WARM_UPS)
            samples_add(&result->wall, timer_now() - start);
    }
    fill(&one->shape, expected);
    TRY(ndpa_permute_host(&one->shape, one->axes, expected));
    result->verified = is_permuted(&one->shape, one->axes, expected);
    result->ran = true;
    return STATUS_OK;
}

/* ---- the device ---- */

static enum status time_kernel(struct device *device, const struct permutation_case *one, struct ndpa *ndpa,
                               struct buffer *volume, struct permutation_result *result)
{
    for (uint32_t n = 0; n < one->repeats + WARM_UPS; n++) {
        device_reset_timers(device);
        const double start = timer_now();
        TRY(ndpa_permute(ndpa, volume));
        TRY(device_finish(device));
        const double seconds = timer_now() - start;
        if (n < WARM_UPS)
            continue;
        samples_add(&result->wall, seconds);
        samples_add(&result->device, device_timers(device)->stages[STAGE_OUTPUT].seconds);
    }
    return STATUS_OK;
}

/* The volume is uploaded and verified apart from the timed permutations, which go on from one another. */
static enum status run_kernel(struct device *device, const struct permutation_case *one,
                              enum permutation_kernel kernel, struct buffer *volume, uint32_t *met,
                              struct permutation_result *result)
{
    const enum ndpa_kind kind = (enum ndpa_kind)(NDPA_THREADS + (kernel - PERMUTATION_THREADS));
    struct ndpa *ndpa = NULL;
    struct device *owner = NULL;
    enum status status = STATUS_OK;
    TRY(device_branch(device, &owner));
    TRY_CLEANUP(ndpa_create(owner, &one->shape, one->axes, kind, &ndpa));
    TRY_CLEANUP(time_kernel(device, one, ndpa, volume, result));
    fill(&one->shape, met);
    TRY_CLEANUP(buffer_write(volume, 0, ndpa_bytes(&one->shape), met));
    TRY_CLEANUP(ndpa_permute(ndpa, volume));
    TRY_CLEANUP(buffer_read(volume, 0, ndpa_bytes(&one->shape), met));
    result->ran = true;
cleanup:
    device_close(&owner);
    return status;
}

enum status permutation_case_run(struct device *device, struct permutation_case *one)
{
    const size_t bytes = ndpa_bytes(&one->shape);
    struct buffer *volume = NULL;
    uint32_t *expected = malloc(bytes), *met = malloc(bytes);
    enum status status = STATUS_OK;
    if (!expected || !met)
        TRY_CLEANUP(status_fail(STATUS_FAILED, "no memory for two volumes of %zu bytes on the host", bytes));
    TRY_CLEANUP(samples_of_copy(device, bytes, one->repeats, &one->copy));
    fill(&one->shape, expected);
    TRY_CLEANUP(run_serial(one, expected));
    TRY_CLEANUP(buffer_create(device, bytes, "a volume", &volume));
    TRY_CLEANUP(buffer_fill(volume, 0));
    for (int kernel = PERMUTATION_THREADS; kernel < PERMUTATION_KERNELS; kernel++) {
        struct permutation_result *result = &one->results[kernel];
        TRY_CLEANUP(run_kernel(device, one, (enum permutation_kernel)kernel, volume, met, result));
        result->verified = one->results[PERMUTATION_SERIAL].verified && memcmp(met, expected, bytes) == 0;
    }
cleanup:
    buffer_destroy(&volume);
    free(expected);
    free(met);
    return status;
}

/* ---- figures ---- */

double permutation_speedup(const struct permutation_case *one, enum permutation_kernel over,
                           enum permutation_kernel kernel)
{
    const double seconds = samples_median(&one->results[kernel].wall);
    return seconds > 0 ? samples_median(&one->results[over].wall) / seconds : 0;
}

static double bandwidth(const struct permutation_case *one, double seconds)
{
    return seconds > 0 ? 2e-9 * (double)ndpa_bytes(&one->shape) / seconds : 0;
}

double permutation_bandwidth(const struct permutation_case *one, enum permutation_kernel kernel)
{
    const struct permutation_result *result = &one->results[kernel];
    return bandwidth(one, samples_median(permutation_on_host(kernel) ? &result->wall : &result->device));
}

double permutation_copy_bandwidth(const struct permutation_case *one)
{
    return bandwidth(one, samples_median(&one->copy));
}
