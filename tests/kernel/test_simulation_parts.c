/* Simulation parts: a run builds what its config needs, each once, and no other. */
#include "support/physics_support.h"

#include <CL/cl.h>
#include <dlfcn.h>

enum { MOST = 32 };

static char *built[MOST]; /* source and options of each build */
static unsigned count;
static cl_program last; /* of them */

/* OpenCL's are called through these. */
cl_program clCreateProgramWithSource(cl_context context, cl_uint texts, const char **source,
                                     const size_t *lengths, cl_int *error)
{
    static cl_program (*original)(cl_context, cl_uint, const char **, const size_t *, cl_int *);
    if (!original)
        *(void **)&original = dlsym(RTLD_NEXT, "clCreateProgramWithSource");
    cl_program program = original(context, texts, source, lengths, error);
    if (strncmp(*source, "#line", strlen("#line")) != 0) /* VkFFT builds kernels, too */
        return program;
    assert_true(count < MOST);
    built[count++] = strdup(*source);
    return last = program;
}

cl_int clBuildProgram(cl_program program, cl_uint devices, const cl_device_id *ids, const char *options,
                      void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    static cl_int (*original)(cl_program, cl_uint, const cl_device_id *, const char *,
                              void(CL_CALLBACK *)(cl_program, void *), void *);
    char *both = NULL;
    if (!original)
        *(void **)&original = dlsym(RTLD_NEXT, "clBuildProgram");
    if (count > 0 && program == last) {
        assert_true(asprintf(&both, "%s%s", built[count - 1], options) > 0);
        free(built[count - 1]);
        built[count - 1] = both;
    }
    return original(program, devices, ids, options, notify, data);
}

static bool is_built(const char *file)
{
    char begin[64];
    snprintf(begin, sizeof begin, "#line 1 \"%s\"\n", file);
    for (unsigned n = 0; n < count; n++)
        if (strncmp(built[n], begin, strlen(begin)) == 0)
            return true;
    return false;
}

/* On one device, which keeps what it has built. */
TEST(a_run_builds_what_it_needs_and_that_once)
{
    static const char *const unused[] = {"filter.cl", "phase_space.cl", "moments.cl", "exchange.cl"};
    struct config config = PHYSICS("time.steps=2");
    setenv("RADIXPIC_CACHE", "/dev/null", 1); /* or what was built often would be loaded */
    physics_run(&config);
    assert_true(is_built("deposit.cl"));
    for (size_t n = 0; n < sizeof unused / sizeof unused[0]; n++)
        assert_false(is_built(unused[n]));
    if (device_info(device)->is_cpu) /* its sort finds the cell offsets without */
        assert_false(is_built("sorted_order.cl"));
    for (unsigned n = 0; n < count; n++)
        for (unsigned m = 0; m < n; m++)
            assert_string_not_equal(built[n], built[m]);
    const unsigned first = count;
    physics_run(&config);
    assert_int_equal(count, first);
    config.deposit.filter_passes = 1;
    physics_run(&config);
    assert_int_equal(count, first + 1);
    assert_true(is_built("filter.cl"));
}

TEST_MAIN(open_device, close_device)
