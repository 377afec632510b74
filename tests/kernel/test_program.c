/* Programs: the same source with the same options is built once, and nothing else is taken for it. */
#include "support/device_fixture.h"

#include "device/internal.h"

#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/radixpic_program_XXXXXX", file[64];

static int make_folder(void **state)
{
    if (open_device(state) != 0 || !mkdtemp(folder))
        return -1;
    snprintf(file, sizeof file, "%s/answer.cl", folder);
    return setenv("RADIXPIC_KERNELS", folder, 1);
}

static int remove_folder(void **state)
{
    remove(file);
    rmdir(folder);
    unsetenv("RADIXPIC_KERNELS");
    return close_device(state);
}

static void write_kernel(int plus)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fprintf(out, "kernel void answer(global uint *a) { a[0] = BASE + %d; }\n", plus);
    assert_int_equal(fclose(out), 0);
}

/* What the kernel of the file writes when it is built with BASE = base. */
static uint32_t answer(int base)
{
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    uint32_t value = 0;
    struct buffer *buffer = test_buffer(sizeof value, NULL);
    assert_ok(program_build(device, "answer.cl", PRECISION_SINGLE, &program, "-D BASE=%d", base));
    assert_ok(kernel_create(program, "answer", &kernel));
    assert_ok(KERNEL_LAUNCH(kernel, ((struct launch){1, 1, STAGE_OTHER, 0}), buffer));
    assert_ok(buffer_read(buffer, 0, sizeof value, &value));
    return value;
}

TEST(options_tell_programs_apart)
{
    write_kernel(1);
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(answer(10), 11);
        assert_int_equal(answer(20), 21);
    }
}

/* Who edits a kernel gets the new one, in the same process too. */
TEST(a_changed_source_is_built_anew)
{
    write_kernel(1);
    assert_int_equal(answer(10), 11);
    write_kernel(2);
    assert_int_equal(answer(10), 12);
    write_kernel(1);
    assert_int_equal(answer(10), 11);
}

TEST(the_same_is_built_once)
{
    struct program *first = NULL, *second = NULL;
    write_kernel(3);
    assert_ok(program_build(device, "answer.cl", PRECISION_SINGLE, &first, "-D BASE=30"));
    assert_ok(program_build(device, "answer.cl", PRECISION_SINGLE, &second, "-D BASE=30"));
    assert_ptr_equal(first->handle, second->handle);
    assert_int_equal(answer(30), 33);
}

/* A source that does not build is no program, and is tried again. */
TEST(what_does_not_build_is_not_kept)
{
    struct program *program = NULL;
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(program_build(device, "answer.cl", PRECISION_SINGLE, &program, "-D BASE=missing"),
                         STATUS_FAILED);
        assert_null(program);
        assert_sentence_holds("answer.cl");
    }
}

TEST_MAIN(make_folder, remove_folder)
