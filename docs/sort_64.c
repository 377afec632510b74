/* Sorts keys of 64 bits by several sorts of their words, as docs/sort.md describes, and times it.
 *
 *     sort_64 [WORDS [COUNT [SAMPLES [DEVICE [FILE]]]]]
 *
 * WORDS (4) words of 64 / WORDS bits, rounded up, of COUNT (2^20) random keys, on device DEVICE (0:0),
 * numbered as `radixpic devices` does; FILE gets the keys. Prints "median least most right device", times of
 * SAMPLES (5) in ms. A sample is the mean over 4 sorts back to back, each of which gives the permutation and
 * the sorted keys. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <radixpic/sort.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SORTS = 4, DEVICES_MOST = 16, GROUP = 64 };

/* word[j] = the bits of the key that is j-th in `order` from `shift` on */
static const char *const source =
    "kernel void take_word(global const ulong *keys, global const uint *order, global uint *word,\n"
    "                      const uint count, const uint shift, const uint mask)\n"
    "{\n"
    "    const uint j = get_global_id(0);\n"
    "    if (j < count)\n"
    "        word[j] = (uint)(keys[order[j]] >> shift) & mask;\n"
    "}\n";

struct sort_64 {
    cl_uint count, words, bits; /* of a word; the last one may have fewer */
    cl_command_queue queue;
    cl_kernel take_word;
    struct radixpic_sorter *sorter;
    /* numbers has 0, 1, .., count - 1. The others are of a sort: a word of each key, its permutation, and the
     * permutation of all words so far, before and after this one. */
    cl_mem keys, numbers, word, permutation, before, after, sorted_keys;
};

/* Low words first: a stable sort by a word keeps the order by the words below it. Then `after` has the
 * permutation of the keys. Only enqueues. */
static enum radixpic_status sort(struct sort_64 *lists)
{
    const struct radixpic_sorter_lists of_word = {.keys = lists->word, .permutation = lists->permutation};
    const size_t items = (lists->count + (size_t)GROUP - 1) / GROUP * GROUP;
    const cl_uint mask = (cl_uint)((UINT64_C(1) << lists->bits) - 1);
    enum radixpic_status status = RADIXPIC_OK;
    for (cl_uint w = 0; w < lists->words && status == RADIXPIC_OK; w++) {
        const cl_uint shift = w * lists->bits;
        const cl_mem order = w == 0 ? lists->numbers : lists->after, to = lists->before;
        clSetKernelArg(lists->take_word, 0, sizeof lists->keys, &lists->keys);
        clSetKernelArg(lists->take_word, 1, sizeof order, &order);
        clSetKernelArg(lists->take_word, 2, sizeof lists->word, &lists->word);
        clSetKernelArg(lists->take_word, 3, sizeof lists->count, &lists->count);
        clSetKernelArg(lists->take_word, 4, sizeof shift, &shift);
        clSetKernelArg(lists->take_word, 5, sizeof mask, &mask);
        const size_t group = GROUP;
        if (clEnqueueNDRangeKernel(lists->queue, lists->take_word, 1, NULL, &items, &group, 0, NULL, NULL))
            return RADIXPIC_FAILED;
        status = radixpic_sorter_sort(lists->sorter, lists->queue, lists->count, &of_word, 0, NULL, NULL);
        if (status == RADIXPIC_OK)
            status = radixpic_sorter_move(lists->sorter, lists->queue, lists->count, lists->permutation,
                                          sizeof(cl_uint), order, to, 0, NULL, NULL);
        lists->before = lists->after;
        lists->after = to;
    }
    return status ? status
                  : radixpic_sorter_move(lists->sorter, lists->queue, lists->count, lists->after,
                                         sizeof(cl_ulong), lists->keys, lists->sorted_keys, 0, NULL, NULL);
}

static int by_value(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Times of a sort in ascending order, in ms, after one sample that does not count. */
static enum radixpic_status time_sorts(struct sort_64 *lists, int samples, double *times)
{
    enum radixpic_status status = RADIXPIC_OK;
    for (int n = -1; n < samples && status == RADIXPIC_OK; n++) {
        struct timespec begin, end;
        timespec_get(&begin, TIME_UTC);
        for (int sorts = 0; sorts < SORTS && status == RADIXPIC_OK; sorts++)
            status = sort(lists);
        clFinish(lists->queue);
        timespec_get(&end, TIME_UTC);
        times[n < 0 ? 0 : n] =
            (1e3 * (double)(end.tv_sec - begin.tv_sec) + 1e-6 * (double)(end.tv_nsec - begin.tv_nsec)) /
            SORTS;
    }
    qsort(times, (size_t)samples, sizeof times[0], by_value);
    return status;
}

/* Whether sorted_keys has the keys in ascending order, equal ones in the order in which they came. */
static bool is_right(const struct sort_64 *lists, const cl_ulong *keys)
{
    const size_t count = lists->count;
    cl_uint *order = malloc(count * sizeof *order);
    cl_ulong *sorted = malloc(count * sizeof *sorted);
    char *seen = calloc(count, 1);
    bool right = order && sorted && seen &&
                 clEnqueueReadBuffer(lists->queue, lists->after, CL_TRUE, 0, count * sizeof *order, order, 0,
                                     NULL, NULL) == CL_SUCCESS &&
                 clEnqueueReadBuffer(lists->queue, lists->sorted_keys, CL_TRUE, 0, count * sizeof *sorted,
                                     sorted, 0, NULL, NULL) == CL_SUCCESS;
    for (size_t j = 0; j < count && right; j++) {
        right = order[j] < count && !seen[order[j]] && sorted[j] == keys[order[j]];
        if (right && j > 0)
            right = sorted[j - 1] < sorted[j] || (sorted[j - 1] == sorted[j] && order[j - 1] < order[j]);
        if (right)
            seen[order[j]] = 1;
    }
    free(order);
    free(sorted);
    free(seen);
    return right;
}

static cl_mem buffer_of(cl_context context, size_t bytes, void *contents)
{
    return clCreateBuffer(context, CL_MEM_READ_WRITE | (contents ? CL_MEM_COPY_HOST_PTR : 0), bytes, contents,
                          NULL);
}

/* Random keys, of which each comes twice. */
static void fill(cl_ulong *keys, cl_uint *numbers, cl_uint count)
{
    for (cl_uint j = 0; j < count; j++) {
        cl_ulong key = (j / 2 + 1) * UINT64_C(0x9e3779b97f4a7c15);
        key = (key ^ (key >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        keys[j] = key ^ (key >> 27);
        numbers[j] = j;
    }
}

/* Makes the lists, the kernel and the sorter. `bits` and `words` are set. */
static enum radixpic_status prepare(cl_context context, cl_device_id device, cl_ulong *keys, cl_uint *numbers,
                                    struct sort_64 *lists)
{
    const size_t count = lists->count;
    const char *text = source;
    lists->queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    if (clBuildProgram(program, 1, &device, "", NULL, NULL))
        return RADIXPIC_FAILED;
    lists->take_word = clCreateKernel(program, "take_word", NULL);
    lists->keys = buffer_of(context, count * sizeof *keys, keys);
    lists->sorted_keys = buffer_of(context, count * sizeof *keys, NULL);
    lists->numbers = buffer_of(context, count * sizeof *numbers, numbers);
    lists->word = buffer_of(context, count * sizeof *numbers, NULL);
    lists->permutation = buffer_of(context, count * sizeof *numbers, NULL);
    lists->before = buffer_of(context, count * sizeof *numbers, NULL);
    lists->after = buffer_of(context, count * sizeof *numbers, NULL);
    const struct radixpic_sorter_shape shape = {
        .most = lists->count, .key_bytes = sizeof(cl_uint), .key_bits = lists->bits, .any_order = 1};
    return radixpic_sorter_create(context, device, &shape, NULL, &lists->sorter);
}

/* The number in argument n, or what it is without; 0 where it is none of up to 2^31 - 1. */
static cl_uint number(int argc, char **argv, int n, cl_uint without)
{
    const unsigned long long value = argc > n ? strtoull(argv[n], NULL, 10) : without;
    return value < 1ULL << 31 ? (cl_uint)value : 0;
}

/* The OpenCL device of the words PLATFORM:DEVICE, or NULL. */
static cl_device_id device_of(const char *words)
{
    cl_platform_id platforms[DEVICES_MOST];
    cl_device_id devices[DEVICES_MOST];
    cl_uint platform = 0, device = 0, count = 0;
    if (sscanf(words, "%u:%u", &platform, &device) != 2 ||
        clGetPlatformIDs(DEVICES_MOST, platforms, &count) || platform >= count ||
        clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, DEVICES_MOST, devices, &count) ||
        device >= count)
        return NULL;
    return devices[device];
}

int main(int argc, char **argv)
{
    struct sort_64 lists = {.words = number(argc, argv, 1, 4), .count = number(argc, argv, 2, 1 << 20)};
    const cl_uint samples = number(argc, argv, 3, 5);
    const cl_device_id device = device_of(argc > 4 ? argv[4] : "0:0");
    if (lists.words < 2 || lists.words > 64 || lists.count == 0 || samples == 0) {
        fprintf(stderr, "usage: sort_64 [WORDS [COUNT [SAMPLES [DEVICE [FILE]]]]]\n");
        return 2;
    }
    if (!device) {
        fprintf(stderr, "there is no OpenCL device %s\n", argc > 4 ? argv[4] : "0:0");
        return 3;
    }
    cl_ulong *keys = malloc(lists.count * sizeof *keys);
    cl_uint *numbers = malloc(lists.count * sizeof *numbers);
    double *times = calloc(samples, sizeof *times);
    if (!keys || !numbers || !times)
        return 1;
    fill(keys, numbers, lists.count);
    FILE *file = argc > 5 ? fopen(argv[5], "wb") : NULL;
    if (argc > 5 && (!file || fwrite(keys, sizeof *keys, lists.count, file) != lists.count || fclose(file))) {
        fprintf(stderr, "%s cannot be written\n", argv[5]);
        return 1;
    }

    lists.bits = (64 + lists.words - 1) / lists.words;
    lists.words = (64 + lists.bits - 1) / lists.bits; /* with 12 words of 6 bits 11 are enough */
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    enum radixpic_status status = prepare(context, device, keys, numbers, &lists);
    if (status == RADIXPIC_OK)
        status = time_sorts(&lists, (int)samples, times);
    if (status != RADIXPIC_OK)
        fprintf(stderr, "sort_64: %s\n", radixpic_error()[0] ? radixpic_error() : "OpenCL refuses a call");
    const bool right = status == RADIXPIC_OK && is_right(&lists, keys);
    radixpic_sorter_destroy(&lists.sorter);
    char name[256] = "";
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    if (status == RADIXPIC_OK)
        printf("%.4f %.4f %.4f %s %s\n", (times[(samples - 1) / 2] + times[samples / 2]) / 2, times[0],
               times[samples - 1], right ? "yes" : "no", name);
    return right ? 0 : 1;
}
