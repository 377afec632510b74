/* Program: what is built twice in one run is built once, and what does not build has a message. */
#include "support/device_fixture.h"
#include "support/test_folder.h"

#include "device/internal.h"

#include <dlfcn.h>

static struct folder folder; /* of the kernels */
static int sources_built;

/* OpenCL's is called through this one. */
cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                     const size_t *lengths, cl_int *error)
{
    static cl_program (*original)(cl_context, cl_uint, const char **, const size_t *, cl_int *);
    if (!original)
        *(void **)&original = dlsym(RTLD_NEXT, "clCreateProgramWithSource");
    sources_built++;
    return original(context, count, texts, lengths, error);
}

static void write_kernel(int plus)
{
    char text[256];
    snprintf(text, sizeof text, "kernel void answer(global uint *a) { a[0] = BASE + %d; }\n", plus);
    write_text(folder_file(&folder, "inner.h"), text);
    write_text(folder_file(&folder, "answer.cl"), "#include \"inner.h\"\n");
}

static int make_folder(void **state)
{
    (void)state;
    folder = folder_make();
    write_kernel(1);
    return setenv("RADIXPIC_KERNELS", folder.path, 1);
}

static int remove_folder(void **state)
{
    folder_remove(&folder);
    unsetenv("RADIXPIC_KERNELS");
    return free_arrays(state);
}

#undef TEST
#define TEST(name) TEST_WITH(name, make_folder, remove_folder)

/* What the kernel writes that is built with BASE = base. */
static uint32_t answer_with(int base)
{
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    struct buffer *buffer = NULL;
    uint32_t value = 0;
    assert_ok(program_build(device, "answer.cl", PRECISION_SINGLE, &program, "-D BASE=%d", base));
    assert_ok(kernel_create(program, "answer", &kernel));
    assert_ok(buffer_create(device, sizeof value, "answer", &buffer));
    assert_ok(KERNEL_LAUNCH(kernel, ((struct launch){1, 1, STAGE_OTHER, 0}), buffer));
    assert_ok(buffer_read(buffer, 0, sizeof value, &value));
    return value;
}

/* The same is built once, nothing else is taken for it, and after a kernel was edited its new text counts. */
TEST(a_run_builds_the_same_once)
{
    sources_built = 0;
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(answer_with(10), 11);
        assert_int_equal(answer_with(20), 21);
    }
    assert_int_equal(sources_built, 2);
    write_kernel(2);
    assert_int_equal(answer_with(10), 12);
    write_kernel(1);
    assert_int_equal(answer_with(10), 11);
}

/* Each time anew. */
TEST(what_does_not_build)
{
    struct program *program = NULL;
    for (int turn = 0; turn < 2; turn++) {
        assert_fails(program_build(device, "answer.cl", PRECISION_SINGLE, &program, "-D BASE=missing"),
                     "kernels/answer.cl does not build", "missing");
        assert_null(program);
    }
}

/* OpenCL counts them. */
TEST(more_or_fewer_arguments_than_a_kernel_takes)
{
    const struct launch launch = {1, 1, STAGE_OTHER, 0};
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    struct buffer *buffer = test_buffer(sizeof(uint32_t), NULL);
    assert_ok(program_build(device, "answer.cl", PRECISION_SINGLE, &program, "-D BASE=1"));
    assert_ok(kernel_create(program, "answer", &kernel));
    assert_fails(kernel_launch(kernel, launch, (const struct kernel_argument[]){ARG_END}),
                 "kernel answer: launching", "CL_INVALID_KERNEL_ARGS");
    assert_fails(KERNEL_LAUNCH(kernel, launch, buffer, 1), "kernel answer: argument 1",
                 "CL_INVALID_ARG_INDEX");
}

TEST_MAIN(open_device, close_device)
