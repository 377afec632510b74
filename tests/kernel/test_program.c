/* Program: what is built twice in one run is built once, what was built often is loaded, and what does not
 * build has a message. */
#include "support/device_fixture.h"
#include "support/test_folder.h"

#include "device/internal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/file.h>

static struct folder folder; /* of the kernels */
static int sources_built, arguments_set;
static bool
    takes_any_argument; /* as drivers do that do not count arguments, or take local memory of 0 bytes */

/* OpenCL's are called through these. */
cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                     const size_t *lengths, cl_int *error)
{
    static cl_program (*original)(cl_context, cl_uint, const char **, const size_t *, cl_int *);
    if (!original)
        *(void **)&original = dlsym(RTLD_NEXT, "clCreateProgramWithSource");
    sources_built++;
    return original(context, count, texts, lengths, error);
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    static cl_int (*original)(cl_kernel, cl_uint, size_t, const void *);
    if (!original)
        *(void **)&original = dlsym(RTLD_NEXT, "clSetKernelArg");
    arguments_set++;
    const cl_int error = original(kernel, index, size, value);
    return takes_any_argument ? CL_SUCCESS : error;
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
    setenv("RADIXPIC_CACHE", "/dev/null", 1);
    return free_arrays(state);
}

#undef TEST
#define TEST(name) TEST_WITH(name, make_folder, remove_folder)

/* What the kernel of that name writes that is built with BASE = base. */
static uint32_t answer_of(const char *name, int base)
{
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    struct buffer *buffer = NULL;
    uint32_t value = 0;
    assert_ok(program_build(device, "answer.cl", PRECISION_SINGLE, &program, "-D BASE=%d", base));
    assert_ok(kernel_create(program, name, &kernel));
    assert_ok(buffer_create(device, sizeof value, "answer", &buffer));
    assert_ok(KERNEL_LAUNCH(kernel, ((struct launch){1, 1, STAGE_OTHER, 0}), buffer));
    assert_ok(buffer_read(buffer, 0, sizeof value, &value));
    return value;
}

static uint32_t answer_with(int base)
{
    return answer_of("answer", base);
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

/* ---- programs that are kept ---- */

/* The path of the one file in the cache folder with that ending, or NULL. */
static const char *kept_file(const char *ending)
{
    static char path[PATH_MAX];
    struct dirent *entry;
    bool is_found = false;
    DIR *directory = opendir(folder_file(&folder, "cache/programs"));
    while (directory && (entry = readdir(directory)))
        if (strstr(entry->d_name, ending)) {
            assert_false(is_found);
            snprintf(path, sizeof path, "%s/cache/programs/%s", folder.path, entry->d_name);
            is_found = true;
        }
    if (directory)
        closedir(directory);
    return is_found ? path : NULL;
}

/* The answer of a process that was just started, which has built nothing; and how many sources it built. */
static uint32_t answer_of_a_start(const char *name, int *built)
{
    struct device *const before = device;
    sources_built = 0;
    device = NULL;
    assert_ok(device_open(test_device_spec(), 0, 0, &device));
    const uint32_t answer = answer_of(name, 41);
    device_close(&device);
    device = before;
    *built = sources_built;
    return answer;
}

static void expect_built_anew(void)
{
    int built;
    assert_int_equal(answer_of_a_start("answer", &built), 42);
    assert_int_equal(built, 1);
}

static const char *binary_after_many_starts(const char *name, uint32_t answer)
{
    int built;
    setenv("RADIXPIC_CACHE", folder_file(&folder, "cache"), 1);
    assert_int_equal(answer_of_a_start(name, &built), answer);
    for (int n = 1; n < 12; n++) {
        assert_null(kept_file(".binary"));
        assert_int_equal(answer_of_a_start(name, &built), answer);
        assert_int_equal(built, 1);
    }
    return kept_file(".binary");
}

/* Where the driver has no cache of its own that is as fast. */
TEST(a_program_that_was_built_often_is_loaded)
{
    int built;
    const char *path = binary_after_many_starts("answer", 42);
    if (!device_info(device)->is_pocl) {
        assert_null(path);
        return;
    }
    assert_non_null(path);
    assert_int_equal(answer_of_a_start("answer", &built), 42);
    assert_int_equal(built, 0);
    setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 1); /* is another program */
    expect_built_anew();
    unsetenv("POCL_EXTRA_BUILD_FLAGS");
    write_kernel(2); /* and so is another source */
    assert_int_equal(answer_of_a_start("answer", &built), 43);
    assert_int_equal(built, 1);
}

/* PoCL 3.1 ends the process for a binary that was cut. */
TEST(a_binary_that_is_not_sound_is_not_loaded)
{
    int built;
    size_t length;
    if (!device_info(device)->is_pocl)
        skip();
    const char *path = binary_after_many_starts("answer", 42);
    const unsigned char *bytes = read_file(path, &length);
    for (size_t left = 0; left < length; left = left < 64 ? left + 13 : left * 3) {
        write_file(path, bytes, left);
        expect_built_anew();
    }
    for (size_t place = 1; place < length; place *= 7) {
        write_file(path, bytes, length);
        flip_bit(path, place);
        expect_built_anew();
    }
    write_file(path, bytes, length);
    assert_int_equal(chmod(path, 0622), 0); /* others may have written to it */
    expect_built_anew();
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(answer_of_a_start("answer", &built), 42);
    assert_int_equal(built, 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_built_anew();
    assert_int_equal(unlink(path), 0);
    expect_built_anew(); /* and stored again */
    assert_int_equal(answer_of_a_start("answer", &built), 42);
    assert_int_equal(built, 0);
}

/* As where a driver of the same version names kernels otherwise. The binary of another program is put behind
 * the header of this one. */
TEST(a_binary_without_the_kernel_is_not_used)
{
    enum { DIGEST = 16 }; /* bytes of the header that name the program */
    int built;
    size_t length, other_length;
    if (!device_info(device)->is_pocl)
        skip();
    write_text(folder_file(&folder, "inner.h"), "kernel void other(global uint *a) { a[0] = BASE; }\n");
    unsigned char *other = read_file(binary_after_many_starts("other", 41), &other_length);
    assert_int_equal(system("rm -r $RADIXPIC_CACHE"), 0);
    write_kernel(1);
    const char *path = binary_after_many_starts("answer", 42);
    memcpy(other, read_file(path, &length), DIGEST);
    write_file(path, other, other_length);
    expect_built_anew();
    assert_int_equal(answer_of_a_start("answer", &built), 42); /* that one stored another */
    assert_int_equal(built, 0);
}

/* None of these can hold a folder, for root neither. */
TEST(without_a_folder_programs_are_built)
{
    static const char *const places[] = {"/dev/null", "/proc/self", "answer.cl", "/proc/nowhere/at/all"};
    for (size_t n = 0; n < sizeof places / sizeof places[0]; n++) {
        setenv("RADIXPIC_CACHE", places[n][0] == '/' ? places[n] : folder_file(&folder, places[n]), 1);
        for (int turn = 0; turn < 2; turn++)
            expect_built_anew();
    }
}

static int built_meanwhile;

/* As a rank of the same machine does. */
static void *end_first_build(void *argument)
{
    const struct timespec pause = {.tv_nsec = 300000000};
    const int file = *(const int *)argument;
    nanosleep(&pause, NULL);
    built_meanwhile = sources_built;
    if (write(file, "+", 1) == 1)
        close(file); /* and the lock */
    return NULL;
}

TEST(a_first_build_elsewhere_is_waited_for)
{
    pthread_t thread;
    int built;
    setenv("RADIXPIC_CACHE", folder_file(&folder, "cache"), 1);
    expect_built_anew();
    const char *path = kept_file(".uses");
    assert_int_equal(truncate(path, 0), 0);
    int file = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(flock(file, LOCK_EX), 0);
    sources_built = 0;
    assert_int_equal(pthread_create(&thread, NULL, end_first_build, &file), 0);
    assert_int_equal(answer_of_a_start("answer", &built), 42);
    pthread_join(thread, NULL);
    assert_int_equal(built_meanwhile, 0);
    size_t uses;
    (void)read_file(path, &uses);
    assert_int_equal(uses, 2);
}

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
    takes_any_argument = true;
    assert_fails(KERNEL_LAUNCH(kernel, launch, buffer, 1), "kernel answer: argument 1",
                 "CL_INVALID_ARG_INDEX");
    takes_any_argument = false;
}

/* Before OpenCL is asked, for they have no place here. */
TEST(more_arguments_or_reals_than_a_launch_takes)
{
    enum { TOO_MANY = MOST_ARGUMENTS + 1 };
    const struct launch launch = {1, 1, STAGE_OTHER, 0};
    const double reals[MOST_REALS + 1] = {0};
    struct kernel_argument arguments[TOO_MANY + 1] = {{ARGUMENT_NONE, 0, NULL, {0}}};
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    char text[1024] = "kernel void many(uint a0";
    for (int n = 0; n < TOO_MANY; n++) {
        arguments[n] = arg_uint(0);
        if (n > 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), ", uint a%d", n);
    }
    strcat(text, ") {}\nstruct reals { float values[17]; };\n"
                 "kernel void few(struct reals a) {}\nkernel void memory(local float *a) {}\n");
    write_text(folder_file(&folder, "many.cl"), text);
    assert_ok(program_build(device, "many.cl", PRECISION_SINGLE, &program, "%s", ""));
    assert_ok(kernel_create(program, "many", &kernel));
    assert_fails(kernel_launch(kernel, launch, arguments), "kernel many: argument 23",
                 "CL_INVALID_ARG_INDEX");
    assert_ok(kernel_create(program, "few", &kernel));
    assert_fails(KERNEL_LAUNCH(kernel, launch, arg_reals(reals, MOST_REALS + 1)), "kernel few: argument 0",
                 "CL_INVALID_ARG_SIZE");
    assert_ok(kernel_create(program, "memory", &kernel));
    takes_any_argument = true;
    assert_fails(KERNEL_LAUNCH(kernel, launch, arg_local(0)), "kernel memory: argument 0",
                 "CL_INVALID_ARG_SIZE");
    takes_any_argument = false;
    assert_ok(KERNEL_LAUNCH(kernel, launch, arg_local(sizeof(float))));
}

/* A sum of all arguments but the local memory, and how many arguments OpenCL was told of. */
static double sum_with(struct kernel *kernel, struct buffer *buffer, uint32_t one, double two, int *told)
{
    const double reals[] = {two, 0.5};
    float sum = 0;
    arguments_set = 0;
    assert_ok(KERNEL_LAUNCH(kernel, ((struct launch){1, 1, STAGE_OTHER, 0}), buffer, one, two,
                            arg_reals(reals, 2), arg_local(sizeof sum)));
    assert_ok(buffer_read(buffer, 0, sizeof sum, &sum));
    *told = arguments_set;
    return (double)sum;
}

/* A buffer is not taken for an earlier one, which had the same handle where the driver frees and takes memory
 * in turn. */
TEST(arguments_are_set_where_they_are_new)
{
    enum { BUFFERS = 10 };
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    int told;
    write_text(folder_file(&folder, "sum.cl"),
               "kernel void sum(global float *a, uint one, float two, float2 three, local float *memory)\n"
               "{ memory[0] = one + two; a[0] = memory[0] + three.x + three.y; }\n");
    assert_ok(program_build(device, "sum.cl", PRECISION_SINGLE, &program, "%s", ""));
    assert_ok(kernel_create(program, "sum", &kernel));
    struct buffer *buffer = test_buffer(sizeof(float), NULL);
    assert_near(sum_with(kernel, buffer, 1, 2, &told), 5.5, 0);
    assert_int_equal(told, 5);
    assert_near(sum_with(kernel, buffer, 1, 2, &told), 5.5, 0);
    assert_int_equal(told, 0);
    assert_near(sum_with(kernel, buffer, 2, 2, &told), 6.5, 0);
    assert_int_equal(told, 1);
    assert_near(sum_with(kernel, buffer, 2, 3, &told), 8.5, 0);
    assert_int_equal(told, 2);
    for (int n = 0; n < BUFFERS; n++) {
        struct buffer *other = NULL;
        assert_ok(buffer_create(device, sizeof(float), "another", &other));
        assert_near(sum_with(kernel, other, 2, 3, &told), 8.5, 0);
        assert_int_equal(told, 1);
        buffer_destroy(&other);
    }
}

TEST_MAIN(open_device, close_device)
