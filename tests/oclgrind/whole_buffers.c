/* Whole buffers: what oclgrind needs to be told so that it finds uninitialised values without false alarms.
 *
 * Oclgrind 21.10 forgets the rest of a buffer when the host writes, fills, copies into or maps only a part of
 * it: what kernels store there later still counts as uninitialised. This library stands between the program
 * and oclgrind (LD_PRELOAD) and, after each such call, writes the whole buffer as it is. The price: global
 * memory counts as initialised from then on, so what is found are uninitialised private and local values.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdlib.h>

/* The function of this name in the libraries behind this one. */
#define NEXT(name)                                                                                           \
    __typeof__(&name) next;                                                                                  \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

static cl_int write_whole(cl_command_queue queue, cl_mem buffer, cl_int error)
{
    NEXT(clEnqueueWriteBuffer);
    size_t size = 0;
    if (error != CL_SUCCESS)
        return error;
    clFinish(queue);
    cl_mem whole = NULL; /* of which `buffer` is a part */
    clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL);
    if (whole)
        buffer = whole;
    clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL);
    void *content = malloc(size);
    error = content ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (error == CL_SUCCESS)
        error = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, content, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        error = next(queue, buffer, CL_TRUE, 0, size, content, 0, NULL, NULL);
    free(content);
    return error;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                            size_t size, const void *source, cl_uint waits, const cl_event *wait,
                            cl_event *event)
{
    NEXT(clEnqueueWriteBuffer);
    return write_whole(queue, buffer,
                       next(queue, buffer, blocking, offset, size, source, waits, wait, event));
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size,
                           size_t offset, size_t size, cl_uint waits, const cl_event *wait, cl_event *event)
{
    NEXT(clEnqueueFillBuffer);
    return write_whole(queue, buffer,
                       next(queue, buffer, pattern, pattern_size, offset, size, waits, wait, event));
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                           size_t to_offset, size_t size, cl_uint waits, const cl_event *wait,
                           cl_event *event)
{
    NEXT(clEnqueueCopyBuffer);
    return write_whole(queue, to, next(queue, from, to, from_offset, to_offset, size, waits, wait, event));
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem buffer, void *memory, cl_uint waits,
                               const cl_event *wait, cl_event *event)
{
    NEXT(clEnqueueUnmapMemObject);
    return write_whole(queue, buffer, next(queue, buffer, memory, waits, wait, event));
}
