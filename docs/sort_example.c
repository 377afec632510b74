/* Sorts pairs of a key and a number on the first OpenCL device, as docs/sort.md describes. */
#include <CL/cl.h>
#include <radixpic/sort.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 20, KEY_BITS = 10, CELLS = 1 << KEY_BITS };

static cl_mem buffer_of(cl_context context, size_t bytes, void *contents)
{
    return clCreateBuffer(context, CL_MEM_READ_WRITE | (contents ? CL_MEM_COPY_HOST_PTR : 0), bytes, contents,
                          NULL);
}

int main(void)
{
    static cl_uint keys[COUNT], offsets[CELLS + 1];
    static cl_float values[COUNT];
    cl_platform_id platform = NULL;
    cl_device_id device = NULL;
    cl_int error = clGetPlatformIDs(1, &platform, NULL);
    if (error == CL_SUCCESS)
        error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    if (error != CL_SUCCESS) {
        fprintf(stderr, "there is no OpenCL device\n");
        return 3;
    }
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    for (int n = 0; n < COUNT; n++) {
        keys[n] = (cl_uint)rand() % CELLS;
        values[n] = (cl_float)keys[n];
    }
    const struct radixpic_sorter_lists lists = {.keys = buffer_of(context, sizeof keys, keys),
                                                .permutation = buffer_of(context, sizeof keys, NULL),
                                                .offsets = buffer_of(context, sizeof offsets, NULL)};
    cl_mem from = buffer_of(context, sizeof values, values), to = buffer_of(context, sizeof values, NULL);

    /* one sorter for as many sorts as there are to come */
    const struct radixpic_sorter_shape shape = {
        .most = COUNT, .key_bytes = sizeof keys[0], .key_bits = KEY_BITS, .cells = CELLS};
    struct radixpic_sorter *sorter = NULL;
    enum radixpic_status status = radixpic_sorter_create(context, device, &shape, NULL, &sorter);
    if (status == RADIXPIC_OK)
        status = radixpic_sorter_sort(sorter, queue, COUNT, &lists, 0, NULL, NULL);
    if (status == RADIXPIC_OK)
        status = radixpic_sorter_move(sorter, queue, COUNT, lists.permutation, sizeof values[0], from, to, 0,
                                      NULL, NULL);
    if (status != RADIXPIC_OK)
        fprintf(stderr, "%s\n", radixpic_error());
    radixpic_sorter_destroy(&sorter);
    if (status != RADIXPIC_OK)
        return status;

    /* the queue is in order, and these reads wait for it */
    clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, lists.offsets, CL_TRUE, 0, sizeof offsets, offsets, 0, NULL, NULL);
    for (cl_uint c = 0; c < CELLS; c++)
        for (cl_uint j = offsets[c]; j < offsets[c + 1]; j++)
            if (values[j] != (cl_float)c)
                return 1;
    printf("%d keys of %d bits are sorted; cell 7 has the values from %u to %u\n", COUNT, KEY_BITS,
           offsets[7], offsets[8]);
    return 0;
}
