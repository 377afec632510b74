/* Program and program cache: a later run gets the program without building it, and whatever is wrong with
 * what was kept costs a build and nothing else.
 *
 * A CPU's programs are not kept; these tests ask for it all the same, so that they can run on one. */
#include "support/test_folder.h"

#include "device/internal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <xxhash.h>

enum { KEY = 16, DIGEST = 32, BINARY = 56 /* where they begin in an entry */, LIMIT = 64 << 20, OPEN = -1 };

static struct folder folder; /* the kernels' and the cache */
static char entries[96], entry[192];
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
    snprintf(entries, sizeof entries, "%s/cache/programs", folder.path);
    write_kernel(1);
    setenv("RADIXPIC_KERNELS", folder.path, 1);
    return setenv("RADIXPIC_CACHE", folder_file(&folder, "cache"), 1);
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
static uint32_t answer_with(struct device *device, int base)
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

/* The same of a run that knows no program yet; on a device with another driver where that is given. */
static uint32_t run_on(int base, const char *driver)
{
    struct device *device = NULL;
    assert_ok(device_open(test_device_spec(), 0, &device));
    assert_false(device->core->keeps_programs && device_info(device)->is_cpu);
    device->core->keeps_programs = true;
    if (driver)
        snprintf(device->core->info.driver, sizeof device->core->info.driver, "%s", driver);
    const uint32_t value = answer_with(device, base);
    device_close(&device);
    return value;
}

/* A run gets base + plus, with so many builds. */
static void expect_on(int base, int plus, int builds, const char *driver)
{
    sources_built = 0;
    assert_int_equal(run_on(base, driver), base + plus);
    assert_int_equal(sources_built, builds);
}

static void expect(int base, int plus, int builds)
{
    expect_on(base, plus, builds, NULL);
}

/* The files of the cache; the path of the last one that was listed is `entry`. */
static int list_entries(void)
{
    int count = 0;
    DIR *listing = opendir(entries);
    for (const struct dirent *found; listing && (found = readdir(listing));)
        if (found->d_name[0] != '.' && ++count)
            snprintf(entry, sizeof entry, "%s/%.80s", entries, found->d_name);
    if (listing)
        closedir(listing);
    return count;
}

/* The first entry; returns the length of its file. */
static size_t make_entry(void)
{
    struct stat found;
    expect(10, 1, 1);
    assert_int_equal(list_entries(), 1);
    assert_int_equal(stat(entry, &found), 0);
    return (size_t)found.st_size;
}

TEST(a_later_run_builds_nothing)
{
    make_entry();
    for (int turn = 0; turn < 3; turn++)
        expect(10, 1, 0);
    assert_int_equal(list_entries(), 1);
}

TEST(options_sources_and_drivers_tell_entries_apart)
{
    expect(10, 1, 1);
    expect(20, 1, 1);
    write_kernel(2); /* a header that the kernel's file includes */
    expect(10, 2, 1);
    expect_on(10, 2, 1, "another driver");
    assert_int_equal(list_entries(), 4);
    expect(20, 2, 1);
    expect_on(10, 2, 0, "another driver");
    write_kernel(1);
    expect(10, 1, 0);
}

/* Whatever is at the entry's path now is replaced by a whole one. */
static void expect_to_mend(void)
{
    expect(10, 1, 1);
    expect(10, 1, 0);
    assert_int_equal(list_entries(), 1);
}

TEST(a_damaged_entry_is_built_anew)
{
    const size_t bytes = make_entry();
    const uint64_t places[] = {0, KEY, DIGEST, BINARY - 8, BINARY - 1, BINARY, bytes / 2, bytes - 1};
    for (size_t n = 0; n < sizeof places / sizeof places[0]; n++) {
        flip_bit(entry, places[n]);
        expect_to_mend();
    }
}

TEST(an_entry_of_another_length_is_built_anew)
{
    const size_t bytes = make_entry();
    const size_t lengths[] = {0, BINARY - 1, BINARY, bytes - 1, bytes + 1};
    for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++) {
        assert_int_equal(truncate(entry, (off_t)lengths[n]), 0);
        expect_to_mend();
    }
}

/* A whole entry of another program, under this one's name. */
TEST(a_program_under_another_name_is_not_taken)
{
    char own[sizeof entry];
    make_entry();
    strcpy(own, entry);
    assert_int_equal(rename(own, folder_file(&folder, "kept")), 0);
    expect(20, 1, 1);
    assert_int_equal(list_entries(), 1);
    assert_int_equal(rename(entry, own), 0);
    expect_to_mend();
}

/* The digest is right, but the bytes are no program. */
TEST(what_the_driver_refuses_is_built_anew)
{
    size_t bytes = make_entry();
    XXH128_canonical_t digest;
    unsigned char *text = read_file(entry, &bytes);
    memset(text + BINARY, 'x', bytes - BINARY);
    XXH128_canonicalFromHash(&digest, XXH3_128bits(text + BINARY, bytes - BINARY));
    memcpy(text + DIGEST, &digest, sizeof digest);
    write_file(entry, text, bytes);
    expect_to_mend();
}

/* In one run, without a cache: the same is built once, nothing else is taken for it, and after editing a
 * kernel one gets the new one. */
TEST(a_run_builds_the_same_once)
{
    struct device *device = NULL;
    assert_ok(device_open(test_device_spec(), 0, &device));
    device->core->keeps_programs = false;
    sources_built = 0;
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(answer_with(device, 10), 11);
        assert_int_equal(answer_with(device, 20), 21);
    }
    assert_int_equal(sources_built, 2);
    write_kernel(2);
    assert_int_equal(answer_with(device, 10), 12);
    write_kernel(1);
    assert_int_equal(answer_with(device, 10), 11);
    device_close(&device);
}

/* A kernel that does not build has the same message as without a cache, and leaves none. */
TEST(what_does_not_build_is_not_kept)
{
    struct device *device = NULL;
    struct program *program = NULL;
    assert_ok(device_open(test_device_spec(), 0, &device));
    for (int turn = 0; turn < 2; turn++) {
        device->core->keeps_programs = turn == 1;
        assert_fails(program_build(device, "answer.cl", PRECISION_SINGLE, &program, "-D BASE=missing"),
                     "kernels/answer.cl does not build", "missing");
        assert_null(program);
    }
    device_close(&device);
    assert_int_equal(list_entries(), 0);
}

/* A folder that cannot be, or none at all. */
TEST(without_a_folder_every_run_builds)
{
    static const char *const folders[] = {"/dev/null", "/proc/none", ""};
    char *home = strdup(getenv("HOME") ? getenv("HOME") : "");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "", 1);
    for (size_t n = 0; n < sizeof folders / sizeof folders[0]; n++) {
        setenv("RADIXPIC_CACHE", folders[n], 1);
        for (int turn = 0; turn < 2; turn++)
            expect(10, 1, 1);
    }
    setenv("HOME", home, 1);
    free(home);
}

/* Root may write where the mode forbids it: what is in the way here stops root too. */
TEST(an_entry_that_cannot_be_written_costs_a_build)
{
    make_entry();
    assert_int_equal(unlink(entry), 0);
    assert_int_equal(mkdir(entry, 0500), 0); /* nothing can be renamed to it */
    for (int turn = 0; turn < 2; turn++)
        expect(10, 1, 1);
    assert_int_equal(list_entries(), 1); /* and nothing is left beside it */
    assert_int_equal(chmod(entries, 0500), 0);
    expect(20, 1, 1);
}

/* Names of entries: 32 hexadecimal digits. */
#define ENTRY(last) "0123456789abcdef0123456789abcde" last

static void make_old(const char *name, off_t bytes, long age)
{
    const struct timespec times[2] = {{.tv_sec = age}, {.tv_sec = age}};
    char path[160];
    snprintf(path, sizeof path, "%s/%s", entries, name);
    write_text(path, "");
    assert_int_equal(truncate(path, bytes), 0); /* nothing of it is on the disk */
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool is_there(const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", entries, name);
    return access(path, F_OK) == 0;
}

TEST(the_folder_stays_below_its_limit)
{
    expect(10, 1, 1);
    make_old("of-another-program", LIMIT, 500);
    make_old(ENTRY("1"), LIMIT / 2, 2000);
    make_old(ENTRY("0") ".aB3xyz", LIMIT / 2, 1000); /* as a writer that was killed leaves it */
    make_old(ENTRY("2"), LIMIT / 4, 3000);
    expect(20, 1, 1);
    assert_false(is_there(ENTRY("0") ".aB3xyz"));
    assert_true(is_there("of-another-program"));
    assert_true(is_there(ENTRY("1")) && is_there(ENTRY("2")));
    make_old(ENTRY("3"), LIMIT / 4, 4000);
    expect(30, 1, 1);
    assert_false(is_there(ENTRY("1")));
    assert_true(is_there(ENTRY("2")) && is_there(ENTRY("3")));
    expect(10, 1, 0);
}

TEST(an_entry_that_others_may_write_is_not_taken)
{
    make_entry();
    expect(10, 1, 0);
    assert_int_equal(chmod(entry, 0666), 0);
    expect(10, 1, 1);
}

TEST(what_is_used_counts_as_new)
{
    const struct timespec long_ago[2] = {{.tv_sec = 10}, {.tv_sec = 10}};
    make_entry();
    assert_int_equal(utimensat(AT_FDCWD, entry, long_ago, 0), 0);
    expect(10, 1, 0);
    make_old(ENTRY("1"), LIMIT, 1000);
    expect(20, 1, 1);
    assert_false(is_there(ENTRY("1")));
    expect(10, 1, 0);
}

/* ---- processes at the same time ---- */

/* Another process that builds with BASE = base and ends with the answer; with OPEN it only opens the device,
 * and ends with 0 where it can. */
static pid_t start_run(int base)
{
    char number[16];
    snprintf(number, sizeof number, "%d", base);
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test_program_cache", number, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    return child;
}

static int answer_of(pid_t child)
{
    int state = 0;
    assert_int_equal(waitpid(child, &state, 0), child);
    return WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state);
}

/* NVIDIA's driver 580 finds no device in a process that was started by one that has used it. */
static void need_other_processes(void)
{
    if (answer_of(start_run(OPEN)) != 0)
        skip();
}

TEST(runs_at_the_same_time_do_not_harm_one_another)
{
    enum { RUNS = 4 };
    pid_t children[RUNS];
    need_other_processes();
    for (int turn = 0; turn < 2; turn++) {
        for (int n = 0; n < RUNS; n++)
            children[n] = start_run(10 + n / 2);
        for (int n = 0; n < RUNS; n++)
            assert_int_equal(answer_of(children[n]), 11 + n / 2);
        assert_int_equal(list_entries(), 2);
    }
    expect(10, 1, 0);
    expect(11, 1, 0);
}

/* At any moment, that of writing the entry among them. */
TEST(a_killed_run_leaves_nothing_that_harms)
{
    need_other_processes();
    for (useconds_t wait = 20000; wait < 200000; wait += 20000) {
        const pid_t child = start_run(10);
        usleep(wait);
        kill(child, SIGKILL);
        (void)answer_of(child);
        assert_int_equal(run_on(10, NULL), 11);
        expect(10, 1, 0);
        while (list_entries() > 0)
            assert_int_equal(unlink(entry), 0);
    }
}

int main(int argc, char **argv)
{
    struct device *device = NULL;
    if (argc > 1 && atoi(argv[1]) == OPEN)
        return device_open(test_device_spec(), 0, &device) == STATUS_OK ? 0 : 1;
    return argc > 1 ? (int)run_on(atoi(argv[1]), NULL) : run_listed_tests(NULL, NULL);
}
