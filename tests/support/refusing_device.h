/* Refusing device: one that takes over no memory of the host while a test says so. */
#ifndef RADIXPIC_TEST_REFUSING_DEVICE_H
#define RADIXPIC_TEST_REFUSING_DEVICE_H

#include <CL/cl.h>

#include <dlfcn.h>
#include <stdbool.h>

static bool device_refuses;
static int device_refused; /* how often it has */

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *memory, cl_int *error)
{
    static cl_mem (*original)(cl_context, cl_mem_flags, size_t, void *, cl_int *);
    if (!original)
        *(void **)&original = dlsym(RTLD_NEXT, "clCreateBuffer");
    if (!(flags & CL_MEM_USE_HOST_PTR) || !device_refuses)
        return original(context, flags, size, memory, error);
    device_refused++;
    *error = CL_OUT_OF_HOST_MEMORY;
    return NULL;
}

#endif
