/* The sort for other programs, by radixpic/sort.h alone: results, waiting, workspaces, queues and threads,
 * and what is refused. */
#include "radixpic/sort.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "answers.h"

enum { MOST = 100003, BITS = 10, CELLS = 1 << BITS, PART = 4096 /* begins where buffers may */ };

static const struct radixpic_sorter_shape usual = {
    .most = MOST, .key_bytes = 4, .key_bits = BITS, .cells = CELLS};

static cl_device_id device;
static cl_context context;
static cl_command_queue queues[2];

/* A GPU where there is one, unless RADIXPIC_TEST_DEVICE says cpu. */
static int open_device(void **state)
{
    (void)state;
    cl_platform_id platforms[16];
    cl_uint count = 0;
    cl_int error = CL_SUCCESS;
    const char *chosen = getenv("RADIXPIC_TEST_DEVICE");
    const cl_device_type types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_ALL};
    clGetPlatformIDs(16, platforms, &count);
    for (int type = chosen && strcmp(chosen, "cpu") == 0; type < 3 && !device; type++)
        for (cl_uint n = 0; n < count && !device; n++)
            if (clGetDeviceIDs(platforms[n], types[type], 1, &device, NULL) != CL_SUCCESS)
                device = NULL;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    for (int n = 0; n < 2 && error == CL_SUCCESS; n++)
        queues[n] = clCreateCommandQueue(context, device, 0, &error);
    return error;
}

static int close_device(void **state)
{
    (void)state;
    for (int n = 0; n < 2; n++)
        clReleaseCommandQueue(queues[n]);
    return clReleaseContext(context);
}

static struct radixpic_sorter *make(struct radixpic_sorter_shape shape, cl_mem workspace)
{
    struct radixpic_sorter *sorter = NULL;
    succeeds(radixpic_sorter_create(context, device, &shape, workspace, &sorter));
    return sorter;
}

static cl_mem buffer_of(size_t bytes, const void *contents)
{
    cl_int error = CL_SUCCESS;
    const cl_mem_flags copies = contents ? CL_MEM_COPY_HOST_PTR : 0;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | copies, bytes, (void *)contents, &error);
    assert_int_equal(error, CL_SUCCESS);
    return buffer;
}

static void read_back(cl_command_queue queue, cl_mem buffer, size_t bytes, void *values)
{
    if (bytes > 0)
        assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, values, 0, NULL, NULL),
                         CL_SUCCESS);
}

static void overwrite(cl_command_queue queue, cl_mem buffer, size_t bytes)
{
    const cl_uchar junk = 0xa5;
    assert_int_equal(clEnqueueFillBuffer(queue, buffer, &junk, 1, 0, bytes, 0, NULL, NULL), CL_SUCCESS);
}

/* ---- a list, and whether it was sorted ---- */

enum order { RANDOM, SORTED, EQUAL, MOVED /* by up to a cell, as particles do */, ORDERS };

struct problem {
    struct radixpic_sorter_shape shape;
    uint32_t count;
    uint32_t keys[MOST]; /* on the host, whatever they are on the device */
    struct radixpic_sorter_lists lists;
};

static uint32_t scramble(uint32_t n)
{
    n = (n ^ n >> 16) * UINT32_C(0x85ebca6b);
    n = (n ^ n >> 13) * UINT32_C(0xc2b2ae35);
    return n ^ n >> 16;
}

static uint32_t key_of(enum order order, uint32_t j, uint32_t count, uint32_t bits)
{
    const uint32_t largest = (uint32_t)((UINT64_C(1) << bits) - 1), any = scramble(j + 1);
    const uint32_t in_order = (uint32_t)(((uint64_t)j << bits) / count);
    switch (order) {
    case RANDOM:
        return any & largest;
    case SORTED:
        return in_order;
    case EQUAL:
        return largest;
    case MOVED:
        return (in_order + any % 3) & largest;
    case ORDERS:
        break;
    }
    return 0;
}

static void begin_problem(struct problem *problem, struct radixpic_sorter_shape shape, uint32_t count,
                          enum order order)
{
    static _Thread_local cl_ushort shorts[MOST];
    problem->shape = shape;
    problem->count = count;
    for (uint32_t j = 0; j < count; j++)
        shorts[j] = (cl_ushort)(problem->keys[j] = key_of(order, j, count, shape.key_bits));
    const void *keys = shape.key_bytes == 2 ? (void *)shorts : (void *)problem->keys;
    const size_t room = count > 0 ? count : 1; /* there are no empty buffers */
    problem->lists = (struct radixpic_sorter_lists){
        .keys = buffer_of(room * shape.key_bytes, keys),
        .permutation = buffer_of(room * sizeof(cl_uint), NULL),
        .sorted_keys = buffer_of(room * shape.key_bytes, NULL),
        .offsets = shape.cells > 0 ? buffer_of((shape.cells + 1) * sizeof(cl_uint), NULL) : NULL};
}

/* The permutation is that of a stable sort: pairs of key and place rise. */
static void check_permutation(const struct problem *problem, const uint32_t *permutation)
{
    for (uint32_t j = 0; j < problem->count; j++) {
        assert_true(permutation[j] < problem->count);
        if (j == 0)
            continue;
        const uint32_t one = problem->keys[permutation[j - 1]], next = problem->keys[permutation[j]];
        assert_true(one < next || (one == next && permutation[j - 1] < permutation[j]));
    }
}

static void check_sorted_keys(const struct problem *problem, const uint32_t *permutation,
                              cl_command_queue queue)
{
    static uint32_t words[MOST];
    cl_ushort *shorts = (cl_ushort *)words;
    const bool is_short = problem->shape.key_bytes == 2;
    read_back(queue, problem->lists.sorted_keys, (size_t)problem->count * problem->shape.key_bytes, words);
    for (uint32_t j = 0; j < problem->count; j++)
        assert_int_equal(is_short ? shorts[j] : words[j], problem->keys[permutation[j]]);
}

static void check_offsets(const struct problem *problem, cl_command_queue queue)
{
    const uint32_t cells = problem->shape.cells;
    uint32_t *offsets = calloc(cells + 1, sizeof *offsets), *below = calloc(cells + 1, sizeof *below);
    read_back(queue, problem->lists.offsets, (cells + 1) * sizeof *offsets, offsets);
    for (uint32_t j = 0; j < problem->count; j++)
        below[problem->keys[j] + 1]++;
    for (uint32_t c = 0; c < cells; c++)
        below[c + 1] += below[c];
    assert_memory_equal(offsets, below, (cells + 1) * sizeof *offsets);
    free(offsets);
    free(below);
}

static void release_lists(const struct problem *problem)
{
    clReleaseMemObject(problem->lists.keys);
    clReleaseMemObject(problem->lists.permutation);
    clReleaseMemObject(problem->lists.sorted_keys);
    if (problem->lists.offsets)
        clReleaseMemObject(problem->lists.offsets);
}

/* Waits for what the queue has, looks at the result and gives the buffers back. */
static void end_problem(const struct problem *problem, cl_command_queue queue)
{
    static uint32_t permutation[MOST];
    read_back(queue, problem->lists.permutation, problem->count * sizeof *permutation, permutation);
    check_permutation(problem, permutation);
    check_sorted_keys(problem, permutation, queue);
    if (problem->lists.offsets)
        check_offsets(problem, queue);
    release_lists(problem);
}

static void sort_on(cl_command_queue queue, struct radixpic_sorter *sorter, const struct problem *problem)
{
    succeeds(radixpic_sorter_sort(sorter, queue, problem->count, &problem->lists, 0, NULL, NULL));
}

/* ---- the tests ---- */

static void test_keys_of_every_kind(void **state)
{
    (void)state;
    static struct problem problem;
    static const uint32_t bits[] = {1, 5, 10, 16, 20, 32}, counts[] = {MOST, 0, 1, 4097};
    for (uint32_t bytes = 2; bytes <= 4; bytes += 2)
        for (int b = 0; b < 6 && bits[b] <= 8 * bytes; b++) {
            const uint32_t cells = bits[b] <= 16 ? UINT32_C(1) << bits[b] : 0;
            const struct radixpic_sorter_shape shape = {MOST, bytes, bits[b], cells, bytes == 2};
            struct radixpic_sorter *sorter = make(shape, NULL);
            setenv("RADIXPIC_KERNELS", "/proc/nowhere", 1); /* sorts build no kernels */
            for (int n = 0; n < 4; n++)
                for (enum order order = 0; order < (counts[n] > 1 ? ORDERS : 1); order++) {
                    begin_problem(&problem, shape, counts[n], order);
                    sort_on(queues[0], sorter, &problem);
                    end_problem(&problem, queues[0]);
                }
            unsetenv("RADIXPIC_KERNELS");
            radixpic_sorter_destroy(&sorter);
            assert_null(sorter);
        }
}

/* Fewer cells than keys could have; the permutation alone. */
static void test_what_is_wanted(void **state)
{
    (void)state;
    static struct problem problem;
    static uint32_t permutation[MOST];
    struct radixpic_sorter *sorter = make(usual, NULL);
    begin_problem(&problem, usual, MOST, RANDOM);
    const struct radixpic_sorter_lists few = {problem.lists.keys, problem.lists.permutation, NULL, NULL};
    succeeds(radixpic_sorter_sort(sorter, queues[0], MOST, &few, 0, NULL, NULL));
    read_back(queues[0], few.permutation, sizeof permutation, permutation);
    check_permutation(&problem, permutation);
    release_lists(&problem);
    radixpic_sorter_destroy(&sorter);
    struct radixpic_sorter_shape fewer = usual;
    fewer.cells = 601;
    sorter = make(fewer, NULL);
    begin_problem(&problem, fewer, 601, SORTED);
    for (uint32_t j = 0; j < 601; j++)
        problem.keys[j] = (j * 7) % 601;
    clEnqueueWriteBuffer(queues[0], problem.lists.keys, CL_TRUE, 0, 601 * sizeof(cl_uint), problem.keys, 0,
                         NULL, NULL);
    sort_on(queues[0], sorter, &problem);
    end_problem(&problem, queues[0]);
    radixpic_sorter_destroy(&sorter);
    radixpic_sorter_destroy(&sorter);
}

/* A sort, and a move on the other queue, begin after events of which the test sets the first one when the
 * sorter is gone, and keys and values are written: none of the calls waits, and no work begins before. */
static void test_enqueues_alone(void **state)
{
    (void)state;
    static struct problem problem, another;
    static uint32_t permutation[MOST], moved[MOST][4], values[MOST][4];
    struct radixpic_sorter *sorter = make(usual, NULL), *other_sorter = make(usual, NULL);
    cl_command_queue other = clCreateCommandQueue(context, device, 0, NULL);
    cl_mem from = buffer_of(sizeof values, values), to = buffer_of(sizeof values, NULL);
    cl_event begin = clCreateUserEvent(context, NULL), sorted = NULL, end = NULL;
    cl_int status = CL_SUBMITTED;
    begin_problem(&problem, usual, MOST, RANDOM);
    overwrite(queues[0], problem.lists.permutation, sizeof permutation);
    clEnqueueWriteBuffer(queues[0], problem.lists.keys, CL_TRUE, 0, sizeof permutation, permutation, 0, NULL,
                         NULL);
    succeeds(radixpic_sorter_sort(sorter, queues[0], MOST, &problem.lists, 1, &begin, &sorted));
    clFlush(queues[0]);
    succeeds(radixpic_sorter_move(sorter, queues[1], MOST, problem.lists.permutation, 16, from, to, 1,
                                  &sorted, &end));
    clFlush(queues[1]);
    radixpic_sorter_destroy(&sorter);
    for (int n = 0; n < 3; n++) { /* work for the device, while what is above could begin too early */
        begin_problem(&another, usual, MOST, RANDOM);
        sort_on(other, other_sorter, &another);
        end_problem(&another, other);
    }
    for (uint32_t j = 0; j < MOST; j++)
        values[j][0] = values[j][3] = scramble(j);
    clEnqueueWriteBuffer(other, problem.lists.keys, CL_TRUE, 0, sizeof problem.keys, problem.keys, 0, NULL,
                         NULL);
    clEnqueueWriteBuffer(other, from, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL);
    clGetEventInfo(end, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    assert_true(status > CL_COMPLETE);
    clSetUserEventStatus(begin, CL_COMPLETE);
    assert_int_equal(clWaitForEvents(1, &end), CL_SUCCESS);
    read_back(queues[1], problem.lists.permutation, sizeof permutation, permutation);
    read_back(queues[1], to, sizeof moved, moved);
    for (uint32_t j = 0; j < MOST; j++)
        assert_memory_equal(moved[j], values[permutation[j]], sizeof moved[j]);
    end_problem(&problem, queues[1]);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseEvent(begin);
    clReleaseEvent(sorted);
    clReleaseEvent(end);
    radixpic_sorter_destroy(&other_sorter);
    clReleaseCommandQueue(other);
}

static void test_values_of_every_size(void **state)
{
    (void)state;
    enum { COUNT = 1001 };
    static uint32_t permutation[COUNT];
    static unsigned char values[COUNT * 32], moved[COUNT * 32];
    struct radixpic_sorter *sorter = make(usual, NULL);
    for (uint32_t j = 0; j < COUNT; j++)
        permutation[j] = (j * 7) % COUNT;
    for (uint32_t j = 0; j < sizeof values; j++)
        values[j] = (unsigned char)scramble(j);
    cl_mem sigma = buffer_of(sizeof permutation, permutation);
    for (size_t bytes = 4; bytes <= 32; bytes *= 2) {
        cl_mem from = buffer_of(COUNT * bytes, values), to = buffer_of(COUNT * bytes, NULL);
        succeeds(radixpic_sorter_move(sorter, queues[0], COUNT, sigma, bytes, from, to, 0, NULL, NULL));
        read_back(queues[0], to, COUNT * bytes, moved);
        for (uint32_t j = 0; j < COUNT; j++)
            assert_memory_equal(moved + j * bytes, values + permutation[j] * bytes, bytes);
        clReleaseMemObject(from);
        clReleaseMemObject(to);
    }
    clReleaseMemObject(sigma);
    radixpic_sorter_destroy(&sorter);
}

/* Two sorters share one, a part of a buffer, which others overwrite in between; beside it nothing changes.
 * The older is destroyed first and made again, and then destroyed first as the younger. */
static void test_a_workspace(void **state)
{
    (void)state;
    static struct problem problem;
    const struct radixpic_sorter_shape shapes[] = {usual, {MOST, 2, 16, 1 << 16, 0}};
    size_t bytes[2];
    for (int n = 0; n < 2; n++)
        succeeds(radixpic_sorter_workspace(device, &shapes[n], &bytes[n]));
    const size_t most = bytes[0] > bytes[1] ? bytes[0] : bytes[1], all = most + 2 * PART;
    const cl_buffer_region region = {PART, most};
    cl_mem whole = buffer_of(all, NULL), part = NULL;
    part = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
    struct radixpic_sorter *sorters[] = {make(shapes[0], part), make(shapes[1], part)};
    for (int n = 0; n < 8; n++) {
        if (n == 4) { /* the older becomes the younger */
            radixpic_sorter_destroy(&sorters[0]);
            sorters[0] = make(shapes[0], part);
        }
        overwrite(queues[0], whole, all);
        begin_problem(&problem, shapes[n % 2], MOST, RANDOM);
        sort_on(queues[0], sorters[n % 2], &problem);
        end_problem(&problem, queues[0]);
        unsigned char *found = malloc(all);
        read_back(queues[0], whole, all, found);
        for (size_t j = 0; j < PART; j++)
            assert_true(found[j] == 0xa5 && found[all - 1 - j] == 0xa5);
        free(found);
    }
    for (int n = 0; n < 2; n++)
        radixpic_sorter_destroy(&sorters[n]);
    clReleaseMemObject(part);
    clReleaseMemObject(whole);
}

enum { ROUNDS = 8 };

static void test_two_queues_by_turns(void **state)
{
    (void)state;
    static struct problem problems[2][ROUNDS];
    const struct radixpic_sorter_shape shapes[] = {usual, {MOST, 4, 20, 0, 1}};
    struct radixpic_sorter *sorters[] = {make(shapes[0], NULL), make(shapes[1], NULL)};
    for (int n = 0; n < 2 * ROUNDS; n++) {
        begin_problem(&problems[n % 2][n / 2], shapes[n % 2], MOST - (uint32_t)n,
                      n % 3 == 0 ? MOVED : RANDOM);
        sort_on(queues[n % 2], sorters[n % 2], &problems[n % 2][n / 2]);
        clFlush(queues[n % 2]);
    }
    for (int n = 0; n < 2 * ROUNDS; n++)
        end_problem(&problems[n % 2][n / 2], queues[n % 2]);
    for (int n = 0; n < 2; n++)
        radixpic_sorter_destroy(&sorters[n]);
}

/* Returns NULL where its sorters did as they should, which the main thread then looks at. */
static void *sort_in_thread(void *problems)
{
    struct problem *own = problems;
    cl_int error = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    for (int n = 0; n < ROUNDS; n++) {
        struct radixpic_sorter *sorter = NULL;
        enum radixpic_status status = radixpic_sorter_create(context, device, &usual, NULL, &sorter);
        if (status == RADIXPIC_OK)
            status = radixpic_sorter_sort(sorter, queue, own[n].count, &own[n].lists, 0, NULL, NULL);
        radixpic_sorter_destroy(&sorter);
        if (status != RADIXPIC_OK)
            error = CL_INVALID_OPERATION;
    }
    if (clFinish(queue) != CL_SUCCESS || error != CL_SUCCESS)
        return problems;
    clReleaseCommandQueue(queue);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    static struct problem problems[THREADS][ROUNDS];
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++)
        for (int n = 0; n < ROUNDS; n++)
            begin_problem(&problems[t][n], usual, 5000 + (uint32_t)(t * n), RANDOM);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, sort_in_thread, problems[t]), 0);
    for (int t = 0; t < THREADS; t++) {
        void *failed = problems;
        pthread_join(threads[t], &failed);
        assert_null(failed);
        for (int n = 0; n < ROUNDS; n++)
            end_problem(&problems[t][n], queues[0]);
    }
}

static void test_shapes_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        struct radixpic_sorter_shape shape;
        const char *words;
    } wrong[] = {{{0, 4, 10, 0, 0}, "most: expected 1 to 2147483647, found 0"},
                 {{UINT32_C(1) << 31, 4, 10, 0, 0}, "most: expected"},
                 {{9, 3, 10, 0, 0}, "key_bytes: expected 2 or 4, found 3"},
                 {{9, 4, 0, 0, 0}, "key_bits: expected 1 to 32, found 0"},
                 {{9, 2, 17, 0, 0}, "key_bits: expected 1 to 16, found 17"},
                 {{9, 4, 10, 1025, 0}, "cells: expected up to 1024 for keys of 10 bits, found 1025"},
                 {{9, 4, 32, UINT32_MAX, 0}, "cells: expected up to 2147483647 for keys of 32 bits"}};
    struct radixpic_sorter *sorter = NULL;
    size_t bytes = 1;
    for (size_t n = 0; n < sizeof wrong / sizeof wrong[0]; n++) {
        refuses(radixpic_sorter_create(context, device, &wrong[n].shape, NULL, &sorter), wrong[n].words);
        refuses(radixpic_sorter_workspace(device, &wrong[n].shape, &bytes), wrong[n].words);
        assert_true(!sorter && bytes == 0);
    }
    refuses(radixpic_sorter_create(NULL, device, &usual, NULL, &sorter), "context: expected a cl_context");
    refuses(radixpic_sorter_create(context, NULL, &usual, NULL, &sorter), "device: expected a cl_device_id");
    refuses(radixpic_sorter_workspace(NULL, &usual, &bytes), "device: expected a cl_device_id");
    refuses(radixpic_sorter_workspace(device, NULL, &bytes), "no NULL among the arguments shape, bytes");
    refuses(radixpic_sorter_workspace(device, &usual, NULL), "shape, bytes");
    refuses(radixpic_sorter_create(context, device, NULL, NULL, &sorter), "the arguments shape");
    refuses(radixpic_sorter_create(context, device, &usual, NULL, NULL), "the arguments sorter");
    radixpic_sorter_destroy(NULL);
    succeeds(radixpic_sorter_workspace(device, &usual, &bytes));
    cl_mem small = buffer_of(bytes - 1, NULL);
    refuses(radixpic_sorter_create(context, device, &usual, small, &sorter),
            "workspace: expected a buffer of");
    assert_null(sorter);
    clReleaseMemObject(small);
}

static void test_arguments_that_cannot_be(void **state)
{
    (void)state;
    static struct problem problem;
    struct radixpic_sorter_shape bare = usual;
    bare.cells = 0;
    struct radixpic_sorter *sorter = make(usual, NULL), *without = make(bare, NULL);
    cl_int error = CL_SUCCESS;
    cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue foreign = clCreateCommandQueue(other, device, 0, &error);
    cl_event event = NULL;
    begin_problem(&problem, usual, 100, RANDOM);
    const struct radixpic_sorter_lists given = problem.lists;
    cl_mem small = buffer_of(399, NULL), theirs = clCreateBuffer(other, CL_MEM_READ_WRITE, 400, NULL, &error);
    const struct {
        uint32_t count;
        struct radixpic_sorter_lists lists;
        const char *words;
    } wrong[] = {
        {MOST + 1, given, "count: expected up to 100003, found 100004"},
        {100, {NULL, given.permutation, NULL, NULL}, "keys: expected a buffer of the context"},
        {100, {given.keys, NULL, NULL, NULL}, "permutation: expected a buffer of the context"},
        {100, {given.keys, given.keys, NULL, NULL}, "permutation: expected memory that is in no other list"},
        {100,
         {given.keys, small, NULL, NULL},
         "permutation: expected a buffer of 400 bytes or more, found 399"},
        {100, {given.keys, given.permutation, theirs, NULL}, "sorted_keys: expected a buffer of the context"},
        {100, {given.keys, given.permutation, NULL, small}, "offsets: expected a buffer of 4100 bytes"}};
    for (size_t n = 0; n < sizeof wrong / sizeof wrong[0]; n++)
        refuses(radixpic_sorter_sort(sorter, queues[0], wrong[n].count, &wrong[n].lists, 0, NULL, &event),
                wrong[n].words);
    refuses(radixpic_sorter_sort(sorter, queues[0], 100, NULL, 0, NULL, &event), "sorter, lists");
    refuses(radixpic_sorter_sort(NULL, queues[0], 100, &given, 0, NULL, &event), "sorter, lists");
    refuses(radixpic_sorter_move(NULL, queues[0], 9, small, 4, small, small, 0, NULL, &event), "sorter");
    refuses(radixpic_sorter_sort(without, queues[0], 100, &given, 0, NULL, &event), "made for 0 cells");
    refuses(radixpic_sorter_sort(sorter, NULL, 100, &given, 0, NULL, &event),
            "queue: expected one in order, of");
    refuses(radixpic_sorter_sort(sorter, foreign, 100, &given, 0, NULL, &event),
            "queue: expected one in order, of");
    cl_command_queue free_order =
        clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    if (error == CL_SUCCESS) {
        refuses(radixpic_sorter_sort(sorter, free_order, 100, &given, 0, NULL, &event),
                "queue: expected one in order, of");
        clReleaseCommandQueue(free_order);
    }
    refuses(
        radixpic_sorter_move(sorter, queues[0], 9, given.permutation, 5, given.keys, small, 0, NULL, &event),
        "bytes: expected 4, 8, 16 or 32, found 5");
    refuses(radixpic_sorter_move(sorter, queues[0], 100, given.permutation, 4, given.keys, small, 0, NULL,
                                 &event),
            "to: expected a buffer of 400 bytes");
    cl_event theirs_too = clCreateUserEvent(other, NULL);
    refuses(radixpic_sorter_sort(sorter, queues[0], 100, &given, 1, NULL, &event),
            "wait_list: expected wait_count events (1), found NULL");
    refuses(radixpic_sorter_sort(sorter, queues[0], 100, &given, 1, &theirs_too, &event),
            "wait_list: expected events of the context");
    clSetUserEventStatus(theirs_too, CL_COMPLETE); /* NVIDIA would wait for it where its context ends */
    clReleaseEvent(theirs_too);
    assert_null(event);
    sort_on(queues[0], sorter, &problem); /* none of it did any harm */
    end_problem(&problem, queues[0]);
    radixpic_sorter_destroy(&sorter);
    radixpic_sorter_destroy(&without);
    clReleaseMemObject(small);
    clReleaseMemObject(theirs);
    clReleaseCommandQueue(foreign);
    clReleaseContext(other);
}

static cl_mem part_of(cl_mem whole, size_t begin, size_t bytes)
{
    cl_int error = CL_SUCCESS;
    const cl_buffer_region region = {begin, bytes};
    cl_mem part = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    assert_int_equal(error, CL_SUCCESS);
    return part;
}

/* Parts of one buffer, each a PART before the end of the one before it, or where that ends. */
static void test_lists_in_one_buffer(void **state)
{
    (void)state;
    enum { COUNT = 2 * PART / 4 };
    static struct problem problem;
    struct radixpic_sorter *sorter = make(usual, NULL);
    begin_problem(&problem, usual, COUNT, RANDOM);
    cl_mem whole = buffer_of(8 * PART, NULL), keys = problem.lists.keys, sigma = problem.lists.permutation;
    cl_mem first = part_of(whole, 0, 2 * PART), second = part_of(whole, PART, 2 * PART),
           third = part_of(whole, 2 * PART, 2 * PART);
    const struct {
        struct radixpic_sorter_lists lists;
        const char *words;
    } wrong[] = {{{first, second, NULL, NULL}, "permutation: expected memory that is in no other list"},
                 {{whole, first, NULL, NULL}, "permutation: expected memory that is in no other list"},
                 {{keys, second, third, NULL}, "sorted_keys: expected memory that is in no other list"},
                 {{keys, sigma, first, second}, "offsets: expected memory that is in no other list"}};
    for (size_t n = 0; n < sizeof wrong / sizeof wrong[0]; n++)
        refuses(radixpic_sorter_sort(sorter, queues[0], COUNT, &wrong[n].lists, 0, NULL, NULL),
                wrong[n].words);
    refuses(radixpic_sorter_move(sorter, queues[0], COUNT, sigma, 4, first, second, 0, NULL, NULL),
            "to: expected memory that is in no other list");
    const struct radixpic_sorter_lists beside = {keys, first, third, NULL};
    succeeds(radixpic_sorter_sort(sorter, queues[0], COUNT, &beside, 0, NULL, NULL));
    succeeds(radixpic_sorter_move(sorter, queues[0], COUNT, first, 4, third, sigma, 0, NULL, NULL));
    sort_on(queues[0], sorter, &problem);
    end_problem(&problem, queues[0]);
    clReleaseMemObject(first);
    clReleaseMemObject(second);
    clReleaseMemObject(third);
    clReleaseMemObject(whole);
    radixpic_sorter_destroy(&sorter);
}

/* A part of the workspace is refused as a list; beside the bytes that the sorter takes, it is not. */
static void test_a_list_in_the_workspace(void **state)
{
    (void)state;
    static struct problem problem;
    size_t bytes = 0;
    succeeds(radixpic_sorter_workspace(device, &usual, &bytes));
    const size_t room = (bytes + PART - 1) / PART * PART;
    cl_mem whole = buffer_of(room + 2 * PART, NULL), within = part_of(whole, room - PART, PART),
           behind = part_of(whole, room + PART, PART), workspace = part_of(whole, 0, room);
    struct radixpic_sorter *sorter = make(usual, workspace);
    begin_problem(&problem, usual, 100, RANDOM);
    cl_mem sorted = problem.lists.sorted_keys;
    problem.lists.sorted_keys = within;
    refuses(radixpic_sorter_sort(sorter, queues[0], 100, &problem.lists, 0, NULL, NULL),
            "sorted_keys: expected memory that is in no other list and not in the workspace");
    problem.lists.sorted_keys = whole;
    refuses(radixpic_sorter_sort(sorter, queues[0], 100, &problem.lists, 0, NULL, NULL),
            "sorted_keys: expected memory that is in no other list and not in the workspace");
    problem.lists.sorted_keys = behind;
    sort_on(queues[0], sorter, &problem);
    end_problem(&problem, queues[0]);
    radixpic_sorter_destroy(&sorter);
    clReleaseMemObject(sorted);
    clReleaseMemObject(within);
    clReleaseMemObject(workspace);
    clReleaseMemObject(whole);
}

/* Its threads of the driver are missing: a call would wait for ever, until the alarm. */
static void test_a_forked_process(void **state)
{
    (void)state;
    enum { SECONDS = 60 };
    static struct problem problem;
    int ended = -1;
    size_t bytes = 0;
    struct radixpic_sorter *sorter = make(usual, NULL), *another = NULL;
    begin_problem(&problem, usual, 100, RANDOM);
    const pid_t child = fork();
    if (child == 0) {
        cl_mem keys = problem.lists.keys, sigma = problem.lists.permutation, to = problem.lists.sorted_keys;
        alarm(SECONDS);
        const bool refused =
            radixpic_sorter_sort(sorter, queues[0], 100, &problem.lists, 0, NULL, NULL) == RADIXPIC_USAGE &&
            strstr(radixpic_error(), "this process was forked from process") &&
            radixpic_sorter_move(sorter, queues[0], 9, sigma, 4, keys, to, 0, NULL, NULL) == RADIXPIC_USAGE &&
            radixpic_sorter_workspace(device, &usual, &bytes) == RADIXPIC_USAGE &&
            radixpic_sorter_create(context, device, &usual, NULL, &another) == RADIXPIC_USAGE;
        radixpic_sorter_destroy(&sorter);
        _exit(refused && !sorter && !another ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    sort_on(queues[0], sorter, &problem);
    end_problem(&problem, queues[0]);
    radixpic_sorter_destroy(&sorter);
}

/* ---- signed numbers, reals and keys of 64 bits, as docs/sort.md has them ---- */

enum { REALS = 50001 };

static double reals[REALS];

static int64_t bits_of(double real)
{
    int64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

/* By size: NaNs with a sign, numbers with -0.0 before 0.0, other NaNs; equal ones by place. */
static int compare_reals(const void *left, const void *right)
{
    const uint32_t places[] = {*(const uint32_t *)left, *(const uint32_t *)right};
    int class[2];
    for (int n = 0; n < 2; n++) {
        const double real = reals[places[n]];
        class[n] = real != real ? (signbit(real) ? -1 : 1) : 0;
    }
    if (class[0] != class[1])
        return class[0] < class[1] ? -1 : 1;
    const double a = reals[places[0]], b = reals[places[1]];
    if (class[0] == 0 && a != b)
        return a < b ? -1 : 1;
    if (class[0] == 0 && !signbit(a) != !signbit(b))
        return signbit(a) ? -1 : 1;
    return places[0] < places[1] ? -1 : 1;
}

/* Of any sizes, many of them equal, with all that is special. */
static void choose_reals(bool as_floats)
{
    const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, -NAN, 5e-324, -5e-324, 1, -1};
    for (uint32_t n = 0; n < REALS; n++) {
        const uint32_t any = scramble(n + 7);
        reals[n] = any % 8 == 0 ? special[any / 8 % 10]
                                : ldexp((double)(int32_t)scramble(any % 40000), (int)(any % 61) - 30);
        if (as_floats)
            reals[n] = (float)reals[n];
    }
}

static void sort_words(struct radixpic_sorter *sorter, cl_mem keys, cl_mem permutation)
{
    const struct radixpic_sorter_lists lists = {.keys = keys, .permutation = permutation};
    succeeds(radixpic_sorter_sort(sorter, queues[0], REALS, &lists, 0, NULL, NULL));
}

static void assert_is_order_of_reals(cl_mem permutation)
{
    static uint32_t expected[REALS], found[REALS];
    for (uint32_t n = 0; n < REALS; n++)
        expected[n] = n;
    qsort(expected, REALS, sizeof expected[0], compare_reals);
    read_back(queues[0], permutation, sizeof found, found);
    assert_memory_equal(found, expected, sizeof found);
}

static void test_keys_of_64_bits_by_two_sorts(void **state)
{
    (void)state;
    static uint32_t words[2][REALS];
    struct radixpic_sorter *sorter = make(
        (struct radixpic_sorter_shape){.most = REALS, .key_bytes = 4, .key_bits = 32, .any_order = 1}, NULL);
    choose_reals(false);
    for (uint32_t n = 0; n < REALS; n++) {
        const uint64_t bits = (uint64_t)bits_of(reals[n]),
                       key = bits ^ (bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63);
        words[0][n] = (uint32_t)key;
        words[1][n] = (uint32_t)(key >> 32);
    }
    cl_mem buffers[] = {buffer_of(sizeof words[0], words[0]), buffer_of(sizeof words[1], words[1]),
                        buffer_of(sizeof words[0], NULL), buffer_of(sizeof words[0], NULL)};
    cl_mem low = buffers[0], high = buffers[1], first = buffers[2], second = buffers[3];
    sort_words(sorter, low, first);
    succeeds(radixpic_sorter_move(sorter, queues[0], REALS, first, 4, high, low, 0, NULL, NULL));
    sort_words(sorter, low, second);
    succeeds(radixpic_sorter_move(sorter, queues[0], REALS, second, 4, first, high, 0, NULL, NULL));
    assert_is_order_of_reals(high);
    for (int n = 0; n < 4; n++)
        clReleaseMemObject(buffers[n]);
    radixpic_sorter_destroy(&sorter);
}

static void test_floats_and_signed_numbers(void **state)
{
    (void)state;
    static uint32_t keys[REALS];
    struct radixpic_sorter *sorter = make(
        (struct radixpic_sorter_shape){.most = REALS, .key_bytes = 4, .key_bits = 32, .any_order = 1}, NULL);
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        choose_reals(true);
        for (uint32_t n = 0; n < REALS; n++) {
            const float real = (float)reals[n];
            uint32_t bits;
            memcpy(&bits, &real, sizeof bits);
            keys[n] = bits ^ (bits >> 31 ? UINT32_MAX : UINT32_C(1) << 31);
            if (is_signed) {
                const int32_t number = (int32_t)scramble(n) >> n % 32;
                reals[n] = number;
                keys[n] = (uint32_t)number ^ UINT32_C(1) << 31;
            }
        }
        cl_mem list = buffer_of(sizeof keys, keys), permutation = buffer_of(sizeof keys, NULL);
        sort_words(sorter, list, permutation);
        assert_is_order_of_reals(permutation);
        clReleaseMemObject(list);
        clReleaseMemObject(permutation);
    }
    radixpic_sorter_destroy(&sorter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys_of_64_bits_by_two_sorts),
                                       cmocka_unit_test(test_floats_and_signed_numbers),
                                       cmocka_unit_test(test_keys_of_every_kind),
                                       cmocka_unit_test(test_what_is_wanted),
                                       cmocka_unit_test(test_enqueues_alone),
                                       cmocka_unit_test(test_values_of_every_size),
                                       cmocka_unit_test(test_a_workspace),
                                       cmocka_unit_test(test_two_queues_by_turns),
                                       cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_shapes_that_cannot_be),
                                       cmocka_unit_test(test_arguments_that_cannot_be),
                                       cmocka_unit_test(test_lists_in_one_buffer),
                                       cmocka_unit_test(test_a_list_in_the_workspace),
                                       cmocka_unit_test(test_a_forked_process)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
