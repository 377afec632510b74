/* Permutation case: timing and verifying; each element of a volume is its own linear index. numpy is a Python
 * process whose standard output is its times in seconds, a line each. */
#include "experiments/permutation/permutation.h"

#include <stdlib.h>
#include <string.h>

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
    for (uint32_t k = 0; k < shape->dimensions; k++)
        sides[k] = shape->sides[axes[k]];
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

static enum status run(void *volume_case)
{
    const struct volume_case *one = volume_case;
    return one->ndpa ? ndpa_permute(one->ndpa, one->volume)
                     : ndpa_permute_host(&one->shape, one->axes, one->expected);
}

/* Apart from the timed permutations, which go on from one another. */
static enum status verify(void *volume_case, bool *right)
{
    const struct volume_case *one = volume_case;
    const size_t bytes = ndpa_bytes(&one->shape);
    fill(&one->shape, one->ndpa ? one->met : one->expected);
    if (one->ndpa)
        TRY(buffer_write(one->volume, 0, bytes, one->met));
    TRY(run(volume_case));
    if (one->ndpa)
        TRY(buffer_read(one->volume, 0, bytes, one->met));
    *right = one->ndpa ? one->times[SERIAL].verified && memcmp(one->met, one->expected, bytes) == 0
                       : is_permuted(&one->shape, one->axes, one->expected);
    return STATUS_OK;
}

enum status volume_case_time(struct bench *bench, void *volume_case)
{
    struct volume_case *one = volume_case;
    const size_t bytes = ndpa_bytes(&one->shape);
    struct subject subject = {
        one, NULL, run, verify, bench->experiment->warm_ups, bench->repeats, .on_host = true};
    TRY(bench_copy(bench, bytes));
    TRY(DEVICE_NEW_ARRAY(bench->part, one->expected, ndpa_elements(&one->shape)));
    TRY(DEVICE_NEW_ARRAY(bench->part, one->met, ndpa_elements(&one->shape)));
    fill(&one->shape, one->expected);
    TRY(bench_time(bench, &subject, 1, &one->times[SERIAL]));
    TRY(buffer_create(bench->part, bytes, "a volume", &one->volume));
    TRY(buffer_fill(one->volume, 0));
    subject.on_host = false;
    for (int kernel = THREADS; kernel < KERNELS; kernel++) {
        TRY(ndpa_create(bench->part, &one->shape, one->axes,
                        (enum ndpa_kind)(NDPA_THREADS + (kernel - THREADS)), 0, &one->ndpa));
        TRY(bench_time(bench, &subject, 1, &one->times[kernel]));
    }
    return STATUS_OK;
}

/* ---- numpy ---- */

/* Arguments: sides, axes, repeats. copy() makes the new array contiguous whatever the axes are. */
static const char script[] =
    "import sys, time, numpy\n"
    "sides, axes = ([int(word) for word in text.split(',')] for text in sys.argv[1:3])\n"
    "volume = numpy.arange(numpy.prod(sides), dtype=numpy.uint32).reshape(sides)\n"
    "for _ in range(int(sys.argv[3]) + 1):\n"
    "    start = time.perf_counter()\n"
    "    numpy.transpose(volume, axes).copy()\n"
    "    print(repr(time.perf_counter() - start))\n";

/* False where the program is not there or ends with an error, for example without numpy or memory. The first
 * time is the warm-up's. The shell has program and script from its environment, so that no character of them
 * means anything to it. */
static bool time_by(const char *python, const char *sides, const char *axes, uint32_t repeats,
                    struct samples *samples)
{
    char command[512], line[64];
    samples->count = 0;
    snprintf(command, sizeof command,
             "exec \"$RADIXPIC_PYTHON\" -c \"$RADIXPIC_SCRIPT\" %s %s %u 2>/dev/null", sides, axes, repeats);
    if (setenv("RADIXPIC_PYTHON", python, 1) != 0 || setenv("RADIXPIC_SCRIPT", script, 1) != 0)
        return false;
    FILE *output = popen(command, "r");
    for (uint32_t n = 0; output && fgets(line, sizeof line, output); n++)
        if (n > 0)
            samples_add(samples, strtod(line, NULL));
    const bool succeeded = output && pclose(output) == 0;
    unsetenv("RADIXPIC_PYTHON");
    unsetenv("RADIXPIC_SCRIPT");
    return succeeded && samples->count == repeats;
}

struct spread permutation_by_numpy(const char *python, const char *sides, const char *axes, uint32_t repeats)
{
    struct samples samples;
    const bool timed = python ? time_by(python, sides, axes, repeats, &samples)
                              : time_by("python3", sides, axes, repeats, &samples) ||
                                    time_by("/usr/bin/python3", sides, axes, repeats, &samples);
    return timed ? spread_of(&samples) : (struct spread){0};
}
